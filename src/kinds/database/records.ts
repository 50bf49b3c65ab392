import type { Reference } from '../../base/collections/reference-index.ts';
import { type KubeObject, keyOf, type ObjectKey } from '../../kube/object.ts';
import { heldRecordReader } from '../../kube/record.ts';
import type { Attempts } from '../attempts.ts';
import { comesBefore, type Hold, hasLetGo } from '../claim.ts';
import { clusterKeyOf } from '../server/access.ts';
import { type EndsOn, endsOn as endsOnServer, isAdmitted } from '../server/dependents.ts';
import { type DatabaseSubject, databaseName, owns } from './observation.ts';
import { databaseDefinition } from './schema.ts';

/* What all Databases together say about a server: which object stands for which database. */

type DatabaseRecord = Pick<DatabaseSubject, 'metadata' | 'spec' | 'status'>;

/** Also reads an object whose spec can no longer be read, if it may have a database. */
export const recordOf = heldRecordReader(databaseDefinition, {
  holds: (status) => owns({ status }),
  named: ({ spec, status }) => ({ ...spec, name: status.name ?? status.operation?.target ?? spec.name }),
});

/** Returns the reference under which changes of the claims to this database are reported. */
export function claimReference(cluster: ObjectKey, name: string): Reference {
  return `databases/${cluster}/${name}`;
}

/** Returns the same for the database that the object wants. */
export function claimOf(subject: Pick<DatabaseSubject, 'metadata' | 'spec'>): Reference {
  return claimReference(clusterKeyOf(subject), databaseName(subject));
}

/** Returns what a change of the object concerns: the objects that want the same database. */
export function concerns(object: KubeObject | undefined): readonly Reference[] {
  const record = recordOf(object);
  return record === undefined ? [] : [claimOf(record)];
}

/** Returns the cluster whose server has the database, if the database is deleted with its object. */
export function endsOn(object: KubeObject | undefined): EndsOn | undefined {
  const record = recordOf(object);
  return record === undefined ? undefined : endsOnServer(record, record.status.name !== undefined);
}

/** Returns the other object that stands for the database, if it comes first. */
export function firstClaimant(
  subject: DatabaseRecord,
  others: Iterable<KubeObject | undefined>,
): ObjectKey | undefined {
  const records = [...others].map(recordOf).filter((record) => record !== undefined);
  const claimants = records.filter((record) => holdOf(record) !== 'wants' || isAdmitted(record));
  return comesBefore(subject, claimants, holdOf);
}

/** Reports whether another object has the database, or the call that creates it may have been made for that object. */
export function isMadeForAnother(
  { metadata: { uid } }: DatabaseRecord,
  others: Iterable<KubeObject | undefined>,
  attempts: Pick<Attempts, 'maybeMade'>,
): boolean {
  const isMadeFor = ({ metadata, status: { name, operation } }: DatabaseRecord) =>
    name !== undefined || attempts.maybeMade(keyOf({ metadata }), operation);
  const records = [...others].map(recordOf).filter((record) => record !== undefined);
  return records.some((record) => record.metadata.uid !== uid && !hasLetGo(record.metadata) && isMadeFor(record));
}

function holdOf({ status }: DatabaseRecord): Hold {
  if (status.name !== undefined) return 'has';
  return status.operation === undefined ? 'wants' : 'begun';
}
