import { GROUP, VERSION } from '../../base/group.ts';
import type { Resource } from '../../kube/api.ts';

export const DATABASE_USERS: Resource = {
  group: GROUP,
  version: VERSION,
  plural: 'databaseusers',
  kind: 'DatabaseUser',
};

/** On an object from before its user is created until nothing is left to do for it. */
export const USER_FINALIZER = `${GROUP}/user`;
