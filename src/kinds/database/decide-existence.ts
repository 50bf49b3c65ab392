import { failing, PASSING_MS, reconciling, stalled } from '../../kube/summary.ts';
import { ABSENT_MS, type Absence, isLately } from '../absences.ts';
import { isTriedAgain } from '../attempts.ts';
import { GO_TOO } from '../server/dependents.ts';
import {
  DATABASE_EXISTS,
  type DatabaseSeen,
  type DatabaseStep,
  type DatabaseSubject,
  editedField,
  isAnnounced,
  isOurs,
  recordedElsewhere,
} from './observation.ts';
import { asBefore, type DatabaseDecision, NO_SCHEMA, NOTHING_OURS, type Rule, schemaPending } from './present.ts';

const CREATE = 'CreateDatabase';

/**
 * Decides whether the database exists and whose it is. Servers record no owner, and some answer with success if the database exists
 * already: a database is ours only if it appeared after its creation was written down.
 */
export const decideExistence: Rule = (subject, seen, nowMs) => {
  if (seen.existence === 'absent') return absent(subject, seen, nowMs);
  if (isOurs(subject, seen) && subject.status.operation === undefined) return undefined;
  return unclaimed(subject, seen);
};

function absent(subject: DatabaseSubject, seen: DatabaseSeen, nowMs: number): DatabaseDecision {
  const { name, identity, cluster } = seen;
  const vanished = isOurs(subject, seen);
  if (seen.leaving) {
    const message = `DatabaseCluster "${cluster}" is being deleted, so no database is created on it: ${GO_TOO}`;
    return { conditions: [...reconciling('ClusterDeleting', message), schemaPending(subject)] };
  }
  if (seen.absence !== undefined) return missed(subject, seen, seen.absence);
  const isAwaited = isLately(seen.doneAtMs, nowMs) && isAnnounced(subject, seen);
  if (isAwaited) {
    const conditions = [...reconciling('CreatingDatabase', notShownYet(name)), schemaPending(subject)];
    return { conditions, hold: true, retry: 'soon' };
  }
  const summary = vanished
    ? failing(
        'DatabaseVanished',
        `Database "${name}" was deleted on the server by somebody else, with its data: it is created again, empty`,
      )
    : reconciling('CreatingDatabase', `Database "${name}" is being created on DatabaseCluster "${cluster}"`);
  const conditions = [...summary, schemaPending(subject)];
  const create: DatabaseStep = { do: 'CreateDatabase', name, identity };
  if (isAnnounced(subject, seen)) return { conditions, steps: [create] };
  // Written down before the call, so that whoever finds the database afterwards, even after a crash, knows whose it is.
  const startedAt = new Date(nowMs).toISOString();
  return {
    hold: true,
    announces: [create],
    conditions: !vanished && isTriedAgain(subject) ? 'keep' : conditions,
    status: {
      // A server that is slow to show the database must not make this object disown it: what is known of it stays until it is created.
      ...(vanished ? {} : NOTHING_OURS),
      cluster: identity,
      operation: { type: CREATE, target: name, startedAt, by: seen.self },
    },
    requeueAfterMs: 0,
  };
}

/** The database is ours and is not to be seen. To create another might give its name to an empty one, and be a false alarm. */
function missed(subject: DatabaseSubject, seen: DatabaseSeen, absence: Absence): DatabaseDecision {
  const message = `${missedWords(seen, absence)} it counts as deleted, and is created again, empty`;
  return {
    conditions: [...failing('NotFound', message), ...asBefore(subject)],
    mayPass: absence.forMs < PASSING_MS,
    requeueAfterMs: absence.againInMs,
  };
}

/** Says that the database is looked for. The caller adds what follows if it is not found. */
export function missedWords({ name, cluster }: DatabaseSeen, { since }: Absence): string {
  return `Database "${name}" has not been seen on DatabaseCluster "${cluster}" since ${since}, perhaps because the server is slow to show it: Mooring keeps looking. If it does not appear within ${ABSENT_MS / 1_000} seconds,`;
}

/** Says that the server does not show what it said that it created. */
export function notShownYet(name: string): string {
  return `The server said that it created database "${name}", but does not show it yet: Mooring tries again. If this persists, check the server`;
}

/** The database exists, and nothing says yet that it is this object's, or it was missing for a while. */
function unclaimed(subject: DatabaseSubject, seen: DatabaseSeen): DatabaseDecision {
  const { name, identity, cluster } = seen;
  const created = isAnnounced(subject, seen) && seen.attemptedAtMs !== undefined;
  if (!created && isOurs(subject, seen)) {
    const message = `Database "${name}" of DatabaseCluster "${cluster}" is there again`;
    const conditions = [...reconciling('CreatingDatabase', message), ...asBefore(subject)];
    return { conditions, status: { operation: null }, requeueAfterMs: 0 };
  }
  if (created || subject.spec.adoptionPolicy === 'IfExists') {
    const message = created
      ? `Database "${name}" was created on DatabaseCluster "${cluster}"`
      : `Database "${name}" of DatabaseCluster "${cluster}" is taken over, with its data`;
    return {
      hold: true,
      conditions: [...reconciling(created ? 'CreatingDatabase' : 'AdoptingDatabase', message), schemaPending(subject)],
      status: { ...NO_SCHEMA, name, cluster: identity, operation: null },
      requeueAfterMs: 0,
    };
  }
  const edited = editedField(subject, seen);
  if (edited !== undefined) {
    const message = `Database "${name}" exists on DatabaseCluster "${cluster}", but ${edited.field} ${edited.says}, so somebody has changed the status, and Mooring cannot tell whether the database is this object's: it is left alone. Set ${edited.field} back, or set adoptionPolicy: IfExists to take the database over`;
    // The status stays as it is, so that a person can correct it.
    return { conditions: [...stalled(DATABASE_EXISTS, message), schemaPending(subject)], retry: 'slowly' };
  }
  const recorded = recordedElsewhere(subject, seen);
  if (recorded !== undefined) {
    const message = `Database "${name}" exists on DatabaseCluster "${cluster}", but this object did not create it: its own is on the cluster that was created ${recorded}, and this one was created ${identity}. It is left alone. If that cluster comes back, Mooring goes on; otherwise create this object with another name, or set adoptionPolicy: IfExists to take the database over`;
    // What the cluster's object shows may be wrong, and soon right again.
    return { conditions: [...stalled(DATABASE_EXISTS, message), schemaPending(subject)], retry: 'slowly' };
  }
  const message = `Database "${name}" exists on DatabaseCluster "${cluster}", but this object did not create it: it is left alone. Create this object with another name, or set adoptionPolicy: IfExists to take it over`;
  return {
    conditions: [...stalled(DATABASE_EXISTS, message), schemaPending(subject)],
    status: NOTHING_OURS,
    retry: 'slowly',
  };
}
