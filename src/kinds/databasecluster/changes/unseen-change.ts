import { type Backoff, ceilingMs } from '../../../base/backoff.ts';
import type { Clock } from '../../../base/clock.ts';
import type { Cluster } from '../../../cloud/schema.ts';
import type { SpacePoller } from '../../../cloud/space-poller.ts';
import type { ObjectKey } from '../../../kube/object.ts';
import type { ClusterChanges } from '../observation.ts';
import type { Difference } from './differences.ts';

/*
 * One change that the cloud accepted, or may have, and what the cluster has shown of it; pure. Its times, by the monotonic clock:
 *
 *   answered ── awaited ──► may be requested again (untilMs) ── UNSETTLED_MS ──► what undoes it is somebody else
 *                                                           └── IN_A_ROW_MS ───► over
 */

/** Settings, state and id are changed separately, as one may be requested while another is awaited. */
type Part = 'settings' | 'status' | 'id';

/** The cluster is looked at much sooner: requesting an accepted change again does not speed it up, and may start it over. */
const PAUSES: Readonly<Record<Part, Backoff>> = {
  settings: { initialMs: 60_000, maxMs: 300_000 },
  status: { initialMs: 30_000, maxMs: 300_000 },
  id: { initialMs: 30_000, maxMs: 300_000 },
};

/** For this long after the cloud accepted it, a change may be shown and gone again: an answering machine may be behind. */
export const UNSETTLED_MS = 30_000;

/** A change that is requested this long after it might have been requested again counts as new. */
const IN_A_ROW_MS = 600_000;

const FIELDS = ['storageSizeGB', 'machineType', 'status', 'id'] as const;

/** What was requested from the cloud; `gone` is not a word of its own. */
export type Asked = ClusterChanges & { readonly status?: 'suspended' | 'running' | 'gone'; readonly id?: string };

/** A change of one cluster, and the cluster as it was just before. */
export interface AskedChange {
  readonly key: ObjectKey;
  readonly uid: string;
  readonly changes: Asked;
  readonly cluster: Cluster;
}

/** A change that was answered but is not to be seen. */
export interface Unseen {
  readonly change: AskedChange;
  /** `missing`: the cloud did not know the cluster. */
  readonly answer: 'accepted' | 'missing';
  /** How many times in a row; 0: nobody knows whether it was accepted. */
  readonly times: number;
  /** When the first of these was answered, by the wall clock. */
  readonly at: string;
  readonly answeredMs: number;
  readonly untilMs: number;
  /** Whether the cluster shows all of it. `gone`: settings that were shown, and are not now. Nobody can tell yet who undid it. */
  readonly shown: 'not yet' | 'now' | 'gone';
}

/** The change was just answered. `last`: the same change as it was answered before, if that was in a row with it. */
export function answered(
  change: AskedChange,
  answer: Unseen['answer'],
  last: Unseen | undefined,
  clock: Pick<Clock, 'now' | 'monotonic'>,
): Unseen {
  const before = last?.answer === answer ? last : undefined;
  const times = (before?.times ?? 0) + 1;
  const at = before?.at ?? new Date(clock.now()).toISOString();
  const answeredMs = clock.monotonic();
  const untilMs = answeredMs + ceilingMs(PAUSES[partOf(change.changes)], times - 1);
  return { change, answer, times, at, answeredMs, untilMs, shown: 'not yet' };
}

export function partOf({ status, id }: Asked): Part {
  if (status !== undefined) return 'status';
  return id === undefined ? 'settings' : 'id';
}

/** Whether the same is asked for of a cluster that is in all of it as it was before. */
export function isSameChange({ changes, cluster }: AskedChange, { change: before }: Unseen): boolean {
  return FIELDS.every(
    (field) =>
      changes[field] === undefined ||
      (changes[field] === before.changes[field] && (field === 'status' || cluster[field] === before.cluster[field])),
  );
}

/** Whether the cloud accepted the changes but shows that the cluster runs without one of them. */
export function isUnseen(changes: ClusterChanges, cluster: Cluster): boolean {
  const differs = (field: (typeof FIELDS)[number]) => cluster[field] !== undefined && !isShown(changes, cluster, field);
  return cluster.status === 'running' && FIELDS.some(differs);
}

/** Whether the cluster shows all that was accepted, and has had the time to: later differences came from elsewhere. */
export function isSettled(unseen: Unseen, cluster: Cluster, nowMs: number): boolean {
  return isAllShown(unseen, cluster) && nowMs >= unseen.answeredMs + UNSETTLED_MS;
}

function isAllShown({ change }: Unseen, cluster: Cluster): boolean {
  return FIELDS.every((field) => isShown(change.changes, cluster, field));
}

function isShown(changes: Asked, cluster: Cluster, field: (typeof FIELDS)[number]): boolean {
  return changes[field] === undefined || cluster[field] === changes[field];
}

/** Whether it is too early to request the change again. */
export function isAwaited({ shown, times, untilMs }: Unseen, nowMs: number): boolean {
  // Once it is asked for again at once, as somebody may have undone it; a cloud that takes it back again must wait.
  return nowMs < untilMs && !(shown === 'gone' && times === 1);
}

/** Whether the cluster will not come to show it any more. */
export function isOver({ untilMs }: Unseen, nowMs: number): boolean {
  return nowMs >= untilMs + IN_A_ROW_MS;
}

/**
 * Takes the cluster as it is now. Undefined: a List has shown the change, so it is settled, and what takes it back later comes from
 * elsewhere. An answer alone proves less.
 */
export function lookedAt(
  unseen: Unseen,
  cluster: Cluster,
  poller: Pick<SpacePoller, 'formerListedAt'>,
): Unseen | undefined {
  if (isAllShown(unseen, cluster)) return { ...unseen, shown: 'now' };
  if (unseen.shown !== 'now') return unseen;
  const { changes } = unseen.change;
  if (poller.formerListedAt(changes.id ?? cluster.id) > unseen.answeredMs) return undefined;
  return { ...unseen, shown: partOf(changes) === 'settings' ? 'gone' : 'not yet' };
}

/**
 * Whether the cluster differs so because of the change: it is shown only now that the spec was changed back, or it was shown and is gone
 * again a moment later. At first that may be somebody else's doing, and counts as that unless nothing would be done about it.
 * `isLeftAsIs`: what others change stays.
 */
export function explains(
  { change, times, untilMs, shown }: Unseen,
  { field, desired }: Difference,
  cluster: Cluster,
  nowMs: number,
  isLeftAsIs: boolean,
): boolean {
  const { changes, cluster: before } = change;
  switch (field) {
    case 'machineType':
    case 'storageSizeGB': {
      if (changes[field] === undefined) return false;
      const isAsBefore = nowMs < untilMs + UNSETTLED_MS && cluster[field] === before[field];
      return cluster[field] === changes[field] || (isAsBefore && (isLeftAsIs || shown !== 'gone' || times > 1));
    }
    case 'state': {
      const states = desired === 'Running' ? ['suspending', 'suspended'] : ['resuming', 'running'];
      return changes.status === states[1] && states.includes(cluster.status);
    }
    case 'clusterID':
      return changes.id === cluster.id;
    default:
      return false;
  }
}
