import { isRecord } from '../base/is-record.ts';
import { table } from './command-line/text.ts';

/* Fields of a spec or a status for people: one line each, empty ones left out. */

/** The operator's bookkeeping, which is of no use to people. */
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
/** The same for nested fields. */
const NOT_SHOWN_WITHIN = new Set(['hash', 'resourceVersion', 'by']);

/** Labels for fields whose names do not explain themselves. */
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

/** The fields that a person wrote, by their names in a manifest. */
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

/** The value on one line; '' if it is empty. */
function textOf(value: unknown, called: (name: string) => string): string {
  if (value === undefined || value === null) return '';
  if (Array.isArray(value)) return value.map((each) => textOf(each, called)).join(', ');
  if (!isRecord(value)) return firstLine(String(value));
  const inner = Object.entries(value)
    .filter(([name]) => !NOT_SHOWN_WITHIN.has(name))
    .map(([name, each]) => [called(name), textOf(each, called)] as const)
    .filter(([, text]) => text !== '');
  const [only] = inner;
  // For a reference, the name says enough.
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
