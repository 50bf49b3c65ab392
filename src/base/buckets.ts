import type { Clock } from './clock.ts';

export interface BucketsOptions {
  readonly clock: Clock;
  /** In which a token comes. */
  readonly intervalMs: number;
  /** Tokens in a full bucket. */
  readonly burst: number;
}

/** Token buckets by name, where who finds none takes the next that comes. A bucket that is full again is forgotten. */
export class Buckets {
  readonly #options: BucketsOptions;
  /** When each is full again, by the monotonic clock. What was taken from last stands last. */
  readonly #fullAt = new Map<string, number>();

  constructor(options: BucketsOptions) {
    this.#options = options;
  }

  /** Buckets that are not known to be full. */
  get size(): number {
    return this.#fullAt.size;
  }

  /** For how long a token that was taken last must be waited for. */
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
    // Not all of them, which may be thousands: each has its turn to stand first.
    for (const [other, at] of this.#fullAt) {
      if (at > now) break;
      this.#fullAt.delete(other);
    }
    this.#fullAt.set(name, fullAt);
  }
}
