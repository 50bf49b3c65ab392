import {
  type Priority,
  WORKERS_IN_ALL,
  WorkQueue,
  type WorkQueueObserver,
  type WorkQueueOptions,
} from '../../src/runtime/workqueue.ts';
import { virtualClock } from '../../src/sandbox/virtual-clock.ts';
import { noChance } from './clock.ts';

export const BACKOFF = { initialMs: 1_000, maxMs: 60_000 };

/** A queue, its workers one by one, and what it tells. */
export function aQueue(random = noChance, more: Partial<WorkQueueOptions> = {}) {
  const clock = virtualClock();
  const told: unknown[] = [];
  const observer: WorkQueueObserver = {
    added: (depth) => told.push(['added', depth]),
    retried: () => told.push(['retried']),
    started: (depth, waitedMs) => told.push(['started', depth, waitedMs]),
    finished: (depth, workedMs) => told.push(['finished', depth, workedMs]),
  };
  const queue = new WorkQueue({ clock, random, observer, ...more });
  /** A worker that waits for one key. Until it has one, what it got is undefined. */
  const worker = () => {
    const got: { key?: string | undefined; over: boolean } = { over: false };
    void queue.get().then((key) => Object.assign(got, { key, over: true }));
    return got;
  };
  /** Takes all available keys, one after the other. */
  const drain = async () => {
    const order: string[] = [];
    while (queue.depth > 0) {
      const key = (await queue.get()) ?? '';
      order.push(key);
      queue.done(key);
    }
    return order;
  };
  return { clock, queue, worker, told, drain };
}

/** A queue whose workers all call `get`. Each does so again as soon as `end` ends its key. */
export function aBusyQueue(workers: number) {
  const { queue, clock, worker } = aQueue(noChance, { group: (key) => key.split('/')[0] || undefined, workers });
  for (let count = 0; count < workers * WORKERS_IN_ALL; count++) worker();
  const add = async (keys: readonly string[], priority: Priority = 'high') => {
    for (const key of keys) queue.add(key, priority);
    await clock.settle();
  };
  const end = async (key: string, failed = false) => {
    if (failed) queue.addRateLimited(key, BACKOFF);
    queue.done(key);
    worker();
    await clock.settle();
  };
  const inHand = () => [...queue.processing.keys()];
  return { queue, clock, add, end, inHand };
}

/** Keys of the group. */
export const keysOf = (group: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${group}/${index}`);
