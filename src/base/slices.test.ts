import { expect, test } from 'vitest';
import { inSlices } from './slices.ts';

test('inSlices() gives others a turn after each slice, and goes on in order', async () => {
  const items = Array.from({ length: 10 }, (_, index) => index);
  const done: number[] = [];
  const seen: number[] = [];
  const working = inSlices(items, 4, (item) => done.push(item)).then(() => seen.push(-1));
  seen.push(done.length);
  while (seen.at(-1) !== -1) {
    await new Promise((resolve) => setImmediate(resolve));
    if (seen.at(-1) !== -1) seen.push(done.length);
  }
  await working;
  expect(done).toEqual(items);
  expect(Math.max(...seen.slice(1, -1).map((count, index) => count - (seen[index] ?? 0)))).toBeLessThanOrEqual(4);
});

test('inSlices() does a single slice at once', () => {
  const done: number[] = [];
  void inSlices([1, 2, 3], 3, (item) => done.push(item));
  expect(done).toEqual([1, 2, 3]);
});
