import { GROUP, VERSION } from '../../base/group.ts';
import type { Resource } from '../../kube/api.ts';

export const DATABASE_SPACES: Resource = {
  group: GROUP,
  version: VERSION,
  plural: 'databasespaces',
  kind: 'DatabaseSpace',
};
