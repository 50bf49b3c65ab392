import type { Data, Thing } from './data.ts';
import { impossible } from './refusal.ts';
import type { Annotations, Schema } from './schema.ts';
import {
  capabilitiesOf,
  cardinalityOf,
  isAbstract,
  isKindOf,
  isUnique,
  roleLabel,
  valueTypeOf,
} from './schema-lookup.ts';

/** Checks all data against the schema. Throws a Refusal that names the first broken rule. */
export function checkData(schema: Schema, data: Data): void {
  const unique = new Map<string, string>();
  for (const thing of data.values()) {
    checkShape(schema, data, thing);
    checkCounts(schema, thing);
    checkUnique(schema, thing, unique);
  }
}

/** Checks what must always hold: types exist and may be, own, relate and play what they do. Counts may be mended later. */
export function checkShape(schema: Schema, data: Data, thing: Thing): void {
  const type = schema.types.get(thing.type);
  if (type === undefined) throw impossible(`There are instances of ${thing.type}, which is not defined`);
  if (isAbstract(type)) throw impossible(`${thing.type} is abstract: it cannot have instances`);
  const owns = [...capabilitiesOf(schema, thing.type, 'owns').keys()];
  for (const attribute of thing.has) {
    const attributeType = schema.types.get(attribute.type);
    if (attributeType === undefined)
      throw impossible(`There are attributes of type ${attribute.type}, which is not defined`);
    if (isAbstract(attributeType)) throw impossible(`${attribute.type} is abstract: it cannot have instances`);
    if (valueTypeOf(schema, attribute.type) !== attribute.valueType) {
      throw impossible(`There are values of ${attribute.type} that are of type ${attribute.valueType}`);
    }
    if (!owns.some((owned) => isKindOf(schema, attribute.type, owned))) {
      throw impossible(`${thing.type} does not own ${attribute.type}`);
    }
  }
  for (const { role, iid } of thing.players) checkPlayer(schema, thing, role, data.get(iid));
}

function checkPlayer(schema: Schema, relation: Thing, role: string, player: Thing | undefined): void {
  const label = roleLabel(schema, relation.type, role);
  if (label === undefined) throw impossible(`${relation.type} does not relate ${role}`);
  if (player === undefined) throw impossible(`A player of ${label} does not exist`);
  if (!capabilitiesOf(schema, player.type, 'plays').has(label)) {
    throw impossible(`${player.type} does not play ${label}`);
  }
}

function checkCounts(schema: Schema, thing: Thing): void {
  for (const [label, annotations] of capabilitiesOf(schema, thing.type, 'owns')) {
    const count = thing.has.filter((attribute) => isKindOf(schema, attribute.type, label)).length;
    checkCount(`${thing.type} ${thing.iid} has ${count} of ${label}`, count, annotations);
  }
  for (const [role, annotations] of capabilitiesOf(schema, thing.type, 'relates')) {
    const count = thing.players.filter((player) => player.role === role).length;
    checkCount(`${thing.type} ${thing.iid} has ${count} of role ${role}`, count, annotations);
  }
}

function checkCount(found: string, count: number, annotations: Annotations): void {
  const { min, max } = cardinalityOf(annotations);
  if (count >= min && count <= max) return;
  throw impossible(`${found}, not ${min} to ${max === Number.POSITIVE_INFINITY ? 'any number' : max}`);
}

function checkUnique(schema: Schema, thing: Thing, owners: Map<string, string>): void {
  for (const [label, annotations] of capabilitiesOf(schema, thing.type, 'owns')) {
    if (!isUnique(annotations)) continue;
    for (const attribute of thing.has) {
      if (!isKindOf(schema, attribute.type, label)) continue;
      const key = JSON.stringify([label, attribute.value]);
      const owner = owners.get(key) ?? thing.iid;
      if (owner !== thing.iid) throw impossible(`${label} ${JSON.stringify(attribute.value)} is not unique`);
      owners.set(key, owner);
    }
  }
}
