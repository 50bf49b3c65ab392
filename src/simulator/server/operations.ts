import { empty, type Incoming, json, type Reply } from '../exchange/message.ts';
import type { Match } from '../exchange/router.ts';
import { refuseBody } from '../exchange/shape.ts';
import { authenticate, signIn } from './access.ts';
import { createDatabase, deleteDatabase, getDatabase, getSchema, listDatabases } from './databases.ts';
import { oneShotQuery, queryInTransaction } from './queries.ts';
import type { ServerOperation, ServerRoute } from './routes.ts';
import {
  closeTransaction,
  commitTransaction,
  expireTransactions,
  openTransaction,
  rollbackTransaction,
} from './transactions.ts';
import { createUser, deleteUser, getUser, listUsers, updateUser } from './users.ts';
import type { ServerWorld } from './world.ts';

interface Call {
  readonly server: ServerWorld;
  readonly request: Incoming;
  readonly params: Readonly<Record<string, string>>;
  readonly now: number;
  /** The token's user; empty if no token is needed. */
  readonly caller: string;
}

/** Database Server HTTP API: (state, request, now) → reply, with the state changed in place. Throws Refusal. */
export function serverRespond(
  server: ServerWorld,
  { route, params }: Match<ServerRoute>,
  request: Incoming,
  now: number,
): Reply {
  if (!route.body) refuseBody(request.body);
  expireTransactions(server.state, now);
  const caller = route.token ? authenticate(server, request, now) : '';
  return OPERATIONS[route.operation]({ server, request, params, now, caller });
}

const OPERATIONS: Readonly<Record<ServerOperation, (call: Call) => Reply>> = {
  signIn: ({ server, request, now }) => signIn(server, request, now),
  version: ({ server }) => json(200, { distribution: 'Mooring simulator', version: server.version }),
  health: () => empty(204),
  listDatabases: ({ server }) => listDatabases(server),
  getDatabase: ({ server, params }) => getDatabase(server, databaseName(params)),
  createDatabase: ({ server, params }) => createDatabase(server, databaseName(params)),
  deleteDatabase: ({ server, params }) => deleteDatabase(server, databaseName(params)),
  getSchema: ({ server, params }) => getSchema(server, databaseName(params), 'all'),
  getTypeSchema: ({ server, params }) => getSchema(server, databaseName(params), 'types'),
  listUsers: ({ server, caller }) => listUsers(server, caller),
  getUser: ({ server, caller, params }) => getUser(server, caller, username(params)),
  createUser: ({ server, caller, params, request }) => createUser(server, caller, username(params), request),
  updateUser: ({ server, caller, params, request }) => updateUser(server, caller, username(params), request),
  deleteUser: ({ server, caller, params }) => deleteUser(server, caller, username(params)),
  openTransaction: ({ server, request, now }) => openTransaction(server, request, now),
  closeTransaction: ({ server, caller, params }) => closeTransaction(server, caller, transactionID(params)),
  commitTransaction: ({ server, caller, params }) => commitTransaction(server, caller, transactionID(params)),
  rollbackTransaction: ({ server, caller, params }) => rollbackTransaction(server, caller, transactionID(params)),
  queryTransaction: ({ server, caller, params, request, now }) =>
    queryInTransaction(server, caller, transactionID(params), request, now),
  query: ({ server, request, now }) => oneShotQuery(server, request, now),
};

const databaseName = (params: Call['params']) => params['databaseName'] ?? '';
const username = (params: Call['params']) => params['username'] ?? '';
const transactionID = (params: Call['params']) => params['transactionID'] ?? '';
