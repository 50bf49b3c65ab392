import { type ConditionUpdate, findStatusCondition } from '../../../kube/condition.ts';
import { PASS } from '../../../kube/failure.ts';
import { ready, reconciling, stalled } from '../../../kube/summary.ts';
import { placeName } from '../../databasespace/place.ts';
import { desiredID } from '../identity.ts';
import type { ClusterChanges, ClusterStep, ClusterSubject, SpaceSeen } from '../observation.ts';
import { isDrift } from '../present.ts';
import { asFound, backupOf, backupPending, type Difference, differences, inWords, UPDATABLE } from './differences.ts';

const CLUSTER_ID_IN_USE = 'ClusterIDInUse';

/** What the cluster should look like but does not. */
export interface Change {
  readonly summary: readonly ConditionUpdate[];
  /** Empty: the change is impossible. */
  readonly steps: readonly ClusterStep[];
}

/** Undefined: there is nothing to change, or differences are only reported, which the last rule does. */
export function changeOf(subject: ClusterSubject, seen: SpaceSeen): Change | undefined {
  const { cluster } = seen;
  if (cluster === undefined || leavesAsIs(subject, seen) !== undefined) return undefined;
  const all = differences(subject, cluster);
  const changes = changesOf(subject, all);
  const rename = desiredID(subject) !== cluster.id;
  const obstacle =
    obstacleOf(subject, seen, all) ?? (rename && seen.renameTaken ? cannotRename(subject, seen) : undefined);
  if (obstacle !== undefined) {
    const [reason, message] = obstacle;
    return { summary: stalled(reason, `${message}${othersWaiting(subject, seen, reason, all)}`), steps: [] };
  }
  if (changes === undefined && !rename) return undefined;
  const [reason, what] = renamedElsewhere(subject, seen) ?? ['Updating', ''];
  return {
    summary: reconciling(reason, `${what}Cluster "${seen.id}" is being changed: ${inSteps(all)}`),
    steps: [
      rename
        ? { do: 'Rename', id: cluster.id, to: desiredID(subject) }
        : { do: 'Update', id: cluster.id, changes: changes ?? {} },
    ],
  };
}

function inSteps(list: readonly Difference[]): string {
  return list.map(({ field, desired, observed }) => `${field} from ${observed} to ${desired}`).join(', ');
}

/**
 * What else a person's correction releases: of a spec that is impossible in part, nothing is done. It may be another cluster's. Its
 * state comes first, and so waits for nothing.
 */
function othersWaiting(subject: ClusterSubject, seen: SpaceSeen, reason: string, all: readonly Difference[]): string {
  const shrinks = isSmaller(subject, seen.cluster?.storageSizeGB);
  const named = reason === CLUSTER_ID_IN_USE ? 'clusterID' : undefined;
  const others = all.filter(({ field }) => UPDATABLE.has(field) && field !== 'state' && field !== named);
  const waiting = others.filter(({ field }) => field !== 'storageSizeGB' || !shrinks);
  return waiting.length === 0 ? '' : `. Until then, these changes wait: ${inSteps(waiting)}`;
}

/** Reason and message if the cluster has another id although the spec did not change. */
function renamedElsewhere(subject: ClusterSubject, seen: SpaceSeen): readonly [string, string] | undefined {
  const { cluster } = seen;
  const id = desiredID(subject);
  if (cluster === undefined || cluster.id === id || !isDrift(subject, seen)) return undefined;
  return ['RenamedElsewhere', `Cluster "${id}" was renamed to "${cluster.id}", and not by Mooring. `];
}

function isSmaller({ spec }: ClusterSubject, observed: number | undefined): boolean {
  return spec.storageSizeGB !== undefined && observed !== undefined && spec.storageSizeGB < observed;
}

function changesOf(subject: ClusterSubject, all: readonly Difference[]): ClusterChanges | undefined {
  const { spec } = subject;
  const differs = (field: string) => all.some((difference) => difference.field === field);
  const backup = backupPending(subject) ? backupOf(spec) : undefined;
  const changes: ClusterChanges = {
    ...(differs('storageSizeGB') && spec.storageSizeGB !== undefined ? { storageSizeGB: spec.storageSizeGB } : {}),
    ...(differs('machineType') && spec.machineType !== undefined ? { machineType: spec.machineType } : {}),
    ...(backup === undefined ? {} : { backup }),
  };
  return Object.keys(changes).length === 0 ? undefined : changes;
}

type LeavingPolicy = 'managementPolicy: Observe' | 'driftPolicy: Report';

/** What people hear about differences that are only reported. Any change of the spec asks for all that it says. */
const HOW_TO_SETTLE: Readonly<Record<LeavingPolicy, string>> = {
  'managementPolicy: Observe': ': set the spec to what the cluster is, or change the cluster',
  'driftPolicy: Report':
    ', until any change of the spec asks for all of this: set the spec to what the cluster is, change the cluster back, or set driftPolicy: Revert',
};

/** The policy by which differences are only reported: one never changes anything, the other nothing that came from elsewhere. */
export function leavesAsIs(subject: ClusterSubject, seen: SpaceSeen): LeavingPolicy | undefined {
  const { managementPolicy, driftPolicy } = subject.spec;
  if (managementPolicy === 'Observe') return 'managementPolicy: Observe';
  return driftPolicy === 'Report' && isDrift(subject, seen) ? 'driftPolicy: Report' : undefined;
}

/** The summary if all else is done: ready, Drifted if some differences are only reported, or what is to be changed next. */
export function settled(
  subject: ClusterSubject,
  seen: SpaceSeen,
  reason: string,
  message: string,
): readonly ConditionUpdate[] {
  const drift = seen.cluster === undefined ? [] : differences(subject, seen.cluster);
  if (drift.length === 0) return ready(reason, message);
  const policy = leavesAsIs(subject, seen);
  const what = `Cluster "${seen.id}" differs from the spec: ${inWords(drift)}`;
  if (policy === undefined) return changeOf(subject, seen)?.summary ?? reconciling('Updating', what);
  const how = impossible(subject, seen, policy, drift) ?? HOW_TO_SETTLE[policy];
  const told = `${what}. With ${policy} nothing is changed${how}`;
  const [word, before] = renamedElsewhere(subject, seen) ?? ['Drifted', ''];
  return [{ type: 'Ready', status: 'False', reason: word, message: `${before}${told}` }];
}

/** What people hear instead if a difference that is only reported can never be undone: the usual advice would not help. */
function impossible(
  subject: ClusterSubject,
  seen: SpaceSeen,
  policy: LeavingPolicy,
  drift: readonly Difference[],
): string | undefined {
  const [reason, message] = obstacleOf(subject, seen, drift) ?? [];
  if (reason === undefined) return undefined;
  const so = `, and not all of it can be: ${message}`;
  if (policy === 'driftPolicy: Report') return `${so}${othersWaiting(subject, seen, reason, drift)}`;
  // The spec of one that is only observed may follow its storage, as always.
  return reason === 'StorageCannotShrink' ? undefined : so;
}

/** Why the cluster can never become what the spec says, as reason and message; undefined: it can. */
function obstacleOf(
  subject: ClusterSubject,
  seen: SpaceSeen,
  all: readonly Difference[],
): readonly [string, string] | undefined {
  const fixed = all.filter(({ field }) => !UPDATABLE.has(field));
  if (fixed.length > 0) return ['ImmutableFieldDiffers', cannotChange(seen, fixed)];
  const shrink = all.find(({ field }) => field === 'storageSizeGB');
  if (shrink === undefined || !isSmaller(subject, seen.cluster?.storageSizeGB)) return undefined;
  return ['StorageCannotShrink', neverShrinks(seen, shrink)];
}

function cannotChange(seen: SpaceSeen, fixed: readonly Difference[]): string {
  return `Cluster "${seen.id}" was created with properties other than those in the spec, and they cannot change: ${asFound(fixed)}. The spec must match the cluster; as these fields are immutable here too, delete this object with deletionPolicy: Retain, and create it again with adoptionPolicy: IfExists`;
}

function neverShrinks(seen: SpaceSeen, shrink: Difference): string {
  return `Cluster "${seen.id}" has ${shrink.observed} GB of storage, the spec says ${shrink.desired}: storage is never made smaller. Set storageSizeGB: ${shrink.observed}`;
}

function cannotRename(subject: ClusterSubject, seen: SpaceSeen): readonly [string, string] {
  const id = desiredID(subject);
  return [
    CLUSTER_ID_IN_USE,
    `Cluster "${seen.id}" cannot be renamed to "${id}": ${placeName(seen.place)} has another cluster of that id. Choose another clusterID`,
  ];
}

/** Whether the last pass met a change that the cloud accepted but does not show, if only for a moment (not-shown.ts). */
export function isChangeUnseen({ status }: ClusterSubject): boolean {
  const reason = findStatusCondition(status.conditions, 'Ready')?.reason;
  return reason === 'UpdateNotApplied' || (reason === 'Updating' && status.lastError?.operation === PASS);
}
