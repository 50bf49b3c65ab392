import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Multimap } from './multimap.ts';

test('Multimap has each value of a key once, in the order of arrival', () => {
  const names = fc.constantFrom('a', 'b', 'c', '');
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), names, names)), (moves) => {
      const multimap = new Multimap();
      const expected = new Map<string, Set<string>>();
      for (const [isAdded, key, value] of moves) {
        const values = expected.get(key) ?? new Set();
        expected.set(key, values);
        if (isAdded) {
          multimap.add(key, value);
          values.add(value);
        } else {
          multimap.delete(key, value);
          values.delete(value);
        }
        expect([...multimap.get(key)]).toEqual([...values]);
        expect(multimap.has(key)).toBe(values.size > 0);
      }
    }),
  );
});
