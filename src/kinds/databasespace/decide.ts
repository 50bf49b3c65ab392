import type { ConditionUpdate } from '../../kube/condition.ts';
import { particulars, reconciling } from '../../kube/summary.ts';
import { listed } from '../listed.ts';
import { decideCloud, MAX_LISTED, notConnected } from './decide-cloud.ts';
import type { SpaceDecision, SpaceObservation, SpaceStep, SpaceSubject } from './observation.ts';

/**
 * Whatever deleting a cluster will need stays, that is the space and its Secrets, even if a whole namespace is deleted in any order.
 * If all are deleted together, the space also stays for what is on servers of clusters that stay. What nothing needs any more goes at
 * once.
 */
export function decideSpace(subject: SpaceSubject, observation: SpaceObservation, nowMs: number): SpaceDecision {
  const { neededBy, hasDependents, goesAfter, keptSecrets, staleSecrets, freeSecrets, cloud } = observation;
  const needed = neededBy.length > 0;
  const free = (names: readonly string[]) => names.map((name): SpaceStep => ({ do: 'FreeSecret', name }));
  const freeAll = free([...keptSecrets, ...staleSecrets]);
  if (cloud === undefined) return { conditions: 'keep', steps: freeAll, release: true };
  // A Secret is named in the status before it is kept, so that every kept Secret can be found again, even if the rest is forgotten.
  const toKeep = needed ? freeSecrets : [];
  const announced = new Set(subject.status.keptSecrets);
  const keep = toKeep.filter((name) => announced.has(name)).map((name): SpaceStep => ({ do: 'KeepSecret', name }));
  const steps = needed ? [...keep, ...free(staleSecrets)] : freeAll;
  const names = [...keptSecrets, ...staleSecrets, ...toKeep].toSorted();
  const { retry, ...decided } = 'why' in cloud ? notConnected(cloud) : decideCloud(subject, observation, cloud, nowMs);
  const isToldFirst = keep.length < toKeep.length;
  const decision = {
    ...decided,
    ...(retry === undefined || isToldFirst ? {} : { retry }),
    status: { ...decided.status, keptSecrets: names.length === 0 ? null : names },
    hold: needed || hasDependents,
    steps,
    ...(isToldFirst ? { requeueAfterMs: 0 } : {}),
  };
  if (!subject.deleting) return decision;
  const told = decided.conditions === 'keep' ? [] : decided.conditions;
  if (!needed && goesAfter !== undefined)
    return {
      conditions: [...reconciling('WaitingForDependents', goesAfter.message), ...particulars(told)],
      status: decision.status,
      requeueAfterMs: goesAfter.forMs,
    };
  const message = `This space, which is being deleted, stays until these DatabaseClusters are gone, or have deletionPolicy: Retain, as deleting them needs it: ${listed(neededBy, MAX_LISTED)}`;
  return {
    ...decision,
    conditions: inUse(told, message),
    steps: [],
  };
}

/** What a person must fix keeps the clusters from being deleted, and so comes first. */
function inUse(decided: readonly ConditionUpdate[], message: string): readonly ConditionUpdate[] {
  const rest = particulars(decided);
  const mustAct = decided.some(({ type, reason }) => type === 'Stalled' || reason === 'SecretNotFound');
  if (!mustAct) return [...reconciling('InUse', message), ...rest];
  return decided.map((condition) =>
    rest.includes(condition) ? condition : { ...condition, message: `${condition.message}. ${message}` },
  );
}
