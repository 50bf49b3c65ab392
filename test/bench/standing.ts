import { randomUUID } from 'node:crypto';
import { generatePassword, systemRandom } from '../../src/base/random.ts';
import { DATABASE_CLUSTERS } from '../../src/kinds/databasecluster/resource.ts';
import { DATABASE_USERS } from '../../src/kinds/databaseuser/resource.ts';
import { databaseUserDefinition } from '../../src/kinds/databaseuser/schema.ts';
import { SECRET_ANNOTATIONS } from '../../src/kinds/databaseuser/secret/annotations.ts';
import { newSecret, wantedSecret } from '../../src/kinds/databaseuser/secret/content.ts';
import { type AnyObject, type Resource, SECRETS } from '../../src/kube/api.ts';
import type { KubeObject } from '../../src/kube/object.ts';
import { etcdSocket } from '../../tools/control-plane/components.ts';
import { Etcd } from './etcd.ts';
import { NAMESPACE, userManifest } from './manifests.ts';
import { Tracker } from './measure/tracker.ts';
import { eachOf, type Setting } from './setting.ts';
import { copiesInCloud } from './standing-cloud.ts';
import { untilQuiet } from './wait.ts';

/*
 * Thousands of objects that are already Ready. The operator makes one cluster and one user; all others are copies of these,
 * with their own names, logins, addresses and times, and the cloud is given the clusters. If the copies are right, the
 * operator writes nothing when it starts.
 */

export interface StandingCluster {
  readonly name: string;
  readonly space: string;
  /** The address of its server. */
  readonly address: string;
  /** Milliseconds since 1970. Unique, as this is the cluster's identity. */
  readonly createdAt: number;
  readonly adminPassword: string;
  readonly users: readonly { readonly name: string; readonly password: string }[];
}

const TIMEOUT_MS = 60_000;
const CLUSTER = 'standing-0';
const USER = 'standing-user-0';

/** Returns all clusters, with the users spread evenly. The first cluster is the model, whose address is given. */
export function standingClusters(
  count: number,
  users: number,
  spaces: readonly string[],
  model: { readonly address: string; readonly createdAt: number },
): readonly StandingCluster[] {
  const colon = model.address.lastIndexOf(':');
  const [host, port] = [model.address.slice(0, colon), Number(model.address.slice(colon + 1))];
  return Array.from({ length: count }, (_, index) => ({
    name: `standing-${index}`,
    space: spaces[index % spaces.length] ?? '',
    address: `${host}:${port + index}`,
    createdAt: model.createdAt + index,
    adminPassword: generatePassword(systemRandom),
    users: Array.from({ length: Math.ceil((users - index) / count) }, (_, round) => ({
      name: `standing-user-${index + round * count}`,
      password: generatePassword(systemRandom),
    })),
  }));
}

/** Leaves the setting with this many Ready objects, and without an operator. */
export async function standingCrowd(setting: Setting, clusters: number, users: number): Promise<void> {
  const { cloud, controlPlane, spaces, signal } = setting;
  const model = await bringAboutModel(setting);
  const { status } = model.cluster;
  const createdAt = Date.parse(status.createdAt);
  if (timeText(createdAt) !== status.createdAt) throw new Error(`Cannot write times such as ${status.createdAt}`);
  const address = status.servers[0]?.address ?? '';
  const wanted = standingClusters(clusters, users, spaces, { address, createdAt });
  await cloud.restart((state) => copiesInCloud(state, wanted), signal);
  const etcd = new Etcd(etcdSocket(controlPlane.directory));
  try {
    await eachOf(wanted, async (cluster) => {
      await writeCluster(etcd, model, cluster);
      for (const user of cluster.users) await writeUser(etcd, model, cluster, user);
    });
  } finally {
    await etcd.close();
  }
}

type Spec = Readonly<Record<string, unknown>>;

interface ClusterStatus {
  readonly createdAt: string;
  readonly servers: readonly { readonly address: string }[];
  readonly endpoint: string;
  readonly credentials: object;
  readonly place: object;
}

interface Model {
  readonly cluster: KubeObject<Spec, ClusterStatus> & { readonly status: ClusterStatus };
  readonly clusterSecret: Secret;
  readonly user: KubeObject<Spec> & { readonly status: { readonly connection: object } };
  readonly userSecret: Secret;
}

type Secret = KubeObject & { readonly data: Readonly<Record<string, string>> };

const timeText = (ms: number) => new Date(ms).toISOString();

async function bringAboutModel(setting: Setting): Promise<Model> {
  const { api, cloud, tracker, signal } = setting;
  const users = new Tracker(api, NAMESPACE, DATABASE_USERS);
  try {
    await cloud.setProvisionTime('0s');
    await setting.createClusters([CLUSTER]);
    await api.create(DATABASE_USERS, NAMESPACE, userManifest(USER, CLUSTER), signal);
    const operator = await setting.startOperator();
    await tracker.until(() => tracker.readyAt(CLUSTER) !== undefined, 'the model is Ready', TIMEOUT_MS, signal);
    await users.until(() => users.readyAt(USER) !== undefined, 'its user is Ready', TIMEOUT_MS, signal);
    await untilQuiet(setting);
    await operator.end();
  } finally {
    users.stop();
  }
  const read = async <T extends AnyObject>(resource: Resource, name: string) => {
    const object = await api.get(resource, { namespace: NAMESPACE, name }, signal);
    if (object === undefined) throw new Error(`There is no ${resource.kind} ${name}`);
    return object as T;
  };
  return {
    cluster: await read(DATABASE_CLUSTERS, CLUSTER),
    clusterSecret: await read(SECRETS, `${CLUSTER}-admin`),
    user: await read(DATABASE_USERS, USER),
    userSecret: await read(SECRETS, `${USER}-connection`),
  };
}

async function writeCluster(etcd: Etcd, model: Model, wanted: StandingCluster): Promise<void> {
  const data = { username: encoded('admin'), password: encoded(wanted.adminPassword) };
  const secret = { ...copied(model.clusterSecret, model, wanted), data };
  const secretResourceVersion = await etcd.put(SECRETS, secret);
  const cluster = copied(model.cluster, model, wanted);
  const { status } = cluster;
  const credentials = { ...status.credentials, secretResourceVersion };
  await etcd.put(DATABASE_CLUSTERS, {
    ...cluster,
    spec: { ...cluster.spec, spaceRef: { name: wanted.space } },
    status: { ...status, credentials, place: { ...status.place, spaceID: wanted.space } },
  });
}

async function writeUser(
  etcd: Etcd,
  model: Model,
  cluster: StandingCluster,
  { name, password }: StandingCluster['users'][number],
): Promise<void> {
  const user = copied(model.user, model, cluster, name);
  const secret = copied(model.userSecret, model, cluster, name);
  const { endpoint } = copied(model.cluster.status, model, cluster);
  const { metadata, spec } = user;
  const {
    data,
    annotations = {},
    ownerReferences = [],
  } = newSecret(
    wantedSecret(
      { metadata, spec: databaseUserDefinition.spec.parse(spec) },
      { endpoint, address: cluster.address, addresses: cluster.address },
      { current: password, next: undefined },
      { at: secret.metadata.annotations?.[SECRET_ANNOTATIONS.passwordChangedAt] ?? '' },
    ),
  );
  const whole = {
    ...secret,
    metadata: { ...secret.metadata, annotations, ownerReferences },
    data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, encoded(value)])),
  };
  const secretResourceVersion = await etcd.put(SECRETS, whole);
  const { connection, ...status } = user.status;
  await etcd.put(DATABASE_USERS, {
    ...user,
    status: { ...status, connection: { ...connection, secretResourceVersion } },
  });
}

function encoded(text: string): string {
  return Buffer.from(text).toString('base64');
}

/** Returns a copy of the model's object for another cluster or user, with its own uid. */
function copied<T>(object: T, { cluster }: Model, to: StandingCluster, user = USER): T {
  const { createdAt, servers } = cluster.status;
  const text = JSON.stringify(object)
    .replaceAll(USER, user)
    .replaceAll(CLUSTER, to.name)
    .replaceAll(servers[0]?.address ?? '', to.address)
    .replaceAll(createdAt, timeText(to.createdAt));
  const copy = JSON.parse(text);
  return copy.metadata === undefined ? copy : { ...copy, metadata: { ...copy.metadata, uid: randomUUID() } };
}
