import { impossible } from './refusal.ts';
import type { Schema, TypeDefinition } from './schema.ts';
import { capabilitiesOf, isAbstract, isKindOf, kindOf, lineage, valueTypeOf } from './schema-lookup.ts';

/** Checks that the types agree with each other. Throws a Refusal that names the first that does not. */
export function checkSchema(schema: Schema): void {
  for (const type of schema.types.values()) {
    checkParent(schema, type);
    if (type.kind === 'attribute') checkAttribute(schema, type);
    if (type.kind === 'relation') checkRelation(schema, type);
    else if (type.relates.size > 0) throw impossible(`${type.label} is of kind ${type.kind}: only relations relate`);
    checkCapabilities(schema, type);
  }
}

function checkParent(schema: Schema, type: TypeDefinition): void {
  if (type.parent === undefined) return;
  if (kindOf(schema, type.parent) !== type.kind) {
    throw impossible(`${type.label} cannot be a sub of ${type.parent}: there is no such ${type.kind}`);
  }
  if (isKindOf(schema, type.parent, type.label)) throw impossible(`${type.label} would inherit from itself`);
}

function checkAttribute(schema: Schema, type: TypeDefinition): void {
  const valueTypes = new Set(lineage(schema, type.label).flatMap(({ valueType }) => valueType ?? []));
  if (valueTypes.size > 1) throw impossible(`${type.label} has a different value type from the one it inherits`);
  if (valueTypes.size === 0 && !isAbstract(type)) throw impossible(`Attribute ${type.label} has no value type`);
  if (type.owns.size + type.plays.size > 0) throw impossible(`Attribute ${type.label} can neither own nor play`);
}

function checkRelation(schema: Schema, type: TypeDefinition): void {
  const roles = capabilitiesOf(schema, type.label, 'relates');
  if (roles.size === 0 && !isAbstract(type)) throw impossible(`Relation ${type.label} relates nothing`);
}

function checkCapabilities(schema: Schema, type: TypeDefinition): void {
  if (type.valueType !== undefined && type.kind !== 'attribute') {
    throw impossible(`${type.label} is of kind ${type.kind}: only attributes have values`);
  }
  for (const label of type.owns.keys()) {
    if (kindOf(schema, label) !== 'attribute') throw impossible(`${type.label} cannot own ${label}: no such attribute`);
    if (valueTypeOf(schema, label) === undefined && type.owns.get(label)?.includes('@key')) {
      throw impossible(`${label} cannot be a key: it has no value type`);
    }
  }
  for (const label of type.plays.keys()) {
    const [relation = '', role = ''] = label.split(':');
    const isRole = kindOf(schema, relation) === 'relation' && schema.types.get(relation)?.relates.has(role) === true;
    if (!isRole) throw impossible(`${type.label} cannot play ${label}: no such role`);
  }
}
