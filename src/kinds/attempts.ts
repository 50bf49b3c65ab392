import type { Clock } from '../base/clock.ts';
import { ApiError } from '../http/api-error.ts';
import type { ObjectKey } from '../kube/object.ts';
import type { Forgotten } from '../runtime/kind.ts';

/** How long a server may still carry out a call after it was made, if no answer came. */
export const LANDING_MS = 60_000;

/** Since when this process has acted on the object, by the wall clock, which may have been set back since. */
export type ActsSince = (key: ObjectKey) => number;

/** `status.operation`: a call that must not happen twice, written down before it is made. */
export interface WrittenDown {
  /** The process that wrote it down. */
  readonly by?: string | undefined;
  readonly startedAt: string;
}

interface Tried {
  readonly metadata: { readonly generation?: number };
  readonly status: { readonly observedGeneration: number; readonly lastError?: object | undefined };
}

interface Made {
  readonly startedAt: string;
  readonly atMs: number;
  /** When an answer last said that it was done; undefined: none has. */
  readonly doneAtMs: number | undefined;
}

/** Whether this is a retry of something that failed. Writing it down again is then not news. */
export function isTriedAgain({ metadata, status }: Tried): boolean {
  return status.lastError !== undefined && status.observedGeneration === metadata.generation;
}

/**
 * Which of the written-down calls this process has made. A new process starts without this, which costs a look. But while the
 * process lives and the object exists, nothing may be lost: a call of its own that it does not know of counts as never made.
 */
export class Attempts {
  /** Names this process in what it writes down. Calls that another process wrote down may have been made by it. */
  readonly self: string;
  readonly #actsSinceMs: ActsSince;
  readonly #last = new Map<ObjectKey, Made>();
  /** Objects that another process acts on, or has acted on after this one. */
  readonly #released = new Set<ObjectKey>();
  /** Objects whose status may have what was written down for an earlier call again. */
  readonly #wentBack = new Set<ObjectKey>();

  /** `self`: a name that no other process has, and that no predecessor of this one had. */
  constructor(self: string, actsSinceMs: ActsSince) {
    this.self = self;
    this.#actsSinceMs = actsSinceMs;
  }

  /** Whether the call was surely never made: it was written down here, not made since, and no other process has had the object. */
  neverMade(key: ObjectKey, operation: WrittenDown): boolean {
    if (operation.by !== this.self) return false;
    // Times are compared only if they must be: after the clock is set back, what was just written down looks older.
    if (this.#released.has(key) && Date.parse(operation.startedAt) < this.#actsSinceMs(key)) return false;
    const last = this.#last.get(key);
    // Of its calls only the last one is known.
    if (this.#wentBack.has(key) && last !== undefined && last.startedAt > operation.startedAt) return false;
    return last?.startedAt !== operation.startedAt;
  }

  /** Whether the call may have been made, here or by another process. Undefined: none was written down. */
  maybeMade(key: ObjectKey, operation: WrittenDown | undefined): boolean {
    return operation !== undefined && !this.neverMade(key, operation);
  }

  /** When the call may last have been made, by the wall clock; undefined: it surely never was. */
  lastMadeAtMs(key: ObjectKey, operation: WrittenDown): number | undefined {
    if (this.neverMade(key, operation)) return undefined;
    const last = this.#last.get(key);
    const atMs = last?.startedAt === operation.startedAt ? last.atMs : Date.parse(operation.startedAt);
    // The process that had the object before may have made the call until it handed over.
    return Math.max(atMs, this.#actsSinceMs(key));
  }

  /** When the other side last told this process that it did it, by the wall clock; undefined: it has not. */
  doneAtMs(key: ObjectKey, operation: WrittenDown): number | undefined {
    const last = this.#last.get(key);
    return last?.startedAt === operation.startedAt ? last.doneAtMs : undefined;
  }

  /** Makes the call. One that surely had no effect counts as not made; throws what the call throws. */
  async make<T>(key: ObjectKey, operation: WrittenDown, clock: Clock, call: () => Promise<T>): Promise<T> {
    const { startedAt } = operation;
    const beforeMs = this.lastMadeAtMs(key, operation);
    const doneAtMs = this.doneAtMs(key, operation);
    const atMs = clock.now();
    this.#last.set(key, { startedAt, atMs, doneAtMs });
    try {
      const answer = await call();
      this.#last.set(key, { startedAt, atMs, doneAtMs: clock.now() });
      return answer;
    } catch (error) {
      if (error instanceof ApiError && !error.effectUnknown) {
        if (beforeMs === undefined) this.#last.delete(key);
        else this.#last.set(key, { startedAt, atMs: beforeMs, doneAtMs });
      }
      throw error;
    }
  }

  /** Whether the error is a final no to a call that surely never succeeded, so nothing that appears later is its doing. */
  isRefusal(key: ObjectKey, operation: WrittenDown, error: unknown): boolean {
    return error instanceof ApiError && !error.retryable && this.neverMade(key, operation);
  }

  /**
   * A released object may come back. Then it must be known which calls were made here, and that another process may have made some. For
   * an object that went back to what it was, calls were made all the same.
   */
  forget(key: ObjectKey, why: Forgotten): void {
    if (why === 'wentBack') this.#wentBack.add(key);
    else if (why === 'released') this.#released.add(key);
    else for (const known of [this.#wentBack, this.#released, this.#last]) known.delete(key);
  }
}
