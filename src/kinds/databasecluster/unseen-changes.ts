import { type Backoff, ceilingMs } from '../../base/backoff.ts';
import type { Clock } from '../../base/clock.ts';
import type { Cluster } from '../../cloud/schema.ts';
import type { ObjectKey } from '../../kube/object.ts';
import type { ClusterChanges } from './observation.ts';

/** Settings, state and id are remembered apart, as each may be asked for while another one is waited for. */
type Part = 'settings' | 'status' | 'id';

/** It is looked at much sooner: to ask again for what was accepted does not have it come sooner, and may begin it anew. */
const PAUSES: Readonly<Record<Part, Backoff>> = {
  settings: { initialMs: 60_000, maxMs: 300_000 },
  status: { initialMs: 30_000, maxMs: 300_000 },
  id: { initialMs: 30_000, maxMs: 300_000 },
};

/** For so long after the cloud accepted it, a state or id that was shown may be gone again with the next answer: it may come from a machine that is behind. */
export const UNSETTLED_MS: Readonly<Record<Part, number>> = { settings: 0, status: 30_000, id: 30_000 };

/** What is asked for so long after it might have been asked for again is asked for anew. */
const IN_A_ROW_MS = 600_000;

const FIELDS = ['storageSizeGB', 'machineType', 'status', 'id'] as const;
type Field = (typeof FIELDS)[number];

/** What was asked of the cloud; `gone` is no word of its own. */
export type Asked = ClusterChanges & { readonly status?: 'suspended' | 'running' | 'gone'; readonly id?: string };

/** A change of one cluster, as it was just before. */
export interface Change {
  readonly key: ObjectKey;
  readonly uid: string;
  readonly changes: Asked;
  readonly cluster: Cluster;
}

/** A change that was answered, and is not to be seen. */
export interface Unseen {
  readonly change: Change;
  /** `missing`: the cluster was not known there. */
  readonly answer: 'accepted' | 'missing';
  /** How often in a row. */
  readonly times: number;
  /** When it was answered first of these times, by the wall clock. */
  readonly at: string;
  readonly answeredMs: number;
  readonly untilMs: number;
}

/** The cloud accepted the changes, and shows that it runs without one of them. */
export function isUnseen(changes: ClusterChanges, cluster: Cluster): boolean {
  const differs = (field: Field) => cluster[field] !== undefined && !isShown(changes, cluster, field);
  return cluster.status === 'running' && FIELDS.some(differs);
}

function isShown(changes: Asked, cluster: Cluster, field: Field): boolean {
  return changes[field] === undefined || cluster[field] === changes[field];
}

function partOf({ status, id }: Asked): Part {
  if (status !== undefined) return 'status';
  return id === undefined ? 'settings' : 'id';
}

/** Of each object, the last change of settings, of state and of id that the cloud accepted, and may not show. Times are of the monotonic clock. */
export class UnseenChanges {
  readonly #last: Readonly<Record<Part, Map<ObjectKey, Unseen>>> = {
    settings: new Map(),
    status: new Map(),
    id: new Map(),
  };

  /** It was accepted, and is not to be seen yet. */
  accepted(change: Change, clock: Pick<Clock, 'now' | 'monotonic'>, answer: Unseen['answer'] = 'accepted'): void {
    const part = partOf(change.changes);
    const answeredMs = clock.monotonic();
    const before = this.inARow(change, answeredMs);
    const times = (before?.times ?? 0) + 1;
    const at = before?.at ?? new Date(clock.now()).toISOString();
    const untilMs = answeredMs + ceilingMs(PAUSES[part], times - 1);
    this.#last[part].set(change.key, { change, answer, times, at, answeredMs, untilMs });
  }

  /** All of it was accepted a short time ago, and the cluster is in all of it as it was then; undefined: that is not so. */
  awaited(change: Change, nowMs: number): Unseen | undefined {
    const last = this.#same(change);
    return change.changes.backup === undefined && nowMs < (last?.untilMs ?? 0) ? last : undefined;
  }

  /** The cluster as it is now: once it shows all that was accepted, what differs later came from elsewhere. */
  shows(key: ObjectKey, cluster: Cluster, nowMs: number): void {
    for (const part of ['settings', 'status', 'id'] as const) {
      const last = this.#last[part].get(key);
      if (last === undefined || !FIELDS.every((field) => isShown(last.change.changes, cluster, field))) continue;
      if (nowMs >= last.answeredMs + UNSETTLED_MS[part]) this.#last[part].delete(key);
    }
  }

  /** It was accepted, and is not to be seen yet, be it that it may be asked for again. */
  inARow(change: Change, nowMs: number): Unseen | undefined {
    const last = this.#same(change);
    return last !== undefined && nowMs < last.untilMs + IN_A_ROW_MS ? last : undefined;
  }

  #same({ key, uid, changes, cluster }: Change): Unseen | undefined {
    const last = this.#last[partOf(changes)].get(key);
    if (last?.change.uid !== uid || last.change.cluster.createdAt !== cluster.createdAt) return undefined;
    const { change } = last;
    const isSame = FIELDS.every(
      (field) =>
        changes[field] === undefined ||
        (changes[field] === change.changes[field] && (field === 'status' || cluster[field] === change.cluster[field])),
    );
    return isSame ? last : undefined;
  }

  forget(key: ObjectKey): void {
    for (const part of Object.values(this.#last)) part.delete(key);
  }

  /** The settings were accepted, and are shown. */
  seen(key: ObjectKey): void {
    this.#last.settings.delete(key);
  }
}
