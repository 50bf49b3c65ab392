import type { Clock } from '../base/clock.ts';
import { Pace } from '../base/pace.ts';
import type { Random } from '../base/random.ts';
import type { HttpResponse, HttpTransport } from '../base/transport.ts';
import { LIST_LIMITS, pagelessBody, readIfAny, readJson, shaped } from '../http/answer.ts';
import type { RequestRecord, Turn } from '../http/api-call.ts';
import { ApiEndpoint } from '../http/api-endpoint.ts';
import { ApiError } from '../http/api-error.ts';
import { BadAnswer, parseJson, type ReadElement, readSplitJson } from '../http/json-stream.ts';
import type { Memo } from '../http/memo.ts';
import { requestBody } from '../http/request-body.ts';
import type { RequestLimiter } from '../http/request-limiter.ts';
import type { SentSecrets } from '../http/sent-secrets.ts';
import type { RateLimit } from '../http/token-bucket.ts';
import { Credentials } from './credentials.ts';
import { cloudOperations, errorOf } from './operations.ts';
import {
  cloneRequestSchema,
  type DeployRequest,
  deployRequestSchema,
  type UpdateRequest,
  updateRequestSchema,
} from './request.ts';
import { type Cluster, clusterSchema, namedSchema, versionsSchema } from './schema.ts';
import type { AccessLevel, CloudCredential } from './token.ts';

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

/** The cloud's own limit is not documented; a 429 says if this is too much. */
const DEFAULT_RATE_LIMIT: RateLimit = { ratePerSecond: 50, burst: 50 };

/** Enough for a person to find a cluster by. */
const MAX_SHOWN_ID = 80;

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
  readonly #credentials: Credentials;
  readonly #options: CloudClientOptions;

  constructor({ peers = [], ...options }: CloudClientOptions) {
    // Without the peers: nothing of those that are gone is kept, except tokens still in use.
    this.#options = options;
    this.#endpoint = new ApiEndpoint({ ...options, api: 'cloud', rateLimit: options.rateLimit ?? DEFAULT_RATE_LIMIT });
    this.#operations = cloudOperations(options.teamID, options.spaceID);
    const shared = peers.map((peer) => peer.#credentials);
    this.#credentials = new Credentials(this.#endpoint, options.credentials, shared, options.clock);
  }

  /** Whether there is a credential that may destroy clusters, according to the document, and it was not refused last. */
  get canDestroy(): boolean {
    return this.#credentials.has('admin') && this.destroyRefusal === undefined;
  }

  /** Why the credential that may destroy clusters was refused last; undefined: it was not, or there is none. */
  get destroyRefusal(): ApiError | undefined {
    return this.#credentials.refusalOf('admin');
  }

  /**
   * Makes sure that there is an access token of that level, or of each level with a credential. Costs an exchange if there is
   * none. `unauthorized`: the credential is wrong. ("Token exchange")
   */
  async authenticate(level?: AccessLevel, signal?: AbortSignal): Promise<void> {
    await this.#credentials.authenticate(level, signal);
  }

  /** The level of the credential whose refusal the error reports; undefined if it reports none. */
  refusedLevel(error: ApiError): AccessLevel | undefined {
    return this.#credentials.refusedLevel(error);
  }

  /** Lets calls try refused credentials again as soon as the refusal is this old. */
  forgetRefusals(ageMs = 0): void {
    this.#credentials.forgetRefusals(ageMs);
  }

  /**
   * Creates a cluster, with the default login. Not idempotent: a second call is `conflict` (409), whoever made the first.
   * ("Deploy") `turn`: if it was waited for before.
   */
  async deploy(request: DeployRequest, signal?: AbortSignal, turn?: Turn): Promise<Cluster> {
    const operation = this.#operations.deploy(request.id);
    const body = requestBody('cloud', operation, deployRequestSchema, request);
    return this.#credentials.call(operation, (response) => readCluster(response, [request.id]), signal, { body, turn });
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
    return orMissing(this.#credentials.call(operation, (response) => readCluster(response, [id]), signal));
  }

  /** Lists all clusters of the space. `notFound`: the team or the space does not exist. ("List") */
  list(signal?: AbortSignal): Promise<readonly Cluster[]> {
    return this.#credentials.call(this.#operations.list(), (response) => this.#readList(response, readElement), signal);
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
    const clusters = await this.#credentials.call(operation, readAll, signal);
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
    const updated = (await this.#credentials.call(operation, read, signal, { body })) ?? (await this.get(now, signal));
    if (updated === undefined)
      throw errorOf(operation, 'badAnswer', 'the answer is empty, and there is no such cluster');
    return updated;
  }

  /** What a second call does is not documented: look at the status first. ("Suspend and Resume") */
  async suspend(id: string, signal?: AbortSignal): Promise<Cluster> {
    return this.#credentials.call(this.#operations.suspend(id), (response) => readCluster(response, [id]), signal);
  }

  /** What a second call does is not documented: look at the status first. ("Suspend and Resume") */
  async resume(id: string, signal?: AbortSignal): Promise<Cluster> {
    return this.#credentials.call(this.#operations.resume(id), (response) => readCluster(response, [id]), signal);
  }

  /** Creates a cluster with the data of another. Not idempotent; the document names no answer for an id in use: look first. ("Clone") */
  async clone(id: string, newID: string, signal?: AbortSignal): Promise<Cluster> {
    const operation = this.#operations.clone(id, newID);
    const body = requestBody('cloud', operation, cloneRequestSchema, { id: newID });
    return this.#credentials.call(operation, (response) => readCluster(response, [newID]), signal, { body });
  }

  /**
   * Destroys the cluster and its data; `undefined` if the cloud does not know it (404), `accepted` if it says no more. A second call
   * finds nothing, or another cluster that has taken the id: never sent twice by itself. ("Destroy")
   */
  async destroy(id: string, signal?: AbortSignal): Promise<Cluster | 'accepted' | undefined> {
    const operation = this.#operations.destroy(id);
    const read = async (response: HttpResponse) =>
      (await readIfAny(response, (any) => readCluster(any, [id]))) ?? 'accepted';
    return orMissing(this.#credentials.call(operation, read, signal));
  }

  /** Lists the versions that can be deployed, in the cloud's order. ("List versions") */
  async versions(signal?: AbortSignal): Promise<readonly string[]> {
    const read = async (response: HttpResponse) => (await readJson(response, versionsSchema)).availableVersions;
    return this.#credentials.call(this.#operations.versions(), read, signal);
  }

  async #readList<T>(response: HttpResponse, read: ReadElement<T>): Promise<readonly T[]> {
    const pace = new Pace(this.#options.clock);
    return (await readSplitJson(pagelessBody(response), LIST_LIMITS, pace, read)).elements;
  }
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
