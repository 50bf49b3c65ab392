import { type Backoff, ceilingMs } from '../../base/backoff.ts';
import type { Cluster } from '../../cloud/schema.ts';
import type { ObjectKey } from '../../kube/object.ts';
import type { ClusterChanges } from './observation.ts';

/** It is looked at much sooner: to ask again for what was accepted does not have it come sooner, and may begin it anew. */
const PAUSES: Backoff = { initialMs: 60_000, maxMs: 300_000 };

const FIELDS = ['storageSizeGB', 'machineType'] as const;
type Field = (typeof FIELDS)[number];

/** An update of one cluster, as it was just before. */
export interface Update {
  readonly key: ObjectKey;
  readonly uid: string;
  readonly changes: ClusterChanges;
  readonly cluster: Cluster;
}

interface Unseen {
  readonly update: Update;
  readonly times: number;
  readonly untilMs: number;
}

/** The cloud accepted the changes, and shows that it runs without one of them. */
export function isUnseen(changes: ClusterChanges, cluster: Cluster): boolean {
  const differs = (field: Field) => cluster[field] !== undefined && !isShown(changes, cluster, field);
  return cluster.status === 'running' && FIELDS.some(differs);
}

function isShown(changes: ClusterChanges, cluster: Cluster, field: Field): boolean {
  return changes[field] === undefined || cluster[field] === changes[field];
}

/** Of each object, the last update that the cloud accepted and did not show. Times are of the monotonic clock. */
export class UnseenUpdates {
  readonly #last = new Map<ObjectKey, Unseen>();

  /** It was accepted, and is not to be seen. */
  accepted(update: Update, nowMs: number): void {
    const times = (this.#same(update)?.times ?? 0) + 1;
    this.#last.set(update.key, { update, times, untilMs: nowMs + ceilingMs(PAUSES, times - 1) });
  }

  /** Whether all of it was accepted a short time ago, and the cluster is in all of it as it was then. */
  isAwaited(update: Update, nowMs: number): boolean {
    const last = this.#same(update);
    return last !== undefined && update.changes.backup === undefined && nowMs < last.untilMs;
  }

  /** The cluster as it is now: once it shows all that was accepted, what differs later came from elsewhere. */
  shows(key: ObjectKey, cluster: Cluster): void {
    const last = this.#last.get(key);
    if (last !== undefined && FIELDS.every((field) => isShown(last.update.changes, cluster, field))) this.forget(key);
  }

  #same({ key, uid, changes, cluster }: Update): Unseen | undefined {
    const last = this.#last.get(key);
    if (last?.update.uid !== uid || last.update.cluster.createdAt !== cluster.createdAt) return undefined;
    const { update } = last;
    const isSame = FIELDS.every(
      (field) =>
        changes[field] === undefined ||
        (changes[field] === update.changes[field] && cluster[field] === update.cluster[field]),
    );
    return isSame ? last : undefined;
  }

  forget(key: ObjectKey): void {
    this.#last.delete(key);
  }
}
