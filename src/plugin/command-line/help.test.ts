import { expect, test } from 'vitest';
import { helpRows } from './help.ts';

test('helpRows() are at most as wide as a narrow window, each with its text in a column of its own', () => {
  const about =
    'how long other replicas wait after the last sign of the one that acts, and what else there is to say of that';
  expect(
    helpRows([
      ['--short', 'is short'],
      ['--lease-duration …', about],
      ['--last', ''],
    ]),
  ).toBe(
    [
      '  --short             is short',
      '  --lease-duration …  how long other replicas wait after the last sign of the one that acts, and',
      '                      what else there is to say of that',
      '  --last',
    ].join('\n'),
  );
});

test('helpRows() break no word, however long it is', () => {
  const word = 'x'.repeat(120);
  expect(helpRows([['--a', `see ${word} there`]])).toBe(`  --a  see\n       ${word}\n       there`);
});
