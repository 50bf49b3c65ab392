import { expect, test } from 'vitest';
import { eachOnce, warningsIn } from './warnings.ts';

test.each([
  ['no header', undefined, []],
  ['one', '299 - "use v2"', ['use v2']],
  [
    'several, one with a date',
    '299 - "a, \\"b\\" and \\\\" "Wed, 21 Oct 2026 07:28:00 GMT", 299 k8s "c"',
    ['a, "b" and \\', 'c'],
  ],
  ['a cache that says that the answer is old', '110 - "Response is Stale"', []],
  ['more than one line', '299 - "a\u001b[2J\u2028b"', ['a [2J b']],
  ['what is no warning', 'nonsense', []],
])('warningsIn() reads %s', (_what, header, texts) => {
  expect(warningsIn(header)).toEqual(texts);
});

test('eachOnce() tells a text again only after a thousand others', () => {
  const told: string[] = [];
  const once = eachOnce(({ text }) => told.push(text));
  const tell = (text: string) => once({ verb: 'get', resource: 'toys', text });
  for (const text of ['a', 'b', 'a', 'a']) tell(text);
  expect(told).toEqual(['a', 'b']);
  for (let number = 0; number < 999; number++) tell(`${number}`);
  tell('a');
  tell('b');
  expect(told.slice(-2)).toEqual(['998', 'b']);
});
