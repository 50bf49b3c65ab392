import { ApiError } from '../base/api-error.ts';
import type { Clock } from '../base/clock.ts';
import type { ObjectKey } from '../kube/object.ts';
import type { Forgotten } from '../runtime/kind.ts';

/** How long after a call to a server was made without an answer the server may still carry it out. */
export const LANDING_MS = 60_000;

/** Since when this process is the one that acts on the object; wall clock, which may have been set back since. */
export type ActsSince = (key: ObjectKey) => number;

/** `status.operation`: a call that must not happen twice, written down before it is made. */
interface WrittenDown {
  /** The process that wrote it down. */
  readonly by?: string | undefined;
  readonly startedAt: string;
}

interface Tried {
  readonly metadata: { readonly generation?: number };
  readonly status: { readonly observedGeneration: number; readonly lastError?: object | undefined };
}

/** What failed is tried again: that it is written down anew is no news. */
export function isTriedAgain({ metadata, status }: Tried): boolean {
  return status.lastError !== undefined && status.observedGeneration === metadata.generation;
}

/**
 * Which of the calls that were written down this process has made. With the process all of it goes, which costs a look. But while
 * the process lives and the object is there nothing may be lost: a call of its own that it does not know of was never made.
 */
export class Attempts {
  /** Names this process in what it writes down: what another one wrote may have been attempted by it. */
  readonly self: string;
  readonly #actsSinceMs: ActsSince;
  readonly #last = new Map<ObjectKey, { readonly startedAt: string; readonly atMs: number }>();
  /** Objects that another process has, or has had after this one. */
  readonly #released = new Set<ObjectKey>();

  /** `self`: of no other process, nor of this one's predecessors. */
  constructor(self: string, actsSinceMs: ActsSince) {
    this.self = self;
    this.#actsSinceMs = actsSinceMs;
  }

  /** Whether the call was surely never made: it was written down here, and not made since, nor has another process had the object. */
  neverMade(key: ObjectKey, operation: WrittenDown): boolean {
    if (operation.by !== this.self) return false;
    // Moments are compared only where they must be: a clock that was set back makes what was just written down look older.
    if (this.#released.has(key) && Date.parse(operation.startedAt) < this.#actsSinceMs(key)) return false;
    return this.#last.get(key)?.startedAt !== operation.startedAt;
  }

  /** When the call may have been made last, by wall clock; undefined: it surely never was. */
  lastMadeAtMs(key: ObjectKey, operation: WrittenDown): number | undefined {
    if (this.neverMade(key, operation)) return undefined;
    const last = this.#last.get(key);
    const atMs = last?.startedAt === operation.startedAt ? last.atMs : Date.parse(operation.startedAt);
    // The process that had the object before this one may have made it up to then.
    return Math.max(atMs, this.#actsSinceMs(key));
  }

  /** Makes the call. One that surely had no effect counts as not made; throws what the call throws. */
  async make<T>(key: ObjectKey, operation: WrittenDown, clock: Clock, call: () => Promise<T>): Promise<T> {
    const { startedAt } = operation;
    const beforeMs = this.lastMadeAtMs(key, operation);
    this.#last.set(key, { startedAt, atMs: clock.now() });
    try {
      return await call();
    } catch (error) {
      if (error instanceof ApiError && !error.effectUnknown) {
        if (beforeMs === undefined) this.#last.delete(key);
        else this.#last.set(key, { startedAt, atMs: beforeMs });
      }
      throw error;
    }
  }

  /** Whether the error says no for good to a call that surely never was made with success: what comes later is not its doing. */
  isRefusal(key: ObjectKey, operation: WrittenDown, error: unknown): boolean {
    return error instanceof ApiError && !error.retryable && this.neverMade(key, operation);
  }

  /** What was released may come back: which calls were made here must be known then, and that another process may have made some. */
  forget(key: ObjectKey, why: Forgotten): void {
    if (why === 'released') {
      this.#released.add(key);
      return;
    }
    this.#released.delete(key);
    this.#last.delete(key);
  }
}
