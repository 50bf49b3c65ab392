import { expect, test } from 'vitest';
import { commandFirst } from './arguments.ts';

test.each([
  [
    ['status', '-n', 'shop'],
    ['status', '-n', 'shop'],
  ],
  [
    ['-n', 'shop', 'status', '-w'],
    ['status', '-n', 'shop', '-w'],
  ],
  [
    ['-nshop', '--context=c', '--kubeconfig', 'k', 'explain', 'dbc/x'],
    ['explain', '-nshop', '--context=c', '--kubeconfig', 'k', 'dbc/x'],
  ],
  [['--help'], ['--help']],
  [['-n'], ['-n']],
  [
    ['-n', 'shop'],
    ['-n', 'shop'],
  ],
  [[], []],
])('commandFirst() turns %j into %j', (typed, meant) => {
  expect(commandFirst(typed)).toEqual(meant);
});
