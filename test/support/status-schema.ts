import { type StructuralSchema, structuralSchema } from '../../src/kube/crd/structural-schema.ts';
import type { ResourceDefinition } from '../../src/kube/definition.ts';

/** The status by its CRD: the API server drops all other fields. */
export function statusSchemaOf({ status }: Pick<ResourceDefinition, 'status'>): StructuralSchema {
  return structuralSchema(status, 'status');
}

/**
 * The paths of fields that an earlier version may not know, also of those inside others, such as `operation.by`. What is required inside
 * another field is as old as that one.
 */
export function laterFieldsOf({
  items,
  additionalProperties,
  properties,
  required = [],
}: StructuralSchema): readonly string[] {
  const inside = items ?? additionalProperties;
  const fields = Object.entries(properties ?? {}).flatMap(([name, field]) => [
    ...(required.includes(name) ? [] : [name]),
    ...laterFieldsOf(field).map((path) => `${name}.${path}`),
  ]);
  return inside === undefined ? fields : laterFieldsOf(inside);
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
