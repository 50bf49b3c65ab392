import { expect, test } from 'vitest';
import { Owners, ownerOf } from './owners.ts';

test('ownerOf() moves only what the leaving replica had, and spreads it', () => {
  const view = ['a', 'b', 'c', 'd'];
  const shards = Array.from({ length: 400 }, (_, index) => `shard-${index}`);
  const moved = shards.filter((shard) => ownerOf(shard, view) !== ownerOf(shard, ['a', 'b', 'c']));
  expect(moved.every((shard) => ownerOf(shard, view) === 'd')).toBe(true);
  for (const member of view) {
    const share = shards.filter((shard) => ownerOf(shard, view) === member).length;
    expect(share).toBeGreaterThan(60);
    expect(share).toBeLessThan(140);
  }
});

test('Owners agree with ownerOf(), and remember a bounded number of shards, however many come and go', () => {
  const owners = new Owners();
  const view = ['a', 'b'];
  for (let index = 0; index < 25_000; index++) {
    const shard = `shard-${index}`;
    expect(owners.of(shard, view)).toBe(ownerOf(shard, view));
  }
  expect(owners.size).toBeLessThanOrEqual(10_000);
});
