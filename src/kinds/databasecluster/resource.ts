import { GROUP, VERSION } from '../../base/group.ts';
import type { Resource } from '../../kube/api.ts';

export const DATABASE_CLUSTERS: Resource = {
  group: GROUP,
  version: VERSION,
  plural: 'databaseclusters',
  kind: 'DatabaseCluster',
};
