import { GROUP, VERSION } from '../../base/group.ts';
import type { Resource } from '../../kube/api.ts';

export const DATABASES: Resource = { group: GROUP, version: VERSION, plural: 'databases', kind: 'Database' };

/** On an object from before its database is created until nothing is left to do for it. */
export const DATABASE_FINALIZER = `${GROUP}/database`;
