import { type StructuralSchema, structuralSchema } from '../../src/kube/crd/structural-schema.ts';
import type { ResourceDefinition } from '../../src/kube/definition.ts';

/** The status by its CRD: the API server drops all other fields. */
export function statusSchemaOf({ status }: Pick<ResourceDefinition, 'status'>): StructuralSchema {
  return structuralSchema(status, 'status');
}

/** Returns the schema of a version without the field at that path. */
export function withoutField(schema: StructuralSchema, path: readonly string[]): StructuralSchema {
  const { items, additionalProperties, properties } = schema;
  if (items !== undefined) return { ...schema, items: withoutField(items, path) };
  if (additionalProperties !== undefined)
    return { ...schema, additionalProperties: withoutField(additionalProperties, path) };
  const [name = '', ...rest] = path;
  const { [name]: field, ...others } = properties ?? {};
  if (field === undefined || rest.length === 0) return { ...schema, properties: others };
  return { ...schema, properties: { ...others, [name]: withoutField(field, rest) } };
}
