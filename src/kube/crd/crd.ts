import { GROUP, VERSION } from '../../base/group.ts';
import type { ResourceDefinition } from '../definition.ts';
import { type StructuralSchema, StructuralSchemaError, structuralSchema } from './structural-schema.ts';

/** The parts of an apiextensions.k8s.io/v1 CustomResourceDefinition that are written here. */
export interface CustomResourceDefinition {
  readonly apiVersion: 'apiextensions.k8s.io/v1';
  readonly kind: 'CustomResourceDefinition';
  readonly metadata: { readonly name: string };
  readonly spec: Readonly<Record<string, unknown>>;
}

/** The scope is not a choice: all our resources are namespaced. */
export function customResourceDefinition(definition: ResourceDefinition): CustomResourceDefinition {
  const { kind, plural, singular, shortNames, categories } = definition;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${GROUP}` },
    spec: {
      group: GROUP,
      scope: 'Namespaced',
      names: { kind, listKind: `${kind}List`, plural, singular, shortNames, categories },
      versions: [
        {
          name: VERSION,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: resourceSchema(definition) },
          subresources: { status: {} },
          additionalPrinterColumns: definition.printerColumns,
        },
      ],
    },
  };
}

/**
 * Returns the schema of the whole object. Its status exists from the start, with its fields' defaults, so observedGeneration (-1) shows
 * that the operator has not seen the object yet. Throws StructuralSchemaError when a field cannot be expressed or has no description.
 */
export function resourceSchema(definition: ResourceDefinition): StructuralSchema {
  const spec = structuralSchema(definition.spec, 'spec');
  const status = structuralSchema(definition.status, 'status');
  const undescribed = [...fieldsOf(spec, 'spec'), ...fieldsOf(status, 'status')].filter(
    ({ schema }) => schema.description === undefined,
  );
  if (undescribed.length > 0) {
    throw new StructuralSchemaError(undescribed.map(({ path }) => `${path} has no description: Add .describe()`));
  }
  return {
    description: definition.description,
    type: 'object',
    ...(definition.rules === undefined ? {} : { 'x-kubernetes-validations': definition.rules }),
    required: ['spec'],
    properties: { spec, status: { ...status, default: {} } },
  };
}

/** One field of a schema. Lists and maps in the path are marked: `spec.apiTokens[].level`. */
export interface Field {
  readonly path: string;
  readonly schema: StructuralSchema;
  readonly required: boolean;
}

/** Returns a schema and all fields in it, depth first in written order. Items of lists and values of maps count with their field. */
export function fieldsOf(schema: StructuralSchema, path: string, required = true): readonly Field[] {
  return [{ path, schema, required }, ...childrenOf(schema, path)];
}

function childrenOf(schema: StructuralSchema, path: string): readonly Field[] {
  if (schema.items !== undefined) return childrenOf(schema.items, `${path}[]`);
  if (schema.additionalProperties !== undefined) return childrenOf(schema.additionalProperties, `${path}{}`);
  return Object.entries(schema.properties ?? {}).flatMap(([name, child]) =>
    fieldsOf(child, `${path}.${name}`, schema.required?.includes(name) ?? false),
  );
}
