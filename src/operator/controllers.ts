import { uuid } from '../base/random.ts';
import { inSlices } from '../base/slices.ts';
import { createConfigMaps } from '../kinds/config-maps.ts';
import { databaseKind } from '../kinds/database/index.ts';
import { claimReference as databaseClaim, concerns as databaseConcerns } from '../kinds/database/records.ts';
import { DATABASE_LEFT, DatabaseMemory } from '../kinds/database/world.ts';
import { type SharingWorld, sharedWith, sharing } from '../kinds/databasecluster/existence/sharing.ts';
import { heldRecordOf } from '../kinds/databasecluster/held-record.ts';
import { databaseClusterKind } from '../kinds/databasecluster/index.ts';
import { concerns, neededSpace, SpaceMembers, spaceAndIDOf } from '../kinds/databasecluster/records.ts';
import { CLUSTER_LEFT, ClusterMemory } from '../kinds/databasecluster/world.ts';
import { SpaceConnections } from '../kinds/databasespace/connection/connections.ts';
import { databaseSpaceKind } from '../kinds/databasespace/index.ts';
import { SpacePlaces } from '../kinds/databasespace/places.ts';
import { databaseSpaceDefinition } from '../kinds/databasespace/schema.ts';
import { databaseUserKind } from '../kinds/databaseuser/index.ts';
import { claimReference as userClaim, concerns as userConcerns } from '../kinds/databaseuser/records.ts';
import { USER_LEFT, UserMemory } from '../kinds/databaseuser/world.ts';
import { Elapsed } from '../kinds/elapsed.ts';
import type { ServerWorld } from '../kinds/server/access.ts';
import { Servers } from '../kinds/server/servers.ts';
import { findStatusCondition } from '../kube/condition.ts';
import { parseSpecInPart, parseStatus } from '../kube/definition.ts';
import { type KubeObject, keyOf, type ObjectKey, objectKey, splitKey } from '../kube/object.ts';
import { type KeyGate, SOON_MS } from '../runtime/controller.ts';
import type { Priority } from '../runtime/workqueue.ts';
import type { Informers } from './informers.ts';
import { Leaving } from './leaving.ts';
import type { ShardedControllers } from './replicas/sharding.ts';
import { type AnyController, type ControllerDependencies, mayConcernOthers, Wiring } from './wiring.ts';

export interface Controllers {
  readonly spaces: AnyController;
  /** Controllers of what is in a space. It is judged by what the space shows, so they begin once that is known. */
  readonly inSpaces: readonly AnyController[];
  readonly sharded: ShardedControllers;
  readonly connections: SpaceConnections;
  /** From now on no Event is sent again. Resolves when all that passes have recorded so far are written, or have failed. */
  shutDownEvents(): Promise<void>;
}

/** How many objects are notified in one go, of possibly thousands. */
const SLICE = 50;

/** Decides which objects are this process's, and since when. */
export interface Share {
  gateOf(kind: keyof ShardedControllers): KeyGate | undefined;
  /** Returns since when this process acts on the object; wall clock. */
  actsSinceMs(kind: keyof ShardedControllers, key: ObjectKey): number;
}

/** What each of the functions below gets. */
interface Setting {
  readonly share: Share;
  readonly dependencies: ControllerDependencies;
  readonly informers: Informers;
  readonly wiring: Wiring;
  readonly places: SpacePlaces;
  readonly members: SpaceMembers;
  readonly connections: SpaceConnections;
  readonly leaving: Leaving;
}

/** Creates one controller per kind, over the same informers and connections, and wires who hears of what. */
export function createControllers(
  dependencies: ControllerDependencies,
  informers: Informers,
  share: Share,
): Controllers {
  const wiring = new Wiring(dependencies, informers);
  const places = new SpacePlaces();
  informers.spaces.onChange((key, _before, after) => {
    // What its clusters want in the place that it leaves is free for those of the others there.
    for (const other of places.changed(key, after))
      void inSlices(members.claimedIDs(key), SLICE, (id) => wiring.notify(`clusters/${other}/${id}`));
  });
  const members = new SpaceMembers((space, id) => {
    // What the cloud does not have yet is counted with the List that brings it.
    for (const same of places.same(space))
      if (connections.get(same)?.poller.has(id)) spaces.enqueueDependents(`spaces/${same}`, 'normal', SOON_MS);
  }, places);
  informers.clusters.onChange((key, before, after) => members.changed(key, before, after));
  const connections = connectionsOf(dependencies, informers, wiring, members);
  const leaving = new Leaving(informers.users, informers.databases, (cluster, isGoing) => {
    if (isGoing) wiring.notify(`leaving/${cluster}`);
    // Before that there may be thousands, and every space is looked at when work begins.
    const isKnown = informers.users.hasSynced() && informers.databases.hasSynced();
    if (isKnown) tellSpace(neededSpace(informers.clusters.store.get(cluster), true));
  });
  const setting: Setting = { share, dependencies, informers, wiring, places, members, connections, leaving };

  const spaces = controllerOfSpaces(setting);
  const tellSpace = (space: ObjectKey | undefined) => {
    if (space !== undefined) spaces.enqueueDependents(`spaces/${space}`, 'normal', SOON_MS);
  };
  const memory = new ClusterMemory(uuid(dependencies.random), (key) => share.actsSinceMs('clusters', key));
  const { clusters, sharingWorld } = controllerOfClusters(setting, memory, tellSpace);
  const serverWorld = serverWorldOf(setting, sharingWorld, (cluster) => {
    memory.verifications.doubt(cluster);
    clusters.queue.add(cluster);
  });
  const users = controllerOfUsers(setting, serverWorld);
  const databases = controllerOfDatabases(setting, serverWorld);
  wiring.notifyReaders();
  return {
    spaces,
    inSpaces: [clusters, users, databases],
    sharded: { spaces, clusters, users, databases },
    connections,
    shutDownEvents: () => wiring.shutDownEvents(),
  };
}

/** Connects to the clouds of all spaces. What their pollers see reaches the objects concerned. */
function connectionsOf(
  dependencies: ControllerDependencies,
  { spaces }: Informers,
  wiring: Wiring,
  members: SpaceMembers,
): SpaceConnections {
  /** What is on the servers of a space's clusters knows the space only through them. */
  const tellServers = (space: ObjectKey, priority: Priority) => {
    void inSlices([...members.of(space)], SLICE, (cluster) => wiring.notify(`databaseclusters/${cluster}`, priority));
  };
  spaces.onChange((key, before, after) => {
    if (after === undefined) tellServers(key, 'normal');
    // One that cannot be connected is heard of in no other way.
    else if (before === undefined) tellServers(key, 'low');
  });
  return new SpaceConnections({
    ...dependencies,
    onRequest: dependencies.metrics.apiRequest,
    onClusters: (space, ids, first) => {
      void inSlices(ids, SLICE, (id) => wiring.notify(`clusters/${space}/${id}`, first ? 'low' : 'normal'));
    },
    onListed: (space, first) => {
      wiring.notify(`spaces/${space}`);
      if (first) wiring.notify(`databasespaces/${space}`, 'low');
    },
    onConnected: (space) => tellServers(space, 'low'),
  });
}

function controllerOfSpaces({
  share,
  dependencies,
  informers,
  wiring,
  places,
  members,
  connections,
  leaving,
}: Setting) {
  const kind = databaseSpaceKind({
    secrets: wiring.secrets,
    connections,
    places,
    connectedWith: new Map(),
    listedFor: new Map(),
    versions: new Map(),
    heldIDs: (space, by) => members.heldIDs(space, places.get(by)),
    neededBy: (space) => members.neededBy(space),
    dependents: (space) => {
      const each = Array.from(members.of(space), (cluster) => leaving.of(cluster));
      return { leaving: each.flatMap((one) => one.leaving), mayFollow: each.some((one) => one.mayFollow) };
    },
    hasDependents: (space) => Iterator.from(members.of(space)).some((cluster) => leaving.has(cluster)),
    clock: dependencies.clock,
    going: new Elapsed(),
  });
  return wiring.controllerOf(kind, informers.spaces, share.gateOf('spaces'));
}

/** `onNeeded` is called when a space becomes, or stops being, necessary for the end of a cluster or of something on its server. */
function controllerOfClusters(
  { share, dependencies, informers, wiring, places, connections, leaving }: Setting,
  memory: ClusterMemory,
  onNeeded: (space: ObjectKey | undefined) => void,
) {
  const { api, clock, random } = dependencies;
  const { spaces, clusters } = informers;
  const onDrift = wiring.driftCorrected('DatabaseCluster', clusters);
  const referringTo = (secret: ObjectKey): Iterable<ObjectKey> => controller.references.dependents(`secrets/${secret}`);
  const sharingWorld: SharingWorld = {
    places,
    connections,
    cluster: (key) => clusters.store.get(key),
    referring: (reference): Iterable<ObjectKey> => controller.references.dependents(reference),
  };
  const kind = databaseClusterKind({
    api,
    clock,
    random,
    connections,
    places,
    secrets: wiring.secrets,
    memory,
    space: (key) => spaceOf(spaces.store.get(key)),
    spaceKeys: () => spaces.store.keys(),
    clusterKeys: () => clusters.store.keys(),
    cluster: (key) => clusters.store.get(key),
    claimants: (space, id): Iterable<ObjectKey> => controller.references.dependents(`clusters/${space}/${id}`),
    recorders: (createdAt): Iterable<ObjectKey> => controller.references.dependents(`created/${createdAt}`),
    clones: (source, secretName): Iterable<ObjectKey> => {
      const secret = objectKey(splitKey(source).namespace, secretName);
      return [...controller.references.dependents(`databaseclusters/${source}`), ...referringTo(secret)];
    },
    referringTo,
    watches: wiring.watches,
    namespaceLabels: wiring.namespaceLabels,
    dependents: (key) => leaving.of(key),
    onDriftCorrected: (key, { field, desired, observed }) =>
      onDrift(key, field, `It was changed or replaced elsewhere: set ${field} back from ${observed} to ${desired}`),
    onLeft: wiring.warn('DatabaseCluster', CLUSTER_LEFT, clusters),
  });
  const controller = wiring.controllerOf(kind, clusters, share.gateOf('clusters'));
  clusters.onChange((key, before, after) => {
    const [needed, needs] = [before, after].map((object) => neededSpace(object, leaving.has(key)));
    if (needed !== needs) for (const space of [needed, needs]) onNeeded(space);
    const [was, is] = [before, after].map((object) => object && spaceAndIDOf(object));
    // What is under a former id is somebody else's.
    if (was !== undefined && (was.space !== is?.space || was.id !== is.id))
      connections.get(was.space)?.poller.unfollow(was.id);
  });
  clusters.onChange((_key, before, after) => {
    if (before === undefined || !mayConcernOthers(before, after)) return;
    // Of several that share a cluster, another one may have come first. What is on their servers cannot tell by its own cluster.
    const records = [before, after].map(heldRecordOf).filter((one) => one !== undefined);
    const others = new Set(records.flatMap((record) => sharing(sharingWorld, record).map(keyOf)));
    for (const other of others) wiring.notify(`databaseclusters/${other}`);
  });
  wiring.notifyConcerned(clusters, controller.references, (object) => concerns(object, places));
  return { clusters: controller, sharingWorld };
}

/** Returns what users and databases share; both are on the servers of clusters. */
function serverWorldOf(
  { dependencies, informers, wiring, connections }: Setting,
  sharingWorld: SharingWorld,
  onLoginRefused: (cluster: ObjectKey) => void,
): ServerWorld {
  const { clusters, spaces } = informers;
  return {
    connections,
    cluster: (key) => clusters.store.get(key),
    clusterKeys: () => clusters.store.keys(),
    sharedWith: (cluster) => sharedWith(sharingWorld, cluster),
    watches: wiring.watches,
    namespaceLabels: wiring.namespaceLabels,
    servers: new Servers({ clock: dependencies.clock, secrets: wiring.secrets, onLoginRefused }),
    hasSpace: (key) => spaces.store.get(key) !== undefined,
  };
}

function controllerOfUsers({ share, dependencies, informers, wiring }: Setting, serverWorld: ServerWorld) {
  const { api, clock, random } = dependencies;
  const { users } = informers;
  const kind = databaseUserKind({
    ...serverWorld,
    api,
    clock,
    random,
    secrets: wiring.secrets,
    memory: new UserMemory((key) => share.actsSinceMs('users', key)),
    user: (key) => users.store.get(key),
    claimants: (cluster, username): Iterable<ObjectKey> =>
      controller.references.dependents(userClaim(cluster, username)),
    onDriftCorrected: wiring.driftCorrected('DatabaseUser', users),
    onLeft: wiring.warn('DatabaseUser', USER_LEFT, users),
  });
  const controller = wiring.controllerOf(kind, users, share.gateOf('users'));
  wiring.notifyConcerned(users, controller.references, userConcerns);
  return controller;
}

function controllerOfDatabases({ share, dependencies, informers, wiring }: Setting, serverWorld: ServerWorld) {
  const { api, clock, random } = dependencies;
  const { databases, configMaps } = informers;
  const onDrift = wiring.driftCorrected('Database', databases);
  const kind = databaseKind({
    ...serverWorld,
    api,
    clock,
    configMaps: createConfigMaps(api, { get: (key) => configMaps.store.get(key) }),
    database: (key) => databases.store.get(key),
    claimants: (cluster, name): Iterable<ObjectKey> => controller.references.dependents(databaseClaim(cluster, name)),
    memory: new DatabaseMemory(uuid(random), (key) => share.actsSinceMs('databases', key)),
    onSchemaCorrected: (key, message) => onDrift(key, 'schema', message),
    onLeft: wiring.warn('Database', DATABASE_LEFT, databases),
  });
  const controller = wiring.controllerOf(kind, databases, share.gateOf('databases'));
  wiring.notifyConcerned(databases, controller.references, databaseConcerns);
  return controller;
}

function spaceOf(object: KubeObject | undefined) {
  if (object === undefined) return undefined;
  // Every field that can be read counts: whom the space admits, and where it is, does not depend on the others.
  const spec = parseSpecInPart(databaseSpaceDefinition, object.spec)?.value;
  const { conditions = [], availableVersions: versions } = parseStatus(databaseSpaceDefinition, object.status);
  return { spec, versions, ready: findStatusCondition(conditions, 'Ready') };
}
