import { type ConditionUpdate, findStatusCondition } from '../../../kube/condition.ts';
import { PASS } from '../../../kube/failure.ts';
import { ready, reconciling, stalled } from '../../../kube/summary.ts';
import { placeName } from '../../databasespace/place.ts';
import { desiredID } from '../identity.ts';
import type { ClusterChanges, ClusterStep, ClusterSubject, SpaceSeen, TriedLogin } from '../observation.ts';
import {
  bringing,
  type ClusterDecision,
  clusterConditions,
  factoryLoginRetired,
  isDrift,
  lostSecret,
  type Rule,
  verifiedLogin,
} from '../present.ts';
import { asFound, backupOf, backupPending, type Difference, differences, inWords, UPDATABLE } from './differences.ts';

/** How long a cluster that should be suspended is kept running if its factory login was never retired and its server is silent. */
const SECURING_MS = 60 * 60_000;

/** Whether the cluster should run. */
export const decideRunState: Rule = (subject, seen, nowMs) => {
  const { cluster } = seen;
  const { state } = subject.spec;
  if (cluster === undefined) return undefined;
  const suspended = cluster.status === 'suspended';
  if (suspended === (state === 'Suspended')) return suspended ? decideSuspended(subject, seen) : undefined;
  if (!suspended && isBeingSecured(subject, seen)) return undefined;
  if (leavesAsIs(subject, seen) !== undefined) {
    return { conditions: [...settled(subject, seen, 'Drifted', ''), ...clusterConditions(subject, seen)] };
  }
  const [step, reason, doing] = suspended
    ? (['Resume', 'Resuming', 'resumed'] as const)
    : (['Suspend', 'Suspending', 'suspended'] as const);
  const secured = suspended ? undefined : securedNow(subject, seen, nowMs);
  const first = suspended || secured !== undefined ? undefined : changeBefore(subject, seen);
  if (first !== undefined) {
    const { summary, steps } = first;
    return { conditions: [...summary, ...clusterConditions(subject, seen)], steps, retry: 'soon' };
  }
  const message = `Cluster "${seen.id}" is being ${doing}: state from ${suspended ? 'Suspended to Running' : 'Running to Suspended'}`;
  return {
    conditions: [...bringing(seen, reason, message), ...clusterConditions(subject, seen, secured)],
    ...(secured === undefined ? { steps: [{ do: step, id: seen.id }] } : { status: secured.status, requeueAfterMs: 0 }),
  };
};

/**
 * What to change while the cluster still runs: nobody promises from which states a change is accepted, and running is the
 * likeliest. But a change that came to nothing does not hold up the suspension. Nor does any once the suspension was
 * accepted, as nothing would then be reported about the change.
 */
function changeBefore(subject: ClusterSubject, seen: SpaceSeen): Change | undefined {
  const { metadata, status } = subject;
  // A renaming first looks whether the name is free, and that can be refused as well.
  const called = desiredID(subject) === seen.cluster?.id ? ['update'] : ['update', 'get'];
  const isRefused = called.some((operation) => operation === status.lastError?.operation);
  const isOver = seen.notShown !== undefined || isRefused || isChangeUnseen(subject);
  if (isOver && status.observedGeneration === metadata.generation) return undefined;
  const change = changeOf(subject, seen);
  return change?.steps.length === 0 ? undefined : change;
}

/** Whether the last pass met a change that the cloud accepted but does not show, if only for a moment (not-shown.ts). */
export function isChangeUnseen({ status }: ClusterSubject): boolean {
  const reason = findStatusCondition(status.conditions, 'Ready')?.reason;
  return reason === 'UpdateNotApplied' || (reason === 'Updating' && status.lastError?.operation === PASS);
}

/**
 * Whether the factory login must still be retired before the cluster is suspended for the first time. Only something lasting
 * prevents that. A failed sign-in to a new cluster is tried again: its server may come up later than the cluster, and some
 * of its machines may hear later of a password that it took.
 */
function isBeingSecured(subject: ClusterSubject, seen: SpaceSeen): boolean {
  const { login } = seen;
  if (login.login === 'tried') {
    const mayBe = (login.working !== 'none' || login.isAwaited) && !needsPerson(login);
    return mayBe && login.factoryAlive !== false;
  }
  return untilUnsecuredMs(subject, seen) > 0;
}

/** Whether no password may or can be replaced. That lasts until a person mends it, so nothing waits for it. */
export function needsPerson(login: TriedLogin): boolean {
  const isPowerless = login.powerless !== undefined && login.factoryAlive !== true;
  return isPowerless || login.managedBy !== undefined || login.acceptsAny === true;
}

/** For how much longer a cluster that was never secured is kept running for a silent server; 0 or less: no longer. */
export function untilUnsecuredMs({ status }: ClusterSubject, { login }: SpaceSeen): number {
  const isSilent = login.login === 'noServer' || login.login === 'unreachable';
  return isSilent && status.credentials === undefined ? SECURING_MS - login.forMs : 0;
}

/**
 * Recorded before the cluster is suspended, as afterwards no server could tell. Which Secret holds the login must also be
 * known, as the spec may name another one before the cluster runs again.
 */
function securedNow(subject: ClusterSubject, seen: SpaceSeen, nowMs: number) {
  if (subject.status.credentials !== undefined) return undefined;
  const status = verifiedLogin(subject, seen, nowMs);
  return status && { status, secured: factoryLoginRetired(status.credentials.secretName) };
}

/** Suspended as it should be. Changes wait for nothing; the login does, as there is no server to try it at. */
function decideSuspended(subject: ClusterSubject, seen: SpaceSeen): ClusterDecision {
  const known = clusterConditions(subject, seen);
  const change = changeOf(subject, seen);
  if (change !== undefined) {
    const { summary, steps } = change;
    return { conditions: [...summary, ...known], steps, ...(steps.length > 0 ? {} : { retry: 'slowly' }) };
  }
  const message = `Cluster "${seen.id}" is suspended, as the spec says`;
  const conditions = known.map((condition) =>
    condition.type === 'Available'
      ? { ...condition, reason: 'Suspended', message: `${message}: no server runs` }
      : condition,
  );
  const but = lostWords(seen) ?? unsecuredWords(subject) ?? '';
  return { conditions: [...settled(subject, seen, 'Suspended', `${message}${but}`), ...conditions] };
}

function lostWords(seen: SpaceSeen): string | undefined {
  const lost = lostSecret(seen);
  return lost && `; but Secret "${lost}" with its login is gone: restore it before the cluster runs again`;
}

/** Something lasting kept it from being secured before it was suspended, or it was suspended when it was taken over. */
function unsecuredWords({ spec, status }: ClusterSubject): string | undefined {
  if (spec.managementPolicy !== 'Manage' || status.credentials !== undefined) return undefined;
  return '; but its login was never secured, so once it runs again the one that new clusters come with may work until Mooring has replaced it';
}

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

/** The policy by which differences are only reported: one never changes anything, the other nothing that came from elsewhere. */
function leavesAsIs(subject: ClusterSubject, seen: SpaceSeen): string | undefined {
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
  const told = `${what}. With ${policy} nothing is changed`;
  const [word, before] = renamedElsewhere(subject, seen) ?? ['Drifted', ''];
  return [{ type: 'Ready', status: 'False', reason: word, message: `${before}${told}` }];
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
