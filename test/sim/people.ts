import { isDeepStrictEqual } from 'node:util';
import { API_VERSION, GROUP } from '../../src/base/group.ts';
import { OWNER_LABEL } from '../../src/kinds/secrets.ts';
import { NAMESPACES, type Resource, SECRETS } from '../../src/kube/api.ts';
import { keyOf, objectKey } from '../../src/kube/object.ts';
import type { FakeObject } from '../../src/sandbox/fake-kube.ts';
import type { Simulator } from '../../src/simulator/interface.ts';
import { encoded } from '../support/secrets.ts';
import { CLUSTER_SPEC } from '../support/specs.ts';
import { Meddling } from './meddling.ts';
import { isOurs } from './owned.ts';
import { UnheldObjects } from './unheld.ts';
import {
  CLUSTERS,
  CONFIG_MAPS,
  KINDS,
  NAMESPACE,
  readyOf,
  referred,
  refOf,
  SPACES,
  specOf,
  statusOf,
  USERS,
} from './view.ts';
import type { World } from './world.ts';

type Fields = Readonly<Record<string, unknown>>;

const LEVELS = ['read', 'write', 'admin'] as const;
/** The token of a level, as the simulated cloud issues it. */
export const tokenOf = (level: string) => `${level}-secret-0123456789`;
const SECOND_MS = 1_000;
export const MINUTE_MS = 60_000;
/** How often Kubernetes deletes what a namespace holds, until it is empty. */
const TERMINATION_ROUND_MS = 5 * SECOND_MS;

/** What is before the level in the names of a space's tokens. */
function prefixOf(spaceID: string): string {
  return spaceID === 'production' ? '' : `${spaceID}-`;
}

/** The spec of a DatabaseSpace for a space of the simulated cloud. */
export function spaceSpec(spaceID: string, baseURL: string): Fields {
  const prefix = prefixOf(spaceID);
  return {
    baseURL,
    teamID: 'acme',
    spaceID,
    apiTokens: LEVELS.map((level) => ({ level, secretRef: { name: `cloud-${prefix}${level}` } })),
    defaultCredentialsSecretRef: { name: 'factory-login' },
  };
}

/** What people do with kubectl and in the cloud's console, and what Kubernetes does for them. */
export class People {
  readonly #world: World;
  /** Secrets that people wrote, by namespace/name, with the contents that nobody else may change. */
  readonly secrets = new Map<string, Readonly<Record<string, string>>>();

  /** What was restored beside its original, by uid: since when Ready was as the backup shows it. */
  readonly #copies = new Map<string, string | undefined>();

  /** Objects whose finalizers somebody removed. The operator may still finish what it was doing for them. */
  readonly unheld: UnheldObjects;
  /** When each namespace began to terminate, by the monotonic clock. */
  readonly #terminating = new Map<string, number>();
  readonly meddling: Meddling;

  constructor(world: World) {
    this.#world = world;
    this.meddling = new Meddling(world);
    this.unheld = new UnheldObjects(world);
  }

  /** Creates a space, named as in the cloud, and the Secrets that it names. */
  async createSpace(name = 'production', spec: Fields = {}): Promise<void> {
    const { namespace, name: spaceID } = refOf(name);
    const prefix = prefixOf(spaceID);
    for (const level of LEVELS.map((each) => `${prefix}${each}`)) {
      await this.putSecret(objectKey(namespace, `cloud-${level}`), {
        clientID: `${level}-id`,
        clientSecret: tokenOf(level),
      });
      this.#world.invariants.mustNotBeShown(tokenOf(level));
    }
    const login = objectKey(namespace, 'factory-login');
    if (!this.secrets.has(login)) await this.putSecret(login, { username: 'admin', password: 'password' });
    await this.create(SPACES, name, { ...spaceSpec(spaceID, this.#world.simulator.baseURL), ...spec });
  }

  createCluster(spec: Fields = {}, name = 'orders'): Promise<void> {
    return this.create(CLUSTERS, name, { ...CLUSTER_SPEC, ...spec });
  }

  /** Creates an object, unless its namespace is being deleted. */
  async create(resource: Resource, name: string, spec: Fields, more: Fields = {}): Promise<void> {
    const { namespace, name: alone } = refOf(name);
    if (this.#terminating.has(namespace)) return;
    const metadata = { name: alone, ...more };
    const object = { apiVersion: API_VERSION, kind: resource.kind, metadata, spec };
    await this.#world.kube.create(resource, namespace, object);
  }

  /** Creates or changes a Secret that belongs to people. */
  async putSecret(name: string, data: Readonly<Record<string, string>>): Promise<void> {
    const { namespace, name: alone } = refOf(name);
    const body = { metadata: { name: alone }, data: encoded(data) };
    this.secrets.set(objectKey(namespace, alone), data);
    if (this.#find(SECRETS, name) === undefined) await this.#world.kube.create(SECRETS, namespace, body);
    else await this.#patch(SECRETS, name, { data: body.data });
  }

  async putConfigMap(name: string, data: Readonly<Record<string, string>>): Promise<void> {
    await this.#world.kube.create(CONFIG_MAPS, NAMESPACE, { metadata: { name }, data });
  }

  /** Creates a namespace with labels, for selectors. */
  createNamespace(name: string, labels: Readonly<Record<string, string>>): void {
    this.#world.kube.put(NAMESPACES, { metadata: { name, uid: `uid of ${name}`, resourceVersion: '', labels } });
  }

  /** Restores a backup of the objects and Secrets of NAMESPACE, with status, into another namespace. */
  async restoreInto(namespace: string): Promise<void> {
    const { kube, invariants } = this.#world;
    this.createNamespace(namespace, {});
    for (const resource of [SECRETS, ...KINDS])
      for (const object of kube.all(resource, NAMESPACE)) {
        const { metadata, status, ...rest } = object;
        const { name, labels = {}, annotations = {}, finalizers = [] } = metadata;
        const copied = await kube.create(resource, namespace, {
          ...rest,
          metadata: { name, labels, annotations, finalizers },
        });
        const data = this.secrets.get(objectKey(NAMESPACE, name));
        if (resource === SECRETS && data !== undefined) this.secrets.set(objectKey(namespace, name), data);
        this.#copies.set(copied.metadata.uid, readySince(object));
        if (status === undefined) continue;
        const options = { subresource: 'status' } as const;
        invariants.peopleWrite(() => kube.patch(resource, { namespace, name }, { status }, options));
      }
  }

  /** Whether the object was restored beside its original, and its status still says what that one's said. */
  repeatsOriginal(object: FakeObject): boolean {
    const { uid } = object.metadata;
    return this.#copies.has(uid) && this.#copies.get(uid) === readySince(object);
  }

  /** Whether the object was restored beside its original, and says nothing that others may rely on. */
  isMereCopy(object: FakeObject): boolean {
    return (
      this.repeatsOriginal(object) || (this.#copies.has(object.metadata.uid) && !readyOf(object).startsWith('True'))
    );
  }

  /** Edits the object, if it exists. */
  async edit(
    change: { readonly spec?: Fields; readonly annotations?: Fields },
    name = 'orders',
    resource = CLUSTERS,
  ): Promise<void> {
    const { spec, annotations } = change;
    if (this.#find(resource, name) === undefined) return;
    const metadata = annotations === undefined ? {} : { metadata: { annotations } };
    await this.#patch(resource, name, { ...(spec === undefined ? {} : { spec }), ...metadata });
  }

  remove(name = 'orders', resource = CLUSTERS): void {
    const ref = refOf(name);
    const object = this.#find(resource, name);
    const isTheirs = resource === SECRETS && this.secrets.delete(objectKey(ref.namespace, ref.name));
    if (resource === SECRETS && object !== undefined && !isTheirs) this.#lose(object);
    this.#world.kube.remove(resource, ref);
    if (object !== undefined && this.unheld.isExcused(object)) this.#world.invariants.mayBeLeft(object);
  }

  /** Deletes the space or cluster that the object belongs to. */
  removeAround(name: string, resource: Resource): void {
    const object = this.#find(resource, name);
    const space = object && referred(object, 'spaceRef');
    const cluster = object && referred(object, 'clusterRef');
    if (space !== undefined) this.remove(space, SPACES);
    if (cluster !== undefined) this.remove(cluster, CLUSTERS);
  }

  /** Changes a Secret that the operator wrote. */
  async scribble(name: string, patch: Fields): Promise<void> {
    const secret = this.#find(SECRETS, name);
    if (secret === undefined) return;
    this.#lose(secret);
    // Then it is the login of another user.
    const { username } = (patch['data'] ?? {}) as Fields;
    if (username !== undefined) this.#lose({ ...secret, data: { ...(secret['data'] as Fields), username } });
    await this.#patch(SECRETS, name, patch);
  }

  /** Replaces the object like `kubectl replace` and some Git tools: the manifest has no finalizers. */
  async replace(name: string, resource: Resource): Promise<void> {
    const { uid, deletionTimestamp } = this.#find(resource, name)?.metadata ?? {};
    if (uid === undefined || deletionTimestamp !== undefined) return;
    this.unheld.add(uid);
    this.meddling.replaced(uid);
    await this.#patch(resource, name, { metadata: { finalizers: null } });
  }

  /** Edits the object, and after five minutes undoes what nobody has changed in the meantime. */
  async detour(name: string, resource: Resource, spec: Fields): Promise<void> {
    const object = this.#find(resource, name);
    if (object === undefined) return;
    const before = specOf(object);
    this.#later(5 * MINUTE_MS, async () => {
      const found = this.#find(resource, name);
      if (found === undefined) return;
      const left = Object.entries(spec).filter(([field, value]) => isDeepStrictEqual(specOf(found)[field], value));
      await this.edit(
        { spec: Object.fromEntries(left.map(([field]) => [field, before[field] ?? null])) },
        name,
        resource,
      );
    });
    await this.edit({ spec }, name, resource);
  }

  /** Suspends the object's cluster for five minutes. */
  async suspend(name: string, resource: Resource): Promise<void> {
    const object = this.#find(resource, name);
    const cluster = resource === CLUSTERS ? name : object && referred(object, 'clusterRef');
    if (cluster !== undefined) await this.detour(cluster, CLUSTERS, { state: 'Suspended' });
  }

  pause(name: string, resource: Resource): Promise<void> {
    this.#later(5 * MINUTE_MS, () => this.edit({ annotations: { [`${GROUP}/paused`]: null } }, name, resource));
    return this.edit({ annotations: { [`${GROUP}/paused`]: 'true' } }, name, resource);
  }

  /** Deletions on servers whose answer was lost, and that have yet to land. */
  lateDeletions = 0;

  /** Deletes the object, and creates it again as soon as it is gone. */
  recreate(name: string, resource: Resource): void {
    const object = this.#find(resource, name);
    if (object === undefined) return;
    this.remove(name, resource);
    const again = async () => {
      // A deletion that lands later would delete what the new object makes: docs/reliability.md names this limit.
      if (this.#find(resource, name) !== undefined || this.lateDeletions > 0) return this.#later(SECOND_MS, again);
      await this.create(resource, name, object['spec'] as Fields);
    };
    this.#later(SECOND_MS, again);
  }

  async replaceTokens(): Promise<void> {
    const tokens = [...this.secrets].flatMap(([name, { clientID }]) =>
      clientID === undefined ? [] : [{ name, clientID, level: clientID.slice(0, -'-id'.length) }],
    );
    const put = async (secretOf: (level: string) => string) => {
      for (const { name, clientID, level } of tokens)
        if (this.#find(SECRETS, name) !== undefined)
          await this.putSecret(name, { clientID, clientSecret: secretOf(level) });
    };
    this.#later(5 * MINUTE_MS, () => put(tokenOf));
    const wrong = (level: string) => `wrong-${level}-0123456789`;
    for (const { level } of tokens) this.#world.invariants.mustNotBeShown(wrong(level));
    await put(wrong);
  }

  /** Sets the password of a user on a server, who is created if need be. */
  setPassword(id: string, username: string, password: string): void {
    this.#onServer(id, username, (simulator) => simulator.setPassword(id, username, password));
  }

  deleteUser(id: string, username: string): void {
    this.#onServer(id, username, (simulator) => simulator.deleteUser(id, username));
  }

  #onServer(id: string, username: string, change: (simulator: Simulator) => void): void {
    const cluster = this.#world.view.cluster(id);
    if (cluster !== undefined) this.#world.invariants.lost.lose(cluster, username);
    this.#world.others(change);
  }

  #lose(secret: FakeObject): void {
    const { invariants, view } = this.#world;
    invariants.lost.loseIn(secret, view.objects(), view.clusters());
  }

  /** Deletes the Secrets that the operator wrote: then nobody knows the passwords. */
  loseSecrets(): void {
    for (const secret of this.#world.kube.all(SECRETS)) if (isOurs(secret)) this.remove(keyOf(secret), SECRETS);
  }

  /** Returns since when nothing can be created in the namespace, by the monotonic clock. */
  terminatingSince(namespace = NAMESPACE): number | undefined {
    return this.#terminating.get(namespace);
  }

  /** Deletes the namespace: Kubernetes deletes what is in it, Secrets first, and lets nobody create anything there. */
  terminate(namespace = NAMESPACE): void {
    const { kube, invariants } = this.#world;
    // Secrets of users are deleted together with the users, so no login is lost. Those of clusters are lost, even of retained ones.
    for (const cluster of kube.all(CLUSTERS, namespace)) invariants.lost.loseOf(cluster, this.#world.view.clusters());
    for (const secret of kube.all(SECRETS, namespace))
      if (secret.metadata.labels?.[OWNER_LABEL] !== undefined) this.#lose(secret);
    this.#terminating.set(namespace, this.#world.clock.monotonic());
    kube.terminate(namespace);
    const round = async () => {
      const left = [SECRETS, CONFIG_MAPS, ...KINDS].flatMap((resource) =>
        kube.all(resource, namespace).map(({ metadata: { name } }) => ({ resource, name })),
      );
      for (const { resource, name } of left) kube.remove(resource, { namespace, name });
      if (left.length > 0) this.#later(TERMINATION_ROUND_MS, round);
      else kube.remove(NAMESPACES, { name: namespace });
    };
    void round();
  }

  /** Rewrites statuses as an earlier version would have: without later fields. */
  ageStatuses(): void {
    const { kube, invariants } = this.#world;
    for (const resource of KINDS) {
      for (const object of kube.all(resource)) {
        const { namespace, name } = object.metadata;
        const status = { lastHandledReconcileAt: null, ...laterFields(resource, object) };
        invariants.peopleWrite(() => kube.patch(resource, { namespace, name }, { status }, { subresource: 'status' }));
      }
    }
  }

  /** Patches as a person does: a patch that changes nothing is no fault of the operator. */
  async #patch(resource: Resource, name: string, patch: object): Promise<void> {
    const { kube, invariants } = this.#world;
    await invariants.peopleWrite(() => kube.patch(resource, refOf(name), patch));
  }

  #find(resource: Resource, name: string): FakeObject | undefined {
    return this.#world.view.object(name, resource);
  }

  #later(ms: number, work: () => Promise<void> | void): void {
    this.#world.clock.after(ms, () => void work());
  }
}

function readySince(object: FakeObject): string | undefined {
  return statusOf(object).conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime;
}

/**
 * Returns a patch that removes the fields that an earlier version did not write. `operation.generation` stays: nobody can tell without it
 * whether a cluster of another size is what an earlier spec asked for, and then it is taken for that.
 */
function laterFields(resource: Resource, object: FakeObject): Fields {
  const { operation, credentials, connection, appliedSchema } = object['status'] as Readonly<Record<string, object>>;
  const unsigned = operation === undefined ? {} : { operation: { by: null } };
  switch (resource) {
    case SPACES:
      return { keptSecrets: null, unmanagedClusters: null };
    case CLUSTERS:
      return {
        ...unsigned,
        ...(credentials === undefined ? {} : { credentials: { factoryVersion: null, verifiedAt: null } }),
        backup: null,
        unverifiedSecretName: null,
      };
    case USERS:
      return connection === undefined ? {} : { connection: { sourceResourceVersion: null } };
    default: {
      const sources = (appliedSchema ?? []) as readonly { readonly resourceVersion?: string }[];
      const applied = sources.map(({ resourceVersion: _, ...rest }) => rest);
      return { ...unsigned, foreignSchemaHash: null, ...(sources.length === 0 ? {} : { appliedSchema: applied }) };
    }
  }
}
