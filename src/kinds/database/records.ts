import type { KubeObject, ObjectKey } from '../../kube/object.ts';
import type { Reference } from '../../runtime/reference-index.ts';
import { recordReader } from '../record.ts';
import { clusterKeyOf } from '../server/access.ts';
import { type DatabaseSubject, databaseName } from './observation.ts';
import { databaseDefinition } from './schema.ts';
import type { DatabaseWorld } from './world.ts';

/* What all Databases together say of a server: which object stands for which database. */

type DatabaseRecord = Pick<DatabaseSubject, 'metadata' | 'spec' | 'status'>;

const recordOf = recordReader(databaseDefinition);

/** What a change of the wish for this database is told as. */
export function claimReference(cluster: ObjectKey, name: string): Reference {
  return `databases/${cluster}/${name}`;
}

/** Whom a change of the object concerns: those who want its database. */
export function concerns(object: KubeObject | undefined): readonly Reference[] {
  const record = recordOf(object);
  return record === undefined ? [] : [claimReference(clusterKeyOf(record), databaseName(record))];
}

/**
 * Whether the object's wish for a database counts against others: whom the cluster does not admit, or has not looked at
 * yet from another namespace, takes no name from anybody.
 */
export function isClaimant(object: KubeObject | undefined): boolean {
  const record = recordOf(object);
  if (record === undefined) return false;
  const { name, operation, conditions } = record.status;
  if (name !== undefined || operation !== undefined) return true;
  const { namespace } = record.metadata;
  const ready = conditions?.find((condition) => condition.type === 'Ready');
  if (ready === undefined) return (record.spec.clusterRef.namespace ?? namespace) === namespace;
  return ready.reason !== 'ClusterNotAllowed';
}

/** The cluster on whose server the database is, where it goes there with its object; `leaves`: that is being deleted. */
export function endsOn(
  object: KubeObject | undefined,
): { readonly cluster: ObjectKey; readonly leaves: boolean } | undefined {
  const record = recordOf(object);
  if (record?.spec.deletionPolicy !== 'Delete' || record.status.name === undefined) return undefined;
  return { cluster: clusterKeyOf(record), leaves: record.metadata.deletionTimestamp !== undefined };
}

/** The other object that stands for the database, if it comes first. */
export function firstClaimant(world: DatabaseWorld, subject: DatabaseSubject): ObjectKey | undefined {
  let first = { rank: rankOf(subject), key: subject.key };
  for (const key of world.claimants(clusterKeyOf(subject), databaseName(subject))) {
    const object = key === subject.key ? undefined : world.database(key);
    const other = recordOf(object);
    if (other === undefined) continue;
    const rank = rankOf(other);
    if (rank < first.rank) first = { rank, key };
  }
  return first.key === subject.key ? undefined : first.key;
}

/** Sorts as text: who has the database comes before who is about to create it, before who wants it; then the older. */
function rankOf({ metadata, status }: DatabaseRecord): string {
  const hold = status.name !== undefined ? 0 : status.operation !== undefined ? 1 : 2;
  return [hold, metadata.creationTimestamp ?? '', metadata.uid].join('/');
}
