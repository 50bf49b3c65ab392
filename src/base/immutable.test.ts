import { expect, test } from 'vitest';
import { frozen, frozenCopy } from './immutable.ts';

test('frozen() returns the same value, immutable at any depth', () => {
  const value = { spec: { names: ['a', { b: 1 }] }, none: null, text: 'x' };
  expect(frozen(value)).toBe(value);
  const parts = [value, value.spec, value.spec.names, value.spec.names[1]];
  expect(parts.map((part) => Object.isFrozen(part))).toEqual([true, true, true, true]);
});

test.each([1, 'a', null, undefined])('frozen() leaves %s as it is', (value) => expect(frozen(value)).toBe(value));

test('frozenCopy() returns a value that cannot be changed, not even through its original', () => {
  const shared = frozen({ b: 1 });
  const value = { names: ['a', { c: 2 }], shared };
  const copy = frozenCopy(value);
  value.names.push('b');
  expect(copy).toEqual({ names: ['a', { c: 2 }], shared: { b: 1 } });
  expect([copy, copy.names, copy.names[1]].map((part) => Object.isFrozen(part))).toEqual([true, true, true]);
  expect(copy.shared).toBe(shared);
  expect(Object.isFrozen(value.names)).toBe(false);
});
