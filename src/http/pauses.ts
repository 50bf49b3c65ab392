import { type Clock, sleep } from '../base/clock.ts';
import { OwnTrouble } from './own-trouble.ts';
import { untilWords } from './retry-after.ts';
import type { TokenBucket } from './token-bucket.ts';

/** A pause that lasts. */
export interface Pause {
  readonly by: PauseReason;
  readonly leftMs: number;
  /** Until when, if it is the operation's own: to be put behind "asked for a pause". */
  readonly words: string;
}

/** What the other side answered. */
type PauseReason = 'throttled' | 'unavailable';

interface OwnPause extends Pick<Pause, 'by' | 'words'> {
  /** Monotonic. */
  readonly untilMs: number;
}

/** A longer pause applies only to the operation that was told of it: it may be the only one that is refused. */
const MAX_COMMON_PAUSE_MS = 60_000;

/**
 * The pauses that the other side asks for with `Retry-After`. Each holds its operation back for that time. All others are held back
 * by the bucket, for at most a minute of it, or not at all if it is the operation's own trouble.
 */
export class Pauses {
  readonly #clock: Clock;
  readonly #bucket: TokenBucket;
  readonly #maxWaitMs: number;
  /** Why the bucket is paused. */
  #pausedBy: PauseReason = 'unavailable';
  /** By operation that was told to wait. */
  readonly #own = new Map<string, OwnPause>();
  /** Judges 503s, as the limiter judges 429s. */
  readonly #trouble = new OwnTrouble();
  /** When the last pause for all that a 503 asked for ends, by the monotonic clock: requests sent before say nothing new. */
  #heedFrom = Number.NEGATIVE_INFINITY;

  /** `maxWaitMs`: if all are paused for longer, those that wait in the bucket need not wait for the end. */
  constructor(clock: Clock, bucket: TokenBucket, maxWaitMs: number) {
    this.#clock = clock;
    this.#bucket = bucket;
    this.#maxWaitMs = maxWaitMs;
  }

  /** The operation was not refused: its pause is over. */
  letThrough(operation: string): void {
    this.#trouble.letThrough(this, operation);
    this.#own.delete(operation);
  }

  /** Reports whether a pause that a 503 asks for concerns other operations: not if they are let through all the while. */
  isCommonFailure(operation: string, sentAt: number, retryAfterMs: number): boolean {
    if (this.#trouble.refused(this, operation, sentAt >= this.#heedFrom) === 'own') return false;
    this.#heedFrom = this.#clock.monotonic() + Math.min(retryAfterMs, MAX_COMMON_PAUSE_MS);
    return true;
  }

  /** `isCommon`: it concerns other operations, too. */
  begin(operation: string, by: PauseReason, retryAfterMs: number, isCommon: boolean): void {
    const untilMs = this.#clock.monotonic() + retryAfterMs;
    const words = untilWords(retryAfterMs, this.#clock.now());
    this.#own.set(operation, { by, untilMs, words });
    if (!isCommon) return;
    this.#pausedBy = by;
    this.#bucket.pause(Math.min(retryAfterMs, MAX_COMMON_PAUSE_MS));
    if (this.#bucket.pausedMs > this.#maxWaitMs) this.#bucket.release();
  }

  /** Returns the operation's own pause if that is longer than `maxOwnMs`, or the one for all if that is longer than `maxMs`. */
  longerThan(operation: string, maxMs: number, maxOwnMs: number): Pause | undefined {
    const own = this.#own.get(operation);
    const ownMs = this.#ownLeftMs(operation);
    if (own !== undefined && ownMs > maxOwnMs) return { by: own.by, leftMs: ownMs, words: own.words };
    const { pausedMs } = this.#bucket;
    return pausedMs > maxMs ? { by: this.#pausedBy, leftMs: pausedMs, words: '' } : undefined;
  }

  /** Waits out the operation's own pause and any that is named meanwhile, unless it takes too long. */
  async wait(operation: string, maxWaitMs: number, signal: AbortSignal | undefined): Promise<void> {
    const endMs = this.#clock.monotonic() + maxWaitMs;
    for (;;) {
      const ownMs = this.#ownLeftMs(operation);
      if (ownMs <= 0 || this.#clock.monotonic() + ownMs > endMs || signal?.aborted) return;
      await sleep(this.#clock, Math.ceil(ownMs), signal);
    }
  }

  /** How long the operation's own pause lasts; 0 if no longer than the one for all. */
  #ownLeftMs(operation: string): number {
    const own = this.#own.get(operation);
    const ownMs = own === undefined ? 0 : own.untilMs - this.#clock.monotonic();
    return ownMs > this.#bucket.pausedMs ? ownMs : 0;
  }
}
