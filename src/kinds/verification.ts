import { ApiError } from '../http/api-error.ts';
import type { ObjectKey } from '../kube/object.ts';
import type { ActsSince } from './attempts.ts';

/** Longer than the longest pause that is honoured (`http/retry-after.ts`), so that a single pause is never reported. */
const MAX_PUT_OFF_MS = 15 * 60_000;
/** Used if the other side names no time, or one that has passed: there is no hurry. */
const AGAIN_MS = 10_000;
/** The time of the last verification of a login that is in doubt. */
const NEVER_MS = Number.NEGATIVE_INFINITY;

/**
 * Verifications that the other side put off by asking for fewer calls (429), even if because of other calls. For some minutes
 * that casts no doubt on what was found right before.
 */
export class PutOff {
  readonly #sinceMs = new Map<ObjectKey, number>();

  /**
   * In how many milliseconds to look again. Undefined: there is more to do than check what was found right (`isRoutine`), a
   * person asked for a look, `error` is not a 429, or this has gone on for too long. `nowMs`: monotonic.
   */
  againInMs(
    { key, lookNow }: { readonly key: ObjectKey; readonly lookNow: boolean },
    isRoutine: boolean,
    error: unknown,
    nowMs: number,
  ): number | undefined {
    if (!isRoutine || lookNow || !(error instanceof ApiError) || error.kind !== 'throttled') return undefined;
    const sinceMs = this.#sinceMs.get(key) ?? nowMs;
    this.#sinceMs.set(key, sinceMs);
    return nowMs - sinceMs < MAX_PUT_OFF_MS ? Math.max(error.retryAfterMs ?? 0, AGAIN_MS) : undefined;
  }

  /** The look took place. */
  forget(key: ObjectKey): void {
    this.#sinceMs.delete(key);
  }
}

/** When each object was last found right by asking its server. Losing it costs a look, and is never a mistake. */
export class Verifications {
  readonly #actsSinceMs: ActsSince;
  readonly #atMs = new Map<ObjectKey, number>();
  readonly putOff = new PutOff();

  /** All times here are of the wall clock. */
  constructor(actsSinceMs: ActsSince) {
    this.#actsSinceMs = actsSinceMs;
  }

  /** Before the first verification here, since when this process acts on the object: the process before kept the same schedule. */
  lastAtMs(key: ObjectKey): number {
    return this.#atMs.get(key) ?? this.#actsSinceMs(key);
  }

  /** Whether this process has found it right. */
  has(key: ObjectKey): boolean {
    return this.#atMs.has(key);
  }

  verified(key: ObjectKey, atMs: number): void {
    this.#atMs.set(key, atMs);
    this.putOff.forget(key);
  }

  /** Somebody found that it is not right: the next pass tries it again, whatever the interval. */
  doubt(key: ObjectKey): void {
    this.#atMs.set(key, NEVER_MS);
  }

  forget(key: ObjectKey): void {
    this.#atMs.delete(key);
    this.putOff.forget(key);
  }
}

/**
 * In how many milliseconds a login must be tried again; 0 while it is in doubt; undefined: never by itself. The uid spreads
 * the times of each object over the interval, so that thousands of logins are not tried at once, even after a restart.
 * `lastMs` and `nowMs`: wall clock.
 */
export function untilVerification(uid: string, intervalMs: number, lastMs: number, nowMs: number): number | undefined {
  if (lastMs === NEVER_MS) return 0;
  if (intervalMs <= 0) return undefined;
  // The wall clock was set back, so nobody knows how long ago it was.
  if (lastMs > nowMs) return 0;
  let hash = 0;
  for (const character of uid) hash = (hash * 31 + character.charCodeAt(0)) >>> 0;
  const phase = (hash / 2 ** 32) * intervalMs;
  return (Math.floor((lastMs - phase) / intervalMs) + 1) * intervalMs + phase - nowMs;
}

/** The earlier of two times, either of which may never come. */
export function earlier(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
}
