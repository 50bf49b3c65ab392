import { expect, test } from 'vitest';
import { didYouMean, nearest } from './nearest.ts';

test.each([
  ['namespace', ['namespaces', 'metrics-address'], 'namespaces'],
  ['wath', ['watch', 'output'], 'watch'],
  ['machinType', ['machineType', 'storageType'], 'machineType'],
  ['storageSizeGb', ['storageSizeGB'], 'storageSizeGB'],
  ['pln', ['plan', 'pause'], 'plan'],
  ['sotrage', ['storage'], 'storage'],
  // Two at the same distance: the first.
  ['ab', ['abc', 'abd'], 'abc'],
])('nearest() of %s in %j is %s', (word, names, expected) => {
  expect(nearest(word, names)).toBe(expected);
});

test.each([
  ['nonsense', ['namespaces', 'state']],
  ['foo', ['for', 'region'].slice(1)],
  ['x', ['y', 'plan']],
  ['', ['a']],
])('nearest() of %j in %j is none', (word, names) => {
  expect(nearest(word, names)).toBeUndefined();
});

test('didYouMean() is empty if nothing is near', () => {
  expect(didYouMean('pln', ['plan'])).toBe(' Did you mean plan?');
  expect(didYouMean('pln', ['plan'], (name) => `--${name}`)).toBe(' Did you mean --plan?');
  expect(didYouMean('nonsense', ['plan'])).toBe('');
});
