import type { Cluster } from '../../../cloud/schema.ts';
import { ACCEPT_IDENTITY } from '../../../kube/annotations.ts';
import { type ConditionUpdate, findStatusCondition } from '../../../kube/condition.ts';
import { failing, reconciling, retrying, stalled } from '../../../kube/summary.ts';
import { addressWords } from '../../databasespace/connection/server-url.ts';
import { placeName } from '../../databasespace/place.ts';
import { untilUnsecuredMs } from '../changes/decide-state.ts';
import { backupToDeploy } from '../changes/differences.ts';
import { restingServers, unusableAddress } from '../endpoint.ts';
import { adminSecretName, createdAtOf, identityOf, isAccepted, isFormer, isOnlyObserved, isSame } from '../identity.ts';
import type { ClusterDecision, ClusterSubject, SpaceSeen } from '../observation.ts';
import { bringing, clusterConditions, driftOf, type Rule, shown, untilBelieved } from '../present.ts';
import { decideAbsent, lookalikesOf, neverCreates, withoutLogin } from './decide-absent.ts';

const NOTHING_SHOWN = { state: null, servers: null, endpoint: null, drift: null } as const;

/** For a cluster that is somebody else's: nobody may be led to it, nor to what was recorded while it was observed. */
const NOT_OURS = {
  ...NOTHING_SHOWN,
  observed: null,
  version: null,
  backup: null,
  operation: null,
  former: null,
  createdAt: null,
  observedOnly: null,
  place: null,
  clusterID: null,
  unverifiedSecretName: null,
} as const;

/** How far the cloud's clock may be behind ours. */
const CLOCK_SKEW_MS = 300_000;

/**
 * Whose the cluster is, and whether there is one. Identity is id with createdAt, as the cloud stores no owner. The rules
 * that follow have a cluster that is surely this object's and at rest.
 */
export const decideExistence: Rule = (subject, seen, nowMs) => {
  const { cluster } = seen;
  if (cluster === undefined) return decideAbsent(subject, seen, nowMs);
  if (isOnlyObserved(subject)) return unclaimed(withoutIdentity(subject), seen, cluster);
  if (subject.status.createdAt === undefined) return unclaimed(subject, seen, cluster);
  if (!isSame(subject, cluster)) return replaced(subject, seen, cluster);
  return underWay(subject, seen, cluster);
};

function withoutIdentity(subject: ClusterSubject): ClusterSubject {
  return { ...subject, status: { ...subject.status, createdAt: undefined } };
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
      place: seen.place,
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
  if (isFormer(subject, cluster)) return claim(`exists again in ${placeName(seen.place)}`, { observedOnly: null });
  // What this object asked for is its own, even if it only observes by now.
  if (isFromOperation(subject, seen))
    return claim(`is being created in ${placeName(seen.place)}`, {
      backup: acceptedBackup(subject),
      observedOnly: null,
    });
  if (cluster.status === 'destroying') return outgoing(subject, seen);
  if (spec.adoptionPolicy !== 'Never' || spec.managementPolicy === 'Observe') {
    const doing = spec.managementPolicy === 'Observe' ? 'observed from now on' : 'being taken over';
    return claim(`exists in ${placeName(seen.place)}, and is ${doing}`, { backup: null });
  }
  const message =
    `Cluster "${seen.id}" exists in ${placeName(seen.place)}, created ${createdAtOf(cluster) ?? 'at an unknown time'}, but not by this object: it is left alone. ` +
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
  const message = `Cluster "${seen.id}" in ${placeName(seen.place)} was not created by this object, and is being destroyed. ${then}`;
  return {
    conditions: [...reconciling('Destroying', message), ...clusterConditions(subject, seen)],
    status: NOT_OURS,
  };
}

/** The backup settings that creating the cluster has set: none for a clone, whose request has nothing but its id ("Clone"). */
export function acceptedBackup({ spec, status }: ClusterSubject) {
  return status.operation?.type === 'Clone' ? null : backupToDeploy(spec);
}

/**
 * Whether the cluster came from the recorded call. Its answer tells, if this process still has it. Otherwise: the id was free before
 * the call was recorded. So if it may have been made, a cluster created since, with exactly the properties that were asked for, is
 * that one.
 */
export function isFromOperation(
  { metadata, spec, status, deleting }: ClusterSubject,
  { cluster, mayLandUntilMs, createdByCall }: SpaceSeen,
): boolean {
  const { operation } = status;
  if (operation === undefined || operation.target !== cluster?.id || mayLandUntilMs === undefined) return false;
  if (createdByCall !== undefined && cluster.createdAt !== undefined) return createdByCall === createdAtOf(cluster);
  if (cluster.createdAt !== undefined && cluster.createdAt < Date.parse(operation.startedAt) - CLOCK_SKEW_MS)
    return false;
  if (operation.type === 'Clone') return true;
  // What can change may have been asked for as an earlier spec said. The API server counts a deletion, which changes no spec.
  const { generation } = operation;
  const isAsAsked = generation !== undefined && generation + (deleting ? 1 : 0) === metadata.generation;
  const properties: readonly (readonly [unknown, unknown])[] = [
    [spec.provider, cluster.provider],
    [spec.region, cluster.region],
    [spec.serverCount, cluster.serverCount],
    [spec.isFree, cluster.isFree],
    [spec.version === 'latest' ? undefined : spec.version, cluster.version],
    [isAsAsked ? spec.machineType : undefined, cluster.machineType],
    [isAsAsked ? spec.storageSizeGB : undefined, cluster.storageSizeGB],
  ];
  return properties.every(([asked, found]) => asked === undefined || found === undefined || asked === found);
}

function replaced(subject: ClusterSubject, seen: SpaceSeen, cluster: Cluster): ClusterDecision {
  const createdAt = createdAtOf(cluster);
  if (createdAt !== undefined && isAccepted(subject.metadata, createdAt)) {
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
  const accepted = subject.metadata.annotations?.[ACCEPT_IDENTITY];
  const instead = accepted === undefined ? '' : `, not ${JSON.stringify(accepted.slice(0, 80))} as now`;
  const message =
    `Cluster "${seen.id}" in ${placeName(seen.place)} is not the same cluster as before: it was created ${createdAt}, ours ` +
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
    ...(seen.sourcesAddress === undefined ? {} : { retry: 'soon' }),
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
      const what = `Cluster "${seen.id}" runs, but ${whyNoServer(seen, cluster)}`;
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
      return wait('Deploying', `Cluster "${seen.id}" is being created in ${placeName(seen.place)}`);
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

function whyNoServer({ sourcesAddress }: SpaceSeen, cluster: Cluster): string {
  if (sourcesAddress === undefined) return `none of its servers does yet${restingServers(cluster)}`;
  const { address, id } = sourcesAddress;
  return `the cloud shows it at ${address}, which is the address of cluster "${id}", which it is a clone of: Mooring waits for an address of its own, and tries no login before. If this persists, check the cloud's console`;
}
