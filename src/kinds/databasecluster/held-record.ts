import { type HeldRecord as Held, heldRecordReader } from '../../kube/record.ts';
import { currentID, mayExist } from './identity.ts';
import { type DatabaseClusterSpec, type DatabaseClusterStatus, databaseClusterDefinition } from './schema.ts';

export type HeldRecord = Held<DatabaseClusterSpec, DatabaseClusterStatus>;

/** Reads a DatabaseCluster. If it may have a cluster, its spec need not be readable any more. */
export const heldRecordOf = heldRecordReader(databaseClusterDefinition, {
  holds: (status) => mayExist({ status }),
  named: (record) => ({ ...record.spec, clusterID: currentID(record) }),
});
