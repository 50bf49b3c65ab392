import { settleAll } from './cloud/lifecycle.ts';
import type { Cluster, ClusterStatus, Level, ServerNode, World } from './cloud/state.ts';
import type { Counters, LoggedRequest, RequestLog } from './exchange/request-log.ts';
import type { ActiveFault, Faults } from './faults/faults.ts';
import type { Knobs } from './knobs.ts';
import { renderSchema } from './server/query/schema-text.ts';
import type { User } from './server/state.ts';

/** Everything in the simulator as plain data without secrets: for tests, for the page, for `/_simulator/state`. */
export interface Snapshot {
  readonly time: number;
  readonly knobs: Knobs;
  readonly teams: readonly TeamSnapshot[];
  readonly faults: readonly ActiveFault[];
  readonly requests: readonly LoggedRequest[];
  readonly counters: Counters;
}

export interface TeamSnapshot {
  readonly id: string;
  readonly paymentMethod: boolean;
  readonly apiTokens: readonly { readonly clientID: string; readonly level: Level; readonly spaceID: string }[];
  readonly spaces: readonly { readonly id: string; readonly clusters: readonly ClusterSnapshot[] }[];
}

export interface ClusterSnapshot {
  readonly id: string;
  readonly teamID: string;
  readonly spaceID: string;
  readonly createdAt: number;
  readonly status: ClusterStatus;
  readonly serverCount: number;
  readonly storageSizeGB: number;
  readonly isFree: boolean;
  readonly version: string;
  readonly provider: string;
  readonly region: string;
  readonly machineType: string;
  readonly storageType: string;
  readonly backup: { readonly frequency: string; readonly retentionDays: number };
  readonly servers: readonly { readonly address: string; readonly status: ServerNode['status'] }[];
  readonly users: readonly { readonly username: string; readonly hasFactoryPassword: boolean }[];
  readonly databases: readonly DatabaseSnapshot[];
  readonly openTransactions: number;
  readonly liveTokens: number;
}

export interface DatabaseSnapshot {
  readonly name: string;
  readonly schema: string;
  readonly instances: number;
  readonly schemaLocked: boolean;
}

export function inspect(world: World, faults: Faults, log: RequestLog, now: number): Snapshot {
  settleAll(world, now);
  return {
    time: now,
    knobs: world.knobs,
    teams: [...world.state.teams.values()].map((team) => ({
      id: team.id,
      paymentMethod: team.paymentMethod,
      apiTokens: team.apiTokens.map(({ clientID, level, spaceID }) => ({ clientID, level, spaceID })),
      spaces: [...team.spaces.values()].map((space) => ({
        id: space.id,
        clusters: [...space.clusters.values()].map((cluster) => clusterSnapshot(cluster, world.factoryLogin)),
      })),
    })),
    faults: faults.list(),
    requests: log.recent(),
    counters: log.counters(),
  };
}

function clusterSnapshot(cluster: Cluster, factoryLogin: User): ClusterSnapshot {
  const { transition: _t, rendered: _r, gone: _g, isReplacement: _i, database, servers, ...fields } = cluster;
  return {
    ...fields,
    servers: servers.map(({ address, status }) => ({ address, status })),
    users: [...database.users.values()].map(({ username, passwordHash }) => ({
      username,
      hasFactoryPassword: passwordHash === factoryLogin.passwordHash,
    })),
    databases: [...database.databases.values()].map(({ name, committed, lock }) => ({
      name,
      schema: renderSchema(committed.schema, 'all'),
      instances: committed.data.size,
      schemaLocked: lock !== undefined,
    })),
    openTransactions: database.transactions.size,
    liveTokens: database.tokens.size,
  };
}
