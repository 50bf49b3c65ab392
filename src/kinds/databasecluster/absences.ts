import type { Clock } from '../../base/clock.ts';
import type { ObjectKey } from '../../kube/object.ts';
import type { ClusterSubject } from './observation.ts';

/** For so long a cluster must not be there before another one is created in its place: not all who answer are equally quick. */
const ABSENT_MS = 20_000;

/**
 * What was not looked at for so long may have been there meanwhile: so little of that time counts. But some of it does, as where all
 * passes are late, such as of a crowd at a cloud that lets few requests through, no look would ever come to an end.
 */
const UNWATCHED_MS = 60_000;
const UNWATCHED_COUNTS_MS = 10_000;

/** A cluster that is not to be seen, and not for long yet. */
export interface Absence {
  /** Since when, and until when it is waited for, by the wall clock. */
  readonly since: string;
  readonly until: string;
  readonly leftMs: number;
  /** Before, there were others that may have been ours. */
  readonly hadLookalikes: boolean;
}

interface Known {
  readonly uid: string;
  readonly createdAt: string | undefined;
  readonly lookedMs: number;
  readonly hadLookalikes: boolean;
  /** Undefined: at the last look there was what may be ours under another id. */
  readonly since: { readonly ms: number; readonly atMs: number } | undefined;
}

/** Since when this process has not seen the cluster of each object: a new process waits anew. Times are of the monotonic clock. */
export class Absences {
  readonly #known = new Map<ObjectKey, Known>();

  /** It was looked for, and is not there. Undefined: that is so for long enough, or there are lookalikes. */
  missed(
    { key, metadata: { uid }, status: { createdAt } }: ClusterSubject,
    hasLookalikes: boolean,
    clock: Pick<Clock, 'now' | 'monotonic'>,
  ): Absence | undefined {
    const lookedMs = clock.monotonic();
    const known = this.#known.get(key);
    const last = known?.uid === uid && known.createdAt === createdAt ? known : undefined;
    const hadLookalikes = hasLookalikes || last?.hadLookalikes === true;
    const since = hasLookalikes ? undefined : sinceWhen(last, clock);
    this.#known.set(key, { uid, createdAt, lookedMs, hadLookalikes, since });
    if (since === undefined) return undefined;
    const leftMs = since.ms + ABSENT_MS - lookedMs;
    if (leftMs <= 0) return undefined;
    const { atMs } = since;
    return {
      since: new Date(atMs).toISOString(),
      until: new Date(atMs + ABSENT_MS).toISOString(),
      leftMs,
      hadLookalikes,
    };
  }

  forget(key: ObjectKey): void {
    this.#known.delete(key);
  }
}

function sinceWhen(last: Known | undefined, clock: Pick<Clock, 'now' | 'monotonic'>): NonNullable<Known['since']> {
  const ms = clock.monotonic();
  if (last?.since === undefined) return { ms, atMs: clock.now() };
  const unwatchedMs = ms - last.lookedMs;
  const lostMs = unwatchedMs > UNWATCHED_MS ? unwatchedMs - UNWATCHED_COUNTS_MS : 0;
  return { ms: last.since.ms + lostMs, atMs: last.since.atMs + lostMs };
}
