import { Logins } from '../../src/database/logins.ts';
import { createConfigMaps } from '../../src/kinds/config-maps.ts';
import { databaseKind } from '../../src/kinds/database/index.ts';
import { DATABASES } from '../../src/kinds/database/resource.ts';
import { DatabaseMemory } from '../../src/kinds/database/world.ts';
import { DATABASE_CLUSTERS } from '../../src/kinds/databasecluster/resource.ts';
import { databaseClusterDefinition } from '../../src/kinds/databasecluster/schema.ts';
import type { SpaceConnections } from '../../src/kinds/databasespace/connection/connections.ts';
import { databaseUserKind } from '../../src/kinds/databaseuser/index.ts';
import { DATABASE_USERS } from '../../src/kinds/databaseuser/resource.ts';
import { UserMemory } from '../../src/kinds/databaseuser/world.ts';
import { definitions } from '../../src/kinds/definitions.ts';
import { createSecrets } from '../../src/kinds/secrets.ts';
import type { ServerWorld } from '../../src/kinds/server/access.ts';
import { Servers } from '../../src/kinds/server/servers.ts';
import { type Resource, SECRETS } from '../../src/kube/api.ts';
import { type KubeObject, keyOf, splitKey } from '../../src/kube/object.ts';
import type { Kind, StatusBase } from '../../src/runtime/kind.ts';
import { type Outcome, reconcile } from '../../src/runtime/reconcile.ts';
import { FakeKube } from '../../src/sandbox/fake-kube.ts';
import { secretsOf } from '../support/secrets.ts';
import { type ServerSetting, serverClientOf } from './server-setting.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Objects of the kinds that are on a server, and the operator's own code for them, with an in-memory Kubernetes API. */
export interface KindsOnServer {
  readonly database: ObjectOnServer;
  readonly user: ObjectOnServer;
  /** The contents of a Secret. */
  secret(name: string): Fields;
}

/** One object, `shop/<name>`. */
export interface ObjectOnServer {
  create(name: string, spec?: Fields): Promise<void>;
  edit(name: string, spec: Fields): Promise<void>;
  annotate(name: string, annotations: Fields): Promise<void>;
  remove(name: string): Promise<void>;
  /** Passes until Ready is this ("status reason"; "gone": the object is gone), and nothing is left to do. */
  until(name: string, ready: string): Promise<KubeObject | undefined>;
}

const MAX_PASSES = 200;
const SPACE = 'shop/production';

/** The server is treated as that of a running cluster whose admin login is the setting's. */
export async function kindsOnServer(setting: ServerSetting): Promise<KindsOnServer> {
  const { clock, random, login } = setting;
  const statusDefaults = Object.fromEntries(definitions.map(({ plural }) => [plural, { observedGeneration: -1 }]));
  const kube = new FakeKube({ now: clock.now, random, statusDefaults });
  const beganMs = clock.now();
  await kube.create(DATABASE_CLUSTERS, 'shop', { metadata: { name: 'orders' } });
  await kube.create(SECRETS, 'shop', { metadata: { name: 'orders-admin' }, data: encoded(login) });
  const secrets = createSecrets(kube, secretsOf(kube));
  const logins = new Logins('', () => serverClientOf(setting));
  // As the space of that very server would have it, even with http.
  const findServerURL = () => setting.baseURL;
  const connection = { factoryLogin: login, verifyIntervalMs: 0, logins: () => logins, findServerURL };
  const shared: ServerWorld = {
    // Of a space, only what leads to the server matters here.
    connections: { get: () => connection } as unknown as SpaceConnections,
    cluster: () => clusterAt(setting),
    clusterKeys: () => [],
    sharedWith: () => undefined,
    watches: () => true,
    namespaceLabels: async () => ({}),
    hasSpace: (key) => key === SPACE,
    servers: new Servers({ clock, secrets, onLoginRefused: () => {} }),
  };
  const common = { ...shared, api: kube, clock };
  const refuseDrift = (_key: string, what: string) => {
    throw new Error(`Nobody else was at work, but there is drift: ${what}`);
  };
  const objectOf = (resource: Resource) => (key: string) =>
    kube.all(resource).find((each) => keyOf(each) === key) as unknown as KubeObject | undefined;
  const databases = databaseKind({
    ...common,
    configMaps: createConfigMaps(kube, { get: () => undefined }),
    database: objectOf(DATABASES),
    claimants: () => [],
    memory: new DatabaseMemory('conformance', () => beganMs),
    onSchemaCorrected: refuseDrift,
    onLeft: refuseDrift,
  });
  const users = databaseUserKind({
    ...common,
    random,
    secrets,
    user: objectOf(DATABASE_USERS),
    claimants: () => [],
    memory: new UserMemory(() => beganMs),
    onDriftCorrected: refuseDrift,
    onLeft: refuseDrift,
  });
  return {
    database: objects(setting, kube, databases),
    user: objects(setting, kube, users),
    secret: (name) => {
      const { data = {} } = (kube.all(SECRETS).find(({ metadata }) => metadata.name === name) ?? {}) as {
        data?: Fields;
      };
      const entries = Object.entries(data).map(([key, value]) => [
        key,
        Buffer.from(String(value), 'base64').toString(),
      ]);
      return Object.fromEntries(entries);
    },
  };
}

function encoded(data: Fields): Fields {
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(String(value)).toString('base64')]),
  );
}

function clusterAt({ baseURL, clock }: ServerSetting): KubeObject {
  const createdAt = new Date(clock.now()).toISOString();
  const condition = { status: 'True', reason: 'Tried', message: '', lastTransitionTime: createdAt };
  return {
    apiVersion: 'mooring.dev/v1alpha1',
    kind: databaseClusterDefinition.kind,
    metadata: { namespace: 'shop', name: 'orders', uid: 'orders', resourceVersion: '1' },
    spec: { spaceRef: { name: 'production' } },
    status: {
      observedGeneration: 1,
      clusterID: 'orders',
      createdAt: '2026-11-21T10:00:00Z',
      endpoint: baseURL,
      servers: [{ address: new URL(baseURL).host, status: 'running' }],
      credentials: { secretName: 'orders-admin', secretResourceVersion: '1', endpoint: baseURL },
      conditions: ['Ready', 'CredentialsSecured', 'Available'].map((type) => ({ ...condition, type })),
    },
  };
}

function objects<Spec, Status extends StatusBase, Observation, Step>(
  { clock, pause }: ServerSetting,
  kube: FakeKube,
  kind: Kind<Spec, Status, Observation, Step>,
): ObjectOnServer {
  const { resource, definition } = kind;
  const read = (name: string) =>
    kube.all(resource).find(({ metadata }) => metadata.name === name) as unknown as KubeObject | undefined;
  const patch = async (name: string, change: { readonly metadata?: object; readonly spec?: Fields }) => {
    const resourceVersion = read(name)?.metadata.resourceVersion;
    await kube.patch(
      resource,
      { namespace: 'shop', name },
      { ...change, metadata: { ...change.metadata, resourceVersion } },
    );
  };
  const readyOf = (name: string) => {
    const object = read(name);
    if (object === undefined) return 'gone';
    const { conditions = [] } = object.status as {
      conditions?: readonly { type: string; status: string; reason: string }[];
    };
    const ready = conditions.find(({ type }) => type === 'Ready');
    return `${ready?.status} ${ready?.reason}`;
  };
  const pass = (name: string): Promise<Outcome> =>
    reconcile(
      kind,
      {
        api: kube,
        clock,
        read: (key) => read(splitKey(key).name),
        written: () => {},
        onUntold: () => {},
        onReady: () => {},
        onStep: () => {},
        failsForMs: () => Number.POSITIVE_INFINITY,
        conflictsLast: false,
        tellAlways: false,
      },
      `shop/${name}`,
      new AbortController().signal,
    );
  return {
    async create(name, spec = {}) {
      await kube.create(resource, 'shop', {
        apiVersion: 'mooring.dev/v1alpha1',
        kind: definition.kind,
        metadata: { name },
        spec: { clusterRef: { name: 'orders' }, ...spec },
      });
    },
    edit: (name, spec) => patch(name, { spec }),
    annotate: (name, annotations) => patch(name, { metadata: { annotations } }),
    remove: async (name) => kube.remove(resource, { namespace: 'shop', name }),
    async until(name, wanted) {
      for (let passes = 0; passes < MAX_PASSES; passes++) {
        const outcome = await pass(name);
        if (outcome.next !== 'again' && readyOf(name) === wanted) return read(name);
        await pause();
      }
      throw new Error(`Waited in vain for ${wanted}: ${JSON.stringify(read(name)?.status)}`);
    },
  };
}
