import { findStatusCondition } from '../../kube/condition.ts';
import { reconciling, stalled } from '../../kube/summary.ts';
import { isSamePlace } from '../databasespace/place.ts';
import { correctedRotation } from '../rotation.ts';
import { decideRunState } from './changes/decide-state.ts';
import { decideDeletion } from './decide-deletion.ts';
import { decideClaim } from './existence/decide-claim.ts';
import { decideExistence } from './existence/decide-existence.ts';
import { createdAtOf, isOurs, NO_CREATION_TIME } from './identity.ts';
import { decideLogin } from './login/decide-login.ts';
import { decideMeanwhile } from './login/verify-alone.ts';
import type { ClusterDecision, ClusterObservation, ClusterSubject, SpaceSeen } from './observation.ts';
import { driftOf, type Rule, shown, unobserved } from './present.ts';

/**
 * The first answer wins. The order is behaviour:
 * 1. which object has the id; then whose the cluster is, and whether there is one, before anything is done to it
 * 2. wait for what is under way
 * 3. whether it should run, before what it should look like; but a cluster that should be suspended is changed first
 * 4. for one that runs, its login before what it should look like: a change may be refused for as long as the spec asks for it
 */
export const RULES: readonly Rule[] = [decideClaim, decideExistence, decideRunState, decideLogin];

export function decideCluster(
  subject: ClusterSubject,
  observation: ClusterObservation,
  nowMs: number,
): ClusterDecision {
  const followed = decideFollowed(subject, observation);
  if (followed !== undefined) return followed;
  if (observation.space === 'seen') {
    const decide = subject.deleting ? decideDeletion : decideSeen;
    return withAway(observation, decide(subject, observation, nowMs));
  }
  if (subject.deleting) return decideDeletion(subject, observation, nowMs);
  return observation.space === 'notNeeded' ? { conditions: 'keep' } : withoutSpace(subject, observation, nowMs);
}

/** What is only waited for may be over by now, or never come about, while the cloud shows nothing. */
function withAway({ away }: SpaceSeen, decision: ClusterDecision): ClusterDecision {
  if (away === undefined || decision.conditions === 'keep' || (decision.steps?.length ?? 0) > 0) return decision;
  if (findStatusCondition(decision.conditions, 'Ready')?.status !== 'Unknown') return decision;
  const why = `. The cloud does not show how far that is: DatabaseSpace "${away}" says why`;
  const isSummary = ({ type }: { readonly type: string }) => type === 'Ready' || type === 'Reconciling';
  const conditions = decision.conditions.map((condition) =>
    isSummary(condition) ? { ...condition, message: `${condition.message}${why}` } : condition,
  );
  return { ...decision, conditions };
}

function decideSeen(subject: ClusterSubject, seen: SpaceSeen, nowMs: number): ClusterDecision {
  const late = decideToldLate(subject, seen);
  if (late !== undefined) return late;
  for (const rule of RULES) {
    const decision = rule(subject, seen, nowMs);
    if (decision !== undefined) return withShown(subject, seen, decision, nowMs);
  }
  throw new Error('No rule decided: the last one always does');
}

/** The space has moved, and its owner said that the cluster has too: record that before anything is done there. */
function decideFollowed({ status }: ClusterSubject, seen: ClusterObservation): ClusterDecision | undefined {
  if (seen.space !== 'seen' || status.createdAt === undefined || status.place === undefined) return undefined;
  if (isSamePlace(status.place, seen.place)) return undefined;
  return { conditions: 'keep', status: { place: seen.place }, requeueAfterMs: 0 };
}

/** Records a creation time that the cloud reports only now, before a Secret uses it to say whose login it holds. */
function decideToldLate(subject: ClusterSubject, seen: SpaceSeen): ClusterDecision | undefined {
  const createdAt = seen.cluster && createdAtOf(seen.cluster);
  if (createdAt === undefined || subject.status.createdAt !== NO_CREATION_TIME || !isOurs(subject, seen))
    return undefined;
  return { conditions: 'keep', status: { createdAt }, requeueAfterMs: 0 };
}

/** Shows what was seen, whatever is decided. */
function withShown(
  subject: ClusterSubject,
  seen: SpaceSeen,
  decision: ClusterDecision,
  nowMs: number,
): ClusterDecision {
  const { createdAt } = subject.status;
  const gone = seen.cluster === undefined && (createdAt !== undefined || decision.status?.createdAt === null);
  const ours = isOurs(subject, seen);
  if (!gone && !ours) return decision;
  const { rotateEvery } = subject.spec.adminCredentials ?? {};
  const known = ours ? { place: seen.place, ...correctedRotation(subject, rotateEvery, nowMs) } : {};
  return { ...decision, status: { ...shown(seen), ...known, drift: driftOf(subject, seen), ...decision.status } };
}

/**
 * An outage of the cloud, or a broken token, is the space's to report. It does not make a cluster that is as it should be
 * any less so: hundreds of objects must not change because one connection did, and none because this process is new. The
 * login is still verified.
 */
function withoutSpace(
  subject: ClusterSubject,
  observation: Exclude<ClusterObservation, { space: 'seen' | 'notNeeded' }>,
  nowMs: number,
): ClusterDecision {
  const { status, metadata } = subject;
  const known = findStatusCondition(status.conditions, 'Ready');
  if (observation.space === 'waiting' && known !== undefined && status.observedGeneration === metadata.generation) {
    const outage = known.status === 'True' && observation.reason === 'WaitingForSpace';
    const meanwhile = decideMeanwhile(subject, observation, outage, nowMs);
    if (meanwhile !== undefined) return meanwhile;
    if (observation.starting === true) return { conditions: 'keep' };
  }
  // Saying that nothing is known yet would cost one more write for each of a thousand clusters.
  if (observation.space === 'waiting' && observation.untoldMs !== undefined)
    return { conditions: 'keep', requeueAfterMs: observation.untoldMs };
  const mustAct = observation.space !== 'waiting';
  const say = mustAct ? stalled : reconciling;
  const conditions = [...say(observation.reason, observation.message), ...unobserved(subject, observation.reason)];
  // Whether a selector admits the object depends on a namespace's labels, which are read only in a pass.
  return mustAct ? { conditions, retry: 'slowly' } : { conditions };
}
