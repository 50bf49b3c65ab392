import { expect, test } from 'vitest';
import { styleFor, table } from '../plugin/command-line/text.ts';
import { printable, printableCell } from './printable.ts';

/** Clears the screen, sets the title, and rings the bell. */
const HOSTILE = 'a\u001B[2J\u001B]0;owned\u0007b';

test('Text of others moves nothing on a terminal', () => {
  expect(printable(`${HOSTILE}\r\u009B2J\u007F\n\tend`)).toBe(
    'a\\u001b[2J\\u001b]0;owned\\u0007b\\r\\u009b2J\\u007f\n\tend',
  );
});

test('Text of others reverses no line', () => {
  expect(printable('from \u202Eto\u2066 \u061C')).toBe('from \\u202eto\\u2066 \\u061c');
});

test('Our own colours stay, if there are any, and nothing else does', () => {
  const red = styleFor(true).bad('x');
  expect(printable(`${red} ${HOSTILE}`, true)).toBe(`${red} a\\u001b[2J\\u001b]0;owned\\u0007b`);
  expect(printable(red)).not.toContain('\u001B');
  expect(printable('\u001B[8mhidden', true)).toBe('\\u001b[8mhidden');
});

test('JSON stays the same JSON', () => {
  const value = { text: `${HOSTILE}\u009B\u202E` };
  expect(JSON.parse(printable(JSON.stringify(value, null, 2)))).toEqual(value);
});

test('A cell stays one line, in its own direction', () => {
  expect(printableCell('two\nlines\ttab\u202Eturned')).toBe('two\\nlines\\ttab\\u202eturned');
  expect(table([['a'], ['two\nlines']])).toBe('a\ntwo\\nlines');
});

test('Columns are as wide as their cells appear on a terminal', () => {
  const rows = [
    ['日本語', '|'],
    ['e\u0301', '|'],
    ['👨‍👩‍👧', '|'],
    ['abcdef', '|'],
  ];
  expect(table(rows).split('\n')).toEqual(['日本語  |', 'e\u0301       |', '👨‍👩‍👧      |', 'abcdef  |']);
});
