import { expect, test } from 'vitest';
import { screenOn } from './screen.ts';

type Texts = Parameters<ReturnType<typeof screenOn>['draw']>;

/** Draws in a window with this many rows and columns; undefined: unknown. */
function drawnIn(window: { readonly rows?: number | undefined; readonly columns?: number }, ...texts: Texts): string {
  let written = '';
  const write = (text: string) => {
    written += text;
  };
  screenOn(write, () => ({ rows: undefined, columns: undefined, ...window }), true).draw(...texts);
  return written;
}

const drawn = (rows: number | undefined, ...texts: Texts) => drawnIn({ rows }, ...texts);

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

test('A screen cuts lines at the width of its window, as the terminal would write their end over the last column', () => {
  const lines = (columns: number, text: string) => drawnIn({ columns }, text).slice(BEFORE.length, -AFTER.length - 1);
  expect(lines(10, '0123456789\n0123456789a')).toBe('0123456789\n012345678…');
  expect(lines(10, '\u001B[31m0123\u001B[0m 56789abc\u001B[32m d\u001B[0m')).toBe(
    '\u001B[31m0123\u001B[0m 5678…\u001B[32m\u001B[0m',
  );
  expect(lines(5, '└─ 数据库')).toBe('└─ …');
  expect(lines(0, '0123456789')).toBe('0123456789');
});

test('A screen shows below everything what is said meanwhile, until that is over', () => {
  let written = '';
  const write = (text: string) => {
    written = text;
  };
  const screen = screenOn(write, () => ({ rows: 5, columns: 20 }), true);
  expect([screen.say('log in'), written]).toEqual([false, '']);
  screen.draw('a\nb\nc');
  const view = `${BEFORE}a\nb\nc\n${AFTER}`;
  expect([screen.say(''), written]).toEqual([true, view]);
  expect([screen.say('open '), screen.say('https://login.test and enter ABC\n')]).toEqual([true, true]);
  const withNote = (lines: string) => `${BEFORE}${lines}\n\nopen https://login.…\n${AFTER}`;
  expect(written).toBe(withNote('a\n… 2 more lines do n…'));
  screen.draw('d');
  expect(written).toBe(withNote('d'));
  screen.say('');
  expect(written).toBe(`${BEFORE}d\n${AFTER}`);
  screen.say(Array.from({ length: 9 }, (_, index) => `line ${index}`).join('\n'));
  expect(written).toBe(`${BEFORE}d\nline 6\nline 7\nline 8\n${AFTER}`);
});
