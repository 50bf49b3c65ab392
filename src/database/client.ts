import type { Clock } from '../base/clock.ts';
import { Pace } from '../base/pace.ts';
import type { Random } from '../base/random.ts';
import type { HttpResponse, HttpTimeouts, HttpTransport } from '../base/transport.ts';
import { LIST_LIMITS, pagelessBody, readJson, readNothing, shaped } from '../http/answer.ts';
import type { Exchange, Operation, RequestRecord } from '../http/api-call.ts';
import { ApiEndpoint } from '../http/api-endpoint.ts';
import { ApiError } from '../http/api-error.ts';
import { BadAnswer, parseJson, readSplitJson } from '../http/json-stream.ts';
import { requestBody } from '../http/request-body.ts';
import type { SentSecrets } from '../http/sent-secrets.ts';
import type { RateLimit } from '../http/token-bucket.ts';
import { serverOperations as operations } from './operations.ts';
import { readSchemaText, sameName } from './plain-answers.ts';
import { type QueryAnswer, readQueryAnswer } from './query-answer.ts';
import {
  type Login,
  loginSchema,
  type OneShotQueryRequest,
  type OpenTransactionRequest,
  oneShotQuerySchema,
  openTransactionSchema,
  passwordSchema,
  type QueryRequest,
  queryBodySchema,
} from './request.ts';
import {
  databaseSchema,
  openedTransactionSchema,
  type ServerInfo,
  serverInfoSchema,
  tokenSchema,
  userSchema,
} from './schema.ts';
import { SignInTurns } from './sign-in-turns.ts';

export interface ServerClientOptions {
  /** https, or http to a host that the caller trusts; may hold a path. */
  readonly baseURL: string;
  readonly transport: HttpTransport;
  readonly clock: Clock;
  readonly random: Random;
  /** Called for each exchange. `code` is the status or the kind of error. */
  readonly onRequest?: ((record: RequestRecord) => void) | undefined;
  /**
   * Called if the server takes no changes (compatibility.md: 421), with the primary's address if it names one. Returns what else the
   * error says of that.
   */
  readonly onNotPrimary?: ((primary: string | undefined) => string | undefined) | undefined;
  readonly rateLimit?: RateLimit | undefined;
  /** What the server may repeat from other clients' requests. Default: from this one's only. */
  readonly sent?: SentSecrets | undefined;
}

const DEFAULT_RATE_LIMIT: RateLimit = { ratePerSecond: 100, burst: 100 };

/** "Default 5 minutes", "Default 10 seconds" (Transaction options). */
const DEFAULT_TRANSACTION_MS = 300_000;
const DEFAULT_LOCK_WAIT_MS = 10_000;

/** While a new password's answer is awaited, the one in the Secret may be dead already. After this time it is tried which one works. */
const PASSWORD_TIMEOUTS: Partial<HttpTimeouts> = { headersMs: 5_000 };

/** Limits for a call on which the server may work for `workMs`, with some time for the way there and back. */
function timeoutsFor(workMs: number): HttpTimeouts {
  return { headersMs: workMs + 20_000, bodyMs: 60_000, totalMs: workMs + 300_000 };
}

/**
 * The Database Server HTTP API of one server, with one method per operation of the document. Every failure is an ApiError; no
 * method throws anything else. Nothing is sent twice, except a GET over a kept-alive connection that had been closed. Tokens are
 * the caller's: see Session. `askedAt`: since when it may have waited for the token (monotonic): no deletion is sent seconds later.
 */
export class ServerClient {
  readonly #endpoint: ApiEndpoint;
  readonly #options: ServerClientOptions;
  /** Only while any are running: there may be thousands of servers. */
  #signInTurns: SignInTurns | undefined;

  constructor(options: ServerClientOptions) {
    this.#options = options;
    this.#endpoint = new ApiEndpoint({ ...options, api: 'server', rateLimit: options.rateLimit ?? DEFAULT_RATE_LIMIT });
  }

  /**
   * Returns a new token for the login. `unauthorized`: username or password are wrong. A second call gives another token and
   * harms none; it costs the server some 60 ms, so each user has one at a time. ("Sign in")
   */
  async signIn(login: Login, signal?: AbortSignal): Promise<{ readonly token: string }> {
    const operation = operations.signIn(login.username);
    const body = requestBody('server', operation, loginSchema, login, [login.password]);
    const exchange = { body, signal, secrets: [login.password] };
    const call = () => this.#endpoint.call(operation, exchange, (response) => readJson(response, tokenSchema));
    this.#signInTurns ??= new SignInTurns(this.#options.clock, () => {
      this.#signInTurns = undefined;
    });
    return this.#signInTurns.take(login.username, call, signal);
  }

  /** Needs no token. ("Version") */
  async version(signal?: AbortSignal): Promise<ServerInfo> {
    return this.#endpoint.call(operations.version(), { signal }, (response) => readJson(response, serverInfoSchema));
  }

  /** Resolves if the server says that it is healthy. Needs no token. ("Health check") */
  async health(signal?: AbortSignal): Promise<void> {
    return this.#endpoint.call(operations.health(), { signal }, readNothing);
  }

  /** The databases' names, in Unicode's composed form, as servers may spell them differently than they were given. ("Get databases") */
  async listDatabases(token: string, signal?: AbortSignal): Promise<readonly string[]> {
    return this.#call(operations.listDatabases(), { token, signal }, (response) =>
      this.#readList(response, 'databases', (element, where) =>
        shaped(databaseSchema, element, where).name.normalize(),
      ),
    );
  }

  /** `undefined` if there is none (404). ("Get database") */
  async getDatabase(token: string, name: string, signal?: AbortSignal): Promise<{ readonly name: string } | undefined> {
    const call = this.#call(operations.getDatabase(name), { token, signal }, async (response) => {
      const database = await readJson(response, databaseSchema);
      sameName(database.name, name);
      return database;
    });
    return orUndefined(call);
  }

  /** A second call is refused (`invalid`, 400) or does nothing (200), depending on the server. ("Create database") */
  async createDatabase(token: string, name: string, signal?: AbortSignal): Promise<void> {
    return this.#call(operations.createDatabase(name), { token, signal }, readNothing);
  }

  /**
   * Deletes the database and its data. `notFound`: there is none, or something in front of the server answered; servers also
   * answer 400 then (`invalid`). Look. ("Delete database")
   */
  async deleteDatabase(token: string, name: string, signal?: AbortSignal, askedAt?: number): Promise<void> {
    return this.#call(operations.deleteDatabase(name), { token, signal, askedAt }, readNothing);
  }

  /** Types and functions as a define statement; empty, or only the word `define`, if nothing is defined. ("Get schema") */
  async getSchema(token: string, name: string, signal?: AbortSignal): Promise<string> {
    return this.#call(operations.getSchema(name), { token, signal }, readSchemaText);
  }

  /** As `getSchema`, without functions. ("Get type schema") */
  async getTypeSchema(token: string, name: string, signal?: AbortSignal): Promise<string> {
    return this.#call(operations.getTypeSchema(name), { token, signal }, readSchemaText);
  }

  /** The users' names, in Unicode's composed form. ("Get users") */
  async listUsers(token: string, signal?: AbortSignal): Promise<readonly string[]> {
    return this.#call(operations.listUsers(), { token, signal }, (response) =>
      this.#readList(response, 'users', (element, where) => shaped(userSchema, element, where).username.normalize()),
    );
  }

  /** `undefined` if there is none (404). ("Get user") */
  async getUser(
    token: string,
    username: string,
    signal?: AbortSignal,
  ): Promise<{ readonly username: string } | undefined> {
    const call = this.#call(operations.getUser(username), { token, signal }, async (response) => {
      const user = await readJson(response, userSchema);
      sameName(user.username, username);
      return user;
    });
    return orUndefined(call);
  }

  /** A second call is refused (`invalid`, 400) and changes nothing: the first password stays. ("Create user") */
  async createUser(token: string, username: string, password: string, signal?: AbortSignal): Promise<void> {
    const operation = operations.createUser(username);
    const body = requestBody('server', operation, passwordSchema, { password }, [password]);
    return this.#call(operation, { token, signal, body, secrets: [password] }, readNothing);
  }

  /**
   * Sets the password. Every token and open transaction of that user dies, including the caller's own, even on a second call with
   * the same password (compatibility.md). `notFound`: there is no such user. ("Update user")
   */
  async updateUser(token: string, username: string, password: string, signal?: AbortSignal): Promise<void> {
    const operation = operations.updateUser(username);
    const body = requestBody('server', operation, passwordSchema, { password }, [password]);
    const exchange = { token, signal, body, secrets: [password], timeouts: PASSWORD_TIMEOUTS };
    return this.#call(operation, exchange, readNothing);
  }

  /** `notFound`: there is none, or something in front of the server answered: look. The default user cannot be deleted. ("Delete user") */
  async deleteUser(token: string, username: string, signal?: AbortSignal, askedAt?: number): Promise<void> {
    return this.#call(operations.deleteUser(username), { token, signal, askedAt }, readNothing);
  }

  /**
   * Each call opens another transaction, which ends by itself after its timeout. A schema transaction waits for the schema lock,
   * and is refused (`invalid`) if that takes too long. ("Open transaction")
   */
  async openTransaction(
    token: string,
    request: OpenTransactionRequest,
    signal?: AbortSignal,
  ): Promise<{ readonly transactionId: string }> {
    const operation = operations.openTransaction(request.databaseName, request.transactionType);
    const body = requestBody('server', operation, openTransactionSchema, request);
    const timeouts = timeoutsFor(request.transactionOptions?.schemaLockAcquireTimeoutMillis ?? DEFAULT_LOCK_WAIT_MS);
    return this.#call(operation, { token, signal, body, timeouts }, (response) =>
      readJson(response, openedTransactionSchema),
    );
  }

  /** Discards the changes. A second call does nothing: a transaction that is gone (404) is closed. ("Close transaction") */
  async closeTransaction(token: string, transactionId: string, signal?: AbortSignal): Promise<void> {
    return orUndefined(this.#call(operations.closeTransaction(transactionId), { token, signal }, readNothing));
  }

  /** Keeps the changes and closes. A second call is `notFound`, as is one after a timeout. ("Commit transaction") */
  async commitTransaction(token: string, transactionId: string, signal?: AbortSignal): Promise<void> {
    return this.#call(
      operations.commitTransaction(transactionId),
      { token, signal, timeouts: timeoutsFor(DEFAULT_TRANSACTION_MS) },
      readNothing,
    );
  }

  /** Discards the changes. Some servers keep the transaction open, with its lock: close it. ("Rollback transaction") */
  async rollbackTransaction(token: string, transactionId: string, signal?: AbortSignal): Promise<void> {
    return this.#call(operations.rollbackTransaction(transactionId), { token, signal }, readNothing);
  }

  /** A second call runs the query a second time. ("Query in transaction") */
  async query(token: string, transactionId: string, request: QueryRequest, signal?: AbortSignal): Promise<QueryAnswer> {
    const operation = operations.query(transactionId);
    const { query, queryOptions, given, rowsField = 'given' } = request;
    const body = requestBody('server', operation, queryBodySchema, {
      query,
      ...(queryOptions === undefined ? {} : { queryOptions }),
      ...(given === undefined ? {} : { [rowsField]: given }),
    });
    return this.#query(operation, { token, signal, body, timeouts: timeoutsFor(DEFAULT_TRANSACTION_MS) });
  }

  /** A query in a transaction of its own; `commit` says whether changes are kept. ("One-shot query") */
  async oneShotQuery(token: string, request: OneShotQueryRequest, signal?: AbortSignal): Promise<QueryAnswer> {
    const changes = request.commit && request.transactionType !== 'read';
    const operation = operations.oneShotQuery(request.databaseName, changes);
    const body = requestBody('server', operation, oneShotQuerySchema, request);
    const { transactionTimeoutMillis: lifeMs, schemaLockAcquireTimeoutMillis: lockMs } =
      request.transactionOptions ?? {};
    const timeouts = timeoutsFor((lifeMs ?? DEFAULT_TRANSACTION_MS) + (lockMs ?? DEFAULT_LOCK_WAIT_MS));
    return this.#query(operation, { token, signal, body, timeouts });
  }

  #query(operation: Operation, exchange: Exchange & { token: string }): Promise<QueryAnswer> {
    const pace = new Pace(this.#options.clock);
    return this.#call(operation, exchange, (response) => readQueryAnswer(response, pace));
  }

  #call<T>(
    operation: Operation,
    exchange: Exchange & { token: string },
    read: (response: HttpResponse) => Promise<T>,
  ): Promise<T> {
    const { token, secrets = [], ...rest } = exchange;
    const headers = { authorization: `Bearer ${token}` };
    return this.#endpoint.call(operation, { ...rest, headers, secrets: [token, ...secrets] }, read);
  }

  async #readList<T>(
    response: HttpResponse,
    member: string,
    read: (element: unknown, where: string) => T,
  ): Promise<readonly T[]> {
    const options = { member, ...LIST_LIMITS };
    const pace = new Pace(this.#options.clock);
    const { outer, elements } = await readSplitJson(pagelessBody(response), options, pace, (bytes, index) =>
      read(parseJson(bytes), `${member}.${index}`),
    );
    const array: unknown = typeof outer === 'object' && outer !== null ? Reflect.get(outer, member) : undefined;
    // Many servers write an empty list as null.
    if (array !== null && !Array.isArray(array)) throw new BadAnswer(`the answer holds no ${member}`);
    return elements;
  }
}

/** The call's outcome; undefined if the answer was 404. */
async function orUndefined<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}
