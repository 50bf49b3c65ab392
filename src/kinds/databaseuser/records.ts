import type { Reference } from '../../base/reference-index.ts';
import { findStatusCondition } from '../../kube/condition.ts';
import type { KubeObject, ObjectKey } from '../../kube/object.ts';
import { heldRecordReader } from '../../kube/record.ts';
import { comesBefore, type Hold } from '../claim.ts';
import { clusterKeyOf } from '../server/access.ts';
import { type EndsOn, endsOn as endsOnServer, isAdmitted, isBeside } from '../server/dependents.ts';
import { hasBegun, USER_EXISTS, type UserSubject, usernameOf } from './observation.ts';
import { databaseUserDefinition, refusalOfSecret } from './schema.ts';

/* Which of several DatabaseUsers stands for a user. */

type UserRecord = Pick<UserSubject, 'metadata' | 'spec' | 'status'>;

/** Also of an object whose spec cannot be read any more, if it has a user. */
export const recordOf = heldRecordReader(databaseUserDefinition, {
  holds: ({ username }) => username !== undefined,
  named: ({ spec, status }) => ({ ...spec, username: status.username ?? spec.username }),
});

/** What the object's claim to its user is told under. */
export function claimOf(subject: Pick<UserSubject, 'metadata' | 'spec'>): Reference {
  return `users/${clusterKeyOf(subject)}/${usernameOf(subject)}`;
}

/** Whom a change of the object concerns: those who want the same user. */
export function concerns(object: KubeObject | undefined): readonly Reference[] {
  const record = recordOf(object);
  return record === undefined ? [] : [claimOf(record)];
}

/** The cluster on whose server the user is, where it goes there with its object. */
export function endsOn(object: KubeObject | undefined): EndsOn | undefined {
  const record = recordOf(object);
  return record === undefined ? undefined : endsOnServer(record, record.status.username !== undefined);
}

/** The other object that has the user, or comes first; undefined: it is this one. */
export function firstClaimant(subject: UserRecord, others: Iterable<KubeObject | undefined>): ObjectKey | undefined {
  const records = [...others].map(recordOf).filter((record) => record !== undefined);
  const claimants = records.filter((record) => record.status.username !== undefined || mayBegin(record));
  return comesBefore(subject, claimants, (record) => holdOf(record, record.metadata.uid === subject.metadata.uid));
}

/** Who has nothing yet, and cannot come to it, keeps nobody else from it. */
function mayBegin(record: UserRecord): boolean {
  return isAdmitted(record) && refusalOfSecret(record.spec) === undefined;
}

/** `isSubject`: it is the one that asks. */
function holdOf(record: UserRecord, isSubject: boolean): Hold {
  if (record.status.username !== undefined) return 'has';
  // Of two that began at once it may be the other one that created the user: who cannot have it must not keep that one from it.
  if (!isSubject && findStatusCondition(record.status.conditions, 'Ready')?.reason === USER_EXISTS) return 'wants';
  // A finalizer can be written by anybody: it counts beside the cluster only.
  return isBeside(record) && hasBegun(record) ? 'begun' : 'wants';
}
