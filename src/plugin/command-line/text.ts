import stringWidth from 'string-width';
import { printableCell } from '../../base/printable.ts';

/** How text for people is styled: with colours only on a terminal. */
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

/**
 * Lays out columns as wide as their widest cell on a terminal, one row per line. `styled` gets each padded cell. `width`: of the
 * window, at which the last column is cut; undefined: it is not cut.
 */
export function table(
  rows: readonly (readonly string[])[],
  styled: (cell: string, row: number, column: number) => string = plain,
  width?: number,
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
  const before = widths.slice(0, -1).reduce((sum, each) => sum + each + GAP.length, 0);
  const room = width === undefined ? Number.POSITIVE_INFINITY : width - before;
  return cells
    .map((row, at) =>
      row
        .map((cell, index) => {
          const isLast = index === widths.length - 1;
          const padding = index === row.length - 1 ? 0 : (widths[index] ?? 0) - cell.width;
          return styled(
            isLast && cell.width > room ? cut(cell.text, room) : cell.text + ' '.repeat(padding),
            at,
            index,
          );
        })
        .join(GAP)
        .trimEnd(),
    )
    .join('\n');
}

const GAP = '  ';
/** A shorter piece of a text says nothing: then the text should rather wrap. */
const LEAST = 10;

function cut(text: string, room: number): string {
  return room < LEAST ? text : `${beginningOf(text, room - 1).trimEnd()}…`;
}

/** As much of the text as takes at most `room` columns. */
export function beginningOf(text: string, room: number): string {
  let shown = '';
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    if (stringWidth(shown + segment) > room) break;
    shown += segment;
  }
  return shown;
}

/** Formats ages as kubectl does: 12s, 5m, 3h, 2d. */
export function age(since: string | undefined, nowMs: number): string {
  if (since === undefined) return '';
  const seconds = Math.max(0, Math.round((nowMs - Date.parse(since)) / 1000));
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 7_200) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3_600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}
