import { LET_GO } from '../../kube/annotations.ts';
import { failing, reconciling } from '../../kube/summary.ts';
import type { Absence } from '../absences.ts';
import { LANDING_MS } from '../attempts.ts';
import { whyLeft } from '../server/dependents.ts';
import { missedWords } from './decide-existence.ts';
import {
  type DatabaseObservation,
  type DatabaseSeen,
  type DatabaseSubject,
  databaseName,
  editedField,
  isAnnounced,
  isOurs,
  owns,
  recordedElsewhere,
} from './observation.ts';
import { asBefore, type DatabaseDecision } from './present.ts';

/** Longer than it takes until a cluster whose status somebody has edited is looked at. */
const ELSEWHERE_MS = 120_000;
const GO: DatabaseDecision = { conditions: 'keep', release: true };

/** Reports whether deleting the object may do anything to a database. */
export function needsServerToGo({ spec, status }: Pick<DatabaseSubject, 'spec' | 'status'>): boolean {
  return spec.deletionPolicy === 'Delete' && owns({ status });
}

/** Decides what happens to the database when its object is deleted. Nothing of ours is left silently, and nothing else is deleted. */
export function decideDeletion(
  subject: DatabaseSubject,
  observation: DatabaseObservation,
  nowMs: number,
): DatabaseDecision {
  if (!needsServerToGo(subject) || observation.server === 'notNeeded') return GO;
  switch (observation.server) {
    case 'open':
      return onServer(subject, observation, nowMs);
    case 'refused': {
      const message = `Deletion with deletionPolicy Delete needs the cluster: ${observation.message}. ${LET_GO}`;
      return { conditions: [...failing('DeletionBlocked', message), ...asBefore(subject)], retry: 'slowly' };
    }
    case 'waiting':
      return withoutServer(subject, observation);
    default:
      return observation satisfies never;
  }
}

function withoutServer(
  subject: DatabaseSubject,
  observation: Extract<DatabaseObservation, { server: 'waiting' }>,
): DatabaseDecision {
  const { reason, message, destroyed, starting } = observation;
  const cause = whyLeft(subject, observation);
  if (cause !== undefined) return destroyed ? GO : left(subject, cause);
  if (starting) return { conditions: 'keep' };
  const text = `Deletion with deletionPolicy Delete needs the server. ${message}. ${LET_GO}`;
  return { conditions: [...reconciling(reason, text), ...asBefore(subject)] };
}

/** The cluster is being deleted or gone, or is another object's: reports what may be left on its server. */
function left(subject: DatabaseSubject, why: string): DatabaseDecision {
  const name = databaseName(subject);
  const message = `Database "${name}" was not deleted on the server, as ${why}: it is left where it is, with its data, if the cluster's server still exists`;
  return { ...GO, steps: [{ do: 'TellLeft', name, message }] };
}

function onServer(subject: DatabaseSubject, seen: DatabaseSeen, nowMs: number): DatabaseDecision {
  const { name, identity, cluster, attemptedAtMs } = seen;
  if (seen.claimedBy !== undefined) return GO;
  const elsewhere = recordedElsewhere(subject, seen);
  if (elsewhere !== undefined && (subject.status.name !== undefined || attemptedAtMs !== undefined))
    return onAnother(subject, seen, elsewhere);
  const created = isAnnounced(subject, seen) && attemptedAtMs !== undefined;
  if (seen.existence === 'absent') {
    if (seen.absence !== undefined) return missed(subject, seen, seen.absence);
    const landsInMs = created ? attemptedAtMs + LANDING_MS - nowMs : 0;
    // If it is longer, the wall clock was set back.
    return landsInMs > 0 && landsInMs <= LANDING_MS ? stillLanding(subject, seen, landsInMs) : GO;
  }
  const edited = editedField(subject, seen);
  if (edited !== undefined && !created) {
    const message = `Database "${name}" of DatabaseCluster "${cluster}" is left where it is, with its data, because ${edited.field} ${edited.says}: somebody has changed the status, and Mooring cannot tell whether it was this object's`;
    return { ...GO, steps: [{ do: 'TellLeft', name, message }] };
  }
  // Anything else under this name is somebody else's, and stays.
  if (!isOurs(subject, seen) && !created) return GO;
  const message = `Database "${name}" of DatabaseCluster "${cluster}" is being deleted, with its data`;
  return {
    conditions: [...reconciling('DeletingDatabase', message), ...asBefore(subject)],
    steps: [{ do: 'DeleteDatabase', name, identity }],
    release: true,
  };
}

/**
 * The object's database is on another cluster than the one shown now. If somebody has edited the cluster's status, that is found out
 * soon, so wait for the cluster. If it stays so, report what may be left.
 */
function onAnother(subject: DatabaseSubject, seen: DatabaseSeen, elsewhere: string): DatabaseDecision {
  const { name, identity, cluster, elsewhereForMs = 0 } = seen;
  const what = `Database "${name}" should be deleted on the cluster that was created ${elsewhere}, but DatabaseCluster "${cluster}" now shows one that was created ${identity}`;
  if (elsewhereForMs < ELSEWHERE_MS) {
    const message = `${what}: Mooring waits two minutes at most to see whether that is so. ${LET_GO}`;
    const conditions = [...reconciling('WaitingForCluster', message), ...asBefore(subject)];
    return { conditions, requeueAfterMs: ELSEWHERE_MS - elsewhereForMs };
  }
  const message = `${what}: the database is left where it is, with its data, if it still exists`;
  return { ...GO, steps: [{ do: 'TellLeft', name, message }] };
}

/** To go now would leave the database behind if the server only does not show it for a moment. */
function missed(subject: DatabaseSubject, seen: DatabaseSeen, absence: Absence): DatabaseDecision {
  const message = `${missedWords(seen, absence)} it counts as deleted, and this object goes. ${LET_GO}`;
  return {
    conditions: [...reconciling('NotFound', message), ...asBefore(subject)],
    requeueAfterMs: absence.againInMs,
  };
}

/** The database was asked for, the answer was lost, and it is not there: to go now would leave it behind if it appears. */
function stillLanding(subject: DatabaseSubject, { name }: DatabaseSeen, requeueAfterMs: number): DatabaseDecision {
  const message = `Database "${name}" was asked for, and the answer was lost: Mooring waits for it, as it may still be created. ${LET_GO}`;
  return { conditions: [...reconciling('CreatingDatabase', message), ...asBefore(subject)], requeueAfterMs };
}
