import { expect, test } from 'vitest';
import { aBusyQueue, BACKOFF, keysOf } from '../../test/support/work-queue.ts';
import { WORKERS_IN_ALL } from './workqueue.ts';

/* Keys that take long: what they hold up, and what they do not. */

const EACH_ITS_OWN = Array.from({ length: 10 }, (_, index) => `crowd-${index}/a`);

test.each([
  ['the same group', 'crowd/new', 'high', keysOf('crowd', 8)],
  ['another group, beside as many as there are workers', 'other/new', 'high', EACH_ITS_OWN],
  ['another group, beside as many as there are workers', 'other/new', 'normal', EACH_ITS_OWN],
] as const)(
  'WorkQueue gives the place of a key that takes long to another key of %s',
  async (_, key, priority, hanging) => {
    const { clock, add, inHand, end } = aBusyQueue(10);
    await add(hanging);
    await add([key], priority);
    await clock.advance(6_990);
    expect(inHand()).toEqual(hanging);
    await clock.advance(10);
    expect(inHand()).toEqual([...hanging, key]);
    // It does well, so others go on as quickly.
    await end(key);
    await add([key]);
    expect(inHand()).toEqual([...hanging, key]);
  },
);

test('WorkQueue lets a substitute begin only while those before it take long as well, and leaves free workers to others', async () => {
  const { clock, add, inHand } = aBusyQueue(10);
  await add(keysOf('crowd', 20));
  const counts = [inHand().length];
  for (let turn = 0; turn < 3; turn++) {
    await clock.advance(7_000);
    counts.push(inHand().length);
  }
  expect(counts).toEqual([8, 9, 10, 11]);
  await add(['other/a', 'another/a']);
  expect(inHand().slice(-2)).toEqual(['other/a', 'another/a']);
});

test('WorkQueue lets routine keys that take long use the workers for slow keys, and leaves some of these free', async () => {
  const { clock, add, inHand } = aBusyQueue(10);
  await add(keysOf('crowd', 200), 'low');
  expect(inHand()).toHaveLength(8);
  await clock.advance(7_000);
  expect(inHand()).toHaveLength(16);
  await clock.advance(600_000);
  // Four for each of the slow workers that stays free, and eight of the others.
  expect(inHand()).toHaveLength(80 + 8);
  await add(['a'], 'normal');
  expect(inHand()).toHaveLength(80 + 9);
  await add(['b'], 'slow');
  expect(inHand()).toHaveLength(80 + 10);
});

test('WorkQueue gives a routine key that takes long the last worker for slow keys, but no more than there are', async () => {
  const { clock, add, inHand } = aBusyQueue(1);
  await add(
    Array.from({ length: 9 }, (_, index) => `slow-${index}/a`),
    'slow',
  );
  await add(['one/a', 'two/a', 'three/a'], 'low');
  expect(inHand().slice(9)).toEqual(['one/a']);
  await clock.advance(7_000);
  expect(inHand().slice(9)).toEqual(['one/a', 'two/a']);
  await clock.advance(600_000);
  expect(inHand().slice(9)).toEqual(['one/a', 'two/a']);
});

test('WorkQueue makes use of every worker that calls, if everything hangs', async () => {
  const { clock, add, inHand } = aBusyQueue(2);
  const keys = (name: string) => Array.from({ length: 50 }, (_, index) => `${name}-${index}/a`);
  await add(keys('slow'), 'slow');
  await add(keys('urgent'), 'high');
  await clock.advance(600_000);
  // For each of the two workers: itself, ten for slow keys, and a substitute.
  expect([inHand().length, 2 * WORKERS_IN_ALL]).toEqual([24, 24]);
});

test('WorkQueue starts no substitute for a routine key that uses a worker for slow keys: it has left its own', async () => {
  const { clock, add, inHand } = aBusyQueue(10);
  await add(keysOf('hanging', 8), 'low');
  await clock.advance(7_000);
  await add(keysOf('crowd', 10), 'normal');
  expect(inHand()).toHaveLength(8 + 8);
});

test('WorkQueue has no more substitutes than workers, whatever hangs, and hands out everything when that ends', async () => {
  const { clock, add, inHand, end } = aBusyQueue(4);
  const keys = keysOf('', 40);
  await add(keys);
  await clock.advance(600_000);
  expect(inHand()).toHaveLength(8);
  const seen = new Set(inHand());
  while (inHand().length > 0) {
    await end(inHand()[0] ?? '');
    for (const key of inHand()) seen.add(key);
  }
  expect([...seen]).toEqual(keys);
});

test('WorkQueue processes keys that failed after long beside everything else, without using its workers', async () => {
  const { queue, clock, add, inHand, end } = aBusyQueue(10);
  const hanging = keysOf('crowd', 20);
  const failed = new Set<string>();
  await add(hanging);
  while (failed.size < hanging.length) {
    await clock.advance(1_000);
    const over = [...queue.processing].filter(([, { began }]) => clock.monotonic() - began >= 20_000);
    for (const [key] of over) await end(key, true);
    for (const [key] of over) failed.add(key);
  }
  await clock.advance(60_000);
  expect(new Set(inHand().map((key) => queue.priorityOf(key)))).toEqual(new Set(['slow']));
  expect(inHand()).toHaveLength(20);
  const healthy = keysOf('crowd', 30).slice(20);
  await add(healthy, 'normal');
  expect(healthy.filter((key) => queue.processing.has(key))).toHaveLength(8);
});

test('WorkQueue runs at most ten slow keys for each worker, and leaves one place free for other groups', async () => {
  const { clock, add, end, inHand } = aBusyQueue(4);
  const keys = keysOf('crowd', 60);
  for (const key of keys) {
    await add([key]);
    await clock.advance(7_000);
    await end(key, true);
  }
  await clock.advance(60_000);
  expect(inHand()).toHaveLength(32);
  await add(['one/a', 'other/b'], 'slow');
  expect(inHand().slice(32)).toEqual(['one/a', 'other/b']);
});

test('WorkQueue treats a key that failed after long as slow until it makes progress soon, or is added as more urgent', async () => {
  const { queue, clock, add, end } = aBusyQueue(2);
  const fail = async (afterMs: number) => {
    await clock.advance(afterMs);
    await end('a', true);
    await clock.advance(60_000);
    return queue.priorityOf('a');
  };
  await add(['a']);
  expect(await fail(6_999)).toBe('normal');
  expect(await fail(7_000)).toBe('slow');
  expect(await fail(0)).toBe('slow');
  // Its pass took long.
  queue.requeue('a');
  await end('a');
  await clock.advance(7_000);
  queue.requeue('a');
  await end('a');
  expect(queue.priorityOf('a')).toBe('slow');
  queue.requeue('a');
  await end('a');
  expect(queue.priorityOf('a')).toBe('normal');
  await add(['a'], 'normal');
  await end('a');
  expect(await fail(0)).toBe('normal');
  // Such as after a conflict, which makes it come back soon whatever it waited for.
  await clock.advance(7_000);
  queue.addRateLimited('a', BACKOFF, { priority: 'high' });
  await end('a');
  await clock.advance(60_000);
  expect(queue.priorityOf('a')).toBe('high');
  expect(await fail(7_000)).toBe('slow');
  queue.forget('a');
  queue.addAfter('a', 1_000, 'low');
  await end('a');
  await clock.advance(1_000);
  expect(queue.priorityOf('a')).toBe('low');
});

test('WorkQueue leaves no timer for running keys when these end, nor when it is shut down', async () => {
  const { queue, clock, add, end } = aBusyQueue(2);
  await add(['a', 'b']);
  await end('a');
  await end('b');
  expect(clock.timers()).toBe(0);
  await add(['a']);
  queue.shutDown();
  expect(clock.timers()).toBe(0);
});
