import type { Clock } from '../base/clock.ts';
import { adminRespond, isAdminPath } from './admin/admin.ts';
import { moveServers, nextEventMs, settle } from './cloud/lifecycle.ts';
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
import { DIALECT_RULES } from './dialect.ts';
import { createExchange } from './exchange/exchange.ts';
import { createRequestLog } from './exchange/request-log.ts';
import { createFaultBook, type FaultBook } from './faults/faults.ts';
import { inspect } from './inspect.ts';
import type { Hosting, Simulator, SimulatorOptions } from './interface.ts';
import { DEFAULT_KNOBS } from './knobs.ts';
import { createOutsider } from './outsider.ts';
import { restoreState, saveState } from './saved-state.ts';
import { hashPassword } from './server/state.ts';
import { cloudTarget, isServing, serverTarget } from './targets.ts';
import { createTransport } from './transport.ts';

/**
 * A team with one API token of each level for each of its spaces. The credentials are samples made for the simulator:
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
const IN_PROCESS_BASE_URL = 'https://cloud.simulator.test';
const CLOUD_AUTHORITY = new URL(IN_PROCESS_BASE_URL).host;

const LOGGED_REQUESTS = 500;

/** Both interfaces on one state. Nothing happens by itself: time is settled when somebody looks. */
export function createSimulator(options: SimulatorOptions): Simulator {
  const {
    clock,
    random,
    dialect = 'document',
    teams = DEFAULT_TEAMS,
    defaultCredentials = DEFAULT_CREDENTIALS,
  } = options;
  const listeners = new Set<(cluster?: Cluster) => void>();
  const changed = (cluster?: Cluster) => {
    for (const listener of listeners) listener(cluster);
  };
  const world = createWorld({ ...options, dialect, teams, defaultCredentials }, changed);
  const faults = createFaultBook(random, changed);
  const log = createRequestLog(LOGGED_REQUESTS);
  const exchange = createExchange({ clock, random, dialect: world.dialect, faults, log, knobs: () => world.knobs });

  const handle: Simulator['handle'] = async (request, signal) => {
    if (request.authority === CLOUD_AUTHORITY) {
      if (isAdminPath(request.path)) return { kind: 'answer', answer: adminRespond(simulator, request) };
      return exchange(cloudTarget(world, request), request, signal);
    }
    const target = serverTarget(world, faults, clock, request);
    return target === undefined ? { kind: 'refused' } : exchange(target, request, signal);
  };

  const simulator: Simulator = {
    ...createOutsider(world, () => clock.now()),
    ...createHosting(world, faults, clock),
    transport: createTransport(handle, clock),
    baseURL: IN_PROCESS_BASE_URL,
    clock,
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
      // How clusters are shown depends on knobs too.
      for (const cluster of allClusters(world.state)) cluster.rendered = undefined;
    },
    onChange: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  return simulator;
}

function createWorld(
  options: SimulatorOptions & Required<Pick<SimulatorOptions, 'dialect' | 'teams' | 'defaultCredentials'>>,
  changed: (cluster?: Cluster) => void,
): World {
  const { username, password } = options.defaultCredentials;
  const world: World = {
    state: createCloudState(options.teams),
    dialect: DIALECT_RULES[options.dialect],
    random: options.random,
    factoryLogin: { username, passwordHash: hashPassword(password) },
    availableVersions: options.availableVersions ?? DEFAULT_VERSIONS,
    knobs: { ...DEFAULT_KNOBS, ...options.knobs },
    addresses: createNamedAddresses(options.addressOf),
    changed,
  };
  if (options.state !== undefined) restoreState(world, options.state);
  return world;
}

function createHosting(world: World, faults: FaultBook, clock: Clock): Hosting {
  return {
    clusters: () => allClusters(world.state),
    isServing: (cluster, address) => isServing(faults, cluster, address),
    settle: (cluster) => settle(world, cluster, clock.now()),
    nextEventMs,
    move: (cluster) => moveServers(world, cluster),
    useAddresses: (addresses) => {
      world.addresses = addresses;
      for (const cluster of allClusters(world.state)) {
        const before = cluster.servers.map((server) => server.address);
        moveServers(world, cluster, before);
      }
    },
  };
}

function createNamedAddresses(named = (count: number) => `server-${count}.simulator.test:8000`): AddressBook {
  const taken = new Set<string>();
  let count = 0;
  return {
    take: (preferred) => {
      let address = preferred;
      while (address === undefined || taken.has(address)) address = named(++count);
      taken.add(address);
      return address;
    },
    giveBack: (address) => void taken.delete(address),
  };
}
