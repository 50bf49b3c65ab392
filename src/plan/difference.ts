import { diffArrays } from 'diff';
import { dump } from 'js-yaml';
import { isRecord } from '../base/is-record.ts';

/** A line of a changing text: removed, added, or kept as context; or a gap. */
export interface DiffLine {
  readonly mark: '-' | '+' | ' ' | '…';
  readonly text: string;
}

/** How many unchanged lines are shown before and after a changed one. */
const CONTEXT = 2;

/** With more changed lines than this, finding out which they are would take seconds. */
const MAX_CHANGED = 2_000;

/** Reports whether a field is compared by line: texts of several lines, and lists of objects, which become YAML. */
export function isManyLines(from: unknown, to: unknown): boolean {
  return [from, to].some(
    (value) =>
      (typeof value === 'string' && value.trimEnd().includes('\n')) || (Array.isArray(value) && value.some(isRecord)),
  );
}

/** What changes from one value to the other, line by line. Undefined means nothing at all. */
export function differenceOf(from: unknown, to: unknown): readonly DiffLine[] {
  const [before, after] = [linesOf(from), linesOf(to)];
  const found = diffArrays(before, after, { maxEditLength: MAX_CHANGED }) ?? [
    { value: before, removed: true },
    { value: after, added: true },
  ];
  const marked = found.flatMap(({ value, removed, added }) => {
    const mark = removed === true ? '-' : added === true ? '+' : ' ';
    return value.map((text): DiffLine => ({ mark, text }));
  });
  return near(marked);
}

/** The changed lines with their context, and a mark for each gap. */
function near(lines: readonly DiffLine[]): readonly DiffLine[] {
  const isNear = lines.map((_, index) =>
    lines.slice(Math.max(0, index - CONTEXT), index + CONTEXT + 1).some(({ mark }) => mark !== ' '),
  );
  return lines.flatMap((line, index): readonly DiffLine[] => {
    if (isNear[index]) return [line];
    return index === 0 || isNear[index - 1] ? [{ mark: '…', text: '' }] : [];
  });
}

function linesOf(value: unknown): string[] {
  if (value === undefined) return [];
  const text = typeof value === 'string' ? value : dump(value, { lineWidth: -1, noRefs: true });
  return text.trimEnd().split('\n');
}
