import { type HeldRecord as Held, heldRecordReader } from '../../kube/record.ts';
import { currentID } from './observation.ts';
import type { ClusterRecord } from './record.ts';
import { type DatabaseClusterSpec, type DatabaseClusterStatus, databaseClusterDefinition } from './schema.ts';

/** Whether something in the cloud is, or may be, this object's. */
export function mayExist({ status }: Pick<ClusterRecord, 'status'>): boolean {
  const { createdAt, clusterID, operation, former } = status;
  return [createdAt, clusterID, operation, former].some((told) => told !== undefined);
}

export type HeldRecord = Held<DatabaseClusterSpec, DatabaseClusterStatus>;

/** Reads a DatabaseCluster. If it may have a cluster, its spec need not be readable any more. */
export const heldRecordOf = heldRecordReader(databaseClusterDefinition, {
  holds: (status) => mayExist({ status }),
  named: (record) => ({ ...record.spec, clusterID: currentID(record) }),
});
