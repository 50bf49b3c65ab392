import type { Random } from '../../base/random.ts';
import type { DialectRules } from '../dialect.ts';
import type { Knobs } from '../knobs.ts';
import type { ServerState, User } from '../server/state.ts';

export const LEVELS = ['read', 'write', 'admin'] as const;
export type Level = (typeof LEVELS)[number];

/** An API token as its owner generated it: one level on one space (Authentication). */
export interface ApiToken {
  readonly clientID: string;
  readonly clientSecret: string;
  readonly level: Level;
  readonly spaceID: string;
  /** More spaces that it is for. The documents know only tokens for one; this is for whoever does not know for which. */
  readonly alsoFor?: readonly string[];
}

export interface TeamOptions {
  readonly id: string;
  readonly spaces: readonly string[];
  /** Without one, only a free cluster can be deployed. */
  readonly paymentMethod: boolean;
  readonly apiTokens: readonly ApiToken[];
}

export interface Credentials {
  readonly username: string;
  readonly password: string;
}

export const CLUSTER_STATUSES = ['starting', 'running', 'suspending', 'suspended', 'resuming', 'destroying'] as const;
export type ClusterStatus = (typeof CLUSTER_STATUSES)[number];

export interface Backup {
  readonly frequency: string;
  readonly retentionDays: number;
}

export interface ServerNode {
  address: string;
  status: 'pending' | 'running';
  /** When a pending server comes up; absent while its cluster is not running. */
  runsAtMs?: number;
  /** Takes the changes, wherever it is in the List. If no server is primary, the first takes them. */
  isPrimary?: true;
}

/** What will happen by itself. `replaced` and `gone` are caused by outsiders. */
export interface Transition {
  readonly to: 'running' | 'suspended' | 'gone' | 'replaced';
  readonly atMs: number;
}

export interface Cluster {
  readonly teamID: string;
  readonly spaceID: string;
  id: string;
  readonly createdAt: number;
  readonly serverCount: number;
  storageSizeGB: number;
  readonly isFree: boolean;
  status: ClusterStatus;
  readonly version: string;
  readonly provider: string;
  readonly region: string;
  machineType: string;
  readonly storageType: string;
  backup: Backup;
  servers: ServerNode[];
  transition: Transition | undefined;
  gone: boolean;
  /** It replaced another with the same id, and is not replaced again. */
  isReplacement: boolean;
  /** What all servers of the cluster share: users, databases, tokens, transactions. */
  readonly database: ServerState;
  /** The cluster object of answers, kept until something changes: a List of 10,000 then only joins them. */
  rendered: string | undefined;
}

export interface Space {
  readonly id: string;
  readonly clusters: Map<string, Cluster>;
}

export interface Team {
  readonly id: string;
  paymentMethod: boolean;
  readonly apiTokens: readonly ApiToken[];
  readonly spaces: Map<string, Space>;
}

export interface AccessToken {
  readonly teamID: string;
  readonly apiToken: ApiToken;
  readonly expiresAtMs: number;
}

export interface CloudState {
  readonly teams: Map<string, Team>;
  readonly accessTokens: Map<string, AccessToken>;
  readonly byAddress: Map<string, Cluster>;
  /** A cluster's identity is its id with createdAt, so no two may share both. */
  lastCreatedAt: number;
}

/** Where servers can be reached. Over HTTP these are real ports. */
export interface AddressBook {
  /** Takes an address that is free: the preferred one if possible. */
  take(preferred?: string): string;
  giveBack(address: string): void;
}

/** The state, and everything that decides how requests change it. */
export interface World {
  readonly state: CloudState;
  readonly dialect: DialectRules;
  readonly random: Random;
  /** The login that every new cluster's servers come with. */
  readonly factoryLogin: User;
  readonly availableVersions: readonly string[];
  knobs: Knobs;
  addresses: AddressBook;
  /** Must be called after every change of a cluster. */
  changed(cluster: Cluster): void;
}

export function createCloudState(teams: readonly TeamOptions[]): CloudState {
  return {
    teams: new Map(
      teams.map((team) => [
        team.id,
        {
          id: team.id,
          paymentMethod: team.paymentMethod,
          apiTokens: team.apiTokens,
          spaces: new Map(team.spaces.map((id) => [id, { id, clusters: new Map() }])),
        },
      ]),
    ),
    accessTokens: new Map(),
    byAddress: new Map(),
    lastCreatedAt: 0,
  };
}

export function spaceOf(state: CloudState, cluster: Cluster): Space {
  const space = state.teams.get(cluster.teamID)?.spaces.get(cluster.spaceID);
  if (space === undefined) throw new Error(`No space ${cluster.spaceID} in team ${cluster.teamID}`);
  return space;
}

export function* clustersOf(team: Team): Generator<Cluster> {
  for (const space of team.spaces.values()) yield* space.clusters.values();
}

export function* allClusters(state: CloudState): Generator<Cluster> {
  for (const team of state.teams.values()) yield* clustersOf(team);
}
