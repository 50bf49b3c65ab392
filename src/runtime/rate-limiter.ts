/*
 * How long a key waits before it is tried again. As in client-go's default controller rate limiter, the longest of
 * - the key's own backoff, jittered from its first delay up to the present one, apart for each Backoff object: conflicts say nothing of outages;
 * - a token bucket per group, so that thousands of keys that failed together do not come back together;
 * - client-go's token bucket for all keys, ten times as large; not taken from while the group's is empty, so a crowd holds up no others.
 * No key waits longer than its backoff's longest delay: later turns are spread over that time.
 */

import { type Backoff, ceilingMs } from '../base/backoff.ts';
import type { Clock } from '../base/clock.ts';
import { Buckets } from '../base/collections/buckets.ts';
import type { Random } from '../base/random.ts';

/** Retries per second that get a turn, and at once after a quiet time. Retries that are spread come on top. */
const RETRIES_PER_SECOND = 50;
const BURST = 500;
/** How much more all groups together get, such as the users of thousands of servers that are gone. */
const TIMES_FOR_ALL = 10;

const ALL = '';

export interface RateLimiterOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Returns the group of a key, which takes turns with other groups; undefined: none. Default: no key has one. */
  readonly group?: (key: string) => string | undefined;
}

/** The rate limiter of one queue, as above. */
export class RateLimiter {
  readonly #options: RateLimiterOptions;
  readonly #failures = new Map<string, Map<Backoff, number>>();
  readonly #groups: Buckets;
  readonly #all: Buckets;

  constructor(options: RateLimiterOptions) {
    this.#options = options;
    const { clock } = options;
    const intervalMs = 1000 / RETRIES_PER_SECOND;
    this.#groups = new Buckets({ clock, intervalMs, burst: BURST });
    this.#all = new Buckets({ clock, intervalMs: intervalMs / TIMES_FOR_ALL, burst: BURST * TIMES_FOR_ALL });
  }

  /** Counts a failure and returns after how many milliseconds to try again. */
  when(key: string, backoff: Backoff): number {
    const { initialMs, maxMs } = backoff;
    const known = this.#failures.get(key) ?? new Map<Backoff, number>();
    const failures = known.get(backoff) ?? 0;
    this.#failures.set(key, known.set(backoff, failures + 1));
    const own = initialMs + (ceilingMs(backoff, failures + 1) - initialMs) * this.#options.random.float();
    // A key that does not wait for a turn takes none. Otherwise a crowd that comes back earlier would never let the bucket fill again.
    if (this.backlogMs(key) >= maxMs) return Math.max(own, maxMs * this.#options.random.float());
    const group = this.#groupOf(key);
    this.#groups.take(group);
    if (this.#groups.waitMs(group) === 0) this.#all.take(ALL);
    return Math.max(own, this.backlogMs(key));
  }

  /** Returns how long the key waits for its turn, apart from its own backoff. */
  backlogMs(key: string): number {
    return Math.max(this.#groups.waitMs(this.#groupOf(key)), this.#all.waitMs(ALL));
  }

  /** The key succeeded: its next delay starts small again. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  #groupOf(key: string): string {
    return this.#options.group?.(key) ?? '';
  }
}
