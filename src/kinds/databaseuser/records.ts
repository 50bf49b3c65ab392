import { type KubeObject, keyOf, type ObjectKey } from '../../kube/object.ts';
import type { Reference } from '../../runtime/reference-index.ts';
import { recordReader } from '../record.ts';
import { clusterKeyOf } from '../server/access.ts';
import { type UserSubject, usernameOf } from './observation.ts';
import { USER_FINALIZER } from './resource.ts';
import { databaseUserDefinition } from './schema.ts';

/* Which of several DatabaseUsers stands for a user. */

type UserRecord = Pick<UserSubject, 'metadata' | 'spec' | 'status'>;

const recordOf = recordReader(databaseUserDefinition);

/** What the object's claim to its user is told under. */
export function claimOf(subject: Pick<UserSubject, 'metadata' | 'spec'>): Reference {
  return `users/${clusterKeyOf(subject)}/${usernameOf(subject)}`;
}

/** Whom a change of the object concerns: those who want the same user. */
export function concerns(object: KubeObject | undefined): readonly Reference[] {
  const record = recordOf(object);
  return record === undefined ? [] : [claimOf(record)];
}

/** The cluster on whose server the user is, where it goes there with its object; `leaves`: that is being deleted. */
export function endsOn(
  object: KubeObject | undefined,
): { readonly cluster: ObjectKey; readonly leaves: boolean } | undefined {
  const record = recordOf(object);
  if (record?.spec.deletionPolicy !== 'Delete' || record.status.username === undefined) return undefined;
  return { cluster: clusterKeyOf(record), leaves: record.metadata.deletionTimestamp !== undefined };
}

/** The other object that has the user, or comes first; undefined: it is this one. */
export function firstClaimant(subject: UserRecord, others: Iterable<KubeObject | undefined>): ObjectKey | undefined {
  let first = subject;
  for (const other of others) {
    const record = recordOf(other);
    if (record === undefined || record.metadata.uid === subject.metadata.uid || !claims(record)) continue;
    if (rankOf(record) < rankOf(first)) first = record;
  }
  return first === subject ? undefined : keyOf(first);
}

/** Whom the cluster does not admit, or did not look at yet from another namespace, takes no user from anybody. */
function claims(record: UserRecord): boolean {
  if (record.status.username !== undefined) return true;
  const ready = record.status.conditions?.find((condition) => condition.type === 'Ready');
  return ready === undefined ? isBeside(record) : ready.reason !== 'ClusterNotAllowed';
}

/** Who has the user comes before who is about to create it, before who only wants it; then the older comes first. Sorts as text. */
function rankOf(record: UserRecord): string {
  const { metadata, status } = record;
  // A finalizer can be written by anybody: it counts beside the cluster only.
  const hasBegun = isBeside(record) && (metadata.finalizers?.includes(USER_FINALIZER) ?? false);
  const hold = status.username !== undefined ? 0 : hasBegun ? 1 : 2;
  return [hold, metadata.creationTimestamp ?? '', metadata.uid].join('/');
}

function isBeside({ metadata, spec }: UserRecord): boolean {
  return (spec.clusterRef.namespace ?? metadata.namespace) === metadata.namespace;
}
