import type { Clock } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import type { HttpTransport } from '../base/http.ts';
import type { Log } from '../base/log.ts';
import { type Random, uuid } from '../base/random.ts';
import { createConfigMaps } from '../kinds/config-maps.ts';
import { databaseKind } from '../kinds/database/index.ts';
import { claimReference as databaseClaim, concerns as databaseConcerns } from '../kinds/database/records.ts';
import { DATABASE_LEFT, DatabaseMemory } from '../kinds/database/world.ts';
import { databaseClusterKind } from '../kinds/databasecluster/index.ts';
import { concerns, neededSpace, placeOf, SpaceMembers } from '../kinds/databasecluster/records.ts';
import { ClusterMemory } from '../kinds/databasecluster/world.ts';
import { SpaceConnections } from '../kinds/databasespace/connection.ts';
import { databaseSpaceKind } from '../kinds/databasespace/index.ts';
import { databaseSpaceDefinition } from '../kinds/databasespace/schema.ts';
import type { UrlPolicy } from '../kinds/databasespace/url-policy.ts';
import { databaseUserKind } from '../kinds/databaseuser/index.ts';
import { concerns as userConcerns } from '../kinds/databaseuser/records.ts';
import { USER_LEFT, UserMemory } from '../kinds/databaseuser/world.ts';
import { createSecrets, FinalizerIndex } from '../kinds/secrets.ts';
import { Servers } from '../kinds/server/servers.ts';
import { type KubeApi, NAMESPACES } from '../kube/api.ts';
import { parseSpec, parseStatus } from '../kube/definition.ts';
import type { KubeObject, ObjectKey } from '../kube/object.ts';
import { Controller, type ControllerOptions, isNews, type KeyGate } from '../runtime/controller.ts';
import { createEventRecorder } from '../runtime/events.ts';
import type { Informer } from '../runtime/informer.ts';
import type { Kind, StatusBase } from '../runtime/kind.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { Reference } from '../runtime/reference-index.ts';
import type { Priority, WorkQueue } from '../runtime/workqueue.ts';
import type { Informers } from './informers.ts';
import { Leaving } from './leaving.ts';
import { SecretReads } from './secret-reads.ts';
import type { ShardedControllers } from './sharding.ts';
import { wordOf } from './word.ts';

export interface ControllerDependencies {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly random: Random;
  /** HTTP to cloud and servers; `ca`: PEM to trust besides the system's. */
  readonly transport: (ca: string | undefined) => HttpTransport;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly concurrency: number;
  readonly urlPolicy: UrlPolicy;
  /** Names this process in events. */
  readonly instance: string;
  /** Told before each step of any object. */
  readonly onStep?: ControllerOptions['onStep'];
}

/** A kind's controller, whatever the kind. */
export interface AnyController {
  readonly queue: WorkQueue;
  run(stop: AbortSignal, kill: AbortSignal): Promise<void>;
  changed(reference: Reference, priority?: Priority): void;
}

export interface Controllers {
  readonly spaces: AnyController;
  /** Of what is in a space: judged by what the space shows, so it begins once that is known. */
  readonly inSpaces: readonly AnyController[];
  readonly sharded: ShardedControllers;
  readonly connections: SpaceConnections;
}

/** One controller a kind, over the same informers and connections, and who is told of what. */
export function createControllers(
  dependencies: ControllerDependencies,
  informers: Informers,
  gateOf: (kind: keyof ShardedControllers) => KeyGate | undefined = () => undefined,
): Controllers {
  const { api, clock, random, log, metrics, concurrency } = dependencies;
  const { spaces, clusters, users, databases, secrets, configMaps } = informers;
  const all: AnyController[] = [];
  const notify = (reference: Reference, priority: Priority = 'normal') => {
    for (const controller of all) controller.changed(reference, priority);
  };
  /** What a start finds is no news to those who were there before. */
  const noNews = (source: { hasSynced(): boolean }, otherwise: Priority): Priority =>
    source.hasSynced() ? otherwise : 'low';
  const members = new SpaceMembers();
  clusters.onChange((key, before, after) => members.changed(key, before, after));
  /** What is on the servers of a space's clusters knows of the space only by way of them. */
  const tellServers = (space: ObjectKey, priority: Priority) => {
    for (const cluster of members.of(space)) notify(`databaseclusters/${cluster}`, priority);
  };
  const listed = new Set<ObjectKey>();
  const connections = new SpaceConnections({
    ...dependencies,
    onRequest: metrics.apiRequest,
    onClusters: (space, ids) => {
      for (const id of ids) notify(`clusters/${space}/${id}`, listed.has(space) ? 'normal' : 'low');
    },
    onListed: (space, first) => {
      listed.add(space);
      notify(`spaces/${space}`);
      if (first) notify(`databasespaces/${space}`, 'low');
    },
    onConnected: (space) => tellServers(space, 'low'),
  });
  const kept = new FinalizerIndex();
  secrets.onChange((key, before, after) => kept.changed(key, before, after));
  const secretAccess = createSecrets(api, {
    get: (key) => secrets.store.get(key),
    withFinalizer: (finalizer) => kept.withFinalizer(finalizer),
  });
  const recorder = createEventRecorder({
    ...dependencies,
    onFailure: (error, { kind, metadata: { namespace, name } }) =>
      log.warn({ kind, namespace, name, err: error }, `Cannot record an event: ${messageOf(error)}`),
  });
  const controllerOf = <Spec, Status extends StatusBase, Observation, Step>(
    kind: Kind<Spec, Status, Observation, Step>,
    source: Informer<KubeObject>,
    gate: KeyGate | undefined,
  ) => {
    const share = metrics.controller(kind.definition.singular, concurrency);
    const controller = new Controller(secrets instanceof SecretReads ? secrets.before(kind) : kind, source, {
      api,
      clock,
      random,
      log,
      events: recorder,
      metrics: share,
      concurrency,
      gate,
      onStep: dependencies.onStep,
    });
    share.watchQueue(controller.queue);
    source.onChange((key, before, after) => {
      if (isNews(before, after) || wordOf(before) !== wordOf(after))
        notify(`${kind.definition.plural}/${key}`, noNews(source, 'normal'));
    });
    all.push(controller);
    return controller;
  };
  /** For a kind's world: what came from elsewhere was undone; the message says what. */
  const driftCorrected =
    (kind: string, source: Informer<KubeObject>) => (key: ObjectKey, field: string, message: string) => {
      metrics.driftCorrected(kind, field);
      const object = source.store.get(key);
      if (object !== undefined) recorder.record(object, { status: 'True', reason: 'DriftCorrected', message });
    };
  /** For a kind's world: an object goes, and what it stood for may stay. */
  const warn = (reason: string, source: Informer<KubeObject>) => (key: ObjectKey, message: string) => {
    // In a namespace that goes no Event can be made any more.
    log.warn({ reason, key }, message);
    const object = source.store.get(key);
    if (object !== undefined) recorder.record(object, { status: 'False', reason, message });
  };
  const namespaceLabels = async (name: string, signal: AbortSignal) =>
    (await api.get(NAMESPACES, { name }, signal))?.metadata.labels ?? {};

  const spaceController = controllerOf(
    databaseSpaceKind({
      secrets: secretAccess,
      connections,
      connectedWith: new Map(),
      claimedIDs: (space) => members.claimedIDs(space, connections.get(space)?.place),
      neededBy: (space) => members.neededBy(space),
    }),
    spaces,
    gateOf('spaces'),
  );
  const leaving = new Leaving(users, databases, (cluster) => notify(`leaving/${cluster}`, 'normal'));
  const clusterMemory = new ClusterMemory(uuid(random), clock.now());
  const clusterDrift = driftCorrected('DatabaseCluster', clusters);
  const clusterController = controllerOf(
    databaseClusterKind({
      api,
      clock,
      random,
      connections,
      secrets: secretAccess,
      memory: clusterMemory,
      space: (key) => spaceOf(spaces.store.get(key)),
      cluster: (key) => clusters.store.get(key),
      claimants: (space, id): Iterable<ObjectKey> => clusterController.dependents(`clusters/${space}/${id}`),
      namespaceLabels,
      leaving: (key) => leaving.from(key),
      mayFollow: (key) => leaving.mayFollow(key),
      onDriftCorrected: (key, { field, desired, observed }) =>
        clusterDrift(key, field, `It was changed elsewhere: set ${field} back from ${observed} to ${desired}`),
    }),
    clusters,
    gateOf('clusters'),
  );
  clusters.onChange((_key, before, after) => {
    const [needed, needs] = [neededSpace(before), neededSpace(after)];
    if (needed !== needs)
      for (const space of [needed, needs]) if (space !== undefined) spaceController.changedSoon(`spaces/${space}`);
    if (!isNews(before, after)) return;
    for (const reference of new Set([...concerns(before), ...concerns(after)]))
      notify(reference, noNews(clusters, 'normal'));
    const left = before !== undefined && after === undefined ? placeOf(before) : undefined;
    if (left !== undefined) connections.get(left.space)?.poller.unfollow(left.id);
  });

  /** What users and databases, which are on the servers of clusters, share. */
  const servers = new Servers({
    clock,
    secrets: secretAccess,
    onLoginRefused: (key) => {
      clusterMemory.verifications.doubt(key);
      clusterController.queue.add(key);
    },
  });
  const serverWorld = {
    connections,
    cluster: (key: ObjectKey) => clusters.store.get(key),
    namespaceLabels,
    servers,
    hasSpace: (key: ObjectKey) => spaces.store.get(key) !== undefined,
  };
  spaces.onChange((key, _before, after) => {
    if (after === undefined) tellServers(key, 'normal');
  });

  const userController = controllerOf(
    databaseUserKind({
      ...serverWorld,
      api,
      clock,
      random,
      secrets: secretAccess,
      memory: new UserMemory(clock.now()),
      user: (key) => users.store.get(key),
      claimants: (cluster, username): Iterable<ObjectKey> => userController.dependents(`users/${cluster}/${username}`),
      onDriftCorrected: driftCorrected('DatabaseUser', users),
      onLeft: warn(USER_LEFT, users),
    }),
    users,
    gateOf('users'),
  );
  users.onChange((changed, before, after) => {
    if (!isNews(before, after) && wordOf(before) === wordOf(after)) return;
    for (const reference of new Set([...userConcerns(before), ...userConcerns(after)])) {
      // The object itself has heard of it.
      const others = [...userController.dependents(reference)].some((key) => key !== changed);
      if (others) notify(reference, noNews(users, 'normal'));
    }
  });

  const schemaDrift = driftCorrected('Database', databases);
  const databaseController = controllerOf(
    databaseKind({
      ...serverWorld,
      api,
      clock,
      configMaps: createConfigMaps(api, { get: (key) => configMaps.store.get(key) }),
      database: (key) => databases.store.get(key),
      claimants: (cluster, name): Iterable<ObjectKey> => databaseController.dependents(databaseClaim(cluster, name)),
      memory: new DatabaseMemory(uuid(random), clock.now()),
      onSchemaCorrected: (key, message) => schemaDrift(key, 'schema', message),
      onLeft: warn(DATABASE_LEFT, databases),
    }),
    databases,
    gateOf('databases'),
  );
  databases.onChange((_key, before, after) => {
    if (!isNews(before, after)) return;
    for (const reference of new Set([...databaseConcerns(before), ...databaseConcerns(after)]))
      notify(reference, noNews(databases, 'normal'));
  });

  for (const [plural, source] of [
    ['secrets', secrets],
    ['configmaps', configMaps],
  ] as const) {
    source.onChange((key, before, after) => {
      // Of a Secret that is read for the first time, the pass that reads it is the one that needs to hear.
      if (before === undefined && source instanceof SecretReads) return;
      if (before?.metadata.resourceVersion !== after?.metadata.resourceVersion)
        notify(`${plural}/${key}`, noNews(source, 'high'));
    });
  }
  return {
    spaces: spaceController,
    inSpaces: all.filter((each) => each !== spaceController),
    sharded: {
      spaces: spaceController,
      clusters: clusterController,
      users: userController,
      databases: databaseController,
    },
    connections,
  };
}

function spaceOf(object: KubeObject | undefined) {
  if (object === undefined) return undefined;
  const spec = parseSpec(databaseSpaceDefinition, object.spec);
  const { conditions = [] } = parseStatus(databaseSpaceDefinition, object.status);
  return { spec: spec.ok ? spec.spec : undefined, ready: conditions.find((condition) => condition.type === 'Ready') };
}
