import { dump } from 'js-yaml';
import { isRecord } from '../plugin/inventory.ts';

/** A line of a text that is to change: it goes, it comes, or it stays, as a neighbour of one that does not; or a gap. */
export interface DiffLine {
  readonly mark: '-' | '+' | ' ' | '…';
  readonly text: string;
}

/** Lines that stay, shown before and after one that does not. */
const CONTEXT = 2;

/** Of the table by which lines are compared, four bytes each. About 2,000 lines with as many, between first and last change. */
const MAX_CELLS = 4_000_000;

/** Whether the values of a field are read line by line: texts of several lines, and lists of objects, which become YAML. */
export function isManyLines(from: unknown, to: unknown): boolean {
  return [from, to].some(
    (value) =>
      (typeof value === 'string' && value.trimEnd().includes('\n')) || (Array.isArray(value) && value.some(isRecord)),
  );
}

/** What changes from one value to the other, line by line. Undefined is nothing at all. */
export function differenceOf(from: unknown, to: unknown): readonly DiffLine[] {
  const [before, after] = [linesOf(from), linesOf(to)];
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  while (
    end < before.length - start &&
    end < after.length - start &&
    before[before.length - 1 - end] === after[after.length - 1 - end]
  )
    end++;
  const stays = (text: string): DiffLine => ({ mark: ' ', text });
  return near([
    ...before.slice(0, start).map(stays),
    ...between(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...before.slice(before.length - end).map(stays),
  ]);
}

/** By the longest common subsequence, so that as much as can stays; of texts that are too long for that, nothing does. */
function between(before: readonly string[], after: readonly string[]): readonly DiffLine[] {
  const width = after.length + 1;
  if ((before.length + 1) * width > MAX_CELLS)
    return [
      ...before.map((text): DiffLine => ({ mark: '-', text })),
      ...after.map((text): DiffLine => ({ mark: '+', text })),
    ];
  /** How many lines stay of what follows from here on. */
  const common = new Uint32Array((before.length + 1) * width);
  const at = (i: number, j: number) => common[i * width + j] ?? 0;
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--)
      common[i * width + j] = before[i] === after[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  }
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length) {
    const [gone = '', come = ''] = [before[i], after[j]];
    if (i < before.length && j < after.length && gone === come) {
      lines.push({ mark: ' ', text: gone });
      i++;
      j++;
    } else if (i < before.length && (j === after.length || at(i + 1, j) >= at(i, j + 1))) {
      lines.push({ mark: '-', text: gone });
      i++;
    } else {
      lines.push({ mark: '+', text: come });
      j++;
    }
  }
  return lines;
}

/** What changes, with its neighbours, and a mark for each gap. */
function near(lines: readonly DiffLine[]): readonly DiffLine[] {
  const isNear = lines.map((_, index) =>
    lines.slice(Math.max(0, index - CONTEXT), index + CONTEXT + 1).some(({ mark }) => mark !== ' '),
  );
  return lines.flatMap((line, index): readonly DiffLine[] => {
    if (isNear[index]) return [line];
    return index === 0 || isNear[index - 1] ? [{ mark: '…', text: '' }] : [];
  });
}

function linesOf(value: unknown): readonly string[] {
  if (value === undefined) return [];
  const text = typeof value === 'string' ? value : dump(value, { lineWidth: -1, noRefs: true });
  return text.trimEnd().split('\n');
}
