import { expect, test } from 'vitest';
import { compareVersions, keyOf, objectKey, splitKey } from './object.ts';

test('Keys name objects by namespace and name, and can be taken apart', () => {
  expect(keyOf({ metadata: { namespace: 'ns', name: 'a.b' } })).toBe('ns/a.b');
  expect(splitKey(objectKey('ns', 'a'))).toEqual({ namespace: 'ns', name: 'a' });
});

test('Keys of objects without a namespace can be taken apart too', () => {
  expect(splitKey(keyOf({ metadata: { name: 'a' } }))).toEqual({ namespace: '', name: 'a' });
});

test.each([
  ['9', '10', -1],
  ['10', '9', 1],
  ['11', '10', 1],
  ['10', '11', -1],
  ['10', '10', 0],
  ['99999999999999999998', '99999999999999999999', -1],
  ['100000000000000000000', '99999999999999999999', 1],
  ['abc', '10', Number.NaN],
  ['10', 'abc', Number.NaN],
  ['010', '9', Number.NaN],
])('compareVersions() of %s and %s', (one, other, expected) => {
  expect(Math.sign(compareVersions({ resourceVersion: one }, { resourceVersion: other }))).toBe(expected);
});
