import { leaves, type Value } from './values.ts';

const BEGIN = '<!-- values: npm run generate -->';
const END = '<!-- /values -->';

/** The document with the table of values in its place, in the style of helm-docs. Throws if it has no such place. */
export function withTable(document: string, values: readonly Value[]): string {
  const [before, rest] = document.split(BEGIN);
  const after = rest?.split(END)[1];
  if (after === undefined) throw new Error(`The chart's README.md has no place for the values: Write ${BEGIN} ${END}`);
  return `${before}${BEGIN}\n\n${table(values)}\n\n${END}${after}`;
}

function table(values: readonly Value[]): string {
  const rows = leaves(values).map(({ path, about = '', type, preset }) => [
    `\`${path.join('.')}\``,
    escaped(type ?? typeof preset),
    preset === null || preset === undefined ? '' : `\`${JSON.stringify(preset)}\``,
    escaped(about),
  ]);
  return [['Value', 'Type', 'Default', 'What it does'], ['---', '---', '---', '---'], ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}

/** Drops a pattern, which is for machines: the sentence beside it says what is meant. */
function escaped(text: string): string {
  return text.replace(/ like \^.*$/, '').replaceAll('|', '\\|');
}
