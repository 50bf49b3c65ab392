import type { Route } from '../exchange/router.ts';

export type ServerOperation =
  | 'signIn'
  | 'version'
  | 'listDatabases'
  | 'getDatabase'
  | 'createDatabase'
  | 'deleteDatabase'
  | 'getSchema'
  | 'getTypeSchema'
  | 'listUsers'
  | 'getUser'
  | 'createUser'
  | 'updateUser'
  | 'deleteUser'
  | 'openTransaction'
  | 'closeTransaction'
  | 'commitTransaction'
  | 'rollbackTransaction'
  | 'queryTransaction'
  | 'query'
  | 'health';

export interface ServerRoute extends Route<ServerOperation> {
  /** Whether a token is needed (column Token). */
  readonly token: boolean;
  /** Whether there is a request body. If not, one is refused. */
  readonly body: boolean;
}

const DATABASE = '/v1/databases/:databaseName';
const USER = '/v1/users/:username';
const TRANSACTION = '/v1/transactions/:transactionID';

/** Database Server HTTP API, Endpoints. */
export const SERVER_ROUTES: readonly ServerRoute[] = [
  { operation: 'signIn', method: 'POST', path: '/v1/signin', token: false, body: true },
  { operation: 'version', method: 'GET', path: '/v1/version', token: false, body: false },
  { operation: 'listDatabases', method: 'GET', path: '/v1/databases', token: true, body: false },
  { operation: 'getDatabase', method: 'GET', path: DATABASE, token: true, body: false },
  { operation: 'createDatabase', method: 'POST', path: DATABASE, token: true, body: false },
  { operation: 'deleteDatabase', method: 'DELETE', path: DATABASE, token: true, body: false },
  { operation: 'getSchema', method: 'GET', path: `${DATABASE}/schema`, token: true, body: false },
  { operation: 'getTypeSchema', method: 'GET', path: `${DATABASE}/type-schema`, token: true, body: false },
  { operation: 'listUsers', method: 'GET', path: '/v1/users', token: true, body: false },
  { operation: 'getUser', method: 'GET', path: USER, token: true, body: false },
  { operation: 'createUser', method: 'POST', path: USER, token: true, body: true },
  { operation: 'updateUser', method: 'PUT', path: USER, token: true, body: true },
  { operation: 'deleteUser', method: 'DELETE', path: USER, token: true, body: false },
  { operation: 'openTransaction', method: 'POST', path: '/v1/transactions/open', token: true, body: true },
  { operation: 'closeTransaction', method: 'POST', path: `${TRANSACTION}/close`, token: true, body: false },
  { operation: 'commitTransaction', method: 'POST', path: `${TRANSACTION}/commit`, token: true, body: false },
  { operation: 'rollbackTransaction', method: 'POST', path: `${TRANSACTION}/rollback`, token: true, body: false },
  { operation: 'queryTransaction', method: 'POST', path: `${TRANSACTION}/query`, token: true, body: true },
  { operation: 'query', method: 'POST', path: '/v1/query', token: true, body: true },
  { operation: 'health', method: 'GET', path: '/health', token: false, body: false },
];
