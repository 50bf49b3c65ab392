import { expect, test } from 'vitest';
import { frozen } from './immutable.ts';

test('frozen() gives the same value, in which nothing can be changed at any depth', () => {
  const value = { spec: { names: ['a', { b: 1 }] }, none: null, text: 'x' };
  expect(frozen(value)).toBe(value);
  const parts = [value, value.spec, value.spec.names, value.spec.names[1]];
  expect(parts.map((part) => Object.isFrozen(part))).toEqual([true, true, true, true]);
});

test.each([1, 'a', null, undefined])('frozen() leaves %s as it is', (value) => expect(frozen(value)).toBe(value));
