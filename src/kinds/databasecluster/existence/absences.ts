import { ceilingMs } from '../../../base/backoff.ts';
import type { Clock } from '../../../base/clock.ts';
import type { Cluster } from '../../../cloud/schema.ts';
import type { ObjectKey } from '../../../kube/object.ts';
import { ABSENT_MS } from '../../absences.ts';
import type { Absence, ClusterSubject } from '../observation.ts';

/**
 * Another cluster is created in place of one that was missing for ABSENT_MS. Each that follows, and went missing before it ran, is
 * waited for twice as long, up to this, as long as another one would follow: a cloud that never shows what it creates must not be
 * asked for one after the other.
 */
const MAX_ABSENT_MS = 1_800_000;

/**
 * After a gap this long between two looks, the cluster may have been there meanwhile, so only a little of the gap counts. Some of
 * it must, or no wait would ever end if all passes are late, as with a crowd at a cloud that lets few requests through.
 */
const UNWATCHED_MS = 60_000;
const UNWATCHED_COUNTS_MS = 10_000;

interface Known {
  readonly uid: string;
  /** Undefined: no cluster has followed yet. Not every cloud says when a cluster was created, so that alone does not tell two apart. */
  readonly createdAt: string | undefined;
  /** How many clusters of the object went missing before this one, none of which ran. */
  readonly times: number;
  readonly lookedMs: number;
  readonly hadLookalikes: boolean;
  /** Undefined: the last look found what may be ours under another id. */
  readonly since: { readonly ms: number; readonly atMs: number } | undefined;
}

/** Since when this process has not seen each object's cluster. A new process starts to wait again. Times are of the monotonic clock. */
export class ClusterAbsences {
  readonly #known = new Map<ObjectKey, Known>();

  /** The cluster was looked for and is missing. Undefined: it has been for long enough, or there are lookalikes. */
  missed(
    { key, metadata: { uid }, spec, status: { createdAt }, deleting }: ClusterSubject,
    hasLookalikes: boolean,
    clock: Pick<Clock, 'now' | 'monotonic'>,
  ): Absence | undefined {
    const lookedMs = clock.monotonic();
    const known = this.#knownOf(key, uid);
    const last = known?.createdAt === createdAt ? known : undefined;
    const times = last?.times ?? (known === undefined ? 0 : known.times + 1);
    const hadLookalikes = hasLookalikes || last?.hadLookalikes === true;
    const since = hasLookalikes ? undefined : sinceWhen(last, clock);
    this.#known.set(key, { uid, createdAt, times, lookedMs, hadLookalikes, since });
    if (since === undefined) return undefined;
    const isFollowed = spec.recreatePolicy === 'Always' && !deleting;
    const absentMs = ceilingMs({ initialMs: ABSENT_MS, maxMs: MAX_ABSENT_MS }, isFollowed ? times : 0);
    const leftMs = since.ms + absentMs - lookedMs;
    if (leftMs <= 0) return undefined;
    const { atMs } = since;
    return {
      since: new Date(atMs).toISOString(),
      until: new Date(atMs + absentMs).toISOString(),
      leftMs,
      hadLookalikes,
    };
  }

  /** The cluster is not missing, or none is recorded. */
  present({ key, metadata: { uid } }: ClusterSubject, cluster: Cluster | undefined): void {
    const known = this.#knownOf(key, uid);
    if (known === undefined || cluster?.status === 'running') this.forget(key);
    else {
      const createdAt = cluster === undefined ? undefined : known.createdAt;
      this.#known.set(key, { ...known, createdAt, hadLookalikes: false, since: undefined });
    }
  }

  forget(key: ObjectKey): void {
    this.#known.delete(key);
  }

  #knownOf(key: ObjectKey, uid: string): Known | undefined {
    const known = this.#known.get(key);
    return known?.uid === uid ? known : undefined;
  }
}

function sinceWhen(last: Known | undefined, clock: Pick<Clock, 'now' | 'monotonic'>): NonNullable<Known['since']> {
  const ms = clock.monotonic();
  if (last?.since === undefined) return { ms, atMs: clock.now() };
  const unwatchedMs = ms - last.lookedMs;
  const lostMs = unwatchedMs > UNWATCHED_MS ? unwatchedMs - UNWATCHED_COUNTS_MS : 0;
  return { ms: last.since.ms + lostMs, atMs: last.since.atMs + lostMs };
}
