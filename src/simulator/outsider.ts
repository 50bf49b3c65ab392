import {
  type ArrangedServer,
  arrangeServers,
  begin,
  createCluster,
  holderOf,
  moveServers,
  remove,
  replace,
  settle,
  touch,
} from './cloud/lifecycle.ts';
import type { DeployRequest } from './cloud/requests.ts';
import type { Cluster, World } from './cloud/state.ts';
import { latestOf } from './cloud/tables.ts';
import { createDatabaseState } from './server/database-state.ts';
import { passwordIs, setPassword } from './server/state.ts';
import { restart } from './server/transactions.ts';
import { endSessions } from './server/users.ts';

/** A cluster by its id, with its space if the id alone is ambiguous. */
export type ClusterRef = string | { readonly teamID?: string; readonly spaceID?: string; readonly clusterID: string };

/** Things that happen behind a client's back: in the console, through another client, or because machines fail. */
export interface Outsider {
  /** Deploys a cluster without checking any rule; it runs at once. Missing fields are filled in. */
  deployForeign(
    cluster: Partial<DeployRequest> & { readonly id: string; readonly teamID?: string; readonly spaceID?: string },
  ): void;
  /** Puts another cluster in its place: the same id and fields, another createdAt, empty, running. */
  replaceCluster(ref: ClusterRef): void;
  /** Makes the cluster disappear at once. */
  vanish(ref: ClusterRef): void;
  /** Begins to suspend, resume or destroy a cluster without checking any rule; it takes as long as if a client had asked for it. */
  beginTransition(ref: ClusterRef, status: 'suspending' | 'resuming' | 'destroying'): void;
  /** Changes fields without checking any rule: storageSizeGB, machineType, or id. */
  changeCluster(ref: ClusterRef, change: Partial<Pick<Cluster, 'id' | 'storageSizeGB' | 'machineType'>>): void;
  /** Restarts the servers: tokens and open transactions are gone. */
  restartServers(ref: ClusterRef): void;
  /** Gives the servers other addresses, and restarts them. */
  moveServers(ref: ClusterRef): void;
  /**
   * Replaces the list of servers, in the order of Lists: existing servers have their addresses, new ones have none. One that is
   * given as pending stays so. The primary takes the changes; if none is primary, the first does.
   */
  arrangeServers(ref: ClusterRef, servers: readonly ArrangedServer[]): void;
  /** Sets a password, and makes the user if needed. Ends that user's sessions. */
  setPassword(ref: ClusterRef, username: string, password: string): void;
  deleteUser(ref: ClusterRef, username: string): void;
  createDatabase(ref: ClusterRef, databaseName: string): void;
  dropDatabase(ref: ClusterRef, databaseName: string): void;
  /** Reports whether this is the user's password now; the simulator keeps no readable passwords. */
  passwordIs(ref: ClusterRef, username: string, password: string): boolean;
  setPaymentMethod(teamID: string, valid: boolean): void;
  /** Ends all access tokens of the management API. */
  endAccessTokens(): void;
}

export function createOutsider(world: World, now: () => number): Outsider {
  const find = (ref: ClusterRef): Cluster => {
    const wanted = typeof ref === 'string' ? { clusterID: ref } : ref;
    for (const team of world.state.teams.values()) {
      if (wanted.teamID !== undefined && team.id !== wanted.teamID) continue;
      for (const space of team.spaces.values()) {
        if (wanted.spaceID !== undefined && space.id !== wanted.spaceID) continue;
        const cluster = holderOf(world, space, wanted.clusterID, now());
        if (cluster !== undefined) return cluster;
      }
    }
    throw new Error(`There is no cluster ${wanted.clusterID}`);
  };
  const changing = (ref: ClusterRef, change: (cluster: Cluster) => void) => {
    const cluster = find(ref);
    change(cluster);
    touch(world, cluster);
  };

  return {
    deployForeign: (wanted) => deployForeign(world, wanted, now()),
    replaceCluster: (ref) => void replace(world, find(ref), now()),
    vanish: (ref) => remove(world, find(ref)),
    beginTransition: (ref, status) => begin(world, find(ref), status, now()),
    changeCluster: (ref, change) =>
      changing(ref, (cluster) => {
        if (change.id !== undefined) rename(world, cluster, change.id);
        cluster.storageSizeGB = change.storageSizeGB ?? cluster.storageSizeGB;
        cluster.machineType = change.machineType ?? cluster.machineType;
      }),
    restartServers: (ref) => changing(ref, (cluster) => restart(cluster.database)),
    moveServers: (ref) => moveServers(world, find(ref)),
    arrangeServers: (ref, servers) => arrangeServers(world, find(ref), servers),
    setPassword: (ref, username, password) =>
      changing(ref, (cluster) => {
        setPassword(cluster.database, username, password);
        endSessions({ state: cluster.database }, username);
      }),
    deleteUser: (ref, username) =>
      changing(ref, (cluster) => {
        cluster.database.users.delete(username);
        endSessions({ state: cluster.database }, username);
      }),
    createDatabase: (ref, databaseName) =>
      changing(ref, ({ database }) => database.databases.set(databaseName, createDatabaseState(databaseName))),
    dropDatabase: (ref, databaseName) => changing(ref, ({ database }) => database.databases.delete(databaseName)),
    passwordIs: (ref, username, password) => passwordIs(find(ref).database, username, password),
    setPaymentMethod: (teamID, valid) => {
      const team = world.state.teams.get(teamID);
      if (team === undefined) throw new Error(`There is no team ${teamID}`);
      team.paymentMethod = valid;
    },
    endAccessTokens: () => world.state.accessTokens.clear(),
  };
}

function deployForeign(world: World, wanted: Parameters<Outsider['deployForeign']>[0], now: number): void {
  const team = wanted.teamID === undefined ? [...world.state.teams.values()][0] : world.state.teams.get(wanted.teamID);
  const spaceID = wanted.spaceID ?? [...(team?.spaces.keys() ?? [])][0];
  const space = spaceID === undefined ? undefined : team?.spaces.get(spaceID);
  if (team === undefined || space === undefined) throw new Error('There is no such team or space');
  if (holderOf(world, space, wanted.id, now)) throw new Error(`Cluster id ${wanted.id} is in use`);
  const version = wanted.version ?? 'latest';
  const cluster = createCluster(
    world,
    {
      id: wanted.id,
      teamID: team.id,
      spaceID: space.id,
      serverCount: wanted.serverCount ?? 1,
      storageSizeGB: wanted.storageSizeGB ?? 10,
      isFree: wanted.isFree ?? false,
      provider: wanted.provider ?? 'gcp',
      region: wanted.region ?? 'europe-west2',
      machineType: wanted.machineType ?? 'c2d-highcpu-2',
      storageType: wanted.storageType ?? 'standard-rwo',
      version: version === 'latest' ? latestOf(world.availableVersions) : version,
      backup: wanted.backupConfiguration ?? { frequency: 'disabled', retentionDays: 7 },
    },
    now,
  );
  cluster.transition = { to: 'running', atMs: now };
  settle(world, cluster, now);
}

function rename(world: World, cluster: Cluster, id: string): void {
  const clusters = world.state.teams.get(cluster.teamID)?.spaces.get(cluster.spaceID)?.clusters;
  if (clusters?.has(id)) throw new Error(`Cluster id ${id} is in use`);
  clusters?.delete(cluster.id);
  cluster.id = id;
  clusters?.set(id, cluster);
}
