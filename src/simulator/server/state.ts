import { hash } from 'node:crypto';
import type { Committed, Workspace } from './query/workspace.ts';

export interface User {
  readonly username: string;
  readonly passwordHash: string;
}

export interface ServerToken {
  readonly username: string;
  readonly expiresAtMs: number;
}

export const TRANSACTION_TYPES = ['read', 'write', 'schema'] as const;
export type TransactionType = (typeof TRANSACTION_TYPES)[number];

export interface Transaction {
  readonly id: string;
  readonly type: TransactionType;
  readonly database: Database;
  readonly username: string;
  readonly deadlineMs: number;
  readonly workspace: Workspace;
}

export interface Database {
  readonly name: string;
  committed: Committed;
  /** Instance ids are given out once in a database's life, even if the transaction that took one is not committed. */
  lastIid: number;
  /** The open schema transaction: the exclusive schema lock (States and transitions). */
  lock: Transaction | undefined;
  /** Those waiting for the lock, first come first served. */
  readonly waiters: Set<() => void>;
}

/** One database server, or several that act as one: everything in a cluster that survives. */
export interface ServerState {
  readonly defaultUser: string;
  readonly users: Map<string, User>;
  readonly databases: Map<string, Database>;
  readonly tokens: Map<string, ServerToken>;
  readonly transactions: Map<string, Transaction>;
  /** Password checks run one after the other: the next cannot start before this time. */
  busyUntilMs: number;
}

export function createServerState(defaultUser: string, users: Iterable<User>): ServerState {
  return {
    defaultUser,
    users: new Map([...users].map((user) => [user.username, user])),
    databases: new Map(),
    tokens: new Map(),
    transactions: new Map(),
    busyUntilMs: 0,
  };
}

/** "of a password only the first 72 bytes count" (compatibility.md). */
const PASSWORD_BYTES = 72;

/** A real server's check is slow on purpose; here a knob adds the time, and the hash only keeps passwords out of the state file. */
export function hashPassword(password: string): string {
  return hash('sha256', Buffer.from(password, 'utf8').subarray(0, PASSWORD_BYTES), 'base64');
}

export function setPassword(state: ServerState, username: string, password: string): void {
  state.users.set(username, { username, passwordHash: hashPassword(password) });
}

export function passwordIs(state: ServerState, username: string, password: string): boolean {
  return state.users.get(username)?.passwordHash === hashPassword(password);
}
