import { GROUP, VERSION } from '../../src/base/group.ts';
import { databaseClusterDefinition } from '../../src/kinds/databasecluster/schema.ts';
import { EVENTS, type Resource, SECRETS } from '../../src/kube/api.ts';
import { parseStatus } from '../../src/kube/definition.ts';
import { LEASES } from '../../src/kube/lease.ts';
import { keyOf, objectKey, splitKey } from '../../src/kube/object.ts';
import type { FakeKube, FakeObject } from '../../src/sandbox/fake-kube.ts';
import type { Cluster } from '../../src/simulator/cloud/state.ts';
import type { Simulator } from '../../src/simulator/simulator.ts';

/** Where everything is that no other namespace is named for. */
export const NAMESPACE = 'shop';

/** What a scenario names: `namespace/name`, or the name alone of what is in NAMESPACE. */
export function refOf(name: string): { readonly namespace: string; readonly name: string } {
  return name.includes('/') ? splitKey(name) : { namespace: NAMESPACE, name };
}

/** What the object refers to, in its own namespace unless the reference names another: as a scenario names it. */
export function referred(object: FakeObject, to: 'spaceRef' | 'clusterRef'): string | undefined {
  const ref = specOf(object)[to] as { readonly name: string; readonly namespace?: string } | undefined;
  return ref && objectKey(ref.namespace ?? object.metadata.namespace ?? '', ref.name);
}

const ours = (plural: string, kind: string): Resource => ({ group: GROUP, version: VERSION, plural, kind });

export const SPACES = ours('databasespaces', 'DatabaseSpace');
export const CLUSTERS = ours('databaseclusters', 'DatabaseCluster');
export const USERS = ours('databaseusers', 'DatabaseUser');
export const DATABASES = ours('databases', 'Database');
/** All kinds of ours. */
export const KINDS: readonly Resource[] = [SPACES, CLUSTERS, USERS, DATABASES];
export const CONFIG_MAPS: Resource = { group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap' };

const UID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** Reads what there is: objects as the API server holds them, clusters as the cloud does. */
export class View {
  readonly #kube: FakeKube;
  readonly #simulator: Simulator;
  /** Clusters that nobody stands for any more, and that nobody could have ended. */
  readonly left = new Set<Cluster>();

  constructor(kube: FakeKube, simulator: Simulator) {
    this.#kube = kube;
    this.#simulator = simulator;
  }

  object(name = 'orders', resource = CLUSTERS): FakeObject | undefined {
    const { namespace, name: alone } = refOf(name);
    return this.#kube.all(resource, namespace).find(({ metadata }) => metadata.name === alone);
  }

  objects(resource = CLUSTERS): readonly FakeObject[] {
    return this.#kube.all(resource);
  }

  status(name = 'orders', resource = CLUSTERS) {
    return statusOf(this.object(name, resource));
  }

  /** Ready, as "status reason"; `gone` without the object. Of an earlier generation: `stale`. */
  ready(name = 'orders', resource = CLUSTERS): string {
    const object = this.object(name, resource);
    return object === undefined ? 'gone' : readyOf(object);
  }

  secret(name = 'orders-admin'): Readonly<Record<string, string>> | undefined {
    const found = this.object(name, SECRETS);
    return found === undefined ? undefined : contentsOf(found);
  }

  clusters(): readonly Cluster[] {
    return [...this.#simulator.clusters()];
  }

  cluster(id = 'orders'): Cluster | undefined {
    return this.clusters().find((cluster) => cluster.id === id && !cluster.gone && !this.left.has(cluster));
  }

  /** Whether nothing is left of all objects and Secrets in a namespace. */
  isEmpty(namespace = NAMESPACE): boolean {
    return [SECRETS, ...KINDS].every((resource) => this.#kube.all(resource, namespace).length === 0);
  }

  /** All objects, but of those that may hold secrets only the metadata. */
  shown(): string {
    const whole = [...KINDS, EVENTS, LEASES].flatMap((resource) => this.#kube.all(resource));
    const rest = [SECRETS, CONFIG_MAPS].flatMap((resource) => this.#kube.all(resource));
    return JSON.stringify([...whole, ...rest.map(({ metadata }) => metadata)]);
  }

  /** What there is, but for what differs between any two runs. */
  summary(): string {
    const clusters = this.clusters()
      .filter((cluster) => !this.left.has(cluster))
      .map(({ id, status, storageSizeGB, machineType, backup }) =>
        [id, status, storageSizeGB, machineType, JSON.stringify(backup)].join(' '),
      );
    const objects = KINDS.flatMap((resource) => this.#kube.all(resource)).map((object) => {
      const { conditions = [], clusterID, state } = statusOf(object);
      const words = conditions.map(({ type, status, reason }) => `${type}=${status}/${reason}`).sort();
      // That of a space stays once it was needed.
      const finalizers = clusterID === undefined && state === undefined ? [] : object.metadata.finalizers;
      return [keyOf(object), clusterID, state, finalizers, ...words].join(' ');
    });
    const secrets = this.#kube
      .all(SECRETS)
      .map((secret) =>
        [keyOf(secret), secret.metadata.finalizers, ...Object.keys(contentsOf(secret)).sort()].join(' '),
      );
    return JSON.stringify({ clusters, objects, secrets }).replaceAll(UID, 'uid');
  }
}

/** Of any kind of ours: what they have in common is written as a DatabaseCluster's. */
export function statusOf(object: FakeObject | undefined): ClusterStatus {
  return object === undefined ? readStatus(undefined) : remembered(statuses, object, readStatus);
}

type ClusterStatus = ReturnType<typeof readStatus>;

function readStatus(object: FakeObject | undefined) {
  return parseStatus(databaseClusterDefinition, object?.['status']);
}

export function specOf(object: FakeObject): Readonly<Record<string, unknown>> {
  return (object['spec'] ?? {}) as Readonly<Record<string, unknown>>;
}

export function readyOf(object: FakeObject): string {
  const { observedGeneration, conditions = [] } = statusOf(object);
  if (observedGeneration !== object.metadata.generation) return 'stale';
  const condition = conditions.find(({ type }) => type === 'Ready');
  return `${condition?.status} ${condition?.reason}`;
}

export function contentsOf(secret: FakeObject): Readonly<Record<string, string>> {
  return remembered(contents, secret, (object) => {
    const entries = Object.entries((object['data'] ?? {}) as Record<string, string>);
    return Object.fromEntries(entries.map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]));
  });
}

// What is stored never changes: it is read once, however often invariants look at it.
const statuses = new WeakMap<FakeObject, ClusterStatus>();
const contents = new WeakMap<FakeObject, Readonly<Record<string, string>>>();

function remembered<T>(known: WeakMap<FakeObject, T>, object: FakeObject, read: (object: FakeObject) => T): T {
  const found = known.get(object);
  if (found !== undefined) return found;
  const value = read(object);
  known.set(object, value);
  return value;
}
