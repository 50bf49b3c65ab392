import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { parseDuration } from '../../../base/duration.ts';
import { TerminalError } from '../../../base/errors.ts';
import { CloudClient } from '../../../cloud/client.ts';
import { SpacePoller } from '../../../cloud/space-poller.ts';
import type { CloudCredential } from '../../../cloud/token.ts';
import { RequestLimiter } from '../../../http/request-limiter.ts';
import { SentSecrets } from '../../../http/sent-secrets.ts';
import type { ObjectKey } from '../../../kube/object.ts';
import type { Login } from '../../secrets.ts';
import { placeOf } from '../place.ts';
import type { DatabaseSpaceSpec } from '../schema.ts';
import { caOf } from './ca-bundle.ts';
import { type ConnectionsOptions, connectionOf, type Shared, type SpaceConnection } from './connection.ts';
import { Primaries } from './primaries.ts';
import { refusalOfTemplate } from './server-url.ts';
import { refusalOfURL } from './url-policy.ts';

interface Entry {
  readonly digest: string;
  readonly spec: DatabaseSpaceSpec;
  readonly factory: Factory;
  readonly connection: SpaceConnection;
}

/** The factory login, and the version of its Secret that statuses record. */
interface Factory {
  readonly login: Login;
  version: string;
  /** Whether a status may record the version: from then on it stays while the login does. */
  isUsed: boolean;
}

/** Of clusters without servers, or whose servers are being started. */
const OFF: ReadonlySet<string> = new Set(['suspended', 'resuming']);

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
   * login; while the login stays the same, the version that was used first counts. Returns whether this is another connection than before.
   * Throws TerminalError if a URL is not allowed, or caBundle is none.
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
    // Before a cluster is deployed whose login could be sent nowhere.
    const unusable = refusalOfTemplate(spec.serverURL, this.#options.urlPolicy);
    if (unusable !== undefined) throw unusable;
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
    const isSameLogin = before !== undefined && isDeepStrictEqual(before.factory.login, factoryLogin);
    const factory = isSameLogin ? before.factory : { login: factoryLogin, version: factoryVersion, isUsed: false };
    // Mooring's own finalizer makes another version before the first cluster is there: the next process shall find that one recorded.
    if (!factory.isUsed) factory.version = factoryVersion;
    const connection = connectionOf(spec, shared, usable(factory), this.#options, this.#sent);
    this.#entries.set(space, { digest, spec, factory, connection });
    if (known?.verifyIntervalMs !== connection.verifyIntervalMs) this.#options.onConnected?.(space);
    const isSame = before?.digest === digest && isSameLogin && isDeepStrictEqual(before.spec, spec);
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
          // When they are up again they are started anew: they know no session, and that they failed before says nothing.
          for (const id of ids)
            if (shared.servers.has(id) && OFF.has(poller.get(id)?.status ?? '')) shared.servers.delete(id);
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
      primaries: new Primaries(
        clock,
        (id, address) =>
          poller.get(id)?.servers.some((each) => each.address === address && each.status === 'running') === true,
      ),
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
}

function usable(factory: Factory): Pick<SpaceConnection, 'factoryLogin' | 'factoryVersion'> {
  return {
    factoryLogin: factory.login,
    factoryVersion() {
      factory.isUsed = true;
      return factory.version;
    },
  };
}

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
