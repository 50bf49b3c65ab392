import type { ServerClient } from '../../src/database/client.ts';

export const TOKEN = 'canary-server-token';
export const PASSWORD = 'canary-user-password';

/** One operation of the Database Server HTTP API: how to call it, the request, and the answer. */
export interface ServerCase {
  readonly name: string;
  /** `name`: the name or id in the path. */
  readonly run: (client: ServerClient, name: string, signal?: AbortSignal) => Promise<unknown>;
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly answer?: unknown;
  readonly result?: unknown;
  /** The result for 404, if that is no error. */
  readonly missing?: { readonly value: unknown };
  readonly token?: false;
}

export const okAnswer = { queryType: 'schema', answerType: 'ok' };
const okResult = { queryType: 'schema', answerType: 'ok', warning: undefined };
export const oneShot = { databaseName: 'orders', transactionType: 'read', query: 'match', commit: false } as const;

/** All twenty, in the document's order. */
export const CASES: readonly ServerCase[] = [
  {
    name: 'signIn',
    run: (client, _name, signal) => client.signIn({ username: 'app', password: PASSWORD }, signal),
    method: 'POST',
    path: '/v1/signin',
    body: { username: 'app', password: PASSWORD },
    answer: { token: 'new-token' },
    result: { token: 'new-token' },
    token: false,
  },
  {
    name: 'version',
    run: (client, _name, signal) => client.version(signal),
    method: 'GET',
    path: '/v1/version',
    answer: { distribution: 'D', version: '3.12.0' },
    result: { distribution: 'D', version: '3.12.0' },
    token: false,
  },
  {
    name: 'health',
    run: (client, _name, signal) => client.health(signal),
    method: 'GET',
    path: '/health',
    token: false,
  },
  {
    name: 'listDatabases',
    run: (client, _name, signal) => client.listDatabases(TOKEN, signal),
    method: 'GET',
    path: '/v1/databases',
    answer: { databases: [{ name: 'a', x: 1 }, { name: 'b' }] },
    result: ['a', 'b'],
  },
  {
    name: 'getDatabase',
    run: (client, name, signal) => client.getDatabase(TOKEN, name, signal),
    method: 'GET',
    path: '/v1/databases/orders',
    answer: { name: 'orders' },
    result: { name: 'orders' },
    missing: { value: undefined },
  },
  {
    name: 'createDatabase',
    run: (client, name, signal) => client.createDatabase(TOKEN, name, signal),
    method: 'POST',
    path: '/v1/databases/orders',
  },
  {
    name: 'deleteDatabase',
    run: (client, name, signal) => client.deleteDatabase(TOKEN, name, signal),
    method: 'DELETE',
    path: '/v1/databases/orders',
  },
  {
    name: 'getSchema',
    run: (client, name, signal) => client.getSchema(TOKEN, name, signal),
    method: 'GET',
    path: '/v1/databases/orders/schema',
    answer: 'define entity person;',
    result: 'define entity person;',
  },
  {
    name: 'getTypeSchema',
    run: (client, name, signal) => client.getTypeSchema(TOKEN, name, signal),
    method: 'GET',
    path: '/v1/databases/orders/type-schema',
    answer: '"define\\n"',
    result: 'define\n',
  },
  {
    name: 'listUsers',
    run: (client, _name, signal) => client.listUsers(TOKEN, signal),
    method: 'GET',
    path: '/v1/users',
    answer: { users: [{ username: 'admin' }] },
    result: ['admin'],
  },
  {
    name: 'getUser',
    run: (client, name, signal) => client.getUser(TOKEN, name, signal),
    method: 'GET',
    path: '/v1/users/orders',
    answer: { username: 'orders' },
    result: { username: 'orders' },
    missing: { value: undefined },
  },
  {
    name: 'createUser',
    run: (client, name, signal) => client.createUser(TOKEN, name, PASSWORD, signal),
    method: 'POST',
    path: '/v1/users/orders',
    body: { password: PASSWORD },
  },
  {
    name: 'updateUser',
    run: (client, name, signal) => client.updateUser(TOKEN, name, PASSWORD, signal),
    method: 'PUT',
    path: '/v1/users/orders',
    body: { password: PASSWORD },
  },
  {
    name: 'deleteUser',
    run: (client, name, signal) => client.deleteUser(TOKEN, name, signal),
    method: 'DELETE',
    path: '/v1/users/orders',
  },
  {
    name: 'openTransaction',
    run: (client, _name, signal) =>
      client.openTransaction(
        TOKEN,
        {
          databaseName: 'orders',
          transactionType: 'schema',
          transactionOptions: { transactionTimeoutMillis: 1, schemaLockAcquireTimeoutMillis: 2 },
        },
        signal,
      ),
    method: 'POST',
    path: '/v1/transactions/open',
    body: {
      databaseName: 'orders',
      transactionType: 'schema',
      transactionOptions: { transactionTimeoutMillis: 1, schemaLockAcquireTimeoutMillis: 2 },
    },
    answer: { transactionId: 't-1' },
    result: { transactionId: 't-1' },
  },
  {
    name: 'closeTransaction',
    run: (client, id, signal) => client.closeTransaction(TOKEN, id, signal),
    method: 'POST',
    path: '/v1/transactions/orders/close',
    missing: { value: undefined },
  },
  {
    name: 'commitTransaction',
    run: (client, id, signal) => client.commitTransaction(TOKEN, id, signal),
    method: 'POST',
    path: '/v1/transactions/orders/commit',
  },
  {
    name: 'rollbackTransaction',
    run: (client, id, signal) => client.rollbackTransaction(TOKEN, id, signal),
    method: 'POST',
    path: '/v1/transactions/orders/rollback',
  },
  {
    name: 'query',
    run: (client, id, signal) =>
      client.query(
        TOKEN,
        id,
        {
          query: 'define',
          queryOptions: { includeInstanceTypes: false, answerCountLimit: 5 },
          given: [{ x: { kind: 'entity', iid: '0x1a' }, n: { kind: 'value', valueType: 'integer', value: 2n ** 62n } }],
        },
        signal,
      ),
    method: 'POST',
    path: '/v1/transactions/orders/query',
    body: {
      query: 'define',
      queryOptions: { includeInstanceTypes: false, answerCountLimit: 5 },
      given: [{ x: { kind: 'entity', iid: '0x1a' }, n: { kind: 'value', valueType: 'integer', value: 2 ** 62 } }],
    },
    answer: okAnswer,
    result: okResult,
  },
  {
    name: 'oneShotQuery',
    run: (client, _name, signal) => client.oneShotQuery(TOKEN, oneShot, signal),
    method: 'POST',
    path: '/v1/query',
    body: oneShot,
    answer: okAnswer,
    result: okResult,
  },
];
