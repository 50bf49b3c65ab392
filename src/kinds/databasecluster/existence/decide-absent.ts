import { type ConditionUpdate, findStatusCondition } from '../../../kube/condition.ts';
import { failing, reconciling, stalled } from '../../../kube/summary.ts';
import { isTriedAgain } from '../../attempts.ts';
import { isSamePlace, placeName } from '../../databasespace/place.ts';
import { desiredID, NO_CREATION_TIME } from '../identity.ts';
import { recordedIn } from '../login/former-secrets.ts';
import { type SecretTaken, secretTakenWords } from '../login/secret-taken.ts';
import type { Absence, ClusterDecision, ClusterStep, ClusterSubject, SpaceSeen } from '../observation.ts';
import { clusterConditions } from '../present.ts';

/** How often a cluster that is not to be seen is looked for. */
export const LOOKED_FOR_MS = 5_000;

/** There is no cluster, or none is to be seen: it is waited for, reported, or created. */
export function decideAbsent(subject: ClusterSubject, seen: SpaceSeen, nowMs: number): ClusterDecision {
  const say = (summary: readonly ConditionUpdate[]) => [...summary, ...clusterConditions(subject, seen)];
  const never = neverCreates(subject);
  if (seen.absence !== undefined && !isTakenForGone(subject)) return awaited(subject, seen, seen.absence);
  if (staysGone(subject, seen)) {
    // While there is one that may be it, none is created with that policy either.
    const mayCreate = never === undefined && seen.lookalikes.length === 0;
    const anew = mayCreate ? 'set recreatePolicy: Always for an empty one, or ' : '';
    const message =
      `Cluster "${seen.id}" has vanished from ${placeName(seen.place)}${lookalikesOf(seen)}. A new one would be empty, so none is created: restore it in ` +
      `the cloud, or ${anew}delete this object`;
    return { conditions: say(stalled('ClusterMissing', message)), retry: 'slowly', ...calledOff(subject, seen) };
  }
  if (never !== undefined) {
    const message = `There is no cluster "${seen.id}" in ${placeName(seen.place)}, and none is created with ${never}: create it there, or check clusterID`;
    return { conditions: say(stalled('ClusterNotFound', message)), retry: 'slowly' };
  }
  return created(subject, seen, nowMs);
}

/** Whether one has vanished, and no other takes its place. Also if one was about to: the policy counts as it is now. */
function staysGone({ spec, status }: ClusterSubject, { lookalikes }: Pick<SpaceSeen, 'lookalikes'>): boolean {
  const hasVanished = status.createdAt !== undefined || status.former !== undefined;
  return hasVanished && (spec.recreatePolicy === 'Never' || lookalikes.length > 0);
}

/** Forgets a cluster that was about to be created, and was surely not asked for yet. */
function calledOff({ status }: ClusterSubject, { mayLandUntilMs }: SpaceSeen): Pick<ClusterDecision, 'status'> {
  return status.operation !== undefined && mayLandUntilMs === undefined ? { status: { operation: null } } : {};
}

/** Whether one is to be created, unless something is in the way. */
export function isToBeCreated(
  subject: ClusterSubject,
  seen: Pick<SpaceSeen, 'cluster' | 'claimedBy' | 'absence' | 'lookalikes'>,
): boolean {
  if (subject.deleting || seen.cluster !== undefined || seen.claimedBy !== undefined) return false;
  return seen.absence === undefined && !staysGone(subject, seen) && neverCreates(subject) === undefined;
}

/** None has existed, or another is to take its place. */
function created(subject: ClusterSubject, seen: SpaceSeen, nowMs: number): ClusterDecision {
  const say = (summary: readonly ConditionUpdate[]) => [...summary, ...clusterConditions(subject, seen)];
  const message = `Cluster "${seen.id}" is being created in ${placeName(seen.place)}`;
  const { cloneSource, login } = seen;
  if (cloneSource?.is === 'unusable')
    return { conditions: say(stalled(cloneSource.reason, cloneSource.message)), retry: 'slowly' };
  if (login.login === 'secretTaken') return unsecurable(subject, seen, login);
  // Not all that it waits for wakes it, such as the end of a rotation.
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

/** Its login could not be written anywhere: it would cost money, and anybody could sign in to it. */
function unsecurable(subject: ClusterSubject, seen: SpaceSeen, login: SecretTaken): ClusterDecision {
  const message = `${secretTakenWords(subject, login)}. Until then no cluster is created`;
  return {
    conditions: [...stalled('SecretNotOurs', message), ...clusterConditions(subject, seen)],
    retry: 'slowly',
    ...calledOff(subject, seen),
  };
}

type Creation = 'Deploy' | 'Clone';

/** Whether creating this very cluster, in this very place, was announced. */
function isWrittenDown(subject: ClusterSubject, seen: SpaceSeen, type: Creation, nowMs: number): boolean {
  const { operation, place, createdAt } = subject.status;
  if (operation?.target !== seen.id || operation.type !== type || createdAt !== undefined) return false;
  if (place !== undefined && !isSamePlace(place, seen.place)) return false;
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
  const { metadata, status } = subject;
  const { createdAt } = status;
  const startedAt = new Date(nowMs).toISOString();
  const operation = { type, target: desiredID(subject), startedAt, by: seen.self, generation: metadata.generation };
  const announced = withoutLogin({ ...subject, status: { ...status, operation } });
  const isNoNews = createdAt === undefined && isTriedAgain(subject);
  return {
    hold: true,
    conditions: isNoNews ? 'keep' : [...reconciling('Deploying', message), ...clusterConditions(announced, seen)],
    status: {
      operation,
      place: seen.place,
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

/** What was found about the former cluster's login says nothing about the cluster that takes its place. */
export function withoutLogin(subject: ClusterSubject): ClusterSubject {
  return { ...subject, status: { ...subject.status, credentials: undefined } };
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
  return `Cluster "${id}" has not been seen in ${placeName(place)} since ${since}, perhaps because the cloud is slow to show it: Mooring keeps looking. If it does not appear by ${until},`;
}

/** Whether it was once looked for long enough, and no other follows it. Waiting again, as a new process would, is no news. */
export function isTakenForGone(subject: ClusterSubject): boolean {
  const ready = findStatusCondition(subject.status.conditions, 'Ready')?.reason;
  return !recreates(subject) && (ready === 'ClusterMissing' || ready === 'ClusterNotFound');
}

/** Whether another cluster is created in place of one that has vanished. */
function recreates(subject: ClusterSubject): boolean {
  return subject.spec.recreatePolicy === 'Always' && neverCreates(subject) === undefined;
}

/** The setting that rules out creating a cluster; undefined: one may be created. */
export function neverCreates({ spec }: Pick<ClusterSubject, 'spec'>): string | undefined {
  if (spec.managementPolicy === 'Observe') return 'managementPolicy: Observe';
  return spec.adoptionPolicy === 'MustExist' ? 'adoptionPolicy: MustExist' : undefined;
}

/** The end of a sentence that names what may be ours under another id: a person can tell. */
export function lookalikesOf({ lookalikes }: SpaceSeen): string {
  const [first] = lookalikes;
  if (first === undefined) return '';
  const ids = lookalikes.map((id) => `"${id}"`).join(', ');
  return `, but there is ${ids}, created at the same time: if that is this one under another id, set clusterID: ${first}`;
}
