import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../base/clock.ts';
import { parseDuration } from '../../base/duration.ts';
import { TerminalError } from '../../base/errors.ts';
import type { Random } from '../../base/random.ts';
import type { HttpTransport } from '../../base/transport.ts';
import { CloudClient } from '../../cloud/client.ts';
import { SpacePoller } from '../../cloud/space-poller.ts';
import type { CloudCredential } from '../../cloud/token.ts';
import { ServerClient } from '../../database/client.ts';
import { Logins } from '../../database/logins.ts';
import { splitAddress } from '../../http/address.ts';
import type { RequestRecord } from '../../http/api-call.ts';
import { limitedTransport } from '../../http/limited-transport.ts';
import { RequestLimiter } from '../../http/request-limiter.ts';
import { SentSecrets } from '../../http/sent-secrets.ts';
import type { ObjectKey } from '../../kube/object.ts';
import type { Login } from '../secrets.ts';
import { caOf } from './ca-bundle.ts';
import { type Place, placeOf } from './place.ts';
import type { DatabaseSpaceSpec } from './schema.ts';
import { refusalOfServerURL, refusalOfURL, type UrlPolicy } from './url-policy.ts';

/** A password check costs a server some 60 ms of its time (compatibility.md): hundreds of objects must not ask at once. */
const REQUESTS_PER_SERVER = 8;

/**
 * How many servers of a cluster keep their logins: all nine that it may have, and some that it has just had. Each time that a cluster
 * runs again, its servers may have other addresses.
 */
const MAX_SERVERS = 16;

/**
 * How long the primary that a server named counts, whatever others say, while it runs: servers that disagree must not move all
 * logins to and fro.
 */
const PRIMARY_MS = 60_000;

/** What a DatabaseSpace and its Secrets say, ready for use. */
export interface SpaceConnection {
  readonly client: CloudClient;
  readonly poller: SpacePoller;
  /** The login that every new cluster comes with. */
  readonly factoryLogin: Login;
  /** Changes with the factory login, and reveals nothing about it. */
  readonly factoryVersion: string;
  readonly place: Place;
  readonly verifyIntervalMs: number;
  /** Since when Lists have failed, in wall-clock milliseconds; undefined: the last one succeeded. */
  failingSinceMs(): number | undefined;
  /** Returns the base URL of the server at `host:port`. Throws TerminalError if it is not allowed, or the address is none. */
  serverURL(address: string): string;
  /** As serverURL, but returns undefined instead of throwing. */
  findServerURL(address: string): string | undefined;
  /** Returns the logins of the cluster's server: another cluster at the same address has its own. */
  logins(serverURL: string, clusterID: string): Logins;
  /** Returns the primary's address if the cluster's server at that URL has just named it, taking no changes itself (421). */
  primaryNamedBy(serverURL: string, clusterID: string): string | undefined;
}

export interface ConnectionsOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly urlPolicy: UrlPolicy;
  /** `ca`: PEM to trust besides the system's. */
  readonly transport: (ca: string | undefined) => HttpTransport;
  readonly onRequest: (
    api: 'cloud' | 'server',
    request: { operation: string; code: string; durationMs: number },
  ) => void;
  /** Called when clusters of the space have changed; `first`: this connection knew nothing of them before. */
  readonly onClusters: (space: ObjectKey, ids: ReadonlySet<string>, first: boolean) => void;
  /** Called when the space was listed, or could not be. `first`: from now on this connection knows its clusters. */
  readonly onListed: (space: ObjectKey, first: boolean) => void;
  /** Called when a space is connected that had no connection before, or had one with another verifyInterval. */
  readonly onConnected?: (space: ObjectKey) => void;
}

/** Shared by the DatabaseSpaces that mean the same space with the same tokens: one List serves them all. */
interface Shared {
  /** Identifies the requests that the cloud may count together. */
  readonly account: string;
  readonly limiter: RequestLimiter;
  readonly baseURL: string;
  readonly ca: string | undefined;
  readonly client: CloudClient;
  readonly poller: SpacePoller;
  readonly users: Map<ObjectKey, number>;
  /** By cluster id; only of clusters that exist. */
  readonly servers: Map<string, readonly Logins[]>;
  /** Likewise. */
  readonly primaries: Map<string, NamedPrimary>;
  listed: boolean;
  failingSinceMs: number | undefined;
}

/** The server that takes changes, according to another server. */
interface NamedPrimary {
  readonly by: string;
  readonly address: string;
  readonly untilMs: number;
}

interface Entry {
  readonly digest: string;
  readonly spec: DatabaseSpaceSpec;
  readonly connection: SpaceConnection;
}

/** The connections of all spaces. */
export class SpaceConnections {
  readonly #options: ConnectionsOptions;
  /** The secrets that the cloud and each server may repeat in their answers, whoever asks. */
  readonly #sent: SentSecrets;
  readonly #shared = new Map<string, Shared>();
  readonly #entries = new Map<ObjectKey, Entry>();

  constructor(options: ConnectionsOptions) {
    this.#options = options;
    this.#sent = new SentSecrets(options.clock);
  }

  get(space: ObjectKey): SpaceConnection | undefined {
    return this.#entries.get(space)?.connection;
  }

  *all(): IterableIterator<[ObjectKey, SpaceConnection]> {
    for (const [key, { connection }] of this.#entries) yield [key, connection];
  }

  /**
   * Connects the space as its spec says; what is shared and unchanged goes on. `factoryVersion`: that of the Secret with the factory
   * login; while the login stays the same, the first version counts. Returns whether this is another connection than before. Throws
   * TerminalError if a URL is not allowed, or caBundle is none.
   */
  connect(
    space: ObjectKey,
    spec: DatabaseSpaceSpec,
    credentials: readonly CloudCredential[],
    factoryLogin: Login,
    factoryVersion: string,
  ): boolean {
    const refusal = refusalOfURL(spec.baseURL, this.#options.urlPolicy);
    if (refusal !== undefined) throw new TerminalError('BaseURLNotAllowed', `baseURL ${refusal}`);
    const ca = caOf(spec);
    const { baseURL, teamID, spaceID } = spec;
    const digest = digestOfSettings({ baseURL, teamID, spaceID, ca, credentials });
    const before = this.#entries.get(space);
    const shared = this.#shared.get(digest) ?? this.#share(digest, spec, credentials, ca);
    // Only now, so that valid access tokens, and what was learned of the cloud's limit, pass to the new connection.
    if (before !== undefined && before.digest !== digest) this.#leave(space, before.digest);
    shared.users.set(space, parseDuration(spec.pollInterval));
    shared.poller.intervalMs = Math.min(...shared.users.values());
    const known = before?.connection;
    const factory = {
      factoryLogin,
      factoryVersion: isDeepStrictEqual(known?.factoryLogin, factoryLogin)
        ? (known?.factoryVersion ?? factoryVersion)
        : factoryVersion,
    };
    const connection = this.#connection(spec, shared, factory, ca);
    this.#entries.set(space, { digest, spec, connection });
    if (known?.verifyIntervalMs !== connection.verifyIntervalMs) this.#options.onConnected?.(space);
    const isSame =
      before?.digest === digest &&
      known?.factoryVersion === factory.factoryVersion &&
      isDeepStrictEqual(before.spec, spec);
    // A space that is listed already will not be listed for the first time again, and may mean something else by now.
    if (shared.listed && !isSame) this.#options.onListed(space, true);
    return before?.digest !== digest;
  }

  disconnect(space: ObjectKey): void {
    const entry = this.#entries.get(space);
    if (entry === undefined) return;
    this.#entries.delete(space);
    this.#leave(space, entry.digest);
  }

  close(): void {
    for (const { poller } of this.#shared.values()) poller.stop();
  }

  #leave(space: ObjectKey, digest: string): void {
    const shared = this.#shared.get(digest);
    if (shared === undefined) return;
    shared.users.delete(space);
    if (shared.users.size > 0) {
      shared.poller.intervalMs = Math.min(...shared.users.values());
      return;
    }
    shared.poller.stop();
    this.#shared.delete(digest);
  }

  #share(
    digest: string,
    spec: DatabaseSpaceSpec,
    credentials: readonly CloudCredential[],
    ca: string | undefined,
  ): Shared {
    const { clock, random, transport, onRequest, onClusters, onListed } = this.#options;
    const { baseURL, teamID, spaceID } = spec;
    const account = accountOf(spec);
    const limiter = this.#limiterOf(account);
    const client = new CloudClient({
      baseURL,
      teamID,
      spaceID,
      credentials,
      clock,
      random,
      transport: transport(ca),
      limiter,
      sent: this.#sent,
      peers: this.#peersOf(baseURL, ca),
      onRequest: (request) => onRequest('cloud', request),
      // The poller then informs everything that the outage held up.
      onRecovered: () => poller.retry(),
    });
    const users = new Map<ObjectKey, number>();
    const poller = new SpacePoller(
      {
        client,
        clock,
        random,
        onClusters: (ids) => {
          for (const space of users.keys()) onClusters(space, ids, !shared.listed);
        },
        onListed: () => {
          const first = !shared.listed && poller.listedAtMs !== undefined;
          if (first) shared.listed = true;
          shared.failingSinceMs = poller.error === undefined ? undefined : (shared.failingSinceMs ?? clock.now());
          for (const known of [shared.servers, shared.primaries])
            for (const id of known.keys()) if (!poller.has(id)) known.delete(id);
          for (const space of users.keys()) onListed(space, first);
        },
      },
      parseDuration(spec.pollInterval),
    );
    const shared: Shared = {
      account,
      limiter,
      baseURL,
      ca,
      client,
      poller,
      users,
      servers: new Map(),
      primaries: new Map(),
      listed: false,
      failingSinceMs: undefined,
    };
    this.#shared.set(digest, shared);
    return shared;
  }

  #limiterOf(account: string): RequestLimiter {
    for (const shared of this.#shared.values()) if (shared.account === account) return shared.limiter;
    return new RequestLimiter(this.#options.clock);
  }

  #peersOf(baseURL: string, ca: string | undefined): readonly CloudClient[] {
    const alike = [...this.#shared.values()].filter((shared) => shared.baseURL === baseURL && shared.ca === ca);
    return alike.map(({ client }) => client);
  }

  #connection(
    spec: DatabaseSpaceSpec,
    shared: Shared,
    factory: Pick<SpaceConnection, 'factoryLogin' | 'factoryVersion'>,
    ca: string | undefined,
  ): SpaceConnection {
    const { clock, random, transport, urlPolicy, onRequest, onClusters } = this.#options;
    const onServerRequest = (request: RequestRecord) => onRequest('server', request);
    const primaryNamed = (clusterID: string, by: string, address: string) => {
      const nowMs = clock.monotonic();
      const known = shared.primaries.get(clusterID);
      const runs = (wanted: string) =>
        shared.poller.get(clusterID)?.servers.some((each) => each.address === wanted && each.status === 'running');
      if (known !== undefined && nowMs < known.untilMs && (runs(known.address) || !runs(address))) return;
      shared.primaries.set(clusterID, { by, address, untilMs: nowMs + PRIMARY_MS });
      for (const space of shared.users.keys()) onClusters(space, new Set([clusterID]), false);
    };
    const connect = (baseURL: string, clusterID: string) =>
      new ServerClient({
        baseURL,
        clock,
        random,
        transport: limitedTransport(transport(ca), REQUESTS_PER_SERVER),
        sent: this.#sent,
        onRequest: onServerRequest,
        onPrimaryNamed(address) {
          primaryNamed(clusterID, baseURL, address);
          const { refusal } = serverURLOf(address, spec.serverURL, urlPolicy);
          return refusal === undefined ? undefined : `where no login may be sent: ${refusal.message}`;
        },
      });
    return {
      client: shared.client,
      poller: shared.poller,
      ...factory,
      place: placeOf(spec),
      verifyIntervalMs: parseDuration(spec.verifyInterval),
      failingSinceMs: () => shared.failingSinceMs,
      serverURL(address) {
        const { url, refusal } = serverURLOf(address, spec.serverURL, urlPolicy);
        if (refusal !== undefined) throw refusal;
        return url;
      },
      findServerURL(address) {
        const { url, refusal } = serverURLOf(address, spec.serverURL, urlPolicy);
        return refusal === undefined ? url : undefined;
      },
      logins(baseURL, clusterID) {
        const servers = shared.servers.get(clusterID) ?? [];
        const known = servers.find((server) => server.baseURL === baseURL);
        if (known !== undefined) return known;
        const logins = new Logins(baseURL, (url) => connect(url, clusterID));
        shared.servers.set(clusterID, [...servers, logins].slice(-MAX_SERVERS));
        return logins;
      },
      primaryNamedBy(baseURL, clusterID) {
        const named = shared.primaries.get(clusterID);
        return named?.by === baseURL && clock.monotonic() < named.untilMs ? named.address : undefined;
      },
    };
  }
}

/** Returns the URL that the template makes of the address, or why no login may be sent there. */
function serverURLOf(
  address: string,
  template: string,
  policy: UrlPolicy,
):
  | { readonly url: string; readonly refusal?: undefined }
  | { readonly url?: undefined; readonly refusal: TerminalError } {
  const parts = splitAddress(address);
  // Any other text may lead anywhere.
  if (parts === undefined) {
    const message = `The cloud's answer makes no sense: ${addressWords(address)} is not the host and port of a server`;
    return { refusal: new TerminalError('CloudAnswerUnusable', message) };
  }
  const host = parts.host.includes(':') ? `[${parts.host}]` : parts.host;
  const url = template.replaceAll('{host}', host).replaceAll('{port}', parts.port ?? '443');
  const refusal = refusalOfServerURL(url, host, policy);
  return refusal === undefined
    ? { url }
    : { refusal: new TerminalError('ServerURLNotAllowed', `serverURL ${refusal}`) };
}

/** Returns the address for a message, quoted and shortened, as it may be any text. */
export function addressWords(address: string): string {
  return JSON.stringify(address.slice(0, MAX_ADDRESS_WORDS));
}

/** The longest possible host name, and a port. */
const MAX_ADDRESS_WORDS = 260;

/**
 * The cloud's documents do not say what it counts requests by. Most clouds count by account, which is the team here: an API token is
 * for one space only, and a team has many. If each token has a limit of its own, sharing what was learned costs some of the rate, and
 * no space more than its turn. Teams share nothing, as one must not be able to slow another; if the cloud counts by address, each
 * finds its part of the limit by itself.
 */
function accountOf(spec: DatabaseSpaceSpec): string {
  const { baseURL, teamID } = placeOf(spec);
  return JSON.stringify([baseURL, teamID]);
}

function digestOfSettings(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64');
}
