import { expect, test } from 'vitest';
import { PackedMap } from './packed-map.ts';

test('PackedMap returns what was put in, and parses it once for repeated reads', () => {
  const map = new PackedMap<{ readonly name: string; readonly parts: readonly number[] }>();
  const names = Array.from({ length: 100 }, (_, index) => `n-${index}`);
  for (const name of names) map.set(name, { name, parts: [1, 2] });
  expect(names.map((name) => map.get(name))).toEqual(names.map((name) => ({ name, parts: [1, 2] })));
  expect(map.get('n-99')).toBe(map.get('n-99'));
  expect([map.size, [...map.keys()], map.get('other')]).toEqual([100, names, undefined]);
});

test('PackedMap forgets the former value, even if it was just read', () => {
  const map = new PackedMap<{ readonly value: number }>();
  map.set('a', { value: 1 });
  const before = map.get('a');
  map.set('a', { value: 2 });
  expect([before, map.get('a')]).toEqual([{ value: 1 }, { value: 2 }]);
  expect([map.delete('a'), map.delete('a'), map.get('a'), map.size]).toEqual([true, false, undefined, 0]);
});

test('PackedMap returns values that are immutable at any depth', () => {
  const map = new PackedMap<{ parts: { value: number }[] }>();
  map.set('a', { parts: [{ value: 1 }] });
  const [part] = map.get('a')?.parts ?? [];
  expect(() => Object.assign(part ?? {}, { value: 2 })).toThrow(TypeError);
  expect(() => map.get('a')?.parts.push({ value: 3 })).toThrow(TypeError);
});
