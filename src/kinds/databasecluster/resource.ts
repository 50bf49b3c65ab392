import { GROUP, VERSION } from '../../base/group.ts';
import type { Resource } from '../../kube/api.ts';

export const DATABASE_CLUSTERS: Resource = {
  group: GROUP,
  version: VERSION,
  plural: 'databaseclusters',
  kind: 'DatabaseCluster',
};

/** Stands on an object from before its cluster is created until nothing of it is left to do. */
export const CLUSTER_FINALIZER = `${GROUP}/cluster`;
