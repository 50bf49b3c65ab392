import { expect, test } from 'vitest';
import { noChance } from '../../test/support/clock.ts';
import { aQueue, BACKOFF } from '../../test/support/work-queue.ts';
import { createSeededRandom } from '../simulator/seeded-random.ts';
import { type Priority, WORKERS_IN_ALL } from './workqueue.ts';

test('WorkQueue gives a key once, however often it was added before', async () => {
  const { queue, worker, clock } = aQueue();
  for (let count = 0; count < 5; count++) queue.add('a');
  expect(await queue.get()).toBe('a');
  queue.done('a');
  const idle = worker();
  await clock.settle();
  expect([idle.over, queue.depth]).toEqual([false, 0]);
});

test('WorkQueue never gives a key to two workers, and gives it again if it was added during its pass', async () => {
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

test('WorkQueue gives a key that became more urgent while it waited only once', async () => {
  const { queue, drain } = aQueue(noChance, { group: (key) => key.split('/')[0] ?? '' });
  queue.add('one/a', 'low');
  queue.add('one/a', 'high');
  queue.add('other/b', 'low');
  queue.add('other/b', 'low');
  expect([await drain(), queue.depth]).toEqual([['one/a', 'other/b'], 0]);
});

test('WorkQueue gives a key that goes on and became more urgent only once, and nobody waits for it in vain', async () => {
  const { queue, drain } = aQueue(noChance, { group: (key) => key.split('/')[0] ?? '' });
  queue.add('one/a');
  await queue.get();
  queue.requeue('one/a');
  queue.done('one/a');
  queue.add('one/a', 'high');
  queue.add('other/b');
  expect([await drain(), queue.depth]).toEqual([['one/a', 'other/b'], 0]);
});

test('WorkQueue starts with small delays again once a key has succeeded', async () => {
  const { clock, queue, worker } = aQueue({ ...noChance, float: () => 1 });
  for (let count = 0; count < 3; count++) {
    queue.addRateLimited('a', BACKOFF);
    await clock.advance(60_000);
    expect(await queue.get()).toBe('a');
    queue.done('a');
  }
  queue.forget('a');
  queue.addRateLimited('a', BACKOFF);
  const next = worker();
  await clock.advance(2_000);
  expect(next.key).toBe('a');
});

test('WorkQueue adds a key without delay at once, and adds nothing after its shutdown', async () => {
  const { clock, queue } = aQueue();
  queue.addAfter('a', 0);
  expect([queue.depth, clock.timers()]).toEqual([1, 0]);
  queue.shutDown();
  queue.addAfter('b', 1_000);
  expect([queue.depth, clock.timers()]).toEqual([0, 0]);
});

test('WorkQueue is fair: a key that was added again comes after those that wait', async () => {
  const { queue } = aQueue();
  for (const key of ['a', 'b', 'c']) queue.add(key);
  expect(await queue.get()).toBe('a');
  queue.add('a');
  queue.done('a');
  expect([await queue.get(), await queue.get(), await queue.get()]).toEqual(['b', 'c', 'a']);
});

test('WorkQueue keeps the place of a key that is added again while it waits', async () => {
  const { queue, drain } = aQueue();
  for (const key of ['a', 'b', 'a']) queue.add(key);
  expect(await drain()).toEqual(['a', 'b']);
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

test('WorkQueue drops the delayed addition of a key that is taken: the pass decides again when to come back', async () => {
  const { queue, clock } = aQueue();
  queue.addAfter('a', 5_000);
  queue.add('a');
  expect(await queue.get()).toBe('a');
  expect(clock.timers()).toBe(0);
});

test('WorkQueue keeps a delayed addition that is made during the pass of its key', async () => {
  const { queue, clock, worker } = aQueue();
  queue.add('a');
  await queue.get();
  queue.addAfter('a', 5_000);
  queue.done('a');
  const got = worker();
  await clock.advance(5_000);
  expect(got.key).toBe('a');
});

test('WorkQueue comes back no earlier than the other side asked for', async () => {
  const { queue, clock } = aQueue();
  queue.addRateLimited('a', BACKOFF, { atLeastMs: 20_000 });
  await clock.advance(19_999);
  expect(queue.depth).toBe(0);
  await clock.advance(1);
  expect(queue.depth).toBe(1);
});

test('WorkQueue that is shut down hands out nothing, accepts nothing and leaves no timer; running work may end', async () => {
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
  expect([await queue.get(), queue.depth, queue.processing.size]).toEqual([undefined, 0, 0]);
});

test('WorkQueue gives workers that wait at the shutdown the keys already assigned, and none twice', async () => {
  const { queue, worker, clock } = aQueue();
  queue.add('a');
  const first = worker();
  queue.shutDown();
  await clock.settle();
  expect(first.key).toBe('a');
});

test('WorkQueue reports how long keys wait and are worked on', async () => {
  const { queue, clock, told } = aQueue();
  await clock.advance(1_000);
  queue.add('a', 'low');
  await clock.advance(10);
  queue.add('a', 'high');
  await clock.advance(20);
  await queue.get();
  await clock.advance(500);
  expect([...queue.processing].map(([key, { began }]) => [key, began])).toEqual([['a', 1_030]]);
  queue.add('a');
  queue.done('a');
  queue.addRateLimited('b', BACKOFF);
  expect(told).toEqual([['added', 1], ['started', 0, 30], ['added', 0], ['finished', 1, 500], ['retried']]);
});

test('WorkQueue hands out what a person waits for before ongoing work, and that before routine', async () => {
  const { queue, drain } = aQueue();
  queue.add('routine', 'low');
  queue.add('goes on');
  queue.add('edited', 'high');
  queue.add('goes on too', 'normal');
  expect(await drain()).toEqual(['edited', 'goes on', 'goes on too', 'routine']);
});

test.each<[first: Priority, second: Priority, wins: Priority]>([
  ['low', 'high', 'high'],
  ['high', 'low', 'high'],
  ['low', 'normal', 'normal'],
  ['normal', 'normal', 'normal'],
])('WorkQueue works once on a key that was added as %s, then as %s, and as %s', async (first, second, wins) => {
  for (const inHand of [false, true]) {
    const { queue } = aQueue();
    if (inHand) {
      queue.add('a');
      await queue.get();
    }
    queue.add('a', first);
    queue.add('a', second);
    queue.done('a');
    expect([await queue.get(), queue.priorityOf('a'), queue.depth]).toEqual(['a', wins, 0]);
  }
});

test('WorkQueue keeps the priority of a delayed addition', async () => {
  const { queue, clock, drain } = aQueue();
  queue.addAfter('routine', 1_000, 'low');
  queue.addAfter('edited', 2_000, 'high');
  queue.addRateLimited('failed', BACKOFF, { priority: 'low' });
  await clock.advance(2_000);
  expect(await drain()).toEqual(['edited', 'routine', 'failed']);
});

test('WorkQueue lets groups take turns, so that a crowd holds up nobody else', async () => {
  const { queue, drain } = aQueue(noChance, { group: (key) => key.split('/')[0] });
  for (let index = 0; index < 10_000; index++) queue.add(`crowd/${index}`);
  queue.add('one/a');
  queue.add('other/a');
  queue.add('other/b');
  const order = await drain();
  expect(order.slice(0, 6)).toEqual(['crowd/0', 'one/a', 'other/a', 'crowd/1', 'other/b', 'crowd/2']);
  expect(order.filter((key) => key.startsWith('crowd/'))).toEqual(
    Array.from({ length: 10_000 }, (_, i) => `crowd/${i}`),
  );
});

test('WorkQueue finishes keys that it has begun before it begins more of the same group, and keeps the turns of others', async () => {
  const { queue } = aQueue(noChance, { group: (key) => key.split('/')[0] });
  for (const key of ['crowd/0', 'crowd/1', 'crowd/2', 'one/0', 'one/1']) queue.add(key, 'high');
  const order: string[] = [];
  for (let passes = 0; passes < 10; passes++) {
    const key = (await queue.get()) ?? '';
    order.push(key);
    // Each needs two passes.
    if (!order.slice(0, -1).includes(key)) queue.requeue(key);
    expect(queue.priorityOf(key)).toBe('high');
    queue.done(key);
  }
  expect(order.join(' ')).toBe('crowd/0 one/0 crowd/0 one/0 crowd/1 one/1 crowd/1 one/1 crowd/2 crowd/2');
});

test('WorkQueue gives a crowd no more turns than others for having waited longer', async () => {
  const { queue, drain } = aQueue(noChance, { group: (key) => key.split('/')[0] });
  for (let index = 0; index < 100; index++) queue.add(`crowd/${index}`);
  for (let index = 0; index < 10; index++) for (const group of ['one', 'two', 'three']) queue.add(`${group}/${index}`);
  const first = (await drain()).slice(0, 40);
  expect(first.filter((key) => key.startsWith('crowd/'))).toHaveLength(10);
});

test('WorkQueue begins an urgent key with the next free worker, whatever the backlog', async () => {
  const { queue, drain } = aQueue();
  for (let index = 0; index < 10_000; index++) queue.add(`backlog-${index}`, 'low');
  const first = await queue.get();
  queue.add('edited', 'high');
  queue.done(first ?? '');
  expect((await drain())[0]).toBe('edited');
});

test('WorkQueue starves nobody: in a flood of urgent keys, every tenth gives way to a less urgent one', async () => {
  const { queue } = aQueue();
  for (const key of ['routine-0', 'routine-1']) queue.add(key, 'low');
  queue.add('goes on', 'normal');
  const order: string[] = [];
  for (let index = 0; index < 30; index++) {
    for (const each of [0, 1]) queue.add(`urgent-${index}-${each}`, 'high');
    const key = (await queue.get()) ?? '';
    order.push(key);
    queue.done(key);
  }
  expect([9, 19, 29].map((index) => order[index])).toEqual(['routine-0', 'goes on', 'routine-1']);
});

const crowds = (count: number): Crowd[] => Array.from({ length: count }, (_, index) => [`crowd-${index}`, 'high']);
type Crowd = readonly [prefix: string, priority: Priority];

test.each<[what: string, workers: number, crowds: readonly Crowd[], inHand: number]>([
  ['a group', 10, crowds(1), 8],
  ['a group, of three workers,', 3, crowds(1), 2],
  ['a group, of two workers,', 2, crowds(1), 1],
  ['two groups', 10, crowds(2), 8],
  ['three groups', 10, crowds(3), 9],
  ['as many groups as workers but one', 10, crowds(9), 9],
  ['routine work', 10, [['', 'low']], 8],
  ['a group and routine work', 10, [...crowds(1), ['', 'low']], 8],
])('WorkQueue leaves a worker free if all keys of %s hang', async (_, workers, hanging, inHand) => {
  const group = (key: string) => key.split('/')[0] || undefined;
  const { queue, worker, clock } = aQueue(noChance, { group, workers });
  for (let count = 0; count < workers; count++) worker();
  for (let index = 0; index < 20; index++)
    for (const [prefix, priority] of hanging) queue.add(`${prefix}/${index}`, priority);
  await clock.settle();
  expect(queue.processing.size).toBe(inHand);
  for (const key of ['other/a', 'other/b']) {
    queue.add(key);
    await clock.settle();
    expect(queue.processing.has(key)).toBe(true);
    queue.done(key);
    worker();
  }
  // One of the hanging keys ends, and the next of these begins.
  for (const key of [...queue.processing.keys()].slice(0, 1)) queue.done(key);
  worker();
  await clock.settle();
  expect(queue.processing.size).toBe(inHand);
});

test.each([
  ['passes end soon', 100, 2],
  ['some take long', 8_000, 2 * WORKERS_IN_ALL],
])('WorkQueue loses no key, whatever happens and in whatever order, if %s', async (_, longestMs, callers) => {
  for (let seed = 1; seed <= 20; seed++) {
    const random = createSeededRandom(seed);
    const { queue, clock } = aQueue(random, { group: (key) => (key < 'c' ? 'one' : undefined), workers: 2 });
    const keys = ['a', 'b', 'c', 'd'];
    /** When each key was last requested, and when its work last began. */
    const asked = new Map<string, number>();
    const began = new Map<string, number>();
    const inHand = new Set<string>();
    const work = async () => {
      for (let key = await queue.get(); key !== undefined; key = await queue.get()) {
        expect(inHand.has(key)).toBe(false);
        inHand.add(key);
        const taken = key;
        began.set(taken, clock.monotonic());
        await new Promise<void>((resolve) => clock.after(random.float() * longestMs, resolve));
        inHand.delete(taken);
        if (random.float() < 0.2) queue.addRateLimited(taken, BACKOFF);
        queue.done(taken);
      }
    };
    for (let count = 0; count < callers; count++) void work();
    for (let step = 0; step < 100; step++) {
      const key = keys[Math.floor(random.float() * keys.length)] ?? 'a';
      queue.add(key, (['high', 'normal', 'low'] as const)[step % 3]);
      asked.set(key, clock.monotonic());
      await clock.advance(random.float() * 50);
    }
    await clock.advance(100 * longestMs);
    for (const [key, at] of asked) expect(began.get(key)).toBeGreaterThanOrEqual(at);
    queue.shutDown();
  }
});

test('WorkQueue tells for how long a key has failed, since the first of these passes began', async () => {
  const { queue, clock } = aQueue();
  queue.add('a');
  await queue.get();
  await clock.advance(20_000);
  expect(queue.failsForMs('a')).toBe(20_000);
  queue.addRateLimited('a', BACKOFF);
  queue.done('a');
  await clock.advance(5_000);
  await queue.get();
  expect(queue.failsForMs('a')).toBe(25_000);
  queue.addRateLimited('a', BACKOFF);
  expect(queue.failsForMs('a')).toBe(25_000);
  queue.forget('a');
  queue.done('a');
  queue.add('a');
  await queue.get();
  await clock.advance(1_000);
  expect(queue.failsForMs('a')).toBe(1_000);
});

test('WorkQueue counts the time until the next turn of a crowd as time for which a key will have failed', async () => {
  const { queue, clock } = aQueue();
  for (let index = 0; index < 1_000; index++) queue.addRateLimited(`crowd-${index}`, BACKOFF);
  queue.add('a');
  await queue.get();
  await clock.advance(1_000);
  expect(queue.failsForMs('a')).toBe(1_000 + 9_000);
});

test('WorkQueue never returns within the same moment to a key whose remaining time is only a rounding error', async () => {
  const { queue, clock } = aQueue();
  await clock.advance(205_147.073_986_65);
  const begin = clock.monotonic();
  queue.addAfter('a', 1e-12);
  const key = queue.get();
  await clock.advance(10);
  expect(await key).toBe('a');
  expect(queue.processing.get('a')?.began).toBeGreaterThan(begin);
});

type Delayed = readonly [delayMs: number, priority: Priority];

test.each<[what: string, first: Delayed, second: Delayed, wins: Delayed]>([
  ['the more urgent of two', [2_000, 'low'], [2_000, 'high'], [2_000, 'high']],
  ['the more urgent of two', [2_000, 'low'], [3_000, 'high'], [2_000, 'high']],
  ['the more urgent of two', [2_000, 'high'], [3_000, 'low'], [2_000, 'high']],
  ['the more urgent of two', [2_000, 'high'], [1_000, 'low'], [1_000, 'high']],
  ['slow, if the other comes no earlier', [2_000, 'slow'], [60_000, 'low'], [2_000, 'slow']],
  ['slow, if the other comes no earlier', [2_000, 'slow'], [2_000, 'high'], [2_000, 'slow']],
  ['more urgent than slow, if that comes earlier', [60_000, 'slow'], [2_000, 'high'], [2_000, 'high']],
])('WorkQueue takes two delayed additions as %s: %s, %s', async (_, first, second, [delayMs, priority]) => {
  const { clock, queue } = aQueue();
  queue.addAfter('a', ...first);
  queue.addAfter('a', ...second);
  await clock.advance(delayMs - 1);
  expect(queue.depth).toBe(0);
  await clock.advance(1);
  expect([await queue.get(), queue.priorityOf('a')]).toEqual(['a', priority]);
});
