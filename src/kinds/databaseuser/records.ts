import type { Reference } from '../../base/collections/reference-index.ts';
import { findStatusCondition } from '../../kube/condition.ts';
import type { KubeObject, ObjectKey } from '../../kube/object.ts';
import { heldRecordReader } from '../../kube/record.ts';
import { comesBefore, type Hold } from '../claim.ts';
import { clusterKeyOf } from '../server/access.ts';
import { type EndsOn, endsOn as endsOnServer, isAdmitted, isBeside } from '../server/dependents.ts';
import { hasBegun, owns, USER_EXISTS, type UserSubject, usernameOf } from './observation.ts';
import { databaseUserDefinition, refusalOfSecret } from './schema.ts';
import type { UserWorld } from './world.ts';

/* Which of several DatabaseUsers stands for a user. */

type UserRecord = Pick<UserSubject, 'metadata' | 'spec' | 'status'>;

/** Also reads an object whose spec can no longer be read, if it has a user. */
export const recordOf = heldRecordReader(databaseUserDefinition, {
  holds: (status) => owns({ status }),
  named: ({ spec, status }) => ({ ...spec, username: status.username ?? spec.username }),
});

/** Returns the reference under which changes of the claims to this user are reported. */
export function claimReference(cluster: ObjectKey, username: string): Reference {
  return `users/${cluster}/${username}`;
}

/** Returns the same for the user that the object wants. */
export function claimOf(subject: Pick<UserSubject, 'metadata' | 'spec'>): Reference {
  return claimReference(clusterKeyOf(subject), usernameOf(subject));
}

/** Returns what a change of the object concerns: the objects that want the same user. */
export function concerns(object: KubeObject | undefined): readonly Reference[] {
  const record = recordOf(object);
  return record === undefined ? [] : [claimOf(record)];
}

/** Returns the cluster whose server has the user, if the user is deleted with its object. */
export function endsOn(object: KubeObject | undefined): EndsOn | undefined {
  const record = recordOf(object);
  return record === undefined ? undefined : endsOnServer(record, owns(record));
}

/** Returns the object that `firstClaimant` finds among all that name the subject's user on its cluster. */
export function claimedByOther(
  world: Pick<UserWorld, 'claimants' | 'user'>,
  subject: UserRecord,
): ObjectKey | undefined {
  const claimants = world.claimants(clusterKeyOf(subject), usernameOf(subject));
  return firstClaimant(subject, [...claimants].map(world.user));
}

/** Returns the other object that has the user, or comes first; undefined: it is this one. */
export function firstClaimant(subject: UserRecord, others: Iterable<KubeObject | undefined>): ObjectKey | undefined {
  const records = [...others].map(recordOf).filter((record) => record !== undefined);
  const claimants = records.filter((record) => owns(record) || mayBegin(record));
  return comesBefore(subject, claimants, (record) => holdOf(record, record.metadata.uid === subject.metadata.uid));
}

/** Reports whether an object without a user can get one: if not, it must not keep others from it. */
function mayBegin(record: UserRecord): boolean {
  return isAdmitted(record) && refusalOfSecret(record.spec) === undefined;
}

/** `isSubject`: the object is the one that asks. */
function holdOf(record: UserRecord, isSubject: boolean): Hold {
  if (owns(record)) return 'has';
  // Of two that began at once, the other may have created the user, and may have lost its finalizer since: an object that cannot have
  // the user must not keep that one from it.
  if (!isSubject && cannotHaveIt(record)) return 'cannot';
  // Anybody can write a finalizer: it counts only beside the cluster.
  return isBeside(record) && hasBegun(record) ? 'begun' : 'wants';
}

/** Reports whether the object found a user that it did not create, and may not take it over. One that now may is about to. */
function cannotHaveIt({ spec, status }: UserRecord): boolean {
  const ready = findStatusCondition(status.conditions, 'Ready');
  return ready?.reason === USER_EXISTS && spec.adoptionPolicy !== 'IfExists';
}
