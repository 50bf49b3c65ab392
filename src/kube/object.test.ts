import { expect, test } from 'vitest';
import { keyOf, objectKey, splitKey } from './object.ts';

test('Keys name objects by namespace and name, and can be taken apart', () => {
  expect(keyOf({ metadata: { namespace: 'ns', name: 'a.b' } })).toBe('ns/a.b');
  expect(splitKey(objectKey('ns', 'a'))).toEqual({ namespace: 'ns', name: 'a' });
});

test('Keys of objects without a namespace can be taken apart too', () => {
  expect(splitKey(keyOf({ metadata: { name: 'a' } }))).toEqual({ namespace: '', name: 'a' });
});
