import { findStatusCondition } from '../../kube/condition.ts';
import { stalled } from '../../kube/summary.ts';
import { settling } from '../claim.ts';
import { withoutServer } from '../server/dependents.ts';
import { decideDeletion } from './decide-deletion.ts';
import { decideExistence } from './decide-existence.ts';
import {
  type DatabaseObservation,
  type DatabaseSeen,
  type DatabaseSubject,
  isOurs,
  refusalOfName,
} from './observation.ts';
import { type DatabaseDecision, NOTHING_OURS, type Rule, schemaBySources, schemaPending } from './present.ts';
import { decideSchema } from './sources/decide-sources.ts';

/**
 * The first answer wins. The order is behaviour:
 * 1. whether a server accepts the name; which object stands for the database
 * 2. nothing is looked at again before its time
 * 3. whether the database exists, and whose it is, before anything is done to it
 * 4. its schema
 */
export const RULES: readonly Rule[] = [decideName, decideClaim, decideSettled, decideExistence, decideSchema];

export function decideDatabase(
  subject: DatabaseSubject,
  observation: DatabaseObservation,
  nowMs: number,
): DatabaseDecision {
  if (subject.deleting) return decideDeletion(subject, observation, nowMs);
  if (observation.server === 'notNeeded') return { conditions: 'keep' };
  if (observation.server !== 'open') return bySources(subject, observation, withoutServer(subject, observation));
  for (const rule of RULES) {
    const decision = rule(subject, observation, nowMs);
    if (decision !== undefined) return decision;
  }
  throw new Error('No rule decided: the last one always does');
}

/** Says whether the schema, if it was as the spec said, need still be so, going by its sources alone. */
function bySources(
  subject: DatabaseSubject,
  { areSourcesChanged }: Extract<DatabaseObservation, { areSourcesChanged?: boolean }>,
  decision: DatabaseDecision,
): DatabaseDecision {
  const { conditions } = decision;
  const before = findStatusCondition(subject.status.conditions, 'Synced')?.status ?? 'False';
  if (areSourcesChanged === undefined || conditions === 'keep' || before === 'False') return decision;
  const condition = schemaBySources(subject, areSourcesChanged);
  return { ...decision, conditions: [...conditions.filter(({ type }) => type !== 'Synced'), condition] };
}

function decideName(subject: DatabaseSubject): DatabaseDecision | undefined {
  const message = refusalOfName(subject);
  if (message === undefined) return undefined;
  return { conditions: [...stalled('InvalidDatabaseName', message), schemaPending(subject)] };
}

/** Two objects want one database: the one that has it, or otherwise the older, keeps it. The other names it and does nothing. */
function decideClaim(subject: DatabaseSubject, seen: DatabaseSeen): DatabaseDecision | undefined {
  if (seen.claimedBy === undefined) return undefined;
  const message = `Database "${seen.name}" of DatabaseCluster "${seen.cluster}" belongs to Database "${seen.claimedBy}": ${settling('create this one with another name')}`;
  const conditions = [...stalled('DatabaseClaimed', message), schemaPending(subject)];
  // Both took it over at the same moment. This one may do so again when the other goes.
  const isTakenTwice = isOurs(subject, seen) && subject.spec.adoptionPolicy === 'IfExists';
  return { conditions, ...(isTakenTwice ? { status: NOTHING_OURS } : {}), retry: 'slowly' };
}

function decideSettled(_subject: DatabaseSubject, seen: DatabaseSeen): DatabaseDecision | undefined {
  if (seen.existence !== 'settled') return undefined;
  return { conditions: 'keep', requeueAfterMs: seen.checkInMs };
}
