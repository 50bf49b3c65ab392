import { quoted } from '../base/printable.ts';
import { NO_ANSWER, type Operation } from '../http/api-call.ts';

const DATABASES = ['v1', 'databases'];
const USERS = ['v1', 'users'];
const TRANSACTIONS = ['v1', 'transactions'];

const DATABASE_MISSING = { notFound: 'the database does not exist' };
const USER_MISSING = { notFound: 'the user does not exist' };
const TRANSACTION_MISSING = { notFound: 'the transaction does not exist, or no longer' };

/** The operations of the document ("Endpoints"). */
export const serverOperations = {
  signIn: (username: string): Operation => ({
    name: 'signIn',
    phrase: `sign in as ${quoted(username)}`,
    method: 'POST',
    path: ['v1', 'signin'],
    idempotent: true,
    words: { unauthorized: 'the username or the password was refused', lost: NO_ANSWER },
  }),
  version: (): Operation => get('version', "read the server's version", ['v1', 'version']),
  health: (): Operation => get('health', "check the server's health", ['health']),

  listDatabases: (): Operation => get('listDatabases', 'list the databases', DATABASES),
  getDatabase: (name: string): Operation =>
    get('getDatabase', `get database ${quoted(name)}`, [...DATABASES, name], DATABASE_MISSING),
  createDatabase: (name: string): Operation => ({
    name: 'createDatabase',
    phrase: `create database ${quoted(name)}`,
    method: 'POST',
    path: [...DATABASES, name],
    idempotent: false,
  }),
  deleteDatabase: (name: string): Operation => ({
    name: 'deleteDatabase',
    follows: true,
    phrase: `delete database ${quoted(name)}`,
    method: 'DELETE',
    path: [...DATABASES, name],
    idempotent: false,
    words: DATABASE_MISSING,
  }),
  getSchema: (name: string): Operation =>
    get('getSchema', `read the schema of database ${quoted(name)}`, [...DATABASES, name, 'schema'], DATABASE_MISSING),
  getTypeSchema: (name: string): Operation =>
    get(
      'getTypeSchema',
      `read the type schema of database ${quoted(name)}`,
      [...DATABASES, name, 'type-schema'],
      DATABASE_MISSING,
    ),

  listUsers: (): Operation => get('listUsers', 'list the users', USERS),
  getUser: (username: string): Operation =>
    get('getUser', `get user ${quoted(username)}`, [...USERS, username], USER_MISSING),
  createUser: (username: string): Operation => ({
    name: 'createUser',
    phrase: `create user ${quoted(username)}`,
    method: 'POST',
    path: [...USERS, username],
    idempotent: false,
  }),
  updateUser: (username: string): Operation => ({
    name: 'updateUser',
    phrase: `update user ${quoted(username)}`,
    method: 'PUT',
    path: [...USERS, username],
    idempotent: false,
    words: USER_MISSING,
  }),
  deleteUser: (username: string): Operation => ({
    name: 'deleteUser',
    follows: true,
    phrase: `delete user ${quoted(username)}`,
    method: 'DELETE',
    path: [...USERS, username],
    idempotent: false,
    words: USER_MISSING,
  }),

  openTransaction: (databaseName: string, type: string): Operation => ({
    name: 'openTransaction',
    phrase: `open a ${type} transaction on database ${quoted(databaseName)}`,
    method: 'POST',
    path: [...TRANSACTIONS, 'open'],
    idempotent: false,
    slow: true,
    words: DATABASE_MISSING,
  }),
  closeTransaction: (id: string): Operation => ({
    ...onTransaction('close', 'closeTransaction', id),
    idempotent: true,
  }),
  commitTransaction: (id: string): Operation => onTransaction('commit', 'commitTransaction', id),
  rollbackTransaction: (id: string): Operation => ({
    ...onTransaction('rollback', 'rollbackTransaction', id),
    idempotent: true,
  }),
  query: (id: string): Operation => ({
    ...onTransaction('query', 'query', id),
    phrase: 'run a query in a transaction',
    words: { ...TRANSACTION_MISSING, unavailable: 'it ran out of time, or the server failed' },
  }),
  oneShotQuery: (databaseName: string, changes: boolean): Operation => ({
    name: 'oneShotQuery',
    phrase: `run a query on database ${quoted(databaseName)}`,
    method: 'POST',
    path: ['v1', 'query'],
    idempotent: !changes,
    slow: true,
    words: { ...DATABASE_MISSING, unavailable: 'it ran out of time, or the server failed' },
  }),
} as const;

function get(name: string, phrase: string, path: readonly string[], words: Operation['words'] = {}): Operation {
  return { name, phrase, method: 'GET', path, idempotent: true, words };
}

function onTransaction(action: 'close' | 'commit' | 'rollback' | 'query', name: string, id: string): Operation {
  return {
    name,
    phrase: `${action === 'rollback' ? 'roll back' : action} a transaction`,
    method: 'POST',
    path: [...TRANSACTIONS, id, action],
    given: id,
    idempotent: false,
    slow: true,
    words: TRANSACTION_MISSING,
  };
}
