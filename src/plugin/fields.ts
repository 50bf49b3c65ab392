import { isRecord } from '../base/is-record.ts';
import { table } from './text.ts';

/* Fields of a spec or a status for people: a line each, empty ones not at all. */

/** Bookkeeping of the operator, that a person can do nothing with. */
const NOT_SHOWN = new Set([
  'conditions',
  'lastError',
  'drift',
  'observedGeneration',
  'lastHandledReconcileAt',
  'lastHandledRotateAt',
  'credentials',
  'connection',
  'cluster',
  'schemaHash',
  'foreignSchemaHash',
  'checkedSchema',
]);
/** The same of what is within. */
const NOT_SHOWN_WITHIN = new Set(['hash', 'resourceVersion', 'by']);

/** Those that their own words do not explain. */
const CALLED: Readonly<Record<string, string>> = {
  appliedSchema: 'schema from',
  binding: 'connection Secret',
  endpoint: 'server URL',
  keptSecrets: 'Secrets kept for deletions',
  observed: 'made of',
  operation: 'under way',
  place: 'cloud',
  state: 'state in the cloud',
};

/** What a person wrote, by the names that stand in a manifest. */
export function specFields(spec: unknown): readonly string[] {
  return linesOf(rowsOf(spec, (name) => name));
}

/** What the operator found, in words. */
export function statusFields(status: unknown): readonly string[] {
  if (!isRecord(status)) return [];
  const shown = Object.fromEntries(Object.entries(status).filter(([name]) => !NOT_SHOWN.has(name)));
  return linesOf(rowsOf(shown, (name) => CALLED[name] ?? worded(name)));
}

type Row = readonly [label: string, text: string];

function linesOf(rows: readonly Row[]): readonly string[] {
  return rows.length === 0 ? [] : table(rows).split('\n');
}

function rowsOf(fields: unknown, called: (name: string) => string): readonly Row[] {
  if (!isRecord(fields)) return [];
  return Object.entries(fields).flatMap(([name, value]): readonly Row[] => {
    const texts = (Array.isArray(value) && value.some(isRecord) ? value : [value])
      .map((each) => textOf(each, called))
      .filter((text) => text !== '');
    return texts.map((text, index): Row => [index === 0 ? called(name) : '', text]);
  });
}

/** On one line; '' where there is nothing in it. */
function textOf(value: unknown, called: (name: string) => string): string {
  if (value === undefined || value === null) return '';
  if (Array.isArray(value)) return value.map((each) => textOf(each, called)).join(', ');
  if (!isRecord(value)) return firstLine(String(value));
  const inner = Object.entries(value)
    .filter(([name]) => !NOT_SHOWN_WITHIN.has(name))
    .map(([name, each]) => [called(name), textOf(each, called)] as const)
    .filter(([, text]) => text !== '');
  const [only] = inner;
  // The name of what is referred to says enough.
  if (inner.length === 1 && only !== undefined && only[0] === 'name') return only[1];
  return inner
    .map(([name, text], index) => `${name} ${within(text, isRecord(Object.values(value)[index]))}`)
    .join(', ');
}

function within(text: string, isNested: boolean): string {
  return isNested && text.includes(', ') ? `(${text})` : text;
}

function firstLine(text: string): string {
  const [first = ''] = text.split('\n');
  return text === first ? text : `${first} … (${text.trimEnd().split('\n').length} lines)`;
}

/** `storageSizeGB` → `storage size GB`. */
function worded(name: string): string {
  const words = name.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g) ?? [name];
  return words
    .map((word) => (word === 'ID' || word === 'URL' || /^[a-z]|^[A-Z][a-z]/.test(word) ? word.toLowerCase() : word))
    .join(' ');
}
