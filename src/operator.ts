import { type Clock, sleep } from './base/clock.ts';
import { messageOf } from './base/errors.ts';
import type { HttpTransport } from './base/http.ts';
import type { Log } from './base/log.ts';
import { type Random, uuid } from './base/random.ts';
import { databaseClusterKind } from './kinds/databasecluster/index.ts';
import { claimedIDs, concerns, isClaimant, neededBy, neededSpace, placeOf } from './kinds/databasecluster/records.ts';
import { DATABASE_CLUSTERS } from './kinds/databasecluster/resource.ts';
import { databaseClusterDefinition } from './kinds/databasecluster/schema.ts';
import { ClusterMemory } from './kinds/databasecluster/world.ts';
import { SpaceConnections } from './kinds/databasespace/connection.ts';
import { DATABASE_SPACES, databaseSpaceKind } from './kinds/databasespace/index.ts';
import { databaseSpaceDefinition } from './kinds/databasespace/schema.ts';
import type { UrlPolicy } from './kinds/databasespace/url-policy.ts';
import { createSecrets, FinalizerIndex } from './kinds/secrets.ts';
import { type AnyObject, type KubeApi, KubeError, NAMESPACES, type Resource, SECRETS } from './kube/api.ts';
import { parseSpec, parseStatus } from './kube/definition.ts';
import type { KubeObject, ObjectKey } from './kube/object.ts';
import { Controller, isNews } from './runtime/controller.ts';
import { createEventRecorder } from './runtime/events.ts';
import { fencedApi, fencedTransport } from './runtime/fence.ts';
import { Informer } from './runtime/informer.ts';
import type { Kind, StatusBase } from './runtime/kind.ts';
import { LeaderElector } from './runtime/leader-election.ts';
import type { Metrics } from './runtime/metrics.ts';
import type { Reference } from './runtime/reference-index.ts';
import type { WorkQueue } from './runtime/workqueue.ts';

export interface OperatorDependencies {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly random: Random;
  /** HTTP to cloud and servers; `ca`: PEM to trust besides the system's. */
  readonly transport: (ca: string | undefined) => HttpTransport;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Undefined: all. */
  readonly namespaces: readonly string[] | undefined;
  readonly concurrency: number;
  readonly urlPolicy: UrlPolicy;
  /** Names this process in events. */
  readonly instance: string;
  /** The Lease to act under; undefined: alone, without one. */
  readonly lease: { readonly namespace: string; readonly name: string } | undefined;
}

export interface Operator {
  /** Works until the signal aborts; resolves when what was in hand is done. Rejects when the lease was lost. */
  run(signal: AbortSignal): Promise<void>;
  /** Why it is not ready to work yet; undefined: it is. */
  notReady(): string | undefined;
  /** What is stuck; undefined: nothing is. */
  stuck(): string | undefined;
}

/** How long clusters wait at the start for the first look at their spaces: a cloud that hangs must not hold all up. */
const FIRST_LOOK_MS = 2_000;
/** A pass that takes so long hangs: every call that it makes has a shorter limit. */
const STUCK_MS = 15 * 60_000;
/** How long what is in hand may take to end after the signal. */
const DRAIN_MS = 20_000;

/** The whole operator over its seams; production and simulation differ in the dependencies only. */
export function createOperator(given: OperatorDependencies): Operator {
  const elector = given.lease === undefined ? undefined : electorFor(given, given.lease);
  const fence = () => (elector === undefined || elector.isLeader() ? undefined : 'another process may lead by now');
  const dependencies: OperatorDependencies = {
    ...given,
    api: fencedApi(given.api, fence),
    transport: (ca) => fencedTransport(given.transport(ca), fence),
  };
  const { api, clock, random, log, metrics, concurrency } = dependencies;
  const spaces = informer(dependencies, DATABASE_SPACES, withoutManagedFields);
  const clusters = informer(dependencies, DATABASE_CLUSTERS, withoutManagedFields);
  const secrets = informer(dependencies, SECRETS, metadataOf);
  const notify = (reference: Reference) => {
    for (const controller of controllers) controller.changed(reference);
  };
  const connections = new SpaceConnections({
    ...dependencies,
    onRequest: metrics.apiRequest,
    onClusters: (space, ids) => {
      for (const id of ids) notify(`clusters/${space}/${id}`);
    },
    onListed: (space, first) => {
      notify(`spaces/${space}`);
      if (first) notify(`databasespaces/${space}`);
    },
  });
  const kept = new FinalizerIndex();
  secrets.onChange((key, before, after) => kept.changed(key, before, after));
  const secretAccess = createSecrets(api, {
    get: (key) => secrets.store.get(key),
    withFinalizer: (finalizer) => kept.withFinalizer(finalizer),
  });
  const recorder = createEventRecorder({
    ...dependencies,
    onFailure: (error) => log.warn({ err: error }, `Cannot record an event: ${messageOf(error)}`),
  });
  const controllerOf = <Spec, Status extends StatusBase, Observation, Step>(
    kind: Kind<Spec, Status, Observation, Step>,
    source: Informer<KubeObject>,
  ) => {
    const share = metrics.controller(kind.definition.singular, concurrency);
    const controller = new Controller(kind, source, {
      api,
      clock,
      random,
      log,
      events: recorder,
      metrics: share,
      concurrency,
    });
    share.watchQueue(controller.queue);
    source.onChange((key, before, after) => {
      if (isNews(before, after) || wordOf(before) !== wordOf(after)) notify(`${kind.definition.plural}/${key}`);
    });
    return controller;
  };

  const spaceController = controllerOf(
    databaseSpaceKind({
      secrets: secretAccess,
      connections,
      connectedWith: new Map(),
      claimedIDs: (space) => claimedIDs(clusters.store, space),
      neededBy: (space) => neededBy(clusters.store, space),
    }),
    spaces,
  );
  const clusterController = controllerOf(
    databaseClusterKind({
      api,
      clock,
      random,
      connections,
      secrets: secretAccess,
      memory: new ClusterMemory(uuid(random), clock.now()),
      space: (key) => spaceOf(spaces.store.get(key)),
      cluster: (key) => clusters.store.get(key),
      claimants: (space, id): Iterable<ObjectKey> =>
        [...clusterController.dependents(`clusters/${space}/${id}`)].filter((key) =>
          isClaimant(clusters.store.get(key)),
        ),
      namespaceLabels: async (name, signal) => (await api.get(NAMESPACES, { name }, signal))?.metadata.labels ?? {},
      onDriftCorrected: (key, { field, desired, observed }) => {
        metrics.driftCorrected('DatabaseCluster', field);
        const object = clusters.store.get(key);
        const message = `It was changed elsewhere: set ${field} back from ${observed} to ${desired}`;
        if (object !== undefined) recorder.record(object, { status: 'True', reason: 'DriftCorrected', message });
      },
    }),
    clusters,
  );
  const controllers = [spaceController, clusterController];
  clusters.onChange((_key, before, after) => {
    const [needed, needs] = [neededSpace(before), neededSpace(after)];
    if (needed !== needs)
      for (const space of [needed, needs]) if (space !== undefined) spaceController.changedSoon(`spaces/${space}`);
    if (!isNews(before, after)) return;
    for (const reference of new Set([...concerns(before), ...concerns(after)])) notify(reference);
    const left = before !== undefined && after === undefined ? placeOf(before) : undefined;
    if (left !== undefined) connections.get(left.space)?.poller.unfollow(left.id);
  });
  secrets.onChange((key, before, after) => {
    if (before?.metadata.resourceVersion !== after?.metadata.resourceVersion) notify(`secrets/${key}`);
  });

  const informers = { databasespaces: spaces, databaseclusters: clusters, secrets };
  let leading = false;
  metrics.onScrape(() => ({
    resources: conditionsOf([spaces, clusters]),
    spaces: [...connections.all()].flatMap(([key, { poller }]) => observedAt(key, poller.listedAtMs)),
    leader: leading && fence() === undefined,
  }));

  /** Works until the signal aborts; what is in hand then has some time to end. */
  async function work(signal: AbortSignal): Promise<void> {
    leading = true;
    log.info({ spaces: spaces.store.size, clusters: clusters.store.size }, 'Work begins');
    const kill = new AbortController();
    const working = Promise.all([
      spaceController.run(signal, kill.signal),
      firstLook(spaceController.queue, clock, signal).then(() => clusterController.run(signal, kill.signal)),
    ]);
    await aborted(signal);
    await Promise.race([working, sleep(clock, DRAIN_MS, kill.signal)]);
    kill.abort();
    leading = false;
  }

  return {
    async run(signal) {
      // Whatever ends first, ends all: a lost lease, too.
      const end = new AbortController();
      const stop = AbortSignal.any([signal, end.signal]);
      const watching = Object.values(informers).map((each) => each.run(stop));
      await Promise.race([Promise.all(Object.values(informers).map((each) => each.synced)), aborted(stop)]);
      let lost = false;
      if (!stop.aborted && elector === undefined) await work(stop);
      else if (!stop.aborted && elector !== undefined) {
        log.info({}, 'Caches are filled; waiting for the lease');
        await elector.run(stop, {
          onStartedLeading: work,
          onStoppedLeading: () => log.info({}, 'The lease is given up'),
        });
        lost = !signal.aborted;
      }
      end.abort();
      connections.close();
      await Promise.all(watching);
      if (lost) throw new Error('The lease was lost: this process ends, so that it starts anew with what is true now');
    },
    notReady() {
      const waiting = Object.entries(informers).filter(([, each]) => !each.hasSynced());
      return waiting.length === 0
        ? undefined
        : `Waiting for the first list of ${waiting.map(([name]) => name).join(', ')}`;
    },
    stuck() {
      const now = clock.monotonic();
      for (const { queue } of controllers) {
        for (const [key, since] of queue.inProgress) if (now - since > STUCK_MS) return `A pass of ${key} does not end`;
      }
      return undefined;
    },
  };
}

/** What those who refer to an object look at in its status: whether they can go on, and otherwise why they wait. */
function wordOf(object: KubeObject | undefined): string | undefined {
  if (object === undefined) return undefined;
  let word = words.get(object);
  if (word === undefined) {
    // Conditions are the same in every kind's status; a space has no clusterID.
    const { conditions = [], clusterID } = parseStatus(databaseClusterDefinition, object.status);
    const ready = conditions.find((condition) => condition.type === 'Ready');
    word = JSON.stringify([ready?.status, ready?.reason, clusterID]);
    words.set(object, word);
  }
  return word;
}

/** Each version of an object is new in one change and old in the next: it is read once. */
const words = new WeakMap<KubeObject, string>();

function electorFor(dependencies: OperatorDependencies, lease: { namespace: string; name: string }): LeaderElector {
  const { api, clock, random, instance, log } = dependencies;
  return new LeaderElector({
    api,
    clock,
    random,
    ...lease,
    identity: `${instance}_${uuid(random)}`,
    onFailure: (error) => log.warn({ err: error }, `Cannot take or renew the lease: ${messageOf(error)}`),
  });
}

/** Clusters are judged by the List of their space; before it there is nothing to say of them but that they wait for it. */
async function firstLook(spaces: WorkQueue, clock: Clock, signal: AbortSignal): Promise<void> {
  const deadline = clock.monotonic() + FIRST_LOOK_MS;
  while ((spaces.depth > 0 || spaces.inProgress.size > 0) && clock.monotonic() < deadline && !signal.aborted) {
    await sleep(clock, 10, signal);
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** What a person can do about a watch that fails. */
function hintOf(error: unknown, resource: Resource): string {
  const message = messageOf(error).trim();
  if (!(error instanceof KubeError)) return message;
  if (error.status === 404)
    return `the API server has no resource ${resource.plural}.${resource.group}: install it with mooring crds | kubectl apply --server-side -f -`;
  if (error.status === 401)
    return `the API server does not accept this operator's login (401): its token is wrong or has expired, so give it a new one`;
  if (error.status === 403) return `${message}: the operator lacks a right, see deploy/rbac.yaml`;
  return message;
}

function informer<T extends AnyObject>(
  dependencies: OperatorDependencies,
  resource: Resource,
  project: (object: AnyObject) => T,
): Informer<T> {
  const { log } = dependencies;
  return new Informer({
    ...dependencies,
    resource,
    metadataOnly: resource === SECRETS,
    project,
    onFailure: (error, retryInMs) =>
      log.warn(
        { resource: resource.plural, retryInMs: Math.round(retryInMs) },
        `Cannot watch ${resource.plural}, tried again: ${hintOf(error, resource)}`,
      ),
  });
}

/** managedFields are half of an object's bytes and never looked at. The cast is the parse border: kinds parse what they read. */
function withoutManagedFields(object: AnyObject): KubeObject {
  const { managedFields: _, ...metadata } = object.metadata as AnyObject['metadata'] & { managedFields?: unknown };
  return { ...object, metadata } as unknown as KubeObject;
}

/** Of a Secret, only that it is there, in which version, whether it is going, and what keeps it. */
function metadataOf({ metadata }: AnyObject): AnyObject {
  const { name, namespace, uid, resourceVersion, deletionTimestamp, finalizers } = metadata;
  const optional = {
    ...(namespace === undefined ? {} : { namespace }),
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    ...(finalizers === undefined ? {} : { finalizers }),
  };
  return { metadata: { name, uid, resourceVersion, ...optional } };
}

function spaceOf(object: KubeObject | undefined) {
  if (object === undefined) return undefined;
  const spec = parseSpec(databaseSpaceDefinition, object.spec);
  const { conditions = [] } = parseStatus(databaseSpaceDefinition, object.status);
  return { spec: spec.ok ? spec.spec : undefined, ready: conditions.find((condition) => condition.type === 'Ready') };
}

function* conditionsOf(informers: readonly Informer<KubeObject>[]) {
  for (const { store } of informers) {
    for (const { kind, status } of store.values()) {
      const { conditions = [] } = parseStatus(databaseSpaceDefinition, status);
      for (const { type: condition, status: value, reason } of conditions)
        yield { kind, condition, status: value, reason };
    }
  }
}

function observedAt(key: ObjectKey, observedAtMs: number | undefined) {
  if (observedAtMs === undefined) return [];
  const slash = key.indexOf('/');
  return [{ namespace: key.slice(0, slash), name: key.slice(slash + 1), observedAtMs }];
}
