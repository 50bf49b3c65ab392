import type { ObjectKey, ObjectMeta } from '../kube/object.ts';

/** What is not there for so short a time is no news about an object that is Ready: it may be on its way, or just be replaced. */
export const NO_NEWS_MS = 5_000;

/** For a decision about what has not been there for so long: some tools replace an object by deleting it and creating it again. */
export function missingFor(forMs: number) {
  return forMs < NO_NEWS_MS
    ? ({ mayPass: true, requeueAfterMs: NO_NEWS_MS - forMs } as const)
    : ({ retry: 'slowly' } as const);
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
