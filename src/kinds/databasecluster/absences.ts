import type { Clock } from '../../base/clock.ts';
import type { ObjectKey } from '../../kube/object.ts';
import type { ClusterSubject } from './observation.ts';

/** How long a cluster must be missing before another is created in its place: not all machines that answer are equally quick. */
const ABSENT_MS = 20_000;

/**
 * After a gap this long between two looks, the cluster may have been there meanwhile, so only a little of the gap counts. Some of
 * it must, or no wait would ever end if all passes are late, as with a crowd at a cloud that lets few requests through.
 */
const UNWATCHED_MS = 60_000;
const UNWATCHED_COUNTS_MS = 10_000;

/** A cluster that is not to be seen, but not for long yet. */
export interface Absence {
  /** Since when, and until when it is waited for, by the wall clock. */
  readonly since: string;
  readonly until: string;
  readonly leftMs: number;
  /** Earlier there were others that may have been ours. */
  readonly hadLookalikes: boolean;
}

interface Known {
  readonly uid: string;
  readonly createdAt: string | undefined;
  readonly lookedMs: number;
  readonly hadLookalikes: boolean;
  /** Undefined: the last look found what may be ours under another id. */
  readonly since: { readonly ms: number; readonly atMs: number } | undefined;
}

/** Since when this process has not seen each object's cluster. A new process starts to wait again. Times are of the monotonic clock. */
export class Absences {
  readonly #known = new Map<ObjectKey, Known>();

  /** The cluster was looked for and is missing. Undefined: it has been for long enough, or there are lookalikes. */
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
