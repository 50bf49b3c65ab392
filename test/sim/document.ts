import { readFileSync, writeFileSync } from 'node:fs';
import { FAULTS } from './faults.ts';
import { IN_THE_END, INVARIANTS } from './invariants.ts';
import type { Mutation } from './mutate.ts';
import { READ_FAULTS } from './reads.ts';
import { SCENARIOS } from './scenarios.ts';

const PATH = new URL('../../docs/reliability.md', import.meta.url);

/** What found a mutation, without the details that shift with each change of the operator. */
export interface Found {
  readonly mutation: Mutation;
  readonly scenario: string;
  readonly fault: string;
  readonly invariant: string;
}

/** Tables of docs/reliability.md that are generated from the code, by the name in their marks. */
export const TABLES = {
  faults: () => table(['Fault', 'What happens'], Object.entries(FAULTS)),
  looks: () => table(['Fault', 'What happens'], Object.entries(READ_FAULTS)),
  invariants: () =>
    table(
      ['Invariant', 'What must hold', 'Checked'],
      Object.entries(INVARIANTS).map((each) => [
        ...each,
        IN_THE_END.some((name) => name === each[0]) ? 'in the end' : 'all the time',
      ]),
    ),
  scenarios: () => `${SCENARIOS.map(({ name }) => `\`${name}\``).join(', ')}.`,
} as const;

export function mutationTable(found: readonly Found[]): string {
  return table(
    ['Mutation', 'What the operator does wrong', 'Found in', 'by fault', 'as invariant'],
    found.map(({ mutation: { name, about }, scenario, fault, invariant }) => [name, about, scenario, fault, invariant]),
  );
}

/** Returns the part of the document between the marks of that name. */
export function written(name: string): string {
  return partOf(readFileSync(PATH, 'utf8'), name).text;
}

export function write(name: string, text: string): void {
  const document = readFileSync(PATH, 'utf8');
  const { start, end } = partOf(document, name);
  writeFileSync(PATH, `${document.slice(0, start)}${text}${document.slice(end)}`);
}

function partOf(document: string, name: string) {
  const [opening, closing] = [`<!-- ${name} -->\n\n`, `\n\n<!-- /${name} -->`];
  const start = document.indexOf(opening) + opening.length;
  const end = document.indexOf(closing);
  if (start < opening.length || end < start) throw new Error(`docs/reliability.md has no marks for ${name}`);
  return { start, end, text: document.slice(start, end) };
}

/** Returns a Markdown table with aligned columns, as in the other documents. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => (row[column] ?? '').length)));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [line(head), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...rows.map(line)].join('\n');
}
