import type { ObjectKey, ObjectMeta } from '../kube/object.ts';
import { PASSING_MS } from '../kube/summary.ts';

/** For a decision about what has not been there for so long: some tools replace an object by deleting it and creating it again. */
export function missingFor(forMs: number, retry: 'later' | 'slowly') {
  return forMs < PASSING_MS ? ({ mayPass: true, requeueAfterMs: PASSING_MS - forMs } as const) : { retry };
}

interface Seen {
  readonly key: ObjectKey;
  readonly metadata: Pick<ObjectMeta, 'uid'>;
}

/** For how long this process has seen something of each object. Recorded times may come from other clocks. */
export class Elapsed {
  readonly #since = new Map<ObjectKey, { readonly uid: string; readonly ms: number }>();

  /** Starts measuring, unless it has already. Returns the milliseconds since the start. `nowMs`: monotonic. */
  begin(seen: Seen, nowMs: number): number {
    const elapsedMs = this.elapsedMs(seen, nowMs);
    if (elapsedMs !== undefined) return elapsedMs;
    this.#since.set(seen.key, { uid: seen.metadata.uid, ms: nowMs });
    return 0;
  }

  /** Returns the milliseconds since `begin`; undefined: it has not begun. */
  elapsedMs({ key, metadata: { uid } }: Seen, nowMs: number): number | undefined {
    const known = this.#since.get(key);
    return known?.uid === uid ? nowMs - known.ms : undefined;
  }

  forget(key: ObjectKey): void {
    this.#since.delete(key);
  }
}
