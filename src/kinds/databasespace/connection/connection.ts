import type { Clock } from '../../../base/clock.ts';
import { parseDuration } from '../../../base/duration.ts';
import type { Random } from '../../../base/random.ts';
import type { HttpTransport } from '../../../base/transport.ts';
import type { CloudClient } from '../../../cloud/client.ts';
import type { SpacePoller } from '../../../cloud/space-poller.ts';
import { ServerClient } from '../../../database/client.ts';
import { Logins } from '../../../database/logins.ts';
import { limitedTransport } from '../../../http/limited-transport.ts';
import type { RequestLimiter } from '../../../http/request-limiter.ts';
import type { SentSecrets } from '../../../http/sent-secrets.ts';
import type { ObjectKey } from '../../../kube/object.ts';
import type { Login } from '../../secrets.ts';
import { type Place, placeOf } from '../place.ts';
import type { DatabaseSpaceSpec } from '../schema.ts';
import type { Primaries } from './primaries.ts';
import { addressMeant, serverURLOf } from './server-url.ts';
import type { UrlPolicy } from './url-policy.ts';

/** A password check costs a server some 60 ms of its time (compatibility.md): hundreds of objects must not ask at once. */
const REQUESTS_PER_SERVER = 8;

/**
 * How many servers of a cluster keep their logins: all nine that it may have, and some that it has just had. Each time that a cluster
 * runs again, its servers may have other addresses.
 */
const MAX_SERVERS = 16;

/** What a DatabaseSpace and its Secrets say, ready for use. */
export interface SpaceConnection {
  readonly client: CloudClient;
  readonly poller: SpacePoller;
  /** The login that every new cluster comes with. */
  readonly factoryLogin: Login;
  /** Changes with the factory login, and reveals nothing about it. */
  factoryVersion(): string;
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
export interface Shared {
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
  readonly primaries: Primaries;
  listed: boolean;
  failingSinceMs: number | undefined;
}

/** Returns what the space's own spec makes of the connection that it shares. `sent`: what servers may repeat in their answers. */
export function connectionOf(
  spec: DatabaseSpaceSpec,
  shared: Shared,
  factory: Pick<SpaceConnection, 'factoryLogin' | 'factoryVersion'>,
  options: ConnectionsOptions,
  sent: SentSecrets,
): SpaceConnection {
  const { clock, random, transport, urlPolicy, onRequest, onClusters } = options;
  const connect = (baseURL: string, clusterID: string) =>
    new ServerClient({
      baseURL,
      clock,
      random,
      transport: limitedTransport(transport(shared.ca), REQUESTS_PER_SERVER),
      sent,
      onRequest: (request) => onRequest('server', request),
      onNotPrimary(primary) {
        const { servers = [] } = shared.poller.get(clusterID) ?? {};
        const at = (address: string) => ({ address, ...serverURLOf(address, spec.serverURL, urlPolicy) });
        const shown = servers.map(({ address }) => address);
        const meant = primary === undefined ? undefined : addressMeant(primary, shown);
        const named = meant === undefined ? undefined : at(meant);
        const running = servers.flatMap(({ address, status }) => (status === 'running' ? [at(address)] : []));
        const isKnown = named !== undefined && named.url !== baseURL && shown.includes(named.address);
        const moves = isKnown
          ? shared.primaries.named(clusterID, baseURL, named)
          : shared.primaries.unnamed(clusterID, baseURL, running);
        if (moves) for (const space of shared.users.keys()) onClusters(space, new Set([clusterID]), false);
        if (primary === undefined) return undefined;
        if (named === undefined) return 'which is not the host and port of a server';
        return named.refusal && `where no login may be sent: ${named.refusal.message}`;
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
    findServerURL: (address) => serverURLOf(address, spec.serverURL, urlPolicy).url,
    logins(baseURL, clusterID) {
      const servers = shared.servers.get(clusterID) ?? [];
      const known = servers.find((server) => server.baseURL === baseURL);
      if (known !== undefined) return known;
      const logins = new Logins(baseURL, (url) => connect(url, clusterID));
      shared.servers.set(clusterID, [...servers, logins].slice(-MAX_SERVERS));
      return logins;
    },
    primaryNamedBy: (baseURL, clusterID) => shared.primaries.namedBy(baseURL, clusterID),
  };
}
