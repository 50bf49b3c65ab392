/*
 * A queue of keys with the contract of client-go's rate limiting workqueue and the priorities of controller-runtime's:
 * - Stingy: a key added several times before it is worked on is worked on once, with the highest priority given.
 * - One worker per key: a key added while it is worked on (dirty and processing) waits until `done`, then is worked on again.
 * - Urgent first: `high` before `normal` before `low`, except that every tenth key is a less urgent one, so that nothing starves. Fair:
 *   within a priority, groups take turns. Keys of one group are first in, first out, except that requeued ones go first.
 * - Shared: neither a group nor `low` is given more than four keys per worker that stays free. The more crowds, the less each gets, and
 *   the last worker is for a group that has none running. Keys over the limit wait, however urgent; keys without a group do not.
 * - Not held up by keys that hang, that is, run for longer than `LONG_MS`. A key that failed after so long is `slow` until a pass
 *   succeeds or it is added with more urgency; slow keys have workers of their own, ten times as many. A `low` key that hangs counts as
 *   slow from then on, if there is room. For any other key that hangs a substitute worker steps in, and another once the last
 *   substitute's key hangs too, up to the number of workers.
 * - A key has at most one delayed addition, the earliest. It is dropped when the key is taken: each pass decides when to come back.
 * - After shutdown it hands out nothing more, and running keys are drained: their workers end with `done`. Unlike in client-go, waiting
 *   keys are dropped: the next process's first list brings them.
 */

import type { Backoff } from '../base/backoff.ts';
import { FairQueue } from '../base/collections/fair-queue.ts';
import { Schedule } from '../base/collections/schedule.ts';
import { RateLimiter, type RateLimiterOptions } from './rate-limiter.ts';

/**
 * How urgent a key is, as in controller-runtime's priority queue. `high`: a person changed something; `normal`: work goes on; `low`:
 * routine checks, and objects in order at a start; `slow`: it waited long in vain, and may again.
 */
export type Priority = 'high' | 'normal' | 'low' | 'slow';

const PRIORITIES: readonly Priority[] = ['high', 'normal', 'low', 'slow'];
const isMoreUrgent = (one: Priority, other: Priority) => PRIORITIES.indexOf(one) < PRIORITIES.indexOf(other);
/** Every tenth key is a less urgent one: `low` and `normal` by turns, if there are any. */
const AGING_SHARE = 10;
const AGED: readonly (readonly Priority[])[] = [
  ['normal', 'low', 'high', 'slow'],
  ['low', 'normal', 'high', 'slow'],
];

/** Running keys that a crowd may have per free worker. */
const CROWD_PER_FREE_WORKER = 4;
/** A pass may wait five seconds for its turn, and then for an answer. A key that has been running for longer than this may hang. */
const LONG_MS = 7_000;
/** With fewer, if many servers hang, one that is back would wait behind all the others, each of which takes 20 s. */
const SLOW_PER_WORKER = 10;
/** Per worker: itself, its workers for slow keys, and a substitute. */
export const WORKERS_IN_ALL = 1 + SLOW_PER_WORKER + 1;

/** Hears what happens, in the terms of client-go's workqueue metrics. Times are in milliseconds. */
export interface WorkQueueObserver {
  added(depth: number): void;
  retried(): void;
  started(depth: number, waitedMs: number): void;
  finished(depth: number, workedMs: number): void;
}

export interface WorkQueueOptions extends RateLimiterOptions {
  readonly observer?: WorkQueueObserver;
  /** The number of workers while nothing hangs; `WORKERS_IN_ALL` times as many must call `get`. Default: always enough. */
  readonly workers?: number;
}

/** Of a rate limited addition. `fails`: whether the pass before it failed (default); `unknown`: it came to no end. */
type Retry = { readonly atLeastMs?: number | undefined; priority?: Priority; fails?: boolean | 'unknown' };

interface Dirty {
  /** When it was added, by the monotonic clock. */
  readonly since: number;
  readonly priority: Priority;
  readonly group: string | undefined;
}

/** A key that is worked on. */
export interface Processing extends Dirty {
  /** When that began, by the monotonic clock. */
  readonly began: number;
  /** Whose worker it has. */
  workers: 'regular' | 'slow' | 'substitute';
  /** It has been running for longer than `LONG_MS` and was not known as slow. */
  isLong: boolean;
}

/** A queue of keys, as above. */
export class WorkQueue {
  readonly #options: WorkQueueOptions;
  readonly #limiter: RateLimiter;
  /** Keys that need work; those that are not running are in the queues of their priorities. */
  readonly #dirty = new Map<string, Dirty>();
  readonly #processing = new Map<string, Processing>();
  /** Running keys to be worked on again before others of their group. */
  readonly #requeued = new Set<string>();
  readonly #levels = { high: new FairQueue(), normal: new FairQueue(), low: new FairQueue(), slow: new FairQueue() };
  readonly #delayed: Schedule<Priority>;
  /** When running keys will have been running for `LONG_MS`. */
  readonly #toBeLong: Schedule<Processing>;
  /** When the first of a key's consecutive failed passes began, by the monotonic clock. */
  readonly #failingSince = new Map<string, number>();
  readonly #workers: ((key: string | undefined) => void)[] = [];
  #handedOut = 0;
  #shutDown = false;

  constructor(options: WorkQueueOptions) {
    this.#options = options;
    this.#limiter = new RateLimiter(options);
    this.#delayed = new Schedule(options.clock, (key, priority) => this.add(key, priority));
    this.#toBeLong = new Schedule(options.clock, (_, key) => {
      key.isLong = true;
      // A hanging check says nothing about other servers: these must not be found to hang only one after the other.
      const { free, mayGrow } = this.#room('slow');
      if (key.priority === 'low' && free >= 0 && mayGrow((each) => each.group === key.group)) key.workers = 'slow';
      this.#handOut();
    });
  }

  /** The number of keys that are ready to be worked on. */
  get depth(): number {
    return this.#dirty.size - [...this.#processing.keys()].filter((key) => this.#dirty.has(key)).length;
  }

  /** The keys that are worked on. */
  get processing(): ReadonlyMap<string, Processing> {
    return this.#processing;
  }

  /** Returns the priority with which a running key was handed out. */
  priorityOf(key: string): Priority {
    return this.#processing.get(key)?.priority ?? 'normal';
  }

  add(key: string, priority: Priority = 'normal'): void {
    if (this.#shutDown) return;
    const known = this.#dirty.get(key);
    if (known !== undefined && !isMoreUrgent(priority, known.priority)) return;
    if (known !== undefined) this.#levels[known.priority].delete(key, known.group ?? '');
    const since = known?.since ?? this.#options.clock.monotonic();
    this.#dirty.set(key, { since, priority, group: this.#options.group?.(key) });
    if (!this.#processing.has(key)) this.#enter(key);
    if (known === undefined) this.#options.observer?.added(this.depth);
    this.#handOut();
  }

  /** Works on the running key again at once, with its priority, before keys of its group that have not begun. */
  requeue(key: string): void {
    this.#requeued.add(key);
    const isQuick = this.#options.clock.monotonic() - (this.#processing.get(key)?.began ?? 0) < LONG_MS;
    this.add(key, isQuick && this.priorityOf(key) === 'slow' ? 'normal' : this.priorityOf(key));
  }

  /** Adds the key after `delayMs`, or earlier if an earlier addition is due. */
  addAfter(key: string, delayMs: number, priority: Priority = 'normal'): void {
    if (this.#shutDown) return;
    if (delayMs <= 0) {
      this.add(key, priority);
      return;
    }
    // Timers are no finer than a millisecond, and what a rounding error leaves of a delay would be left again, for ever.
    const at = this.#options.clock.monotonic() + Math.max(delayMs, 1);
    const known = this.#delayed.get(key) ?? { at: Number.POSITIVE_INFINITY, value: priority };
    const isEarlier = at < known.at;
    // What is urgent does not make a key that hangs quicker.
    const urgent =
      isMoreUrgent(priority, known.value) && (isEarlier || known.value !== 'slow') ? priority : known.value;
    if (isEarlier || urgent !== known.value) this.#delayed.set(key, Math.min(at, known.at), urgent);
  }

  /** Adds the key after a delay of at least `atLeastMs` that grows with each call until `forget`. */
  addRateLimited(key: string, backoff: Backoff, retry: Retry = {}): void {
    const { atLeastMs = 0, priority = 'normal', fails = true } = retry;
    this.#options.observer?.retried();
    if (fails === true) this.#failingSince.set(key, this.#failsSince(key));
    else if (!fails) this.#failingSince.delete(key);
    const processing = this.#processing.get(key);
    const isSlow = priority === 'normal' && (processing?.isLong || processing?.priority === 'slow');
    this.addAfter(key, Math.max(atLeastMs, this.#limiter.when(key, backoff)), isSlow ? 'slow' : priority);
  }

  /** The key succeeded, or is gone: its next delay starts small again. */
  forget(key: string): void {
    this.#limiter.forget(key);
    this.#failingSince.delete(key);
  }

  /** Returns for how long the running key will have failed by its next turn, since it last succeeded, if this pass fails. */
  failsForMs(key: string): number {
    return this.#options.clock.monotonic() - this.#failsSince(key) + this.#limiter.backlogMs(key);
  }

  #failsSince(key: string): number {
    return this.#failingSince.get(key) ?? this.#processing.get(key)?.began ?? this.#options.clock.monotonic();
  }

  /** Resolves to the next key once there is one, or to undefined once the queue is shut down. Call `done` after working on it. */
  get(): Promise<string | undefined> {
    return new Promise((resolve) => {
      this.#workers.push(resolve);
      this.#handOut();
    });
  }

  done(key: string): void {
    const processing = this.#processing.get(key);
    if (processing === undefined) return;
    this.#processing.delete(key);
    this.#toBeLong.delete(key);
    this.#options.observer?.finished(this.depth, this.#options.clock.monotonic() - processing.began);
    if (this.#dirty.has(key)) this.#enter(key);
    // Another key may have waited for its group or priority to have fewer keys running.
    this.#handOut();
  }

  /** Hands out nothing more. Work in progress goes on until its `done`. */
  shutDown(): void {
    this.#shutDown = true;
    this.#delayed.clear();
    this.#toBeLong.clear();
    this.#dirty.clear();
    this.#handOut();
  }

  #enter(key: string): void {
    const { priority, group = '' } = this.#dirty.get(key) ?? {};
    if (priority === undefined) return;
    this.#levels[priority].add(key, group, this.#requeued.delete(key));
  }

  #handOut(): void {
    if (this.#shutDown) {
      for (const resolve of this.#workers.splice(0)) resolve(undefined);
      return;
    }
    while (this.#workers.length > 0) {
      const next = this.#next();
      const key = next ?? this.#nextForSubstitute();
      const dirty = key === undefined ? undefined : this.#dirty.get(key);
      if (key === undefined || dirty === undefined) return;
      const began = this.#options.clock.monotonic();
      this.#handedOut++;
      this.#dirty.delete(key);
      this.#delayed.delete(key);
      const workers = next === undefined ? 'substitute' : dirty.priority === 'slow' ? 'slow' : 'regular';
      const processing: Processing = { ...dirty, began, workers, isLong: false };
      this.#processing.set(key, processing);
      if (this.#options.workers !== undefined && workers !== 'slow')
        this.#toBeLong.set(key, began + LONG_MS, processing);
      this.#options.observer?.started(this.depth, began - dirty.since);
      this.#workers.shift()?.(key);
    }
  }

  /** Takes the key whose turn it is from the queue of its priority. */
  #next(): string | undefined {
    const turn = this.#handedOut + 1;
    const aged = turn % AGING_SHARE === 0 ? AGED[(turn / AGING_SHARE) % AGED.length] : undefined;
    for (const priority of (aged ?? PRIORITIES).filter((each) => !this.#levels[each].isEmpty)) {
      const { free, mayGrow } = this.#room(priority === 'slow' ? 'slow' : 'regular');
      if (free < 0 || (priority === 'low' && !mayGrow((each) => each.priority === 'low'))) continue;
      const key = this.#levels[priority].take((group) => group === '' || mayGrow((each) => each.group === group));
      if (key !== undefined) return key;
    }
    return undefined;
  }

  /** Returns how many of these workers stay free if one more key is handed out, and whether a crowd may have it. */
  #room(workers: 'regular' | 'slow') {
    const all = (this.#options.workers ?? Number.POSITIVE_INFINITY) * (workers === 'slow' ? SLOW_PER_WORKER : 1);
    const keys = [...this.#processing.values()].filter((each) => each.workers === workers);
    const free = all - keys.length - 1;
    const mayGrow = (isOfCrowd: (each: Processing) => boolean) => {
      const crowd = keys.filter(isOfCrowd).length;
      return crowd === 0 || crowd < CROWD_PER_FREE_WORKER * free;
    };
    return { free, mayGrow };
  }

  /** Takes a waiting `high` or `normal` key, if a key hangs and keeps its worker, and so does every substitute's. */
  #nextForSubstitute(): string | undefined {
    const keys = [...this.#processing.values()].filter(({ workers }) => workers !== 'slow');
    const substitutes = keys.filter(({ workers }) => workers === 'substitute');
    const mayBegin = keys.some(({ isLong }) => isLong) && substitutes.every(({ isLong }) => isLong);
    if (!mayBegin || substitutes.length >= (this.#options.workers ?? 0)) return undefined;
    return this.#levels.high.take(() => true) ?? this.#levels.normal.take(() => true);
  }
}
