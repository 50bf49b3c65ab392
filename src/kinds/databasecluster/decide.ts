import { particulars, reconciling, stalled } from '../../kube/summary.ts';
import { decideClaim } from './decide-claim.ts';
import { decideDeletion } from './decide-deletion.ts';
import { decideExistence } from './decide-existence.ts';
import { decideLogin } from './decide-login.ts';
import { decideChanges, decideRunState } from './decide-state.ts';
import type { ClusterObservation, ClusterSubject, SpaceSeen } from './observation.ts';
import { type ClusterDecision, driftOf, isOurs, shown } from './present.ts';

/** One question; undefined: it does not decide, ask the next. */
export type Rule = (subject: ClusterSubject, seen: SpaceSeen, nowMs: number) => ClusterDecision | undefined;

/**
 * First answer wins. The order is behaviour:
 * 1. which object has the id; then whose the cluster is, and whether there is one, before anything is done to it
 * 2. what is on its way is waited for
 * 3. whether it should run, before what it should look like
 * 4. what it looks like
 * 5. its login, as that takes a server that runs
 */
export const RULES: readonly Rule[] = [decideClaim, decideExistence, decideRunState, decideChanges, decideLogin];

export function decideCluster(
  subject: ClusterSubject,
  observation: ClusterObservation,
  nowMs: number,
): ClusterDecision {
  if (subject.deleting) return decideDeletion(subject, observation, nowMs);
  if (observation.space !== 'seen') return withoutSpace(subject, observation);
  for (const rule of RULES) {
    const decision = rule(subject, observation, nowMs);
    if (decision !== undefined) return withShown(subject, observation, decision);
  }
  throw new Error('No rule decided: the last one always does');
}

/** Whatever is decided, what was seen is shown. */
function withShown(subject: ClusterSubject, seen: SpaceSeen, decision: ClusterDecision): ClusterDecision {
  const { createdAt } = subject.status;
  const gone = seen.cluster === undefined && (createdAt !== undefined || decision.status?.createdAt === null);
  if (!gone && !isOurs(subject, seen)) return decision;
  return { ...decision, status: { ...shown(seen), drift: driftOf(subject, seen), ...decision.status } };
}

/**
 * An outage of the cloud, or a broken token, is the space's to report. A cluster that is as it should be is not made
 * less so by it: hundreds of objects must not change because one connection did, and none because this process is new.
 */
function withoutSpace(subject: ClusterSubject, observation: Exclude<ClusterObservation, SpaceSeen>): ClusterDecision {
  const { status, metadata } = subject;
  const known = status.conditions?.find((condition) => condition.type === 'Ready');
  if (observation.space === 'waiting' && known !== undefined && status.observedGeneration === metadata.generation) {
    const outage = known.status === 'True' && observation.reason === 'WaitingForSpace';
    if (outage || observation.starting === true) return { conditions: 'keep' };
  }
  const say = observation.space === 'refused' ? stalled : reconciling;
  const conditions = [...say(observation.reason, observation.message), ...particulars(status.conditions ?? [])];
  // Whom a selector admits follows from a namespace's labels, which are read in a pass only.
  return observation.space === 'refused' ? { conditions, retry: 'slowly' } : { conditions };
}
