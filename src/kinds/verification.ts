import { ApiError } from '../base/api-error.ts';
import type { ObjectKey } from '../kube/object.ts';
import type { ActsSince } from './attempts.ts';

/** Longer than the longest pause that is kept to (`base/retry-after.ts`): one pause is never news. */
const MAX_PUT_OFF_MS = 15 * 60_000;
/** Where the other side names no time, or one that is over already: nobody is in a hurry. */
const AGAIN_MS = 10_000;
/** When that was found to be right last which is in doubt. */
const NEVER_MS = Number.NEGATIVE_INFINITY;

/**
 * Verifications that the other side put off, as it asks to be called less often (429), be it for something else. That says nothing
 * of what was found to be right before, for some minutes.
 */
export class PutOff {
  readonly #sinceMs = new Map<ObjectKey, number>();

  /**
   * In how many milliseconds to look again; undefined: what was found to be right is not all that is asked for (`isRoutine`), a
   * person asked for a look, `error` is another one, or this has gone on for long. `nowMs`: monotonic.
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

  /** It was looked at. */
  forget(key: ObjectKey): void {
    this.#sinceMs.delete(key);
  }
}

/** When each object was last found to be right by asking its server. Losing it costs a look, never a mistake. */
export class Verifications {
  readonly #actsSinceMs: ActsSince;
  readonly #atMs = new Map<ObjectKey, number>();
  readonly putOff = new PutOff();

  /** All times here are of the wall clock. */
  constructor(actsSinceMs: ActsSince) {
    this.#actsSinceMs = actsSinceMs;
  }

  /** Before it was verified here: since when this process acts on it, as whoever did so before kept to its moments. */
  lastAtMs(key: ObjectKey): number {
    return this.#atMs.get(key) ?? this.#actsSinceMs(key);
  }

  /** Whether it was found to be right here. */
  has(key: ObjectKey): boolean {
    return this.#atMs.has(key);
  }

  verified(key: ObjectKey, atMs: number): void {
    this.#atMs.set(key, atMs);
    this.putOff.forget(key);
  }

  /** Somebody found that it is not right: it is tried again at the next pass, whatever the interval. */
  doubt(key: ObjectKey): void {
    this.#atMs.set(key, NEVER_MS);
  }

  forget(key: ObjectKey): void {
    this.#atMs.delete(key);
    this.putOff.forget(key);
  }
}

/**
 * In how many milliseconds a login is to be tried again; 0 while it is in doubt; undefined: never by itself. Each object has its own
 * moments, spread over the interval by its uid, so that thousands of logins are not tried at once, not after a restart either.
 * `lastMs` and `nowMs`: wall clock.
 */
export function untilVerification(uid: string, intervalMs: number, lastMs: number, nowMs: number): number | undefined {
  if (lastMs === NEVER_MS) return 0;
  if (intervalMs <= 0) return undefined;
  // The wall clock was set back: how long ago it was is not known any more.
  if (lastMs > nowMs) return 0;
  let hash = 0;
  for (const character of uid) hash = (hash * 31 + character.charCodeAt(0)) >>> 0;
  const phase = (hash / 2 ** 32) * intervalMs;
  return (Math.floor((lastMs - phase) / intervalMs) + 1) * intervalMs + phase - nowMs;
}

/** The earlier of two moments, of which each may never come. */
export function earlier(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
}
