import type { Clock } from '../base/clock.ts';

export interface RateLimit {
  readonly ratePerSecond: number;
  /** How many may go at once after a quiet time. */
  readonly burst: number;
}

/**
 * Lets calls go at a rate, first come, first served. Callers wait in it, and can be made to pause or let go together; Buckets only
 * tell how long a wait is.
 */
export class TokenBucket {
  readonly #clock: Clock;
  readonly #limit: RateLimit;
  readonly #waiting: (() => void)[] = [];
  #tokens: number;
  /** Monotonic time up to which `#tokens` is counted; in the future while paused. */
  #reckonedMs: number;
  #cancelTimer: (() => void) | undefined;

  constructor(clock: Clock, limit: RateLimit) {
    this.#clock = clock;
    this.#limit = limit;
    this.#tokens = limit.burst;
    this.#reckonedMs = clock.monotonic();
  }

  /** How much longer `pause` lasts, in milliseconds. */
  get pausedMs(): number {
    return Math.max(0, this.#reckonedMs - this.#clock.monotonic());
  }

  /** Lets nobody go before `delayMs` have passed, and then at the rate, without a burst, as many wait for that moment. */
  pause(delayMs: number): void {
    this.#tokens = 0;
    this.#reckonedMs = Math.max(this.#reckonedMs, this.#clock.monotonic() + delayMs);
    this.#stopTimer();
    this.#serve();
  }

  /** Lets all who wait go at once, as if their signals had aborted: whether they still may go is for them to check. */
  release(): void {
    this.#stopTimer();
    for (const go of this.#waiting.splice(0)) go();
  }

  /** Resolves when it is this caller's turn, when `signal` aborts, or on `release`: check that afterwards. */
  take(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const leave = () => {
        const index = this.#waiting.indexOf(go);
        if (index >= 0) this.#waiting.splice(index, 1);
        if (this.#waiting.length === 0) this.#stopTimer();
        resolve();
      };
      const go = () => {
        signal?.removeEventListener('abort', leave);
        resolve();
      };
      signal?.addEventListener('abort', leave, { once: true });
      this.#waiting.push(go);
      if (this.#cancelTimer === undefined) this.#serve();
    });
  }

  #serve(): void {
    this.#refill();
    while (this.#tokens >= 1) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#tokens--;
      next();
    }
    if (this.#waiting.length === 0) return;
    const delayMs = this.pausedMs + ((1 - this.#tokens) / this.#limit.ratePerSecond) * 1000;
    this.#cancelTimer = this.#clock.after(Math.ceil(delayMs), () => {
      this.#cancelTimer = undefined;
      this.#serve();
    });
  }

  #refill(): void {
    const now = this.#clock.monotonic();
    if (now <= this.#reckonedMs) return;
    const earned = ((now - this.#reckonedMs) / 1000) * this.#limit.ratePerSecond;
    this.#tokens = Math.min(this.#limit.burst, this.#tokens + earned);
    this.#reckonedMs = now;
  }

  #stopTimer(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }
}
