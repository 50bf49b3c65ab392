import stringWidth from 'string-width';
import { printableCell } from './printable.ts';

/** How text for people is made: with colours only on a terminal. */
export interface Style {
  readonly good: (text: string) => string;
  readonly bad: (text: string) => string;
  readonly going: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly strong: (text: string) => string;
}

const ansi = (code: number) => (text: string) => `\u001B[${code}m${text}\u001B[0m`;
const plain = (text: string) => text;

export function styleFor(coloured: boolean): Style {
  if (!coloured) return { good: plain, bad: plain, going: plain, dim: plain, strong: plain };
  return { good: ansi(32), bad: ansi(31), going: ansi(33), dim: ansi(2), strong: ansi(1) };
}

/** Columns as wide as their widest cell on a terminal, a row on one line; `styled` gets each padded cell. */
export function table(
  rows: readonly (readonly string[])[],
  styled: (cell: string, row: number, column: number) => string = plain,
): string {
  const widths: number[] = [];
  const cells = rows.map((row) =>
    row.map((cell, index) => {
      const text = printableCell(cell);
      const width = stringWidth(text);
      widths[index] = Math.max(widths[index] ?? 0, width);
      return { text, width };
    }),
  );
  return cells
    .map((row, at) =>
      row
        .map(({ text, width }, index) => {
          const padding = index === row.length - 1 ? 0 : (widths[index] ?? 0) - width;
          return styled(text + ' '.repeat(padding), at, index);
        })
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** As kubectl shows ages: 12s, 5m, 3h, 2d. */
export function age(since: string | undefined, nowMs: number): string {
  if (since === undefined) return '';
  const seconds = Math.max(0, Math.round((nowMs - Date.parse(since)) / 1000));
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 7_200) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3_600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}
