import { ABANDON, isPaused, LET_GO } from '../../kube/annotations.ts';
import { type ConditionUpdate, findStatusCondition } from '../../kube/condition.ts';
import type { Failure } from '../../kube/failure.ts';
import { failing, particulars, reconciling, stalled } from '../../kube/summary.ts';
import { placeName } from '../databasespace/place.ts';
import { isTakenForGone, LOOKED_FOR_MS, lookedForWords } from './existence/decide-absent.ts';
import { isFromOperation } from './existence/decide-existence.ts';
import { createdAtOf, currentID, desiredID, identityOf, isFormer, isOurs, owns } from './identity.ts';
import { CLONE_LOOK_MS, clonesInWords, withoutClones } from './login/clones.ts';
import { decideLoginAlone } from './login/decide-login.ts';
import type { ClusterDecision, ClusterObservation, ClusterStep, ClusterSubject, SpaceSeen } from './observation.ts';
import {
  bringing,
  clusterConditions,
  driftOf,
  shown,
  UNPUBLISHED,
  unobserved,
  untilBelieved,
  wasDestroyed,
} from './present.ts';

/** Whether deleting the object does anything to the cluster. */
export function needsCloudToGo(spec: ClusterSubject['spec']): boolean {
  return spec.deletionPolicy !== 'Retain' && spec.managementPolicy === 'Manage';
}

/** Whether that destroys it. */
export function destroys({ deletionPolicy, managementPolicy }: ClusterSubject['spec']): boolean {
  return deletionPolicy === 'Delete' && managementPolicy === 'Manage';
}

const KEEP_IT = `To keep the cluster and remove only this object, annotate ${ABANDON}=true`;

/** What becomes of the cluster when its object is deleted. Nothing is let go silently, and nothing destroyed by mistake. */
export function decideDeletion(
  subject: ClusterSubject,
  observation: ClusterObservation,
  nowMs: number,
): ClusterDecision {
  const end = decideEnd(subject, observation, nowMs);
  const mayWait = observation.space === 'seen' && isPaused(subject.metadata) && !subject.spec.deletionProtection;
  return mayWait ? whilePaused(subject, observation, end, nowMs) : end;
}

function decideEnd(subject: ClusterSubject, observation: ClusterObservation, nowMs: number): ClusterDecision {
  const { spec } = subject;
  const kept = (summary: readonly ConditionUpdate[]): ClusterDecision => {
    if (observation.space === 'seen') return { conditions: [...summary, ...clusterConditions(subject, observation)] };
    const reason = observation.space === 'notNeeded' ? 'WaitingForSpace' : observation.reason;
    return { conditions: [...summary, ...unobserved(subject, reason)] };
  };
  if (spec.deletionProtection) {
    const goOn = destroys(spec) ? 'go on, which destroys the cluster with its data' : 'go on';
    const instead = destroys(spec) ? KEEP_IT : LET_GO;
    const message = `This object is being deleted, but deletionProtection is true: set it to false to ${goOn}. ${instead}`;
    const summary = stalled('DeletionProtected', message);
    if (observation.space === 'protected') return afterFailedLook(subject, summary, observation);
    return observation.space === 'seen' ? stays(subject, observation, summary, nowMs) : kept(summary);
  }
  if (observation.space === 'needed') {
    const { reason, message, forMs } = observation;
    // Unchanged: users and databases that must go first rely on these conditions.
    const rest = particulars(subject.status.conditions ?? []);
    return { conditions: [...reconciling(reason, message), ...rest], requeueAfterMs: forMs };
  }
  if (observation.space === 'notNeeded' || !needsCloudToGo(spec))
    return { conditions: 'keep', steps: tellFactoryLogin(subject), release: true };
  if (observation.space !== 'seen') {
    const message = `Deletion with deletionPolicy ${spec.deletionPolicy} needs the space: ${observation.message}. ${LET_GO}`;
    // A space that exists reports on itself. One that refuses does so by labels, which are read only in a pass.
    return {
      ...kept(failing('DeletionBlocked', message)),
      ...(observation.space === 'waiting' ? {} : { retry: 'slowly' }),
    };
  }
  return spec.deletionPolicy === 'Delete' ? destroy(subject, observation, nowMs) : suspend(subject, observation, nowMs);
}

/** Nothing was learned of the cluster, so all else stays as it was. */
function afterFailedLook(
  { status }: ClusterSubject,
  summary: readonly ConditionUpdate[],
  failure: Failure,
): ClusterDecision {
  return {
    conditions: [...summary, ...particulars(status.conditions ?? [])],
    stands: failure,
    prevails: true,
    mayPass: failure.mayPass,
    retry: failure.lasting === 'terminal' ? 'slowly' : 'later',
  };
}

/** The cluster is not changed. Users and databases on it go on, so where its server is, and whether its login works, stays true. */
function stays(
  subject: ClusterSubject,
  seen: SpaceSeen,
  summary: readonly ConditionUpdate[],
  nowMs: number,
): ClusterDecision {
  const conditions = [...summary, ...clusterConditions(subject, seen)];
  if (!isOurs(subject, seen)) return { conditions };
  const { clusterID, ...rest } = shown(seen);
  const drift = driftOf(subject, seen);
  // Recorded, an id that nobody has given it would count as its own, and the cluster be ended under it later.
  if (calledOtherwise(subject, seen) !== undefined) return { conditions, status: { ...rest, drift } };
  const status = { ...rest, clusterID, drift };
  if (seen.cluster?.status !== 'running' || !isOursToEnd(subject, seen)) return { conditions, status };
  const { mayPass: _, ...login } = decideLoginAlone(subject, seen, nowMs);
  const told = login.conditions === 'keep' ? conditions : [...summary, ...particulars(login.conditions)];
  // Whoever deleted it must hear what that waits for, whatever becomes of a new password.
  return { ...login, conditions: told, prevails: true, status: { ...status, ...login.status } };
}

/** The cluster stays while its object is paused. The runtime carries out no step of `end`, and tells which there would be. */
function whilePaused(subject: ClusterSubject, seen: SpaceSeen, end: ClusterDecision, nowMs: number): ClusterDecision {
  const doesNothing = (end.steps ?? []).length === 0 && !end.release;
  if (doesNothing) return end;
  const { conditions, status, retry, requeueAfterMs } = stays(subject, seen, [], nowMs);
  return { ...(retry && { retry }), requeueAfterMs, ...end, conditions, status: { ...status, ...end.status } };
}

const DELETE_SECRET: ClusterStep = { do: 'DeleteSecret' };

function destroy(subject: ClusterSubject, seen: SpaceSeen, nowMs: number): ClusterDecision {
  const { cluster, clones = [] } = seen;
  const before = unsettled(subject, seen, nowMs);
  if (before !== undefined) return before;
  if (clones.length > 0 && cluster?.status !== 'destroying') return afterClones(subject, seen, clones);
  const say = (summary: readonly ConditionUpdate[]): ClusterDecision => ({
    conditions: [...summary, ...clusterConditions(subject, seen)],
    status: shown(seen),
  });
  if (cluster === undefined || !isOursToEnd(subject, seen))
    return {
      conditions: 'keep',
      steps: [...(mayWorkYet(subject, seen) ? [] : [DELETE_SECRET]), ...tellLeft(subject, seen, 'destroyed')],
      release: true,
    };
  const destroying = bringing(seen, 'Destroying', `Cluster "${seen.id}" is being destroyed`);
  if (cluster.status === 'destroying') return { ...say(destroying), ...untilBelieved(seen) };
  if (!seen.canDestroy) {
    const { destroyRefusal } = seen;
    const space = `DatabaseSpace "${subject.spec.spaceRef.name}"`;
    const why = destroyRefusal ?? `${space} has no API token of level admin. Add one to its apiTokens`;
    const message = `Cluster "${seen.id}" cannot be destroyed: ${why}. ${LET_GO}`;
    const decision = stays(subject, seen, failing('DeletionBlocked', message), nowMs);
    // The space tries the token again. Nothing reports it if the cloud accepts the very same one.
    return destroyRefusal === undefined ? decision : { retry: 'later', ...decision };
  }
  return { ...say(destroying), steps: [{ do: 'Destroy', id: seen.id }] };
}

/** A clone that is being made may still need the cluster, and comes with the password that only this object's Secret has. */
function afterClones(subject: ClusterSubject, seen: SpaceSeen, clones: readonly string[]): ClusterDecision {
  const message = `Waiting until what is being cloned from cluster "${seen.id}" has a login of its own, as that comes with the password in this object's Secret: ${clonesInWords(clones)}. To destroy the cluster at once, ${withoutClones(clones)}. ${KEEP_IT}`;
  const conditions = [...reconciling('WaitingForDependents', message), ...clusterConditions(subject, seen)];
  return { conditions, requeueAfterMs: CLONE_LOOK_MS };
}

/** The states that lead to one in which a cluster can be suspended. Others may last. */
const SUSPENDABLE: ReadonlySet<string> = new Set(['starting', 'resuming', 'running']);

function suspend(subject: ClusterSubject, seen: SpaceSeen, nowMs: number): ClusterDecision {
  const { cluster } = seen;
  const before = unsettled(subject, seen, nowMs);
  if (before !== undefined) return before;
  if (cluster === undefined || !isOursToEnd(subject, seen))
    return { conditions: 'keep', steps: tellLeft(subject, seen, 'suspended'), release: true };
  if (cluster.status === 'suspending' || cluster.status === 'suspended')
    return { conditions: 'keep', steps: tellFactoryLogin(subject), release: true };
  if (cluster.status === 'destroying') {
    const message = `Cluster "${seen.id}" is being destroyed, though not by this object, so it cannot be suspended: this object is removed once the cluster is gone`;
    // Recording that it was ending keeps us from looking for it once it is gone, and from reporting that it was left.
    return {
      conditions: [...reconciling('Destroying', message), ...clusterConditions(subject, seen)],
      status: shown(seen),
    };
  }
  if (!SUSPENDABLE.has(cluster.status)) {
    const message = `Cluster "${seen.id}" has status "${cluster.status}", which Mooring does not know: it is suspended once it runs, before this object is removed. ${LET_GO}`;
    return { conditions: [...reconciling('UnderWay', message), ...clusterConditions(subject, seen)] };
  }
  const say = (how: string, instead = '') => {
    const message = `Cluster "${seen.id}" is ${how} before this object is removed${instead}`;
    return [...reconciling('Suspending', message), ...clusterConditions(subject, seen)];
  };
  if (cluster.status !== 'running')
    return { conditions: say(`${cluster.status}, and is suspended once it runs,`, `. ${LET_GO}`) };
  return { conditions: say('being suspended'), steps: [{ do: 'Suspend', id: seen.id }] };
}

/** What must be settled before it is known what to end. */
function unsettled(subject: ClusterSubject, seen: SpaceSeen, nowMs: number): ClusterDecision | undefined {
  return (
    claimed(subject, seen) ??
    stillLanding(subject, seen, nowMs) ??
    calledOtherwise(subject, seen) ??
    lookedFor(subject, seen)
  );
}

/** For the cluster of a deploy whose answer was lost, or a vanished one that is back: records its identity, and then it is ours. */
function claimed(subject: ClusterSubject, seen: SpaceSeen): ClusterDecision | undefined {
  const { cluster } = seen;
  if (cluster === undefined || subject.status.createdAt !== undefined) return undefined;
  if (!isFormer(subject, cluster) && !isFromOperation(subject, seen)) return undefined;
  return {
    conditions: 'keep',
    status: { createdAt: identityOf(cluster), clusterID: cluster.id, place: seen.place, operation: null, former: null },
    requeueAfterMs: 0,
  };
}

/** The answer to a deploy was lost, and there is no cluster: going now would leave it behind if it still comes. */
function stillLanding(subject: ClusterSubject, seen: SpaceSeen, nowMs: number): ClusterDecision | undefined {
  const { mayLandUntilMs } = seen;
  if (seen.cluster !== undefined || subject.status.createdAt !== undefined) return undefined;
  if (mayLandUntilMs === undefined || mayLandUntilMs <= nowMs) return undefined;
  const message = `Cluster "${seen.id}" was asked for, and the answer was lost: Mooring waits for it, as it may still be created. ${LET_GO}`;
  return {
    conditions: [...reconciling('Deploying', message), ...clusterConditions(subject, seen)],
    requeueAfterMs: mayLandUntilMs - nowMs,
  };
}

/** A cloud may not show the cluster for a moment, and going now would leave it behind. If it was seen ending, it is not looked for. */
function lookedFor(subject: ClusterSubject, seen: SpaceSeen): ClusterDecision | undefined {
  const { absence } = seen;
  if (absence === undefined || !isMissed(subject)) return undefined;
  // That it was taken for gone says nothing if there were others that may have been it.
  if (isTakenForGone(subject) && !absence.hadLookalikes) return undefined;
  const message = `${lookedForWords(seen, absence)} it is treated as gone, and this object is removed. ${LET_GO}`;
  return {
    conditions: [...reconciling('NotFound', message), ...clusterConditions(subject, seen)],
    requeueAfterMs: Math.min(absence.leftMs, LOOKED_FOR_MS),
  };
}

/** Whether there was a cluster of the object's own whose end was not seen. */
function isMissed(subject: ClusterSubject): boolean {
  const { createdAt, observedOnly } = subject.status;
  return createdAt !== undefined && !observedOnly && !wasDestroyed(subject);
}

/**
 * Whether the login in the object's Secret may still work: on the cluster that has its id, which may be its own, restored, or on its
 * own, which another object has. That one's Secret may be an older copy, or this very one.
 */
function mayWorkYet(subject: ClusterSubject, { cluster, claimedBy }: SpaceSeen): boolean {
  return isMissed(subject) && (cluster !== undefined || claimedBy !== undefined);
}

/** Whoever pays must hear of a cluster that nobody saw end, even if only the answer to that was lost. */
function tellLeft(subject: ClusterSubject, seen: SpaceSeen, end: string): readonly ClusterStep[] {
  const { id, place, cluster, claimedBy } = seen;
  if (claimedBy !== undefined || !isMissed(subject)) return [];
  const { secretName } = subject.status.credentials ?? {};
  const login = secretName === undefined ? '' : ` Secret "${secretName}" is kept, as its login may work there.`;
  const rest =
    cluster === undefined
      ? "the cloud does not show it: it is treated as gone, and Mooring does nothing more about it. If it comes back, deal with it in the cloud's console"
      : `the one there was created at another time, so it stays: somebody may have restored it.${login} If it is yours, create this object again with adoptionPolicy: MustExist, or end the cluster in the cloud's console`;
  const message = `Cluster "${id}" in ${placeName(place)} was to be ${end} with this object, but ${rest}`;
  return [{ do: 'TellLeft', id, message }];
}

/** Reasons of CredentialsSecured with which the login that new clusters come with does not work either. */
const REFUSED: ReadonlySet<string> = new Set(['AdminLoginRefused', 'AdminLoginLost', UNPUBLISHED]);

/** The cluster stays, and whoever knows the login that new clusters come with may sign in: somebody must hear that. */
function tellFactoryLogin(subject: ClusterSubject): readonly ClusterStep[] {
  if (!owns(subject)) return [];
  const id = currentID(subject);
  const message = factoryLoginLeft(subject.status, id);
  return message === undefined ? [] : [{ do: 'TellFactoryLogin', id, message }];
}

/** What to say of a cluster that is abandoned as it is, whatever its object's spec is by now; undefined: nothing. */
export function abandonedWords({ status }: Pick<ClusterSubject, 'status'>): string | undefined {
  const id = status.clusterID ?? status.operation?.target;
  return id === undefined || status.observedOnly ? undefined : factoryLoginLeft(status, id);
}

function factoryLoginLeft(status: ClusterSubject['status'], id: string): string | undefined {
  const { createdAt, place, conditions, credentials } = status;
  const secured = findStatusCondition(conditions, 'CredentialsSecured');
  const isRetired = secured !== undefined && (secured.status !== 'False' || REFUSED.has(secured.reason));
  // Nothing remembers better how things were before it vanished.
  const isMissing = secured?.reason === 'ClusterMissing';
  if (isRetired || (isMissing && credentials !== undefined) || secured?.reason === 'ClusterNotOurs') return undefined;
  const where = place === undefined ? '' : ` in ${placeName(place)}`;
  const there = isMissing ? 'is not shown now, and stays if it is there' : 'stays';
  const stays = createdAt === undefined ? 'was asked for, and stays if it comes up' : there;
  return `Cluster "${id}"${where} ${stays}, and the login that new clusters come with may work there: nothing shows that it was retired. Replace its password on the server, or create this object again with adoptionPolicy: MustExist, and delete it once it is Ready`;
}

/** Somebody renamed it, or may have. A cluster that nobody has named is not ended, and one that may be ours is not let go. */
function calledOtherwise(subject: ClusterSubject, seen: SpaceSeen): ClusterDecision | undefined {
  if (subject.status.observedOnly) return undefined;
  const { cluster } = seen;
  const id = currentID(subject);
  const isRenamed = cluster !== undefined && isOurs(subject, seen) && ![id, desiredID(subject)].includes(cluster.id);
  const ids = isRenamed ? [cluster.id] : seen.lookalikes;
  const [first] = ids;
  if (first === undefined) return undefined;
  const message =
    `Cluster "${id}" no longer exists, but there is ${ids.map((other) => `"${other}"`).join(', ')}, created at the same time: ` +
    `somebody may have renamed it. If it is this one, set clusterID: ${first} to go on. ${LET_GO}`;
  return { conditions: [...failing('DeletionBlocked', message), ...clusterConditions(subject, seen)], retry: 'slowly' };
}

/**
 * Whether the cluster is this object's to end. Anything else under the id is somebody else's, and stays. If the creation time
 * shows that it is the same cluster, its id does not matter: it may have been renamed, and the answer lost.
 */
function isOursToEnd(subject: ClusterSubject, { cluster, claimedBy }: SpaceSeen): boolean {
  if (subject.status.observedOnly) return false;
  if (cluster === undefined || claimedBy !== undefined || !isOurs(subject, { cluster })) return false;
  return createdAtOf(cluster) !== undefined || subject.status.clusterID === cluster.id;
}
