import type { Clock } from '../base/clock.ts';
import { Pace, type YieldNow } from '../base/pace.ts';
import type { Random } from '../base/random.ts';
import type { HttpResponse, HttpTimeouts, HttpTransport } from '../base/transport.ts';
import { LIST_LIMITS, pagelessBody, readIfAny, readJson, shaped } from '../http/answer.ts';
import type { Exchange, RequestRecord, Turn } from '../http/api-call.ts';
import { ApiEndpoint } from '../http/api-endpoint.ts';
import { ApiError, type ApiErrorKind } from '../http/api-error.ts';
import { BadAnswer, parseJson, type ReadElement, readSplitJson } from '../http/json-stream.ts';
import type { Memo } from '../http/memo.ts';
import { requestBody } from '../http/request-body.ts';
import type { RequestLimiter } from '../http/request-limiter.ts';
import type { SentSecrets } from '../http/sent-secrets.ts';
import type { RateLimit } from '../http/token-bucket.ts';
import { type CloudOperation, cloudOperations } from './operations.ts';
import {
  cloneRequestSchema,
  type DeployRequest,
  deployRequestSchema,
  type UpdateRequest,
  updateRequestSchema,
} from './request.ts';
import { type Cluster, clusterSchema, namedSchema, versionsSchema } from './schema.ts';
import { type AccessLevel, type CloudCredential, isRefusedExchange, TokenSource } from './token.ts';

export interface CloudClientOptions {
  /** https, or http to a host that the caller trusts; may hold a path. */
  readonly baseURL: string;
  readonly teamID: string;
  readonly spaceID: string;
  /** Only the first of each level is used. One of a higher level may serve for all. */
  readonly credentials: readonly CloudCredential[];
  readonly transport: HttpTransport;
  readonly clock: Clock;
  readonly random: Random;
  /** Called for each exchange. `code` is the status or the kind of error. */
  readonly onRequest?: ((record: RequestRecord) => void) | undefined;
  readonly rateLimit?: RateLimit | undefined;
  /** Shared by all clients that the cloud may count together. Default: this client's own. */
  readonly limiter?: RequestLimiter | undefined;
  /** As in ApiEndpoint. */
  readonly sent?: SentSecrets | undefined;
  /** Clients of the same cloud, reached the same way: they share the access tokens of API tokens that they share. */
  readonly peers?: readonly CloudClient[] | undefined;
  /** As in ApiEndpoint. */
  readonly onRecovered?: (() => void) | undefined;
  /** Default: the transport's. */
  readonly timeouts?: Partial<HttpTimeouts> | undefined;
  readonly yieldNow?: YieldNow | undefined;
}

/** What a List shows, as far as it makes sense. */
export interface ListedClusters<T> {
  readonly clusters: readonly T[];
  /**
   * What is wrong with a cluster that makes no sense; the same text each time. It may be any cluster, even a renamed one, so one
   * that `clusters` lacks need not be gone.
   */
  readonly problem: ApiError | undefined;
}

interface Holder {
  readonly level: AccessLevel;
  readonly tokens: TokenSource;
}

/** The cloud's own limit is not documented; a 429 says if this is too much. */
const DEFAULT_RATE_LIMIT: RateLimit = { ratePerSecond: 50, burst: 50 };

/** Enough for a person to find a cluster by. */
const MAX_SHOWN_ID = 80;

/** From the least to the most powerful. */
const LEVELS: readonly AccessLevel[] = ['read', 'write', 'admin'];

/**
 * The Cluster Management API for one space, with one method per operation of the document. Every failure is an ApiError; no
 * method throws anything else. Nothing is sent twice, except a GET over a kept-alive connection that had been closed, and what
 * got a 401 or 403 (it surely had no effect): after a 401 once more with a new token; after a 403, or if a credential is refused,
 * with the credential of the next higher level. If none serves, the error is that of the lowest. A change that follows a look is not
 * sent if its access token took seconds to get.
 */
export class CloudClient {
  readonly #endpoint: ApiEndpoint;
  readonly #operations: ReturnType<typeof cloudOperations>;
  readonly #holders: readonly Holder[];
  readonly #options: CloudClientOptions;
  /** Which credential last served for a level: whether levels include the lower ones is not documented. */
  readonly #worked = new Map<AccessLevel, Holder>();

  constructor({ peers = [], ...options }: CloudClientOptions) {
    // Without the peers: nothing of those that are gone is kept, except tokens still in use.
    this.#options = options;
    this.#endpoint = new ApiEndpoint({ ...options, api: 'cloud', rateLimit: options.rateLimit ?? DEFAULT_RATE_LIMIT });
    this.#operations = cloudOperations(options.teamID, options.spaceID);
    const holders: Holder[] = [];
    for (const level of LEVELS) {
      const credential = options.credentials.find((candidate) => candidate.level === level);
      if (credential === undefined) continue;
      const known = [...holders, ...peers.flatMap((peer) => peer.#holders)];
      const same = known.find(({ tokens }) => tokens.isOf(credential))?.tokens;
      same?.serve(level);
      holders.push({ level, tokens: same ?? new TokenSource(credential, options.clock) });
    }
    this.#holders = holders;
  }

  /** Whether there is a credential that may destroy clusters, according to the document. */
  get canDestroy(): boolean {
    return this.#holders.some((holder) => holder.level === 'admin');
  }

  /**
   * Makes sure that there is an access token of that level, or of each level with a credential. Costs an exchange if there is
   * none. `unauthorized`: the credential is wrong. ("Token exchange")
   */
  async authenticate(level?: AccessLevel, signal?: AbortSignal): Promise<void> {
    const holders = this.#holders.filter((holder) => level === undefined || holder.level === level);
    if (holders.length === 0) {
      const what = `there is no API token${level === undefined ? '' : ` of level ${level}`}`;
      throw new ApiError({
        api: 'cloud',
        operation: 'authenticate',
        phrase: 'exchange an API token',
        idempotent: true,
        kind: 'forbidden',
        what,
      });
    }
    for (const holder of holders) await holder.tokens.get(this.#endpoint, signal);
  }

  /** The level of the credential whose refusal the error reports; undefined if it reports none. */
  refusedLevel(error: ApiError): AccessLevel | undefined {
    return this.#holders.find(({ tokens }) => tokens.refusal === error)?.level;
  }

  /** Lets calls try refused credentials again as soon as the refusal is this old. */
  forgetRefusals(ageMs = 0): void {
    for (const holder of this.#holders) holder.tokens.forgetRefusal(ageMs);
  }

  /**
   * Creates a cluster, with the default login. Not idempotent: a second call is `conflict` (409), whoever made the first.
   * ("Deploy") `turn`: if it was waited for before.
   */
  async deploy(request: DeployRequest, signal?: AbortSignal, turn?: Turn): Promise<Cluster> {
    const operation = this.#operations.deploy(request.id);
    const body = requestBody('cloud', operation, deployRequestSchema, request);
    return this.#call(operation, (response) => readCluster(response, [request.id]), signal, { body, turn });
  }

  /**
   * Resolves when one deploy may be sent. Given this turn, the deploy goes without waiting: take the turn, look, then deploy.
   * Fails as the deploy would. All other changes need no turn: the `get` before them is the look, and waits.
   */
  turn(id: string, signal?: AbortSignal): Promise<Turn> {
    return this.#endpoint.turn(this.#operations.deploy(id), signal);
  }

  /** Returns the cluster, or `undefined` if the cloud does not know it or the space (404). ("Get") */
  async get(id: string, signal?: AbortSignal): Promise<Cluster | undefined> {
    const operation = this.#operations.get(id);
    return orMissing(this.#call(operation, (response) => readCluster(response, [id]), signal));
  }

  /** Lists all clusters of the space. `notFound`: the team or the space does not exist. ("List") */
  list(signal?: AbortSignal): Promise<readonly Cluster[]> {
    return this.#call(this.#operations.list(), (response) => this.#readList(response, readElement), signal);
  }

  /**
   * As `list`, with what `keep` makes of each cluster. They are read one at a time, so only that is ever held of thousands. Those
   * that are byte for byte as in the previous List with the same `memo` are not read again. One that makes no sense hides no
   * other.
   */
  async listAs<T extends object>(
    memo: Memo<T>,
    keep: (cluster: Cluster) => T,
    signal?: AbortSignal,
  ): Promise<ListedClusters<T>> {
    const operation = this.#operations.list();
    const problems: string[] = [];
    const make: ReadElement<T | undefined> = (bytes, index) => {
      const cluster = parseJson(bytes);
      const id = namedSchema.safeParse(cluster).data?.id;
      try {
        // The place in a List says little to a person, and may differ each time.
        return keep(shaped(clusterSchema, cluster, id === undefined ? String(index) : ''));
      } catch (error) {
        if (!(error instanceof BadAnswer)) throw error;
        const ofWhich = id === undefined ? '' : `, of cluster ${JSON.stringify(id.slice(0, MAX_SHOWN_ID))}`;
        problems.push(`${error.message}${ofWhich}`);
        return undefined;
      }
    };
    const readAll = (response: HttpResponse) => {
      problems.length = 0;
      return memo.read(make, (read) => this.#readList(response, read));
    };
    const clusters = await this.#call(operation, readAll, signal);
    const [first] = problems.sort();
    return { clusters, problem: first === undefined ? undefined : errorOf(operation, 'badAnswer', first) };
  }

  /**
   * Changes the fields set in the request. A second call changes nothing more, unless it renames: then its target is gone
   * (`notFound`). If the answer is empty, the cluster is asked for. ("Update")
   */
  async update(id: string, request: UpdateRequest, signal?: AbortSignal): Promise<Cluster> {
    const operation = this.#operations.update(id, request.id !== undefined && request.id !== id);
    const body = requestBody('cloud', operation, updateRequestSchema, request);
    const now = request.id ?? id;
    const read = (response: HttpResponse) => readIfAny(response, (any) => readCluster(any, [now]));
    const updated = (await this.#call(operation, read, signal, { body })) ?? (await this.get(now, signal));
    if (updated === undefined)
      throw errorOf(operation, 'badAnswer', 'the answer is empty, and there is no such cluster');
    return updated;
  }

  /** What a second call does is not documented: look at the status first. ("Suspend and Resume") */
  async suspend(id: string, signal?: AbortSignal): Promise<Cluster> {
    return this.#call(this.#operations.suspend(id), (response) => readCluster(response, [id]), signal);
  }

  /** What a second call does is not documented: look at the status first. ("Suspend and Resume") */
  async resume(id: string, signal?: AbortSignal): Promise<Cluster> {
    return this.#call(this.#operations.resume(id), (response) => readCluster(response, [id]), signal);
  }

  /** Creates a cluster with the data of another. Not idempotent; the document names no answer for an id in use: look first. ("Clone") */
  async clone(id: string, newID: string, signal?: AbortSignal): Promise<Cluster> {
    const operation = this.#operations.clone(id, newID);
    const body = requestBody('cloud', operation, cloneRequestSchema, { id: newID });
    return this.#call(operation, (response) => readCluster(response, [newID]), signal, { body });
  }

  /**
   * Destroys the cluster and its data; `undefined` if the cloud does not know it (404). A second call finds nothing, or another
   * cluster that has taken the id: never sent twice by itself. ("Destroy")
   */
  async destroy(id: string, signal?: AbortSignal): Promise<Cluster | undefined> {
    const operation = this.#operations.destroy(id);
    return orMissing(this.#call(operation, (response) => readCluster(response, [id]), signal));
  }

  /** Lists the versions that can be deployed, in the cloud's order. ("List versions") */
  async versions(signal?: AbortSignal): Promise<readonly string[]> {
    const read = async (response: HttpResponse) => (await readJson(response, versionsSchema)).availableVersions;
    return this.#call(this.#operations.versions(), read, signal);
  }

  async #readList<T>(response: HttpResponse, read: ReadElement<T>): Promise<readonly T[]> {
    const pace = new Pace(this.#options.clock, this.#options.yieldNow);
    return (await readSplitJson(pagelessBody(response), LIST_LIMITS, pace, read)).elements;
  }

  async #call<T>(
    operation: CloudOperation,
    read: (response: HttpResponse) => Promise<T>,
    signal: AbortSignal | undefined,
    more: Exchange = {},
  ): Promise<T> {
    const refused = new Map<AccessLevel, ApiError>();
    const tried = new Set<TokenSource>();
    for (const holder of this.#candidates(operation)) {
      if (tried.has(holder.tokens)) continue;
      tried.add(holder.tokens);
      try {
        const result = await this.#callAs(holder, operation, read, signal, more);
        this.#worked.set(operation.level, holder);
        return result;
      } catch (error) {
        if (!(error instanceof ApiError) || !(error.kind === 'forbidden' || isRefusedExchange(error))) throw error;
        refused.set(holder.level, error);
      }
    }
    // The error of the level that should serve: the others only stood in for it.
    const least = LEVELS.find((level) => refused.has(level));
    throw (least && refused.get(least)) ?? this.#forbidden(operation);
  }

  /** The credentials that may serve; the one that did last is first. */
  #candidates(operation: CloudOperation): readonly Holder[] {
    const least = LEVELS.indexOf(operation.level);
    const sufficient = this.#holders.filter((holder) => LEVELS.indexOf(holder.level) >= least);
    const worked = this.#worked.get(operation.level);
    return worked === undefined ? sufficient : [worked, ...sufficient.filter((holder) => holder !== worked)];
  }

  async #callAs<T>(
    holder: Holder,
    operation: CloudOperation,
    read: (response: HttpResponse) => Promise<T>,
    signal: AbortSignal | undefined,
    more: Exchange,
  ): Promise<T> {
    const askedAt = this.#options.clock.monotonic();
    const send = async (token: string) => {
      const headers = { authorization: `Bearer ${token}` };
      const exchange = { ...more, headers, signal, askedAt, secrets: [token, ...this.#secrets()] };
      try {
        const result = await this.#endpoint.call(operation, exchange, read);
        holder.tokens.worked();
        return result;
      } catch (error) {
        // Any answer other than 401 shows that the access token is valid.
        if (error instanceof ApiError && error.status !== undefined && error.status !== 401) holder.tokens.worked();
        throw error;
      }
    };
    const token = await holder.tokens.get(this.#endpoint, signal);
    try {
      return await send(token);
    } catch (error) {
      if (!isUnauthorized(error)) throw error;
      holder.tokens.drop(token);
    }
    const renewed = await holder.tokens.get(this.#endpoint, signal);
    try {
      return await send(renewed);
    } catch (error) {
      throw isUnauthorized(error) && holder.tokens.wasRefusedAtOnce() ? endedEarly(operation, error) : error;
    }
  }

  /** For every call: a server may know them from an earlier one. */
  #secrets(): readonly string[] {
    return this.#options.credentials.map((credential) => credential.clientSecret);
  }

  #forbidden(operation: CloudOperation): ApiError {
    const levels = LEVELS.slice(LEVELS.indexOf(operation.level)).join(' or ');
    return errorOf(operation, 'forbidden', `not sent, because there is no API token of level ${levels}`);
  }
}

function errorOf(
  { name, phrase, idempotent }: CloudOperation,
  kind: ApiErrorKind,
  what: string,
  answer: Partial<Pick<ApiError, 'status' | 'code' | 'serverMessage'>> = {},
): ApiError {
  const { status, code, serverMessage } = answer;
  return new ApiError({ api: 'cloud', operation: name, phrase, idempotent, kind, what, status, code, serverMessage });
}

function isUnauthorized(error: unknown): error is ApiError {
  return error instanceof ApiError && error.kind === 'unauthorized';
}

/** The API token is not wrong, as it was just exchanged. Somebody else's exchange of it may have ended the access token. */
function endedEarly(operation: CloudOperation, refusal: ApiError): ApiError {
  const what =
    'the access token was refused, though it was exchanged a moment ago: where something else uses the same API token, each may end the access token of the other';
  return errorOf(operation, 'unavailable', what, refusal);
}

/** One cluster of a List. */
function readElement(bytes: Uint8Array, index: number): Cluster {
  return shaped(clusterSchema, parseJson(bytes), String(index));
}

/** Reads one cluster. An answer about another one is refused. */
async function readCluster(response: HttpResponse, ids: readonly string[]): Promise<Cluster> {
  const cluster = await readJson(response, clusterSchema);
  if (!ids.includes(cluster.id)) throw new BadAnswer('the answer is about another cluster');
  return cluster;
}

async function orMissing<T>(result: Promise<T>): Promise<T | undefined> {
  try {
    return await result;
  } catch (error) {
    if (error instanceof ApiError && error.kind === 'notFound') return undefined;
    throw error;
  }
}
