import type { Route } from '../exchange/router.ts';
import type { Level } from './state.ts';

export type CloudOperation =
  | 'exchangeToken'
  | 'deploy'
  | 'get'
  | 'list'
  | 'update'
  | 'suspend'
  | 'resume'
  | 'clone'
  | 'destroy'
  | 'listVersions';

export interface CloudRoute extends Route<CloudOperation> {
  /** Required access on the space; absent if none is stated. */
  readonly level?: Level;
  /** Whether there is a request body. If not, one is refused. */
  readonly body: boolean;
}

const CLUSTERS = '/api/v1/team/:teamID/spaces/:spaceID/clusters';
const CLUSTER = `${CLUSTERS}/:clusterID`;

/** Cluster Management API, Endpoints. */
export const CLOUD_ROUTES: readonly CloudRoute[] = [
  { operation: 'exchangeToken', method: 'POST', path: '/api/v1/auth', body: false },
  { operation: 'deploy', method: 'POST', path: `${CLUSTERS}/deploy`, level: 'write', body: true },
  { operation: 'get', method: 'GET', path: CLUSTER, level: 'read', body: false },
  { operation: 'list', method: 'GET', path: CLUSTERS, level: 'read', body: false },
  { operation: 'update', method: 'PATCH', path: CLUSTER, level: 'write', body: true },
  { operation: 'suspend', method: 'POST', path: `${CLUSTER}/suspend`, level: 'write', body: false },
  { operation: 'resume', method: 'POST', path: `${CLUSTER}/resume`, level: 'write', body: false },
  { operation: 'clone', method: 'POST', path: `${CLUSTER}/clone`, level: 'write', body: true },
  { operation: 'destroy', method: 'DELETE', path: CLUSTER, level: 'admin', body: false },
  { operation: 'listVersions', method: 'GET', path: '/api/v1/cluster-versions', body: false },
];
