import { z } from 'zod';
import { giveAddresses } from './cloud/lifecycle.ts';
import { allClusters, CLUSTER_STATUSES, type Cluster, type World } from './cloud/state.ts';
import { createDatabaseState } from './server/database-state.ts';
import type { Thing } from './server/query/data.ts';
import { KINDS, type TypeDefinition, VALUE_TYPES } from './server/query/schema.ts';
import { createServerState, type Database } from './server/state.ts';

/*
 * What survives a restart of the simulator: clusters with their users and committed data. Tokens and transactions do
 * not survive, as with a real server. Passwords are kept as hashes.
 */

const annotationsSchema = z.array(z.string());
const capabilitiesSchema = z.array(z.tuple([z.string(), annotationsSchema]));

const typeSchema = z.object({
  label: z.string(),
  kind: z.enum(KINDS),
  parent: z.string().optional(),
  annotations: annotationsSchema,
  valueType: z.enum(VALUE_TYPES).optional(),
  owns: capabilitiesSchema,
  plays: capabilitiesSchema,
  relates: capabilitiesSchema,
});

const thingSchema = z.object({
  iid: z.string(),
  type: z.string(),
  has: z.array(
    z.object({
      type: z.string(),
      valueType: z.enum(VALUE_TYPES),
      value: z.union([z.string(), z.number(), z.boolean()]),
    }),
  ),
  players: z.array(z.object({ role: z.string(), iid: z.string() })),
});

const databaseSchema = z.object({
  name: z.string(),
  lastIid: z.number(),
  types: z.array(typeSchema),
  functions: z.array(z.tuple([z.string(), z.string()])),
  things: z.array(thingSchema),
});

const clusterSchema = z.object({
  teamID: z.string(),
  spaceID: z.string(),
  id: z.string(),
  createdAt: z.number(),
  serverCount: z.number(),
  storageSizeGB: z.number(),
  isFree: z.boolean(),
  status: z.enum(CLUSTER_STATUSES),
  version: z.string(),
  provider: z.string(),
  region: z.string(),
  machineType: z.string(),
  storageType: z.string(),
  backup: z.object({ frequency: z.string(), retentionDays: z.number() }),
  transition: z.object({ to: z.enum(['running', 'suspended', 'gone', 'replaced']), atMs: z.number() }).optional(),
  isReplacement: z.boolean(),
  servers: z.array(
    z.object({ address: z.string(), status: z.enum(['pending', 'running']), runsAtMs: z.number().optional() }),
  ),
  defaultUser: z.string(),
  users: z.array(z.object({ username: z.string(), passwordHash: z.string() })),
  databases: z.array(databaseSchema),
});

const savedStateSchema = z.object({
  format: z.literal('mooring-simulator-1'),
  lastCreatedAt: z.number(),
  teams: z.array(z.object({ id: z.string(), paymentMethod: z.boolean() })),
  clusters: z.array(clusterSchema),
});

export type SavedState = z.infer<typeof savedStateSchema>;
export type SavedCluster = SavedState['clusters'][number];
export type SavedDatabase = SavedCluster['databases'][number];

/** Parses a state from the text of a file. Throws an Error that says where it is wrong. */
export function parseState(text: string): SavedState {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error('The state is not JSON');
  }
  const parsed = savedStateSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new Error(`The state is invalid at ${issue?.path.join('.') || 'its top'}: ${issue?.message ?? 'unknown'}`);
}

export function saveState(world: World): SavedState {
  return {
    format: 'mooring-simulator-1',
    lastCreatedAt: world.state.lastCreatedAt,
    teams: [...world.state.teams.values()].map(({ id, paymentMethod }) => ({ id, paymentMethod })),
    clusters: [...allClusters(world.state)].map(saveCluster),
  };
}

/** Restores the clusters, except those of teams and spaces that no longer exist. */
export function restoreState(world: World, saved: SavedState): void {
  world.state.lastCreatedAt = saved.lastCreatedAt;
  for (const { id, paymentMethod } of saved.teams) {
    const team = world.state.teams.get(id);
    if (team !== undefined) team.paymentMethod = paymentMethod;
  }
  const restored = saved.clusters.flatMap((cluster) => {
    const space = world.state.teams.get(cluster.teamID)?.spaces.get(cluster.spaceID);
    if (space === undefined) return [];
    const created = restoreCluster(cluster);
    space.clusters.set(cluster.id, created);
    return [{ cluster: created, addresses: cluster.servers.map(({ address }) => address) }];
  });
  // Those that have all their addresses come first, as new ones must not be among them.
  const isComplete = ({ cluster, addresses }: (typeof restored)[number]) => addresses.length >= cluster.serverCount;
  const inOrder = restored.toSorted((one, other) => Number(isComplete(other)) - Number(isComplete(one)));
  for (const { cluster, addresses } of inOrder) giveAddresses(world, cluster, addresses);
}

function saveCluster(cluster: Cluster): SavedCluster {
  const { database, rendered: _rendered, gone: _gone, servers, ...fields } = cluster;
  return {
    ...fields,
    servers: servers.map((server) => ({ ...server })),
    defaultUser: database.defaultUser,
    users: [...database.users.values()],
    databases: [...database.databases.values()].map(saveDatabase),
  };
}

/** Its addresses are not taken yet. */
function restoreCluster(saved: SavedCluster): Cluster {
  const { defaultUser, users, databases, servers, transition, ...fields } = saved;
  const database = createServerState(defaultUser, users);
  for (const one of databases) database.databases.set(one.name, restoreDatabase(one));
  return {
    ...fields,
    servers: servers.map(({ address, status, runsAtMs }) => ({
      address,
      status,
      ...(runsAtMs === undefined ? {} : { runsAtMs }),
    })),
    transition,
    gone: false,
    database,
    rendered: undefined,
  };
}

function saveDatabase({ name, committed, lastIid }: Database): SavedDatabase {
  return {
    name,
    lastIid,
    types: [...committed.schema.types.values()].map(saveType),
    functions: [...committed.schema.functions],
    things: [...committed.data.values()].map(({ has, players, ...thing }) => ({
      ...thing,
      has: [...has],
      players: [...players],
    })),
  };
}

function saveType(type: TypeDefinition): z.infer<typeof typeSchema> {
  const entries = (capabilities: TypeDefinition['owns']) =>
    [...capabilities].map(([label, annotations]): [string, string[]] => [label, [...annotations]]);
  return {
    label: type.label,
    kind: type.kind,
    parent: type.parent,
    annotations: [...type.annotations],
    valueType: type.valueType,
    owns: entries(type.owns),
    plays: entries(type.plays),
    relates: entries(type.relates),
  };
}

function restoreDatabase(saved: SavedDatabase): Database {
  const types = saved.types.map((type): [string, TypeDefinition] => [
    type.label,
    {
      ...type,
      parent: type.parent,
      valueType: type.valueType,
      owns: new Map(type.owns),
      plays: new Map(type.plays),
      relates: new Map(type.relates),
    },
  ]);
  const things = saved.things.map((thing): [string, Thing] => [thing.iid, thing]);
  return Object.assign(createDatabaseState(saved.name), {
    lastIid: saved.lastIid,
    committed: { schema: { types: new Map(types), functions: new Map(saved.functions) }, data: new Map(things) },
  });
}
