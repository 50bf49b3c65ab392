import type { Clock } from '../../base/clock.ts';
import type { ObjectKey } from '../../kube/object.ts';
import type { ClusterSubject } from './observation.ts';

/** For so long a cluster must not be there before another one is created in its place: not all who answer are equally quick. */
const ABSENT_MS = 20_000;

/** What was not looked at for so long may have been there meanwhile. */
const UNWATCHED_MS = 60_000;

/** A cluster that is not to be seen, and not for long yet. */
export interface Absence {
  /** Since when, and until when it is waited for, by the wall clock. */
  readonly since: string;
  readonly until: string;
  readonly leftMs: number;
}

interface Known {
  readonly uid: string;
  readonly createdAt: string | undefined;
  readonly sinceMs: number;
  readonly lookedMs: number;
  readonly atMs: number;
}

/** Since when this process has not seen the cluster of each object: a new process waits anew. Times are of the monotonic clock. */
export class Absences {
  readonly #known = new Map<ObjectKey, Known>();

  /** It was looked for, and is not there. Undefined: that is so for long enough. */
  missed({ key, metadata, status }: ClusterSubject, clock: Pick<Clock, 'now' | 'monotonic'>): Absence | undefined {
    const { uid } = metadata;
    const { createdAt } = status;
    const nowMs = clock.monotonic();
    const last = this.#known.get(key);
    const goesOn =
      last?.uid === uid && last.createdAt === createdAt && nowMs - last.lookedMs <= UNWATCHED_MS ? last : undefined;
    const { sinceMs, atMs } = goesOn ?? { sinceMs: nowMs, atMs: clock.now() };
    this.#known.set(key, { uid, createdAt, sinceMs, lookedMs: nowMs, atMs });
    const leftMs = sinceMs + ABSENT_MS - nowMs;
    if (leftMs <= 0) return undefined;
    return { since: new Date(atMs).toISOString(), until: new Date(atMs + ABSENT_MS).toISOString(), leftMs };
  }

  forget(key: ObjectKey): void {
    this.#known.delete(key);
  }
}
