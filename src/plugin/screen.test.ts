import { expect, test } from 'vitest';
import { screenOn } from './screen.ts';

/** Draws in a window with this many rows; undefined: unknown. */
function drawn(rows: number | undefined, ...texts: Parameters<ReturnType<typeof screenOn>['draw']>): string {
  let written = '';
  const write = (text: string) => {
    written += text;
  };
  screenOn(write, () => rows, true).draw(...texts);
  return written;
}

const [BEFORE, AFTER] = ['\u001B[H\u001B[J\u001B[?7l', '\u001B[?7h'];

test('A screen shows what fits in its window, says how much does not, and always the note', () => {
  const lines = Array.from({ length: 100 }, (_, index) => `line ${index}`).join('\n');
  expect(drawn(5, 'a\nb\n')).toBe(`${BEFORE}a\nb\n${AFTER}`);
  expect(drawn(5, lines).split('\n')).toEqual([
    `${BEFORE}line 0`,
    'line 1',
    'line 2',
    '… 97 more lines do not fit into this window',
    AFTER,
  ]);
  expect(drawn(6, lines, 'away\n')).toContain('line 1\n… 98 more lines do not fit into this window\n\naway\n');
  for (const unknown of [undefined, 0]) expect(drawn(unknown, lines)).toContain('line 99');
});

test('A screen follows only our own control sequences, whatever is written on it', () => {
  expect(drawn(5, 'a\u001B[31mb\u001B[0m\u001B[2Jc')).toBe(`${BEFORE}a\u001B[31mb\u001B[0m\\u001b[2Jc\n${AFTER}`);
});
