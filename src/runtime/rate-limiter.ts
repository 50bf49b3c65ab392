/*
 * How long a key waits before it is tried again, as client-go's default controller rate limiter has it: the longer of
 * - the key's own exponential backoff, here drawn uniformly between the first delay and a ceiling that doubles with each
 *   failure, up to the longest;
 * - an overall bucket for all keys, so that thousands that failed together do not come back together. Unlike client-go's it
 *   makes nobody wait for longer than their own longest delay, over which those are spread whose turn would come later: who
 *   met a conflict is not to wait for a crowd that fails.
 */

import type { Backoff } from '../base/backoff.ts';
import type { Clock } from '../base/clock.ts';
import type { Random } from '../base/random.ts';

/** So many retries a second have turns, and so many at once after a quiet time; those that are spread come besides. */
const RETRIES_PER_SECOND = 50;
const BURST = 500;
const INTERVAL_MS = 1000 / RETRIES_PER_SECOND;

/** The pauses of one queue, as above. */
export class RateLimiter {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #failures = new Map<string, number>();
  /** The bucket is full again at this moment; each retry moves it by an interval. */
  #fullAt = Number.NEGATIVE_INFINITY;

  constructor({ clock, random }: { readonly clock: Clock; readonly random: Random }) {
    this.#clock = clock;
    this.#random = random;
  }

  /** Counts a failure and says after how many milliseconds to try again. */
  when(key: string, { initialMs, maxMs }: Backoff): number {
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    const ceiling = Math.min(maxMs, initialMs * 2 ** Math.min(failures + 1, 30));
    const own = initialMs + (ceiling - initialMs) * this.#random.float();
    // Who does not wait for a turn takes none: a crowd that comes back earlier would have the bucket never full again.
    if (this.backlogMs >= maxMs) return Math.max(own, maxMs * this.#random.float());
    this.#fullAt = Math.max(this.#fullAt, this.#clock.monotonic()) + INTERVAL_MS;
    return Math.max(own, this.backlogMs);
  }

  /** How long a key waits for its turn, whatever its own delay. */
  get backlogMs(): number {
    return Math.max(0, this.#fullAt - BURST * INTERVAL_MS - this.#clock.monotonic());
  }

  /** The key did well: its next delay starts small again. */
  forget(key: string): void {
    this.#failures.delete(key);
  }
}
