import type { Cluster } from '../../../cloud/schema.ts';
import { ACCEPT_IDENTITY } from '../../../kube/annotations.ts';
import { type ConditionUpdate, findStatusCondition } from '../../../kube/condition.ts';
import { failing, reconciling, retrying, stalled } from '../../../kube/summary.ts';
import { isTriedAgain } from '../../attempts.ts';
import { addressWords } from '../../databasespace/connection.ts';
import { isSamePlace } from '../../databasespace/place.ts';
import { untilUnsecuredMs } from '../changes/decide-state.ts';
import { backupToDeploy } from '../changes/differences.ts';
import { restingServers, unusableAddress } from '../endpoint.ts';
import {
  adminSecretName,
  createdAtOf,
  desiredID,
  identityOf,
  isFormer,
  isOnlyObserved,
  isSame,
  NO_CREATION_TIME,
} from '../identity.ts';
import { recordedIn } from '../login/former-secrets.ts';
import type { Absence, ClusterStep, ClusterSubject, SpaceSeen } from '../observation.ts';
import {
  bringing,
  type ClusterDecision,
  clusterConditions,
  driftOf,
  type Rule,
  shown,
  untilBelieved,
} from '../present.ts';

const NOTHING_SHOWN = { state: null, servers: null, endpoint: null, drift: null } as const;

/** For a cluster that is somebody else's: nobody may be led to it, nor to what was recorded while it was observed. */
const NOT_OURS = {
  ...NOTHING_SHOWN,
  operation: null,
  former: null,
  createdAt: null,
  observedOnly: null,
  place: null,
  clusterID: null,
  unverifiedSecretName: null,
} as const;

/** How often a cluster that is not to be seen is looked for. */
export const LOOKED_FOR_MS = 5_000;

/** How far the cloud's clock may be behind ours. */
const CLOCK_SKEW_MS = 300_000;

/**
 * Whose the cluster is, and whether there is one. Identity is id with createdAt, as the cloud stores no owner. The rules
 * that follow have a cluster that is surely this object's and at rest.
 */
export const decideExistence: Rule = (subject, seen, nowMs) => {
  const { cluster } = seen;
  if (cluster === undefined) return absent(subject, seen, nowMs);
  if (isOnlyObserved(subject)) return unclaimed(withoutIdentity(subject), seen, cluster);
  if (subject.status.createdAt === undefined) return unclaimed(subject, seen, cluster);
  if (!isSame(subject, cluster)) return replaced(subject, seen, cluster);
  return underWay(subject, seen, cluster);
};

function withoutIdentity(subject: ClusterSubject): ClusterSubject {
  return { ...subject, status: { ...subject.status, createdAt: undefined } };
}

/** What was found about the former cluster's login says nothing about the cluster that takes its place. */
function withoutLogin(subject: ClusterSubject): ClusterSubject {
  return { ...subject, status: { ...subject.status, credentials: undefined } };
}

function absent(subject: ClusterSubject, seen: SpaceSeen, nowMs: number): ClusterDecision {
  const { spec, status } = subject;
  const say = (summary: ReturnType<typeof stalled>) => [...summary, ...clusterConditions(subject, seen)];
  const never = neverCreates(subject);
  if (seen.absence !== undefined && !isTakenForGone(subject)) return awaited(subject, seen, seen.absence);
  // Also if another was about to be created in its place: the policy counts as it is now.
  const hasVanished = status.createdAt !== undefined || status.former !== undefined;
  if (hasVanished && (spec.recreatePolicy === 'Never' || seen.lookalikes.length > 0)) {
    const anew = never === undefined ? 'set recreatePolicy: Always for an empty one, or ' : '';
    const message =
      `Cluster "${seen.id}" has vanished from ${seen.place}${lookalikesOf(seen)}. A new one would be empty, so none is created: restore it in ` +
      `the cloud, or ${anew}delete this object`;
    const isOff = status.operation !== undefined && seen.mayLandUntilMs === undefined;
    return {
      conditions: say(stalled('ClusterMissing', message)),
      retry: 'slowly',
      ...(isOff ? { status: { operation: null } } : {}),
    };
  }
  if (never !== undefined) {
    const message = `There is no cluster "${seen.id}" in ${seen.place}, and none is created with ${never}: create it there, or check clusterID`;
    return { conditions: say(stalled('ClusterNotFound', message)), retry: 'slowly' };
  }
  const message = `Cluster "${seen.id}" is being created in ${seen.place}`;
  const { cloneSource } = seen;
  if (cloneSource?.is === 'unusable')
    return { conditions: say(stalled(cloneSource.reason, cloneSource.message)), retry: 'slowly' };
  // The id comes from the source's status, and a change of status wakes nobody.
  if (cloneSource?.is === 'waiting')
    return { conditions: say(reconciling('WaitingForSource', cloneSource.message)), retry: 'soon' };
  const type = cloneSource === undefined ? 'Deploy' : 'Clone';
  const isAnnounced = isWrittenDown(subject, seen, type, nowMs);
  const id = isAnnounced ? seen.id : desiredID(subject);
  const step: ClusterStep =
    cloneSource === undefined
      ? { do: 'Deploy', id }
      : { do: 'Clone', id, source: cloneSource.id, createdAt: cloneSource.createdAt };
  if (!isAnnounced) return { ...writeDown(subject, seen, type, message, nowMs), announces: [step] };
  return { conditions: say(reconciling('Deploying', message)), steps: [step] };
}

type Creation = 'Deploy' | 'Clone';

/** Whether creating this very cluster, in this very place, was announced. */
function isWrittenDown(subject: ClusterSubject, seen: SpaceSeen, type: Creation, nowMs: number): boolean {
  const { operation, place, createdAt } = subject.status;
  if (operation?.target !== seen.id || operation.type !== type || createdAt !== undefined) return false;
  if (place !== undefined && !isSamePlace(place, seen.at)) return false;
  // What may still come under an earlier id is waited for.
  return operation.target === desiredID(subject) || (seen.mayLandUntilMs ?? 0) > nowMs;
}

/** Before the call: whoever finds the cluster afterwards, even after a crash, knows whose it is. */
function writeDown(
  subject: ClusterSubject,
  seen: SpaceSeen,
  type: Creation,
  message: string,
  nowMs: number,
): ClusterDecision {
  const { createdAt } = subject.status;
  const isNoNews = createdAt === undefined && isTriedAgain(subject);
  return {
    hold: true,
    conditions: isNoNews
      ? 'keep'
      : [...reconciling('Deploying', message), ...clusterConditions(withoutLogin(subject), seen)],
    status: {
      operation: { type, target: desiredID(subject), startedAt: new Date(nowMs).toISOString(), by: seen.self },
      place: seen.at,
      createdAt: null,
      ...(createdAt === undefined ? {} : formerOf(subject, seen.id)),
      observed: null,
      observedOnly: null,
      credentials: null,
      clusterID: null,
    },
    requeueAfterMs: 0,
  };
}

/** The machine that answers may be behind, even after a deploy. That must not lead to a second cluster or an alarm. */
function awaited(subject: ClusterSubject, seen: SpaceSeen, absence: Absence): ClusterDecision {
  const { status } = subject;
  const ready = findStatusCondition(status.conditions, 'Ready');
  // A cluster that sleeps, or is only observed, is Ready without a login.
  const wasUp = status.credentials !== undefined || ready?.status === 'True' || ready?.reason === 'NotFound';
  const anew = 'an empty one is created in its place, as recreatePolicy: Always says';
  const message = `${lookedForWords(seen, absence)} ${recreates(subject) ? anew : 'it is treated as gone'}`;
  const told = wasUp ? failing('NotFound', message) : reconciling('Deploying', message);
  return {
    conditions: [...told, ...clusterConditions(subject, seen)],
    requeueAfterMs: Math.min(absence.leftMs, LOOKED_FOR_MS),
  };
}

/** Says that it is looked for. The caller adds what follows if it is not found. */
export function lookedForWords({ id, place }: SpaceSeen, { since, until }: Absence): string {
  return `Cluster "${id}" has not been seen in ${place} since ${since}, perhaps because the cloud is slow to show it: Mooring keeps looking. If it does not appear by ${until},`;
}

/** Whether another cluster is created in place of one that has vanished. */
function recreates(subject: ClusterSubject): boolean {
  return subject.spec.recreatePolicy === 'Always' && neverCreates(subject) === undefined;
}

/** Whether it was once looked for long enough, and no other follows it. Waiting again, as a new process would, is no news. */
export function isTakenForGone(subject: ClusterSubject): boolean {
  const ready = findStatusCondition(subject.status.conditions, 'Ready')?.reason;
  return !recreates(subject) && (ready === 'ClusterMissing' || ready === 'ClusterNotFound');
}

/**
 * The record of the vanished cluster. If it comes back, only this tells whose it is, and its login is then in the same Secret,
 * whatever the spec names by now. A cluster that was only observed never was this object's.
 */
function formerOf({ status }: ClusterSubject, clusterID: string) {
  const { createdAt, observedOnly } = status;
  const isKnown = createdAt !== undefined && createdAt !== NO_CREATION_TIME && observedOnly !== true;
  if (!isKnown) return { former: null, unverifiedSecretName: null };
  return { former: { clusterID, createdAt }, unverifiedSecretName: recordedIn({ status })[0] ?? null };
}

/** There is a cluster, but nothing says yet that it is this object's. */
function unclaimed(subject: ClusterSubject, seen: SpaceSeen, cluster: Cluster): ClusterDecision {
  const { spec } = subject;
  const createdAt = identityOf(cluster);
  const secretOfFormer = isFormer(subject, cluster) ? subject.status.unverifiedSecretName : undefined;
  // Nothing about it was verified yet.
  const claimed = { ...subject, status: { ...subject.status, createdAt, credentials: undefined } };
  const claim = (doing: string, extra: ClusterDecision['status']): ClusterDecision => ({
    hold: spec.managementPolicy === 'Manage',
    // If it was observed until now, everything has been reported.
    conditions: subject.status.observedOnly
      ? 'keep'
      : [...reconciling('Deploying', `Cluster "${seen.id}" ${doing}`), ...clusterConditions(claimed, seen)],
    status: {
      ...shown(seen),
      drift: driftOf(claimed, seen),
      createdAt,
      observedOnly: spec.managementPolicy === 'Observe' ? true : null,
      place: seen.at,
      operation: null,
      ...(subject.status.former === undefined ? {} : { former: null }),
      // None is written for a cluster that is only observed.
      ...(spec.managementPolicy === 'Manage'
        ? { unverifiedSecretName: secretOfFormer ?? adminSecretName(subject) }
        : {}),
      ...extra,
    },
    requeueAfterMs: 0,
  });
  if (isFormer(subject, cluster)) return claim(`exists again in ${seen.place}`, { observedOnly: null });
  // What this object asked for is its own, even if it only observes by now.
  if (isFromOperation(subject, seen))
    return claim(`is being created in ${seen.place}`, { backup: acceptedBackup(subject), observedOnly: null });
  if (cluster.status === 'destroying') return outgoing(subject, seen);
  if (spec.adoptionPolicy !== 'Never' || spec.managementPolicy === 'Observe') {
    const doing = spec.managementPolicy === 'Observe' ? 'observed from now on' : 'being taken over';
    return claim(`exists in ${seen.place}, and is ${doing}`, { backup: null });
  }
  const message =
    `Cluster "${seen.id}" exists in ${seen.place}, created ${createdAtOf(cluster) ?? 'at an unknown time'}, but not by this object: it is left alone. ` +
    'Choose another clusterID, or set adoptionPolicy: IfExists to take it over';
  return {
    conditions: [...stalled('ClusterIDInUse', message), ...clusterConditions(subject, seen)],
    status: NOT_OURS,
    retry: 'slowly',
  };
}

/** There is a cluster, not this object's, that will soon be gone. If it were recorded now, it would be missed then. */
function outgoing(subject: ClusterSubject, seen: SpaceSeen): ClusterDecision {
  const never = neverCreates(subject);
  const then =
    never === undefined
      ? 'Mooring waits until it is gone, and then creates one'
      : `It is not taken over, and none is created with ${never}: create one there when it is gone, or check clusterID`;
  const message = `Cluster "${seen.id}" in ${seen.place} was not created by this object, and is being destroyed. ${then}`;
  return {
    conditions: [...reconciling('Destroying', message), ...clusterConditions(subject, seen)],
    status: NOT_OURS,
  };
}

/** The setting that rules out creating a cluster; undefined: one may be created. */
function neverCreates({ spec }: ClusterSubject): string | undefined {
  if (spec.managementPolicy === 'Observe') return 'managementPolicy: Observe';
  return spec.adoptionPolicy === 'MustExist' ? 'adoptionPolicy: MustExist' : undefined;
}

/** The backup settings that creating the cluster has set: none for a clone, whose request has nothing but its id ("Clone"). */
export function acceptedBackup({ spec, status }: ClusterSubject) {
  return status.operation?.type === 'Clone' ? null : backupToDeploy(spec);
}

/**
 * Whether the cluster came from the recorded call whose answer we do not have. The id was free before that was recorded. So
 * if the call may have been made, a cluster created since, with exactly the properties that were asked for, is that one.
 */
export function isFromOperation({ spec, status }: ClusterSubject, { cluster, mayLandUntilMs }: SpaceSeen): boolean {
  const { operation } = status;
  if (operation === undefined || operation.target !== cluster?.id || mayLandUntilMs === undefined) return false;
  if (cluster.createdAt !== undefined && cluster.createdAt < Date.parse(operation.startedAt) - CLOCK_SKEW_MS)
    return false;
  if (operation.type === 'Clone') return true;
  const fixed: readonly (readonly [unknown, unknown])[] = [
    [spec.provider, cluster.provider],
    [spec.region, cluster.region],
    [spec.serverCount, cluster.serverCount],
    [spec.isFree, cluster.isFree],
    [spec.version === 'latest' ? undefined : spec.version, cluster.version],
  ];
  return fixed.every(([asked, found]) => asked === undefined || found === undefined || asked === found);
}

/** The end of a sentence that names what may be ours under another id: a person can tell. */
export function lookalikesOf({ lookalikes }: SpaceSeen): string {
  const [first] = lookalikes;
  if (first === undefined) return '';
  const ids = lookalikes.map((id) => `"${id}"`).join(', ');
  return `, but there is ${ids}, created at the same time: if that is this one under another id, set clusterID: ${first}`;
}

function replaced(subject: ClusterSubject, seen: SpaceSeen, cluster: Cluster): ClusterDecision {
  const createdAt = createdAtOf(cluster);
  const accepted = subject.metadata.annotations?.[ACCEPT_IDENTITY];
  if (createdAt !== undefined && accepted === createdAt) {
    return {
      conditions: [
        ...reconciling('IdentityAccepted', `Cluster "${seen.id}" created ${createdAt} is taken over as annotated`),
        ...clusterConditions(withoutLogin(subject), seen),
      ],
      // What the cloud accepted was for the cluster before.
      status: { createdAt, credentials: null, backup: null },
      requeueAfterMs: 0,
    };
  }
  const instead = accepted === undefined ? '' : `, not ${JSON.stringify(accepted.slice(0, 80))} as now`;
  const message =
    `Cluster "${seen.id}" in ${seen.place} is not the same cluster as before: it was created ${createdAt}, ours ` +
    `${subject.status.createdAt}. It is left alone. To take it over, annotate ${ACCEPT_IDENTITY}=${createdAt}${instead}${lookalikesOf(seen)}`;
  return {
    conditions: [...stalled('IdentityChanged', message), ...clusterConditions(subject, seen)],
    // Nobody may be led to the other one.
    status: NOTHING_SHOWN,
    retry: 'slowly',
  };
}

/** The cloud may name anything as the address, such as one with a path. The login goes to none of these. */
function nowhere(subject: ClusterSubject, seen: SpaceSeen, address: string): ClusterDecision {
  const reason = 'CloudAnswerUnusable';
  const message = `Cluster "${seen.id}" runs, but what the cloud names as its address is not the host and port of a server: ${addressWords(address)}. Mooring does not call it: check the cloud's console`;
  const status = findStatusCondition(subject.status.conditions, 'Ready')?.status;
  const say = status === 'True' || status === 'False' ? failing : retrying;
  const available: ConditionUpdate = { type: 'Available', status: 'False', reason, message };
  return {
    conditions: [...say(reason, message), ...clusterConditions(subject, seen, { available })],
    retry: 'slowly',
  };
}

/** A cluster in transition takes no orders, so wait for it. The poller of the space hurries meanwhile. */
function underWay(subject: ClusterSubject, seen: SpaceSeen, cluster: Cluster): ClusterDecision | undefined {
  const wait = (reason: string, message: string): ClusterDecision => ({
    conditions: [...reconciling(reason, message), ...clusterConditions(subject, seen)],
  });
  const brought = (reason: string, doing: string): ClusterDecision => ({
    conditions: [
      ...bringing(seen, reason, `Cluster "${seen.id}" is being ${doing}`),
      ...clusterConditions(subject, seen),
    ],
    ...untilBelieved(seen),
  });
  switch (cluster.status) {
    case 'running': {
      const what = `Cluster "${seen.id}" runs, but none of its servers does yet${restingServers(cluster)}`;
      if (seen.endpoint !== undefined) return undefined;
      if (subject.spec.state === 'Running') {
        const address = unusableAddress(cluster);
        return address === undefined ? wait('WaitingForServer', what) : nowhere(subject, seen, address);
      }
      const leftMs = untilUnsecuredMs(subject, seen);
      if (leftMs <= 0) return undefined;
      const why = 'the login that new clusters come with is retired there before the cluster is suspended';
      return { ...wait('WaitingForServer', `${what}: ${why}`), requeueAfterMs: leftMs };
    }
    case 'suspended':
      return undefined;
    case 'starting':
      return wait('Deploying', `Cluster "${seen.id}" is being created in ${seen.place}`);
    case 'suspending':
      return brought('Suspending', 'suspended');
    case 'resuming':
      return brought('Resuming', 'resumed');
    case 'destroying': {
      const message = `Cluster "${seen.id}" is being destroyed, though not by this object: nothing can be done until it is gone`;
      return wait('Destroying', message);
    }
    default:
      return wait(
        'UnderWay',
        `Cluster "${seen.id}" has status "${cluster.status}", which Mooring does not know: it waits for running or suspended`,
      );
  }
}
