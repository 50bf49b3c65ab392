import { GROUP, VERSION } from '../../src/base/group.ts';
import { databaseClusterDefinition } from '../../src/kinds/databasecluster/schema.ts';
import { EVENTS, type Resource, SECRETS } from '../../src/kube/api.ts';
import { parseStatus } from '../../src/kube/definition.ts';
import { LEASES } from '../../src/kube/lease.ts';
import { keyOf, objectKey, splitKey } from '../../src/kube/object.ts';
import type { FakeKube, FakeObject } from '../../src/sandbox/fake-kube.ts';
import type { Cluster } from '../../src/simulator/cloud/state.ts';
import type { Simulator } from '../../src/simulator/interface.ts';

/** The namespace of all objects that are named without one. */
export const NAMESPACE = 'shop';

/** Parses a name as scenarios use it: `namespace/name`, or a name alone for an object in NAMESPACE. */
export function refOf(name: string): { readonly namespace: string; readonly name: string } {
  return name.includes('/') ? splitKey(name) : { namespace: NAMESPACE, name };
}

/** Returns the name, as scenarios use it, of the object that a reference names: in its own namespace unless it says otherwise. */
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

/** Reads what exists: objects as the API server has them, clusters as the cloud has them. */
export class View {
  readonly #kube: FakeKube;
  readonly #simulator: Simulator;
  /** Clusters that were left behind without an object, where nobody could have prevented it. */
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

  /** Returns Ready as "status reason", `gone` without the object, and `stale` if it is of an earlier generation. */
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

  /** Reports whether no objects of ours and no Secrets are left in a namespace. */
  isEmpty(namespace = NAMESPACE): boolean {
    return [SECRETS, ...KINDS].every((resource) => this.#kube.all(resource, namespace).length === 0);
  }

  /** Returns all objects as text, but only the metadata of those that may hold secrets. */
  shown(): string {
    const whole = [...KINDS, EVENTS, LEASES].flatMap((resource) => this.#kube.all(resource));
    const rest = [SECRETS, CONFIG_MAPS].flatMap((resource) => this.#kube.all(resource));
    return JSON.stringify([...whole, ...rest.map(({ metadata }) => metadata)]);
  }

  /** Returns what exists as text, without what differs between any two runs. */
  summary(): string {
    const clusters = this.clusters()
      .filter((cluster) => !this.left.has(cluster))
      .map(({ id, status, storageSizeGB, machineType, backup }) =>
        [id, status, storageSizeGB, machineType, JSON.stringify(backup)].join(' '),
      );
    const objects = KINDS.flatMap((resource) => this.#kube.all(resource)).map((object) => {
      const { conditions = [], clusterID, state } = statusOf(object);
      const words = conditions.map(({ type, status, reason }) => `${type}=${status}/${reason}`).sort();
      // The finalizer of a space stays once it was needed.
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

/** Returns the status of an object of any kind of ours: the fields that kinds share are those of a DatabaseCluster. */
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

// Stored objects never change: each is parsed once, however often invariants look at it.
const statuses = new WeakMap<FakeObject, ClusterStatus>();
const contents = new WeakMap<FakeObject, Readonly<Record<string, string>>>();

function remembered<T>(known: WeakMap<FakeObject, T>, object: FakeObject, read: (object: FakeObject) => T): T {
  const found = known.get(object);
  if (found !== undefined) return found;
  const value = read(object);
  known.set(object, value);
  return value;
}
