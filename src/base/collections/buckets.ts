import type { Clock } from '../clock.ts';

export interface BucketsOptions {
  readonly clock: Clock;
  /** The time between two tokens. */
  readonly intervalMs: number;
  /** Tokens in a full bucket. */
  readonly burst: number;
}

/**
 * Token buckets by name. A caller that finds no token takes the next one that comes. A bucket that is full again is forgotten.
 * It only tells how long a wait is: its users queue by themselves, or refuse at once. In a TokenBucket callers wait.
 */
export class Buckets {
  readonly #options: BucketsOptions;
  /** When each is full again, by the monotonic clock. The one taken from last is last. */
  readonly #fullAt = new Map<string, number>();

  constructor(options: BucketsOptions) {
    this.#options = options;
  }

  /** The number of buckets that are not known to be full. */
  get size(): number {
    return this.#fullAt.size;
  }

  /** How long to wait for the token that was taken last. */
  waitMs(name: string): number {
    const { clock, intervalMs, burst } = this.#options;
    const fullAt = this.#fullAt.get(name) ?? Number.NEGATIVE_INFINITY;
    return Math.max(0, fullAt - burst * intervalMs - clock.monotonic());
  }

  take(name: string): void {
    const { clock, intervalMs } = this.#options;
    const now = clock.monotonic();
    const fullAt = Math.max(this.#fullAt.get(name) ?? now, now) + intervalMs;
    this.#fullAt.delete(name);
    // Not all of them, which may be thousands: each comes first at some time.
    for (const [other, at] of this.#fullAt) {
      if (at > now) break;
      this.#fullAt.delete(other);
    }
    this.#fullAt.set(name, fullAt);
  }
}
