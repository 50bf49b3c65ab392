import type { Concept, Row } from './concepts.ts';
import type { Data, Primitive } from './data.ts';
import { impossible } from './refusal.ts';
import { VALUE_TYPES } from './schema.ts';

export type GivenRow = Readonly<Record<string, unknown>>;

/** The rows that a pipeline starts with: those given, or one empty row (Resources, Given rows). */
export function startRows(data: Data, declared: readonly string[], given: readonly GivenRow[]): readonly Row[] {
  if (declared.length === 0) {
    if (given.length > 0) throw impossible('Rows are given, but the query does not declare their variables');
    return [new Map()];
  }
  if (given.length === 0) throw impossible('The query declares given variables, but no rows are given');
  return given.map((row) => {
    const unknown = Object.keys(row).find((name) => !declared.includes(name));
    if (unknown !== undefined) throw impossible(`The query does not declare $${unknown}`);
    return new Map(declared.map((name): [string, Concept] => [name, readConcept(data, name, row[name])]));
  });
}

/** `{ kind, iid }`, `{ kind: 'value', valueType, value }`, or a date and time with a time-zone name as plain text. */
function readConcept(data: Data, name: string, given: unknown): Concept {
  if (typeof given === 'string' && /^\d{4}-\d\d-\d\dT\S+ [A-Za-z_]+(\/[A-Za-z_]+)*$/.test(given)) {
    return { concept: 'value', valueType: 'datetime-tz', value: given };
  }
  const fields =
    typeof given === 'object' && given !== null ? new Map<string, unknown>(Object.entries(given)) : new Map();
  if (fields.get('kind') === 'value') return readValue(name, fields);
  const thing = data.get(String(fields.get('iid')));
  if (thing !== undefined) return { concept: 'instance', iid: thing.iid, type: thing.type };
  throw impossible(`The given $${name} is neither a value nor an existing instance`);
}

function readValue(name: string, fields: ReadonlyMap<string, unknown>): Concept {
  const valueType = VALUE_TYPES.find((candidate) => candidate === fields.get('valueType'));
  const value = fields.get('value');
  if (valueType !== undefined && isPrimitive(value)) return { concept: 'value', valueType, value };
  throw impossible(`The given $${name} is not a value`);
}

function isPrimitive(value: unknown): value is Primitive {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}
