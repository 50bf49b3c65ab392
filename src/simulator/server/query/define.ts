import { impossible } from './refusal.ts';
import type { Annotations, Capabilities, Schema, TypeDefinition } from './schema.ts';
import { checkSchema } from './schema-check.ts';
import type { Clause, Definition, Undefinition } from './syntax.ts';

type TypeStatement = Extract<Definition, { what: 'type' }>;

/** A new schema with the definitions added. Repeating an existing definition changes nothing. */
export function define(schema: Schema, definitions: readonly Definition[]): Schema {
  return change(schema, (types, functions) => {
    for (const definition of definitions) {
      if (definition.what === 'function') defineFunction(functions, definition);
      else if (definition.kind !== undefined) declare(types, definition);
    }
    for (const definition of definitions) {
      if (definition.what === 'type') extend(types, definition, addClause);
    }
  });
}

/** A new schema with existing definitions changed. */
export function redefine(schema: Schema, definitions: readonly Definition[]): Schema {
  return change(schema, (types, functions) => {
    for (const definition of definitions) {
      if (definition.what === 'type') {
        extend(types, definition, replaceClause);
        continue;
      }
      if (!functions.has(definition.name)) throw impossible(`Function ${definition.name} is not defined`);
      functions.set(definition.name, definition.text);
    }
  });
}

export function undefine(schema: Schema, undefinitions: readonly Undefinition[]): Schema {
  return change(schema, (types, functions) => {
    for (const undefinition of undefinitions) {
      if (undefinition.what === 'capability') removeCapability(types, undefinition);
      else if (undefinition.what === 'type') remove(types, undefinition.label, 'Type');
      else remove(functions, undefinition.name, 'Function');
    }
  });
}

function change(
  schema: Schema,
  edit: (types: Map<string, TypeDefinition>, functions: Map<string, string>) => void,
): Schema {
  const types = new Map(schema.types);
  const functions = new Map(schema.functions);
  edit(types, functions);
  const changed = { types, functions };
  checkSchema(changed);
  return changed;
}

function defineFunction(functions: Map<string, string>, definition: Extract<Definition, { what: 'function' }>): void {
  const before = functions.get(definition.name);
  if (before !== undefined && before !== definition.text) {
    throw impossible(`Function ${definition.name} is defined already, in another way; redefine changes it`);
  }
  functions.set(definition.name, definition.text);
}

/** Declares the type before its clauses, since those may name types that are declared further down. */
function declare(types: Map<string, TypeDefinition>, { label, kind, annotations }: TypeStatement): void {
  if (kind === undefined) return;
  const before = types.get(label);
  if (before !== undefined && before.kind !== kind) throw impossible(`${label} is defined already, as ${before.kind}`);
  types.set(label, {
    label,
    kind,
    parent: before?.parent,
    annotations: union(before?.annotations ?? [], annotations),
    valueType: before?.valueType,
    owns: before?.owns ?? new Map(),
    plays: before?.plays ?? new Map(),
    relates: before?.relates ?? new Map(),
  });
}

function extend(
  types: Map<string, TypeDefinition>,
  statement: TypeStatement,
  apply: (type: TypeDefinition, clause: Clause) => TypeDefinition,
): void {
  const before = types.get(statement.label);
  if (before === undefined) throw impossible(`Type ${statement.label} is not defined`);
  if (statement.kind !== undefined && statement.kind !== before.kind) {
    throw impossible(`${statement.label} is of kind ${before.kind}`);
  }
  types.set(statement.label, statement.clauses.reduce(apply, before));
}

function addClause(type: TypeDefinition, clause: Clause): TypeDefinition {
  switch (clause.clause) {
    case 'sub':
      if (type.parent !== undefined && type.parent !== clause.label) {
        throw impossible(`${type.label} is a sub of ${type.parent} already; redefine changes it`);
      }
      return { ...type, parent: clause.label };
    case 'value':
      if (type.valueType !== undefined && type.valueType !== clause.valueType) {
        throw impossible(`${type.label} has value type ${type.valueType} already; redefine changes it`);
      }
      return { ...type, valueType: clause.valueType };
    default: {
      const before = type[clause.clause].get(clause.label) ?? [];
      const annotations = union(before, clause.annotations);
      if (annotations.filter((annotation) => annotation.startsWith('@card')).length > 1) {
        throw impossible(
          `${type.label} ${clause.clause} ${clause.label} has another @card already; redefine changes it`,
        );
      }
      return withCapability(type, clause.clause, clause.label, annotations);
    }
  }
}

function replaceClause(type: TypeDefinition, clause: Clause): TypeDefinition {
  switch (clause.clause) {
    case 'sub':
      if (type.parent === undefined) throw impossible(`${type.label} is a sub of nothing`);
      return { ...type, parent: clause.label };
    case 'value':
      if (type.valueType === undefined) throw impossible(`${type.label} has no value type`);
      return { ...type, valueType: clause.valueType };
    default:
      if (!type[clause.clause].has(clause.label))
        throw impossible(`Not defined: ${type.label} ${clause.clause} ${clause.label}`);
      return withCapability(type, clause.clause, clause.label, clause.annotations);
  }
}

function withCapability(
  type: TypeDefinition,
  what: 'owns' | 'plays' | 'relates',
  label: string,
  annotations: Annotations,
): TypeDefinition {
  const capabilities: Capabilities = new Map(type[what]).set(label, annotations);
  return { ...type, [what]: capabilities };
}

function removeCapability(
  types: Map<string, TypeDefinition>,
  { capability, label, from }: Extract<Undefinition, { what: 'capability' }>,
): void {
  const type = types.get(from);
  if (type === undefined || !type[capability].has(label))
    throw impossible(`Not defined: ${from} ${capability} ${label}`);
  const capabilities = new Map(type[capability]);
  capabilities.delete(label);
  types.set(from, { ...type, [capability]: capabilities });
}

function remove(from: Map<string, unknown>, name: string, what: string): void {
  if (!from.delete(name)) throw impossible(`${what} ${name} is not defined`);
}

const union = (before: Annotations, added: Annotations): Annotations => [...new Set([...before, ...added])];
