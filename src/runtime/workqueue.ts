import { type Backoff, backoffMs } from '../base/backoff.ts';
import type { Clock } from '../base/clock.ts';
import type { Random } from '../base/random.ts';

/** Told what happens, in the terms of client-go's workqueue metrics. Times in milliseconds. */
export interface WorkQueueObserver {
  added(depth: number): void;
  retried(): void;
  started(depth: number, waitedMs: number): void;
  finished(workedMs: number): void;
}

export interface WorkQueueOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly observer?: WorkQueueObserver;
}

/**
 * A queue of keys with client-go's contract:
 * - Stingy: a key that is added several times before it is worked on is worked on once.
 * - One worker a key: a key that is added while it is worked on waits until `done`, then is worked on again.
 * - Fair: first in, first out.
 * - A key has at most one delayed addition, the earliest. It is dropped when the key is taken: each pass decides anew
 *   when to come back.
 */
export class WorkQueue {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #observer: WorkQueueObserver | undefined;
  /** Keys that need work, whether they stand in `#ready` or are being worked on; with the time they were added. */
  readonly #dirty = new Map<string, number>();
  /** Keys that are being worked on, with the time that began. A key that is also dirty goes back to `#ready` when done. */
  readonly #processing = new Map<string, number>();
  /** Keys that are dirty and not processing, in order. */
  readonly #ready = new Set<string>();
  readonly #delayed = new Map<string, { readonly at: number; readonly cancel: () => void }>();
  readonly #failures = new Map<string, number>();
  readonly #waiting: ((key: string | undefined) => void)[] = [];
  #shutDown = false;

  constructor(options: WorkQueueOptions) {
    this.#clock = options.clock;
    this.#random = options.random;
    this.#observer = options.observer;
  }

  /** Keys that are ready to be worked on. */
  get depth(): number {
    return this.#ready.size;
  }

  /** When work on each key in hand began, by the monotonic clock. */
  get inProgress(): ReadonlyMap<string, number> {
    return this.#processing;
  }

  add(key: string): void {
    if (this.#shutDown || this.#dirty.has(key)) return;
    this.#dirty.set(key, this.#clock.monotonic());
    if (!this.#processing.has(key)) this.#ready.add(key);
    this.#observer?.added(this.depth);
    this.#handOut();
  }

  /** Adds the key after `delayMs`, or earlier if it was already to be added earlier. */
  addAfter(key: string, delayMs: number): void {
    if (this.#shutDown) return;
    if (delayMs <= 0) {
      this.add(key);
      return;
    }
    const at = this.#clock.monotonic() + delayMs;
    const pending = this.#delayed.get(key);
    if (pending !== undefined && pending.at <= at) return;
    pending?.cancel();
    const cancel = this.#clock.after(delayMs, () => {
      this.#delayed.delete(key);
      this.add(key);
    });
    this.#delayed.set(key, { at, cancel });
  }

  /** Adds the key after a delay that grows with each call until `forget`; at the earliest after `atLeastMs`. */
  addRateLimited(key: string, backoff: Backoff, atLeastMs = 0): void {
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    this.#observer?.retried();
    this.addAfter(key, Math.max(atLeastMs, backoffMs(backoff, failures, this.#random)));
  }

  /** The key did well, or is gone: its next delay starts small again. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  /** The next key, as soon as there is one; undefined once the queue is shut down. Call `done` after working on it. */
  get(): Promise<string | undefined> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#handOut();
    });
  }

  done(key: string): void {
    const began = this.#processing.get(key);
    if (began === undefined) return;
    this.#processing.delete(key);
    this.#observer?.finished(this.#clock.monotonic() - began);
    if (this.#dirty.has(key) && !this.#shutDown) {
      this.#ready.add(key);
      this.#handOut();
    }
  }

  /** Nothing is handed out any more. What is being worked on goes on until its `done`. */
  shutDown(): void {
    this.#shutDown = true;
    for (const { cancel } of this.#delayed.values()) cancel();
    this.#delayed.clear();
    this.#ready.clear();
    this.#dirty.clear();
    for (const resolve of this.#waiting.splice(0)) resolve(undefined);
  }

  #handOut(): void {
    if (this.#shutDown) {
      for (const resolve of this.#waiting.splice(0)) resolve(undefined);
      return;
    }
    for (const key of this.#ready) {
      const resolve = this.#waiting.shift();
      if (resolve === undefined) return;
      const now = this.#clock.monotonic();
      const addedAt = this.#dirty.get(key) ?? now;
      this.#ready.delete(key);
      this.#dirty.delete(key);
      this.#delayed.get(key)?.cancel();
      this.#delayed.delete(key);
      this.#processing.set(key, now);
      this.#observer?.started(this.depth, now - addedAt);
      resolve(key);
    }
  }
}
