import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Heap } from './heap.ts';

test('Heap returns the first item, whatever was added and removed before', () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.integer())), (moves) => {
      const heap = new Heap<number>((one, other) => one < other);
      const expected: number[] = [];
      for (const move of moves) {
        if (move === null) {
          const first = expected.sort((a, b) => a - b).shift();
          expect(heap.peek()).toBe(first);
          expect(heap.pop()).toBe(first);
        } else {
          heap.push(move);
          expected.push(move);
        }
        expect(heap.size).toBe(expected.length);
      }
    }),
  );
});
