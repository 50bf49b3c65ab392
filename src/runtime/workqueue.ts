/*
 * A queue of keys with the contract of client-go's rate limiting workqueue, and the priorities of controller-runtime's:
 * - Stingy: a key that is added several times before it is worked on is worked on once, with the highest priority named.
 * - One worker a key: a key that is added while it is worked on (dirty and processing) waits until `done`, then is worked on again.
 * - Urgent first: `high` before `normal` before `low`, but for each tenth key: it is of what is less urgent, so that nothing starves.
 *   Fair: within a priority groups take turns, and keys of one group go first in, first out, but for those that go on.
 * - Shared: neither a group nor `low` has more than four keys in hand for each worker that is left free: the more crowds,
 *   the less each has, and the last worker is for what has none. What is over that waits, however urgent.
 * - Not held up by what hangs, which is in hand for longer than `LONG_MS`. A key that failed after so long is `slow` until a pass gets on
 *   sooner or it is added as more urgent; slow keys have workers of their own, ten times as many. A `low` key that hangs counts as one of
 *   them from then on. For any other that hangs a substitute is called in, and one more once the last substitute's key hangs as well: as
 *   many as there are workers.
 * - A key has at most one delayed addition, the earliest. It is dropped when the key is taken: each pass decides anew when to come back.
 * - Shut down, it hands out nothing more; what is in hand is drained: its workers end with `done`. Keys that only wait are
 *   dropped, unlike client-go's: the next process's first list brings them.
 */

import type { Backoff } from '../base/backoff.ts';
import { FairQueue } from '../base/fair-queue.ts';
import { Schedule } from '../base/schedule.ts';
import { RateLimiter, type RateLimiterOptions } from './rate-limiter.ts';

/**
 * How urgent a key is, as in controller-runtime's priority queue: `high`, a person changed something; `normal`, work goes
 * on; `low`, routine checks and what a start finds in order; `slow`, what waited for long in vain, and may again.
 */
export type Priority = 'high' | 'normal' | 'low' | 'slow';

const PRIORITIES: readonly Priority[] = ['high', 'normal', 'low', 'slow'];
/** Each tenth key is of what is less urgent: by turns `low` and `normal`, if there are such. */
const AGING_SHARE = 10;
const AGED: readonly (readonly Priority[])[] = [
  ['normal', 'low', 'high', 'slow'],
  ['low', 'normal', 'high', 'slow'],
];

/** Keys in hand that a crowd may have for each worker that is free. */
const CROWD_PER_FREE_WORKER = 4;
/** A pass may wait for its turn for five seconds, and for an answer then; what has been in hand for longer may hang. */
const LONG_MS = 7_000;
/** With fewer, of many servers that hang one that is back would wait for its turn behind all others, each of which takes 20 s. */
const SLOW_PER_WORKER = 10;
/** For each worker there are these, and a substitute. */
export const WORKERS_IN_ALL = 1 + SLOW_PER_WORKER + 1;

/** Told what happens, in the terms of client-go's workqueue metrics. Times in milliseconds. */
export interface WorkQueueObserver {
  added(depth: number): void;
  retried(): void;
  started(depth: number, waitedMs: number): void;
  finished(workedMs: number): void;
}

export interface WorkQueueOptions extends RateLimiterOptions {
  readonly observer?: WorkQueueObserver;
  /** How many there are where nothing hangs; `WORKERS_IN_ALL` times as many are to call `get`. Default: always enough. */
  readonly workers?: number;
}

interface Waiting {
  readonly since: number;
  readonly priority: Priority;
  readonly group: string | undefined;
}

interface InHand extends Waiting {
  readonly began: number;
  readonly bySubstitute: boolean;
  /** It takes a worker of those for what is slow. */
  isSlow: boolean;
  /** For long, and it was not known as slow. */
  isLong: boolean;
}

/** A queue of keys, as above. */
export class WorkQueue {
  readonly #options: WorkQueueOptions;
  readonly #limiter: RateLimiter;
  /** Keys that need work; those that are not in hand stand in the queues of their priorities. */
  readonly #dirty = new Map<string, Waiting>();
  readonly #processing = new Map<string, InHand>();
  /** Keys in hand that go on. */
  readonly #requeued = new Set<string>();
  readonly #levels = { high: new FairQueue(), normal: new FairQueue(), low: new FairQueue(), slow: new FairQueue() };
  readonly #delayed: Schedule<Priority>;
  /** When keys in hand will have been so for long. */
  readonly #toBeLong: Schedule<InHand>;
  /** By the monotonic clock: when the first of their passes began that failed one after the other. */
  readonly #failingSince = new Map<string, number>();
  readonly #workers: ((key: string | undefined) => void)[] = [];
  #handedOut = 0;
  #shutDown = false;

  constructor(options: WorkQueueOptions) {
    this.#options = options;
    this.#limiter = new RateLimiter(options);
    this.#delayed = new Schedule(options.clock, (key, priority) => this.add(key, priority));
    this.#toBeLong = new Schedule(options.clock, (_, inHand) => {
      inHand.isLong = true;
      // A check of a server that hangs says nothing of the others, which are not to be found to hang one after the other.
      const { free, mayGrow } = this.#room(true);
      inHand.isSlow = inHand.priority === 'low' && free >= 0 && mayGrow((each) => each.group === inHand.group);
      this.#handOut();
    });
  }

  /** Keys that are ready to be worked on. */
  get depth(): number {
    return this.#dirty.size - [...this.#processing.keys()].filter((key) => this.#dirty.has(key)).length;
  }

  /** When work on each key in hand began, by the monotonic clock. */
  get inProgress(): ReadonlyMap<string, number> {
    return new Map([...this.#processing].map(([key, { began }]) => [key, began]));
  }

  isInHand(key: string): boolean {
    return this.#processing.has(key);
  }

  /** How urgent a key in hand was when it was handed out. */
  priorityOf(key: string): Priority {
    return this.#processing.get(key)?.priority ?? 'normal';
  }

  add(key: string, priority: Priority = 'normal'): void {
    if (this.#shutDown) return;
    const known = this.#dirty.get(key);
    if (known !== undefined && PRIORITIES.indexOf(priority) >= PRIORITIES.indexOf(known.priority)) return;
    if (known !== undefined) this.#levels[known.priority].delete(key, known.group ?? '');
    const since = known?.since ?? this.#options.clock.monotonic();
    this.#dirty.set(key, { since, priority, group: this.#options.group?.(key) });
    if (!this.#processing.has(key)) this.#enter(key);
    if (known === undefined) this.#options.observer?.added(this.depth);
    this.#handOut();
  }

  /** The key in hand is worked on again at once, with its priority, before those of its group that only begin. */
  requeue(key: string): void {
    this.#requeued.add(key);
    const isQuick = this.#options.clock.monotonic() - (this.#processing.get(key)?.began ?? 0) < LONG_MS;
    this.add(key, isQuick && this.priorityOf(key) === 'slow' ? 'normal' : this.priorityOf(key));
  }

  /** Adds the key after `delayMs`, or earlier if it was already to be added earlier. */
  addAfter(key: string, delayMs: number, priority: Priority = 'normal'): void {
    if (this.#shutDown) return;
    if (delayMs <= 0) {
      this.add(key, priority);
      return;
    }
    // Timers are no finer than a millisecond; and what is left of a time by a rounding error would be left again at once, for ever.
    const at = this.#options.clock.monotonic() + Math.max(delayMs, 1);
    if (at < (this.#delayed.at(key) ?? Number.POSITIVE_INFINITY)) this.#delayed.set(key, at, priority);
  }

  /** Adds the key after a delay that grows with each call until `forget`; not earlier than `atLeastMs`. */
  addRateLimited(
    key: string,
    backoff: Backoff,
    { atLeastMs = 0, priority = 'normal' }: { atLeastMs?: number | undefined; priority?: Priority } = {},
  ): void {
    this.#options.observer?.retried();
    this.#failingSince.set(key, this.#failsSince(key));
    const inHand = this.#processing.get(key);
    const isSlow = priority === 'normal' && (inHand?.isLong || inHand?.priority === 'slow');
    this.addAfter(key, Math.max(atLeastMs, this.#limiter.when(key, backoff)), isSlow ? 'slow' : priority);
  }

  /** The key did well, or is gone: its next delay starts small again. */
  forget(key: string): void {
    this.#limiter.forget(key);
    this.#failingSince.delete(key);
  }

  /** For how long the key in hand will have failed when its turn comes again, if this pass fails: since it last did well. */
  failsForMs(key: string): number {
    return this.#options.clock.monotonic() - this.#failsSince(key) + this.#limiter.backlogMs(key);
  }

  #failsSince(key: string): number {
    return this.#failingSince.get(key) ?? this.#processing.get(key)?.began ?? this.#options.clock.monotonic();
  }

  /** The next key, as soon as there is one; undefined once the queue is shut down. Call `done` after working on it. */
  get(): Promise<string | undefined> {
    return new Promise((resolve) => {
      this.#workers.push(resolve);
      this.#handOut();
    });
  }

  done(key: string): void {
    const inHand = this.#processing.get(key);
    if (inHand === undefined) return;
    this.#processing.delete(key);
    this.#toBeLong.delete(key);
    this.#options.observer?.finished(this.#options.clock.monotonic() - inHand.began);
    if (this.#dirty.has(key)) this.#enter(key);
    // Another key may have waited for its group or its priority to have less in hand.
    this.#handOut();
  }

  /** Nothing is handed out any more. What is being worked on goes on until its `done`. */
  shutDown(): void {
    this.#shutDown = true;
    this.#delayed.clear();
    this.#toBeLong.clear();
    for (const level of Object.values(this.#levels)) level.clear();
    this.#dirty.clear();
    this.#requeued.clear();
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
      const waiting = key === undefined ? undefined : this.#dirty.get(key);
      if (key === undefined || waiting === undefined) return;
      const began = this.#options.clock.monotonic();
      this.#handedOut++;
      this.#dirty.delete(key);
      this.#delayed.delete(key);
      const isSlow = waiting.priority === 'slow';
      const inHand = { ...waiting, began, bySubstitute: next === undefined, isSlow, isLong: false };
      this.#processing.set(key, inHand);
      if (this.#options.workers !== undefined && !isSlow) this.#toBeLong.set(key, began + LONG_MS, inHand);
      this.#options.observer?.started(this.depth, began - waiting.since);
      this.#workers.shift()?.(key);
    }
  }

  /** Takes the key whose turn it is out of the queue of its priority. */
  #next(): string | undefined {
    const turn = this.#handedOut + 1;
    const aged = turn % AGING_SHARE === 0 ? AGED[(turn / AGING_SHARE) % AGED.length] : undefined;
    for (const priority of aged ?? PRIORITIES) {
      const { free, mayGrow } = this.#room(priority === 'slow');
      if (free < 0 || (priority === 'low' && !mayGrow((each) => each.priority === 'low'))) continue;
      const key = this.#levels[priority].take((group) => group === '' || mayGrow((each) => each.group === group));
      if (key !== undefined) return key;
    }
    return undefined;
  }

  /** How many of these workers are left free if one more key is handed out, and whether a crowd may have it. */
  #room(isSlow: boolean) {
    const workers = (this.#options.workers ?? Number.POSITIVE_INFINITY) * (isSlow ? SLOW_PER_WORKER : 1);
    const inHand = [...this.#processing.values()].filter((each) => !each.bySubstitute && isSlow === each.isSlow);
    const free = workers - inHand.length - 1;
    const mayGrow = (isOfCrowd: (inHand: InHand) => boolean) => {
      const crowd = inHand.filter(isOfCrowd).length;
      return crowd === 0 || crowd < CROWD_PER_FREE_WORKER * free;
    };
    return { free, mayGrow };
  }

  /** A key that waits and is not routine, where one is in hand for long and keeps its worker, and each that a substitute has is. */
  #nextForSubstitute(): string | undefined {
    const inHand = [...this.#processing.values()];
    const substitutes = inHand.filter((each) => each.bySubstitute);
    const mayBegin = inHand.some((each) => each.isLong && !each.isSlow) && substitutes.every(({ isLong }) => isLong);
    if (!mayBegin || substitutes.length >= (this.#options.workers ?? 0)) return undefined;
    return this.#levels.high.take(() => true) ?? this.#levels.normal.take(() => true);
  }
}
