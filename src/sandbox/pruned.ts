import { isRecord } from '../base/is-record.ts';
import type { StructuralSchema } from '../kube/crd/structural-schema.ts';

/** Returns the value without the fields that the schema does not know, as the API server stores it. */
export function pruned(value: unknown, { items, properties, additionalProperties }: StructuralSchema): unknown {
  if (Array.isArray(value)) return items === undefined ? value : value.map((each) => pruned(each, items));
  if (!isRecord(value) || (properties === undefined && additionalProperties === undefined)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, field]) => {
      const schema = properties?.[name] ?? additionalProperties;
      return schema === undefined ? [] : [[name, pruned(field, schema)]];
    }),
  );
}
