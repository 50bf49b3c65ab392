import { hasSentinel } from '../faults/sentinels.ts';
import { drawMs } from '../seeded-random.ts';
import { createServerState, type ServerState, setPassword } from '../server/state.ts';
import { restart } from '../server/transactions.ts';
import {
  allClusters,
  type Cluster,
  type ClusterStatus,
  type ServerNode,
  type Space,
  spaceOf,
  type Transition,
  type World,
} from './state.ts';

const SLOW_FACTOR = 10;
const NEVER_MS = Number.MAX_SAFE_INTEGER;
const MISHAP_AFTER_MS = 10_000;
const CHANGED_PASSWORD = 'changed-by-somebody-else';

/** What a cluster is made from; everything else follows. */
export type Blueprint = Pick<
  Cluster,
  | 'id'
  | 'teamID'
  | 'spaceID'
  | 'serverCount'
  | 'storageSizeGB'
  | 'isFree'
  | 'version'
  | 'provider'
  | 'region'
  | 'machineType'
  | 'storageType'
  | 'backup'
>;

/** A new cluster, starting, its servers pending (States and transitions, Deploy and Clone). */
export function createCluster(world: World, blueprint: Blueprint, now: number, database?: ServerState): Cluster {
  const { state } = world;
  state.lastCreatedAt = Math.max(Math.floor(now), state.lastCreatedAt + 1);
  const cluster: Cluster = {
    ...blueprint,
    createdAt: state.lastCreatedAt,
    status: 'starting',
    servers: [],
    transition: undefined,
    gone: false,
    isReplacement: false,
    database: database ?? createServerState(world.factoryLogin.username, [world.factoryLogin]),
    rendered: undefined,
  };
  if (hasSentinel(cluster.id, 'changedLogin')) {
    setPassword(cluster.database, cluster.database.defaultUser, CHANGED_PASSWORD);
  }
  spaceOf(state, cluster).clusters.set(cluster.id, cluster);
  giveAddresses(world, cluster);
  begin(world, cluster, 'starting', now);
  return cluster;
}

type Step = Exclude<ClusterStatus, 'running' | 'suspended'>;

const STEPS: Readonly<
  Record<Step, { readonly to: Transition['to']; readonly knob: 'provisionMs' | 'suspendMs' | 'resumeMs' | 'destroyMs' }>
> = {
  starting: { to: 'running', knob: 'provisionMs' },
  suspending: { to: 'suspended', knob: 'suspendMs' },
  resuming: { to: 'running', knob: 'resumeMs' },
  destroying: { to: 'gone', knob: 'destroyMs' },
};

/** Puts a cluster into a transitional status; it leaves that as time passes. */
export function begin(world: World, cluster: Cluster, status: Step, now: number): void {
  const step = STEPS[status];
  const takesMs = drawMs(world.knobs[step.knob], world.random) * (hasSentinel(cluster.id, 'slow') ? SLOW_FACTOR : 1);
  if (step.to === 'running') for (const server of cluster.servers) stop(server);
  const stuck = status === 'starting' && hasSentinel(cluster.id, 'stuck');
  cluster.status = status;
  cluster.transition = { to: step.to, atMs: stuck ? NEVER_MS : now + takesMs };
  if (status === 'resuming' && world.knobs.resumeChangesAddress) giveAddresses(world, cluster);
  touch(world, cluster);
}

/** Lets everything happen that was due by `now`. A cluster that was not settled shows the past. */
export function settle(world: World, cluster: Cluster, now: number): void {
  while (cluster.transition !== undefined && cluster.transition.atMs <= now) {
    const { to, atMs } = cluster.transition;
    cluster.transition = undefined;
    arrive(world, cluster, to, atMs);
  }
  if (cluster.status !== 'running') return;
  for (const server of cluster.servers) {
    if (server.runsAtMs !== undefined && server.runsAtMs <= now) {
      delete server.runsAtMs;
      server.status = 'running';
      touch(world, cluster);
    }
  }
}

/** The cluster with this id at `now`: settling may end it or put another in its place. */
export function holderOf(world: World, space: Space, id: string, now: number): Cluster | undefined {
  const holder = space.clusters.get(id);
  if (holder !== undefined) settle(world, holder, now);
  return space.clusters.get(id);
}

export function settleSpace(world: World, space: Space, now: number): void {
  for (const cluster of space.clusters.values()) settle(world, cluster, now);
}

export function settleAll(world: World, now: number): void {
  for (const cluster of allClusters(world.state)) settle(world, cluster, now);
}

/** When something next happens to this cluster by itself. */
export function nextEventMs(cluster: Cluster): number | undefined {
  const times = cluster.servers.flatMap((server) => (server.runsAtMs === undefined ? [] : [server.runsAtMs]));
  if (cluster.transition !== undefined) times.push(cluster.transition.atMs);
  return times.length === 0 ? undefined : Math.min(...times);
}

function arrive(world: World, cluster: Cluster, to: Transition['to'], atMs: number): void {
  switch (to) {
    case 'running':
      run(world, cluster, atMs);
      break;
    case 'suspended':
      cluster.status = 'suspended';
      for (const server of cluster.servers) stop(server);
      restart(cluster.database);
      touch(world, cluster);
      break;
    case 'gone':
      remove(world, cluster);
      break;
    case 'replaced':
      replace(world, cluster, atMs);
  }
}

function run(world: World, cluster: Cluster, atMs: number): void {
  cluster.status = 'running';
  const pendingForEver = hasSentinel(cluster.id, 'serverPending');
  for (const server of cluster.servers) {
    server.runsAtMs = pendingForEver ? NEVER_MS : atMs + drawMs(world.knobs.serverLagMs, world.random);
  }
  if (hasSentinel(cluster.id, 'vanish')) cluster.transition = { to: 'gone', atMs: atMs + MISHAP_AFTER_MS };
  else if (hasSentinel(cluster.id, 'replaced') && !cluster.isReplacement) {
    cluster.transition = { to: 'replaced', atMs: atMs + MISHAP_AFTER_MS };
  }
  touch(world, cluster);
}

/** Ends the cluster: its id becomes free and its servers fall silent. */
export function remove(world: World, cluster: Cluster): void {
  cluster.gone = true;
  cluster.transition = undefined;
  spaceOf(world.state, cluster).clusters.delete(cluster.id);
  dropAddresses(world, cluster);
  touch(world, cluster);
}

/** Puts another, empty cluster under the same id, with another createdAt. */
export function replace(world: World, cluster: Cluster, now: number): Cluster {
  remove(world, cluster);
  const successor = createCluster(world, cluster, now);
  successor.isReplacement = true;
  successor.transition = { to: 'running', atMs: now };
  settle(world, successor, now);
  return successor;
}

/** Gives each server an address, the preferred one if it is free. Whether it runs does not change. */
export function giveAddresses(world: World, cluster: Cluster, preferred: readonly string[] = []): void {
  const before = cluster.servers;
  dropAddresses(world, cluster);
  cluster.servers = Array.from({ length: cluster.serverCount }, (_, index) => {
    const address = world.addresses.take(preferred[index]);
    world.state.byAddress.set(address, cluster);
    return { status: 'pending', ...before[index], address };
  });
}

function dropAddresses(world: World, cluster: Cluster): void {
  for (const { address } of cluster.servers) {
    if (world.state.byAddress.get(address) !== cluster) continue;
    world.state.byAddress.delete(address);
    world.addresses.giveBack(address);
  }
  cluster.servers = [];
}

/** Restarts the same servers at other addresses. */
export function moveServers(world: World, cluster: Cluster, preferred: readonly string[] = []): void {
  restart(cluster.database);
  giveAddresses(world, cluster, preferred);
  touch(world, cluster);
}

/** One of the servers in a new arrangement. Without an address: a new one. */
export interface ArrangedServer {
  readonly address?: string;
  /** Default: as before; for a new server, `running`. */
  readonly status?: ServerNode['status'];
  readonly isPrimary?: boolean;
}

/** Replaces the servers of a cluster, in the order of Lists. */
export function arrangeServers(world: World, cluster: Cluster, wanted: readonly ArrangedServer[]): void {
  const left = new Map(cluster.servers.map((server) => [server.address, server]));
  const kept = wanted.map(({ address }) => {
    const known = address === undefined ? undefined : left.get(address);
    if (address !== undefined && !left.delete(address))
      throw new Error(`Cluster ${cluster.id} has no server ${address}`);
    return known;
  });
  for (const address of left.keys()) {
    world.state.byAddress.delete(address);
    world.addresses.giveBack(address);
  }
  cluster.servers = wanted.map(({ status, isPrimary }, index) => {
    const before = kept[index];
    const address = before?.address ?? world.addresses.take();
    world.state.byAddress.set(address, cluster);
    // One that is coming up goes on doing so, unless it is to be down.
    const runsAtMs = status === undefined ? before?.runsAtMs : undefined;
    return {
      address,
      status: status ?? before?.status ?? 'running',
      ...(runsAtMs === undefined ? {} : { runsAtMs }),
      ...(isPrimary === true ? { isPrimary } : {}),
    };
  });
  touch(world, cluster);
}

function stop(server: Cluster['servers'][number]): void {
  server.status = 'pending';
  delete server.runsAtMs;
}

export function touch(world: World, cluster: Cluster): void {
  cluster.rendered = undefined;
  world.changed(cluster);
}
