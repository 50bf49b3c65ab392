import { expect, test } from 'vitest';
import { noChance } from '../../test/support/clock.ts';
import { virtualClock } from '../../test/support/virtual-clock.ts';
import { createSeededRandom } from '../simulator/seeded-random.ts';
import { WorkQueue, type WorkQueueObserver } from './workqueue.ts';

const BACKOFF = { initialMs: 1_000, maxMs: 60_000 };

function aQueue(random = noChance) {
  const clock = virtualClock();
  const told: unknown[] = [];
  const observer: WorkQueueObserver = {
    added: (depth) => told.push(['added', depth]),
    retried: () => told.push(['retried']),
    started: (depth, waitedMs) => told.push(['started', depth, waitedMs]),
    finished: (workedMs) => told.push(['finished', workedMs]),
  };
  const queue = new WorkQueue({ clock, random, observer });
  /** A worker that waits for one key; what it got is undefined as long as there is none. */
  const worker = () => {
    const got: { key?: string | undefined; over: boolean } = { over: false };
    void queue.get().then((key) => Object.assign(got, { key, over: true }));
    return got;
  };
  /** How long after now the key comes, when it was added with backoff. */
  const delayOf = async (key: string): Promise<number> => {
    const from = clock.monotonic();
    queue.addRateLimited(key, BACKOFF);
    const got = worker();
    await clock.runUntil(() => got.over, key);
    queue.done(key);
    return clock.monotonic() - from;
  };
  return { clock, queue, worker, told, delayOf };
}

test('WorkQueue gives a key once, however often it was added before', async () => {
  const { queue, worker, clock } = aQueue();
  for (let count = 0; count < 5; count++) queue.add('a');
  expect(await queue.get()).toBe('a');
  queue.done('a');
  const idle = worker();
  await clock.settle();
  expect([idle.over, queue.depth]).toEqual([false, 0]);
});

test('WorkQueue never gives a key to two workers, and gives it again when it was added while worked on', async () => {
  const { queue, worker, clock } = aQueue();
  queue.add('a');
  await queue.get();
  queue.add('a');
  queue.add('a');
  const other = worker();
  await clock.advance(60_000);
  expect(other.over).toBe(false);
  queue.done('a');
  await clock.settle();
  expect(other.key).toBe('a');
});

test('WorkQueue is fair: a key that was added again stands behind those that wait', async () => {
  const { queue } = aQueue();
  for (const key of ['a', 'b', 'c']) queue.add(key);
  expect(await queue.get()).toBe('a');
  queue.add('a');
  queue.done('a');
  expect([await queue.get(), await queue.get(), await queue.get()]).toEqual(['b', 'c', 'a']);
});

test('WorkQueue hands keys to workers in the order in which they came', async () => {
  const { queue, worker, clock } = aQueue();
  const [first, second] = [worker(), worker()];
  queue.add('a');
  queue.add('b');
  await clock.settle();
  expect([first.key, second.key]).toEqual(['a', 'b']);
});

test.each([
  { first: 5_000, second: 1_000 },
  { first: 1_000, second: 5_000 },
])('WorkQueue keeps the earliest of two delays: $first ms, then $second ms', async ({ first, second }) => {
  const { queue, worker, clock } = aQueue();
  queue.addAfter('a', first);
  queue.addAfter('a', second);
  const got = worker();
  await clock.advance(999);
  expect(got.over).toBe(false);
  await clock.advance(1);
  expect(got.key).toBe('a');
  queue.done('a');
  expect(clock.timers()).toBe(0);
});

test('WorkQueue drops the delayed addition of a key that is taken: the pass decides anew when to come back', async () => {
  const { queue, clock } = aQueue();
  queue.addAfter('a', 5_000);
  queue.add('a');
  expect(await queue.get()).toBe('a');
  expect(clock.timers()).toBe(0);
});

test('WorkQueue keeps a delayed addition that is made while the key is worked on', async () => {
  const { queue, clock, worker } = aQueue();
  queue.add('a');
  await queue.get();
  queue.addAfter('a', 5_000);
  queue.done('a');
  const got = worker();
  await clock.advance(5_000);
  expect(got.key).toBe('a');
});

test('WorkQueue doubles the delay with each failure up to the longest, and starts small after forget', async () => {
  const { delayOf, queue } = aQueue({ float: () => 0, bytes: () => new Uint8Array() });
  const delays: number[] = [];
  for (let count = 0; count < 8; count++) delays.push(await delayOf('a'));
  expect(delays).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  queue.forget('a');
  expect(await delayOf('a')).toBe(500);
});

test('WorkQueue counts failures for each key apart', async () => {
  const { delayOf } = aQueue();
  for (let count = 0; count < 5; count++) await delayOf('a');
  expect(await delayOf('b')).toBe(500);
});

test('WorkQueue spreads keys that failed together', async () => {
  const { queue, clock } = aQueue(createSeededRandom(1));
  for (let index = 0; index < 100; index++) queue.addRateLimited(`key-${index}`, BACKOFF);
  await clock.advance(499);
  expect(queue.depth).toBe(0);
  await clock.advance(250);
  expect(queue.depth).toBeGreaterThan(25);
  expect(queue.depth).toBeLessThan(75);
  await clock.advance(251);
  expect(queue.depth).toBe(100);
});

test('WorkQueue comes back no earlier than the other side asked for', async () => {
  const { queue, clock } = aQueue();
  queue.addRateLimited('a', BACKOFF, 20_000);
  await clock.advance(19_999);
  expect(queue.depth).toBe(0);
  await clock.advance(1);
  expect(queue.depth).toBe(1);
});

test('WorkQueue that is shut down hands out nothing, takes nothing and leaves no timer; work in hand may end', async () => {
  const { queue, clock, worker } = aQueue();
  queue.add('in hand');
  await queue.get();
  queue.add('in hand');
  queue.addAfter('late', 1_000);
  queue.addRateLimited('failed', BACKOFF);
  const waiting = worker();
  queue.shutDown();
  await clock.settle();
  expect([waiting.over, waiting.key, clock.timers()]).toEqual([true, undefined, 0]);
  queue.add('new');
  queue.addAfter('new', 10);
  queue.done('in hand');
  await clock.advance(60_000);
  expect([await queue.get(), queue.depth, queue.inProgress.size]).toEqual([undefined, 0, 0]);
});

test('WorkQueue gives those who wait before the shutdown what they were promised, and nothing twice', async () => {
  const { queue, worker, clock } = aQueue();
  queue.add('a');
  const first = worker();
  queue.shutDown();
  await clock.settle();
  expect(first.key).toBe('a');
});

test('WorkQueue tells how long keys wait and are worked on', async () => {
  const { queue, clock, told } = aQueue();
  queue.add('a');
  await clock.advance(30);
  await queue.get();
  await clock.advance(500);
  expect([...queue.inProgress]).toEqual([['a', 30]]);
  queue.add('a');
  queue.done('a');
  queue.addRateLimited('b', BACKOFF);
  expect(told).toEqual([['added', 1], ['started', 0, 30], ['added', 0], ['finished', 500], ['retried']]);
});

test('WorkQueue loses no key, whatever happens in whatever order', async () => {
  for (let seed = 1; seed <= 20; seed++) {
    const random = createSeededRandom(seed);
    const { queue, clock } = aQueue(random);
    const keys = ['a', 'b', 'c', 'd'];
    /** The last time each key was asked for, and the last time its work began. */
    const asked = new Map<string, number>();
    const began = new Map<string, number>();
    const inHand = new Set<string>();
    const work = async () => {
      for (let key = await queue.get(); key !== undefined; key = await queue.get()) {
        expect(inHand.has(key)).toBe(false);
        inHand.add(key);
        const taken = key;
        began.set(taken, clock.monotonic());
        await new Promise<void>((resolve) => clock.after(random.float() * 100, resolve));
        inHand.delete(taken);
        queue.done(taken);
      }
    };
    void work();
    void work();
    for (let step = 0; step < 100; step++) {
      const key = keys[Math.floor(random.float() * keys.length)] ?? 'a';
      queue.add(key);
      asked.set(key, clock.monotonic());
      await clock.advance(random.float() * 50);
    }
    await clock.advance(10_000);
    for (const [key, at] of asked) expect(began.get(key)).toBeGreaterThanOrEqual(at);
    queue.shutDown();
  }
});
