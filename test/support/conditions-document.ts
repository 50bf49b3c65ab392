import { readDocument } from './readme.ts';

/** One row of docs/conditions.md: a reason, or a condition type. */
export interface DocumentedWord {
  readonly word: string;
  /** The heading above it. */
  readonly chapter: string;
  /** Kinds, `all`, or condition types. */
  readonly on: readonly string[];
  readonly cells: readonly string[];
}

const bare = (cell: string) => cell.replaceAll('`', '');

/** All rows of docs/conditions.md, in order. */
export function documentedWords(): readonly DocumentedWord[] {
  return readDocument('docs/conditions.md')
    .split(/^## /m)
    .flatMap((text) => {
      const chapter = text.split('\n', 1)[0] ?? '';
      return text
        .split('\n')
        .filter((line) => line.startsWith('| `'))
        .map((line) => {
          const cells = line
            .slice(1, -1)
            .split('|')
            .map((cell) => cell.trim());
          const [word = '', on = ''] = cells.map(bare);
          return { word, chapter, on: on.split(', '), cells };
        });
    });
}
