import type { Clock } from '../../src/base/clock.ts';
import { type Random, uuid } from '../../src/base/random.ts';
import type { HttpTransport } from '../../src/base/transport.ts';
import { ServerClient } from '../../src/database/client.ts';
import type { QueryAnswer } from '../../src/database/query-answer.ts';
import type { Login, TransactionType } from '../../src/database/request.ts';
import type { Powers } from './cloud-setting.ts';
import { type RawAnswer, type RawRequest, raw } from './raw.ts';

/**
 * Where checks of the Database Server HTTP API run. A target can support: `users` (the login may manage users), `queries` (it
 * understands the query language), `simulator` (it can simulate faults, the passing of time, and what others do).
 */
export interface ServerSetting {
  readonly baseURL: string;
  /** Which of the two forms the server has, if they differ (compatibility.md). */
  readonly dialect: 'document' | 'field';
  readonly login: Login;
  readonly transport: HttpTransport;
  readonly clock: Clock;
  readonly random: Random;
  /** The pause between two looks at something slow. */
  readonly pause: () => Promise<void>;
  readonly powers: (Powers & { readonly clusterID: string }) | undefined;
}

/** One of two values, by the dialect. */
export function either<T>({ dialect }: ServerSetting, forms: { readonly document: T; readonly field: T }): T {
  return forms[dialect];
}

export function serverClientOf(setting: ServerSetting): ServerClient {
  return new ServerClient({ ...setting, rateLimit: { ratePerSecond: 1000, burst: 10_000 } });
}

export interface SignedIn {
  readonly client: ServerClient;
  readonly token: string;
}

export async function signedIn(setting: ServerSetting, login: Login = setting.login): Promise<SignedIn> {
  const client = serverClientOf(setting);
  return { client, token: (await client.signIn(login)).token };
}

/** A raw request with a token of the setting's login. */
export async function rawSignedIn(
  setting: ServerSetting,
  request: Omit<RawRequest, 'authorization'>,
): Promise<RawAnswer> {
  const { token } = await signedIn(setting);
  return raw(setting, { ...request, authorization: `Bearer ${token}` });
}

export function newName(setting: ServerSetting): string {
  return `conformance-${uuid(setting.random).slice(0, 8)}`;
}

/** Calls `use` with a new, empty database, and deletes it afterwards. */
export async function withDatabase(
  setting: ServerSetting,
  use: (name: string, signedIn: SignedIn) => Promise<void>,
): Promise<void> {
  const name = newName(setting);
  const { client, token } = await signedIn(setting);
  await client.createDatabase(token, name);
  try {
    await use(name, { client, token });
  } finally {
    await client.deleteDatabase(token, name).catch(() => undefined);
  }
}

/** Calls `use` with a new user who may not manage others, and deletes it afterwards. */
export async function withUser(
  setting: ServerSetting,
  use: (login: Login, admin: SignedIn) => Promise<void>,
): Promise<void> {
  const login = { username: newName(setting), password: `pw-${uuid(setting.random)}` };
  const admin = await signedIn(setting);
  await admin.client.createUser(admin.token, login.username, login.password);
  try {
    await use(login, admin);
  } finally {
    await admin.client.deleteUser(admin.token, login.username).catch(() => undefined);
  }
}

/** Runs a query in a transaction of its own and keeps its changes. */
export function change(
  { client, token }: SignedIn,
  databaseName: string,
  transactionType: TransactionType,
  query: string,
): Promise<QueryAnswer> {
  return client.oneShotQuery(token, { databaseName, transactionType, query, commit: true });
}

export function read({ client, token }: SignedIn, databaseName: string, query: string): Promise<QueryAnswer> {
  return client.oneShotQuery(token, { databaseName, transactionType: 'read', query, commit: false });
}

/** How many answers there are. */
export function countOf(answer: QueryAnswer): number {
  return answer.answerType === 'ok' ? 0 : answer.answers.length;
}

/** The outcome of a call that waits for time to pass; time passes meanwhile. */
export async function whileTimePasses<T>(setting: ServerSetting, call: Promise<T>): Promise<T> {
  let settled = false;
  const done = () => {
    settled = true;
  };
  call.then(done, done);
  while (!settled) await setting.pause();
  return call;
}

/** The error that the promise rejects with. */
export function failure(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    (value) => new Error(`no failure, but ${JSON.stringify(value)}`),
    (error: unknown) => error,
  );
}
