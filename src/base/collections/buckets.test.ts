import { expect, test } from 'vitest';
import { manualClock } from '../../../test/support/clock.ts';
import { Buckets } from './buckets.ts';

function someBuckets() {
  const clock = manualClock();
  const buckets = new Buckets({ clock, intervalMs: 100, burst: 3 });
  const take = (name: string) => {
    buckets.take(name);
    return buckets.waitMs(name);
  };
  return { clock, buckets, take };
}

test('Buckets allow a burst at once, and then one each interval', () => {
  const { clock, take } = someBuckets();
  expect([1, 2, 3, 4, 5].map(() => take('a'))).toEqual([0, 0, 0, 100, 200]);
  clock.advance(350);
  expect([1, 2, 3].map(() => take('a'))).toEqual([0, 50, 150]);
  clock.advance(10_000);
  expect([1, 2, 3, 4].map(() => take('a'))).toEqual([0, 0, 0, 100]);
});

test('Buckets keep one bucket for each name', () => {
  const { buckets, take } = someBuckets();
  for (let count = 0; count < 10; count++) buckets.take('a');
  expect([take('b'), buckets.waitMs('c'), take('a')]).toEqual([0, 0, 800]);
});

test('Buckets forget full buckets, and no others', () => {
  const { clock, buckets } = someBuckets();
  for (let index = 0; index < 1_000; index++, clock.advance(100)) {
    buckets.take('busy');
    buckets.take('busy');
    buckets.take(`once-${index}`);
    expect(buckets.size).toBeLessThan(5);
  }
  expect(buckets.waitMs('busy')).toBeGreaterThan(90_000);
});
