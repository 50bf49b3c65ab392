import type { Attribute, Data, Thing } from './data.ts';
import { impossible } from './refusal.ts';
import type { Schema, TypeDefinition } from './schema.ts';
import { subtypes } from './schema-lookup.ts';

/** The schema and data that a query sees. */
export interface Graph {
  readonly schema: Schema;
  readonly data: Data;
}

export function requireType(schema: Schema, label: string): TypeDefinition {
  const type = schema.types.get(label);
  if (type === undefined) throw impossible(`Type ${label} is not defined`);
  return type;
}

/** The entities and relations of the type and its subtypes, or all of them. */
export function* instancesOf({ schema, data }: Graph, label: string | undefined): Generator<Thing> {
  const labels = label === undefined ? undefined : subtypes(schema, label);
  for (const thing of data.values()) if (labels === undefined || labels.has(thing.type)) yield thing;
}

/** Every attribute that is owned, once. */
export function attributesOfData({ schema, data }: Graph, label: string | undefined): Iterable<Attribute> {
  const labels = label === undefined ? undefined : subtypes(schema, label);
  const found = new Map<string, Attribute>();
  for (const thing of data.values()) {
    for (const attribute of thing.has) {
      if (labels !== undefined && !labels.has(attribute.type)) continue;
      found.set(JSON.stringify([attribute.type, attribute.value]), attribute);
    }
  }
  return found.values();
}
