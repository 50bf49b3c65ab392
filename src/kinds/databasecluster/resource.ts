import { GROUP, VERSION } from '../../base/group.ts';
import type { Resource } from '../../kube/api.ts';

export const DATABASE_CLUSTERS: Resource = {
  group: GROUP,
  version: VERSION,
  plural: 'databaseclusters',
  kind: 'DatabaseCluster',
};

/** The finalizer of an object, from before its cluster is created until nothing is left to do for it. */
export const CLUSTER_FINALIZER = `${GROUP}/cluster`;
