import type { Clock } from '../base/clock.ts';
import type { HttpTransport } from '../base/http.ts';
import type { Random } from '../base/random.ts';
import { adminRespond, isAdminPath } from './admin.ts';
import { moveServers, nextEventMs, settle } from './cloud/lifecycle.ts';
import { cloudRespond } from './cloud/operations.ts';
import { CLOUD_ROUTES } from './cloud/routes.ts';
import {
  type AddressBook,
  allClusters,
  type Cluster,
  type Credentials,
  createCloudState,
  LEVELS,
  type TeamOptions,
  type World,
} from './cloud/state.ts';
import { bearerOf } from './cloud/tokens.ts';
import { DIALECT_RULES, type Dialect } from './dialect.ts';
import type { Outcome } from './effects.ts';
import { createExchange, type Target } from './exchange.ts';
import { createFaultBook, type Faults } from './faults.ts';
import { inspect, type Snapshot } from './inspect.ts';
import { DEFAULT_KNOBS, type Knobs } from './knobs.ts';
import type { Incoming } from './message.ts';
import { createOutsider, type Outsider } from './outsider.ts';
import { createRequestLog } from './request-log.ts';
import { createRouter } from './router.ts';
import { restoreState, type SavedState, saveState } from './saved-state.ts';
import { hasSentinel } from './sentinels.ts';
import { serverRespond } from './server/operations.ts';
import { SERVER_ROUTES } from './server/routes.ts';
import { hashPassword } from './server/state.ts';
import type { ServerWorld } from './server/world.ts';
import { createTransport } from './transport.ts';

export interface SimulatorOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly dialect?: Dialect;
  readonly knobs?: Partial<Knobs>;
  readonly teams?: readonly TeamOptions[];
  /** The login that every new cluster comes with. */
  readonly defaultCredentials?: Credentials;
  readonly availableVersions?: readonly string[];
  /** What an earlier run saved. */
  readonly state?: SavedState;
}

export interface Simulator extends Outsider {
  /** Serves `baseURL` and the address of every running server, in process. */
  readonly transport: HttpTransport;
  readonly baseURL: string;
  readonly dialect: Dialect;
  readonly teams: readonly TeamOptions[];
  readonly defaultCredentials: Credentials;
  readonly faults: Faults;
  handle(request: Incoming, signal?: AbortSignal): Promise<Outcome>;
  /** Everything there is now, without secrets. */
  inspect(): Snapshot;
  /** Clusters, users and databases, for `state` of a later run. */
  save(): SavedState;
  /** How often an operation was asked for, of one cluster or of all. */
  count(operation: string, clusterID?: string): number;
  resetCounters(): void;
  knobs(): Knobs;
  setKnobs(knobs: Partial<Knobs>): void;
  /** Calls back after every change of a cluster or its servers, or of the faults (without a cluster). */
  onChange(listener: (cluster?: Cluster) => void): () => void;
  /** Where servers are to be found from now on; those there are move. */
  useAddresses(addresses: AddressBook): void;
  /** The clusters as they are, for those who serve them. Their time is settled by looking. */
  isServing(cluster: Cluster, address: string): boolean;
  settle(cluster: Cluster): void;
  /** Gives its servers other addresses. */
  move(cluster: Cluster): void;
  nextEventMs(cluster: Cluster): number | undefined;
  clusters(): Iterable<Cluster>;
  readonly clock: Clock;
}

/**
 * A team with one API token of each level for each of its spaces. The credentials are samples of the simulator's own:
 * they open nothing else.
 */
export function createTeam(id: string, spaces: readonly string[], paymentMethod: boolean): TeamOptions {
  const apiTokens = spaces.flatMap((spaceID, index) =>
    LEVELS.map((level) => {
      const name = index === 0 ? level : `${spaceID}-${level}`;
      return { clientID: `${name}-id`, clientSecret: `${name}-secret-0123456789`, level, spaceID };
    }),
  );
  return { id, spaces, paymentMethod, apiTokens };
}

export const DEFAULT_TEAMS: readonly TeamOptions[] = [createTeam('acme', ['production', 'staging'], true)];
export const DEFAULT_CREDENTIALS: Credentials = { username: 'admin', password: 'password' };
export const DEFAULT_VERSIONS = ['3.12.0', '3.5.0', '2.29.1'] as const;
export const IN_PROCESS_BASE_URL = 'https://cloud.simulator.test';

const LOGGED_REQUESTS = 500;

/** Both interfaces with one state behind them. Nothing happens by itself: time is settled when somebody looks. */
export function createSimulator(options: SimulatorOptions): Simulator {
  const { clock, random } = options;
  const dialect = options.dialect ?? 'document';
  const teams = options.teams ?? DEFAULT_TEAMS;
  const defaultCredentials = options.defaultCredentials ?? DEFAULT_CREDENTIALS;
  const listeners = new Set<(cluster?: Cluster) => void>();
  const changed = (cluster?: Cluster) => {
    for (const listener of listeners) listener(cluster);
  };
  const world: World = {
    state: createCloudState(teams),
    dialect: DIALECT_RULES[dialect],
    random,
    factoryLogin: { username: defaultCredentials.username, passwordHash: hashPassword(defaultCredentials.password) },
    availableVersions: options.availableVersions ?? DEFAULT_VERSIONS,
    knobs: { ...DEFAULT_KNOBS, ...options.knobs },
    addresses: createNamedAddresses(),
    changed,
  };
  if (options.state !== undefined) restoreState(world, options.state);
  const faults = createFaultBook(random, changed);
  const log = createRequestLog(LOGGED_REQUESTS);
  const exchange = createExchange({ clock, random, dialect: world.dialect, faults, log, knobs: () => world.knobs });
  const cloudRouter = createRouter(CLOUD_ROUTES);
  const serverRouter = createRouter(SERVER_ROUTES);
  const cloudAuthority = new URL(IN_PROCESS_BASE_URL).host;

  const isServing = (cluster: Cluster, address: string) =>
    !cluster.gone &&
    cluster.servers.some((server) => server.address === address && server.status === 'running') &&
    !hasSentinel(cluster.id, 'serverDown') &&
    !faults.isOut(cluster);

  const cloudTarget = (request: Incoming): Target<(typeof CLOUD_ROUTES)[number]> => ({
    api: 'cloud',
    router: cloudRouter,
    place: {},
    respond: (match, now) => cloudRespond(world, match, request, now),
    endToken: () => void world.state.accessTokens.delete(bearerOf(request.headers['authorization']) ?? ''),
    isReachable: () => true,
  });

  const serverTarget = (cluster: Cluster, request: Incoming): Target<(typeof SERVER_ROUTES)[number]> => {
    const server: ServerWorld = {
      world,
      state: cluster.database,
      version: cluster.version,
      address: request.authority,
      primaryAddress: cluster.servers[0]?.address ?? request.authority,
      changed: () => changed(cluster),
    };
    return {
      api: 'server',
      router: serverRouter,
      place: cluster,
      respond: (match, now) => serverRespond(server, match, request, now),
      endToken: () => void cluster.database.tokens.delete(bearerOf(request.headers['authorization']) ?? ''),
      isReachable: () => isServing(cluster, request.authority),
    };
  };

  const handle = async (request: Incoming, signal?: AbortSignal): Promise<Outcome> => {
    if (request.authority === cloudAuthority && isAdminPath(request.path)) {
      return { kind: 'answer', answer: adminRespond(simulator, request) };
    }
    if (request.authority === cloudAuthority) return exchange(cloudTarget(request), request, signal);
    const cluster = world.state.byAddress.get(request.authority);
    if (cluster === undefined) return { kind: 'refused' };
    settle(world, cluster, clock.now());
    if (!isServing(cluster, request.authority)) return { kind: 'refused' };
    return exchange(serverTarget(cluster, request), request, signal);
  };

  const simulator: Simulator = {
    ...createOutsider(world, () => clock.now()),
    transport: createTransport(handle, clock),
    baseURL: IN_PROCESS_BASE_URL,
    dialect,
    teams,
    defaultCredentials,
    faults,
    handle,
    inspect: () => inspect(world, faults, log, clock.now()),
    save: () => saveState(world),
    count: log.count,
    resetCounters: log.reset,
    knobs: () => world.knobs,
    setKnobs: (knobs) => {
      world.knobs = { ...world.knobs, ...knobs };
      for (const cluster of allClusters(world.state)) cluster.rendered = undefined;
    },
    onChange: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    useAddresses: (addresses) => {
      world.addresses = addresses;
      for (const cluster of allClusters(world.state)) {
        moveServers(
          world,
          cluster,
          cluster.servers.map((server) => server.address),
        );
      }
    },
    isServing,
    settle: (cluster) => settle(world, cluster, clock.now()),
    move: (cluster) => moveServers(world, cluster),
    nextEventMs,
    clusters: () => allClusters(world.state),
    clock,
  };
  return simulator;
}

function createNamedAddresses(): AddressBook {
  let last = 0;
  return {
    take: () => {
      last += 1;
      return `server-${last}.simulator.test:8000`;
    },
    giveBack: () => undefined,
  };
}
