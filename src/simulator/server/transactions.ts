import { uuid } from '../../base/random.ts';
import { type Answer, empty, type Incoming, json, Refusal, type Reply } from '../exchange/message.ts';
import { readBody } from '../exchange/shape.ts';
import { authenticate } from './access.ts';
import { databaseNamed } from './databases.ts';
import { commitWorkspace } from './query/commit.ts';
import { openWorkspace, resetWorkspace } from './query/workspace.ts';
import { type Database, type ServerState, TRANSACTION_TYPES, type Transaction, type TransactionType } from './state.ts';
import { requirePrimary, type ServerWorld } from './world.ts';

/** Transaction options: "Default 5 minutes", "Default 10 seconds". */
const DEFAULT_TRANSACTION_MS = 5 * 60_000;
const DEFAULT_LOCK_WAIT_MS = 10_000;

export const TRANSACTION_OPTIONS = {
  transactionTimeoutMillis: { type: 'integer', required: false, min: 0 },
  schemaLockAcquireTimeoutMillis: { type: 'integer', required: false, min: 0 },
} as const;

const OPEN_SHAPE = {
  databaseName: { type: 'string', required: true },
  transactionType: { type: 'string', required: true, oneOf: TRANSACTION_TYPES },
  transactionOptions: { type: 'object', required: false, fields: TRANSACTION_OPTIONS },
} as const;

export interface OpenRequest {
  readonly databaseName: string;
  readonly transactionType: TransactionType;
  readonly transactionOptions?: {
    readonly transactionTimeoutMillis?: number;
    readonly schemaLockAcquireTimeoutMillis?: number;
  };
}

export function openTransaction(server: ServerWorld, request: Incoming, now: number): Reply {
  const wanted = readBody(request.body, request.headers, OPEN_SHAPE);
  return acquire(server, request, wanted, now, (transaction) => json(200, { transactionId: transaction.id }));
}

/** Opens a transaction, after waiting for the exclusive lock if it is a schema transaction, and goes on with `use`. */
export function acquire(
  server: ServerWorld,
  request: Incoming,
  wanted: OpenRequest,
  now: number,
  use: (transaction: Transaction, now: number) => Reply,
): Reply {
  if (wanted.transactionType !== 'read') requirePrimary(server);
  const giveUpMs = now + (wanted.transactionOptions?.schemaLockAcquireTimeoutMillis ?? DEFAULT_LOCK_WAIT_MS);
  const attempt = (at: number): Reply => {
    // In the meantime the caller's token may have died, and the database may have been deleted.
    const username = authenticate(server, request, at);
    expireTransactions(server.state, at);
    const database = databaseNamed(server, wanted.databaseName, server.world.dialect.missingDatabaseStatus);
    if (wanted.transactionType !== 'schema' || database.lock === undefined) {
      return use(begin(server, database, username, wanted, at), at);
    }
    if (at >= giveUpMs) {
      throw new Refusal(
        400,
        'schemaLockTimeout',
        `The schema lock of database ${database.name} was not acquired in time`,
      );
    }
    return { untilMs: Math.min(giveUpMs, database.lock.deadlineMs), wake: waiterOf(database), resume: attempt };
  };
  return attempt(now);
}

function waiterOf(database: Database) {
  return (callback: () => void) => {
    database.waiters.add(callback);
    return () => database.waiters.delete(callback);
  };
}

function begin(
  server: ServerWorld,
  database: Database,
  username: string,
  wanted: OpenRequest,
  now: number,
): Transaction {
  const transaction: Transaction = {
    id: uuid(server.world.random),
    type: wanted.transactionType,
    database,
    username,
    deadlineMs: now + (wanted.transactionOptions?.transactionTimeoutMillis ?? DEFAULT_TRANSACTION_MS),
    workspace: openWorkspace(database.committed),
  };
  server.state.transactions.set(transaction.id, transaction);
  if (transaction.type === 'schema') database.lock = transaction;
  return transaction;
}

export function closeTransaction(server: ServerWorld, caller: string, id: string): Answer {
  if (!server.state.transactions.has(id) && server.world.dialect.closeGoneStatus === 200) return empty(200);
  end(server.state, transactionOf(server, caller, id));
  return empty(200);
}

/** The transaction is over whether or not its changes can be kept. */
export function commitTransaction(server: ServerWorld, caller: string, id: string): Answer {
  const transaction = transactionOf(server, caller, id);
  const { commitReadStatus } = server.world.dialect;
  if (transaction.type === 'read' && commitReadStatus !== 200) {
    throw new Refusal(commitReadStatus, 'commitOfRead', 'A read transaction cannot be committed');
  }
  keep(server, transaction);
  return empty(200);
}

export function keep(server: ServerWorld, transaction: Transaction): void {
  try {
    commitWorkspace(transaction.database, transaction.workspace);
  } finally {
    end(server.state, transaction);
  }
  server.changed();
}

/** "After rollback the transaction is still open and still holds its lock" in the field; the document does not say. */
export function rollbackTransaction(server: ServerWorld, caller: string, id: string): Answer {
  const transaction = transactionOf(server, caller, id);
  resetWorkspace(transaction.workspace);
  if (server.world.dialect.rollback === 'closes') end(server.state, transaction);
  return empty(200);
}

/** 404 for a transaction that is gone, 403 for somebody else's. */
export function transactionOf({ state }: ServerWorld, caller: string, id: string): Transaction {
  const transaction = state.transactions.get(id);
  if (transaction === undefined) throw new Refusal(404, 'transactionNotFound', 'There is no such open transaction');
  if (transaction.username !== caller) {
    throw new Refusal(403, 'accessDenied', 'The transaction was opened by another user');
  }
  return transaction;
}

/** Ends a transaction without its uncommitted changes. The schema lock goes to the next in line. */
export function end(state: ServerState, transaction: Transaction): void {
  state.transactions.delete(transaction.id);
  const { database } = transaction;
  if (database.lock !== transaction) return;
  database.lock = undefined;
  for (const wake of [...database.waiters]) wake();
}

/** "afterwards it is closed automatically without keeping its changes" (Transaction options). */
export function expireTransactions(state: ServerState, now: number): void {
  for (const transaction of state.transactions.values()) if (transaction.deadlineMs <= now) end(state, transaction);
}

export function closeTransactionsOf(state: ServerState, username: string): void {
  for (const transaction of state.transactions.values()) if (transaction.username === username) end(state, transaction);
}

/** "Tokens die with a server restart" (compatibility.md), and so does everything that was open. */
export function restart(state: ServerState): void {
  state.tokens.clear();
  for (const transaction of state.transactions.values()) end(state, transaction);
}
