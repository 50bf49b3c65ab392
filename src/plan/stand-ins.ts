import { API_VERSION } from '../base/group.ts';
import { databaseClusterDefinition } from '../kinds/databasecluster/schema.ts';
import { databaseSpaceDefinition } from '../kinds/databasespace/schema.ts';
import { CLUSTER_SUSPENDED, clusterKeyOf } from '../kinds/server/access.ts';
import type { AnyObject } from '../kube/api.ts';
import { type Condition, findStatusCondition } from '../kube/condition.ts';
import type { ResourceDefinition } from '../kube/definition.ts';
import { type ObjectKey, objectKey, splitKey } from '../kube/object.ts';
import { type NodeName, nodeName, splitNode } from '../plugin/node-name.ts';
import { DEFAULT_VERSIONS } from '../simulator/simulator.ts';
import { clustersOf, databasesOf, type PlannedCluster, type PlannedObject, referred, usersOf } from './objects.ts';
import type { ToldPolicy } from './policy.ts';

/*
 * DatabaseClusters and DatabaseSpaces of other namespaces that the caller may not read. Without them, a plan would say that what is on
 * them waits, and stays when its object is deleted. So others stand in for them, which work, as far as the objects that name them know.
 */

export interface StandIns {
  readonly objects: readonly PlannedObject[];
  readonly notes: readonly string[];
}

/** Where clusters are of whose space nothing is known. */
const UNKNOWN_CLOUD = 'https://cloud.invalid';
const UNKNOWN_SERVER = { endpoint: 'https://server.invalid:8443', addresses: 'server.invalid:8443' };

/** `unread`: the DatabaseClusters and DatabaseSpaces that may not be read. */
export function standInsFor(
  unread: readonly NodeName[],
  objects: readonly PlannedObject[],
  { allowedBaseURLs: [baseURL = UNKNOWN_CLOUD] = [] }: Pick<ToldPolicy, 'allowedBaseURLs'>,
): StandIns {
  const keysOf = ({ kind }: ResourceDefinition) =>
    unread.map(splitNode).flatMap((node) => (node.kind === kind ? [node.key] : []));
  const clusters = keysOf(databaseClusterDefinition).map((key) => clusterFor(key, objects, baseURL));
  const spaces = keysOf(databaseSpaceDefinition).map((key) => spaceFor(key, objects, baseURL));
  const all = [...clusters, ...spaces];
  return {
    objects: all.flatMap((each) => each.objects),
    notes: all.map(({ note }) => note),
  };
}

/** An object that needs the one that may not be read. */
interface Dependent {
  readonly object: PlannedObject;
  readonly status: { readonly conditions?: readonly Condition[] | undefined };
}

interface StandIn {
  /** None if the object does not exist, as those that name it say. */
  readonly objects: readonly PlannedObject[];
  readonly note: string;
}

/** `missing`: the reason of what needs it if it does not exist. */
function standIn(
  definition: ResourceDefinition,
  key: ObjectKey,
  dependents: readonly Dependent[],
  missing: string,
  ...objects: readonly PlannedObject[]
): StandIn {
  const what = `${nodeName(definition.kind, key)} may not be read by you (get ${definition.plural})`;
  if (reasonsOf(dependents).has(missing))
    return { objects: [], note: `${what}, and does not exist, as objects that need it say: they are shown as waiting` };
  return { objects, note: `${what}: this plan assumes that it exists and works${exceptNow(dependents)}` };
}

/** What the first of them that waits says. */
function exceptNow(dependents: readonly Dependent[]): string {
  const [first] = dependents.flatMap(({ object, status }) => {
    const ready = findStatusCondition(status.conditions, 'Ready');
    const waits = ready?.reason === 'WaitingForCluster' || ready?.reason === 'WaitingForSpace';
    return waits ? [`${nodeName(object.definition.kind, object.key)} says now: ${ready.message}`] : [];
  });
  return first === undefined ? '' : `, although ${first}. Steps that need it wait until it does`;
}

/** A running cluster, or a suspended one, in a space of its own. */
function clusterFor(key: ObjectKey, objects: readonly PlannedObject[], baseURL: string): StandIn {
  const users = usersOf(objects).filter((user) => clusterKeyOf(user) === key);
  const databases = databasesOf(objects).filter((database) => clusterKeyOf(database) === key);
  const dependents = [...users, ...databases];
  const reasons = reasonsOf(dependents);
  const connections = users.flatMap(({ status: { connection } }) => connection ?? []);
  const seen = [...connections, ...databases.map(({ status }) => status)].flatMap(({ cluster }) => cluster ?? []);
  // If another cluster has taken its place since, not all of them have noticed.
  const createdAt = seen.toSorted().at(-1) ?? LONG_AGO;
  const { endpoint, addresses } = connections.find(({ cluster }) => cluster === createdAt) ?? UNKNOWN_SERVER;
  const isSuspended = reasons.has(CLUSTER_SUSPENDED);
  const { namespace, name } = splitKey(key);
  const space = `space-of-${name}`;
  const place = { baseURL, teamID: namespace, spaceID: name };
  const version = DEFAULT_VERSIONS[0];
  const made = { provider: 'gcp', region: 'europe-west2', machineType: 'c2d-highcpu-4', storageSizeGB: 10 };
  const spec = {
    ...made,
    spaceRef: { name: space },
    clusterID: 'cluster',
    version,
    state: isSuspended ? 'Suspended' : 'Running',
    allowedNamespaces: { from: reasons.has('ClusterNotAllowed') ? 'Same' : 'All' },
  };
  const status = {
    place,
    createdAt,
    version,
    clusterID: spec.clusterID,
    state: isSuspended ? 'suspended' : 'running',
    observed: { ...made, serverCount: 1 },
    credentials: { secretName: `${name}-admin`, secretResourceVersion: '0', endpoint },
    lastRotation: createdAt,
    ...(isSuspended
      ? {}
      : { endpoint, servers: addresses.split(',').map((address) => ({ address, status: 'running' })) }),
    conditions: conditionsOf('Ready', 'Synced', 'CredentialsSecured', ...(isSuspended ? [] : ['Available'])),
  };
  return standIn(
    databaseClusterDefinition,
    key,
    dependents,
    'ClusterNotFound',
    planned(databaseClusterDefinition, key, spec, status),
    spaceAt(objectKey(namespace, space), place, { serverURL: serverURLOf(endpoint, addresses) }),
  );
}

/** A connected space, with the clusters of the objects in it. */
function spaceFor(key: ObjectKey, objects: readonly PlannedObject[], baseURL: string): StandIn {
  const clusters = clustersOf(objects).filter(({ spec, metadata }) => referred(spec.spaceRef, metadata) === key);
  const reasons = reasonsOf(clusters);
  const { namespace, name } = splitKey(key);
  const place = clusters.flatMap(({ status }) => status.place ?? [])[0];
  const { endpoint = '', servers = [] } = clusters.find(({ status }) => status.endpoint !== undefined)?.status ?? {};
  const found = spaceAt(key, place ?? { baseURL, teamID: namespace, spaceID: name }, {
    serverURL: serverURLOf(endpoint, servers.map(({ address }) => address).join(',')),
    versions: clusters.flatMap(versionsOf),
    from: reasons.has('SpaceNotAllowed') ? 'Same' : 'All',
  });
  return standIn(databaseSpaceDefinition, key, clusters, 'SpaceNotFound', found);
}

/** The versions that the cloud seems to offer. */
function versionsOf({ next, status }: PlannedCluster): readonly string[] {
  return [next.version, status.version].flatMap((version) =>
    version === undefined || version === 'latest' ? [] : [version],
  );
}

function spaceAt(
  key: ObjectKey,
  { baseURL, teamID, spaceID }: { readonly baseURL: string; readonly teamID: string; readonly spaceID: string },
  {
    serverURL,
    versions = [],
    from = 'All',
  }: { readonly serverURL: string; readonly versions?: readonly string[]; readonly from?: string },
): PlannedObject {
  const { name } = splitKey(key);
  const secretRef = { name: `api-token-of-${name}` };
  const spec = {
    baseURL,
    teamID,
    spaceID,
    serverURL,
    apiTokens: ['write', 'admin'].map((level) => ({ level, secretRef })),
    defaultCredentialsSecretRef: { name: `login-of-${name}` },
    allowedNamespaces: { from },
  };
  const status = {
    availableVersions: [...new Set([...DEFAULT_VERSIONS, ...versions])],
    conditions: conditionsOf('Ready', 'CredentialsValid'),
  };
  return planned(databaseSpaceDefinition, key, spec, status);
}

/** How the operator makes the URL of a server from its address; the default if the two do not show it. */
function serverURLOf(endpoint: string, addresses: string): string {
  const parts = addresses.split(',').map((address) => /^(?<host>.+):(?<port>\d+)$/.exec(address)?.groups);
  const { host, port } = parts.find((part) => part?.['host'] && endpoint.includes(part['host'])) ?? {};
  if (host === undefined) return 'https://{host}:{port}';
  return endpoint.replace(host, '{host}').replace(`:${port}`, ':{port}');
}

const LONG_AGO = '2000-01-01T00:00:00.000Z';

function planned(definition: ResourceDefinition, key: ObjectKey, spec: object, status: object): PlannedObject {
  const object = {
    apiVersion: API_VERSION,
    kind: definition.kind,
    metadata: {
      ...splitKey(key),
      uid: `uid-of-${key}`,
      resourceVersion: '1',
      generation: 1,
      creationTimestamp: LONG_AGO,
    },
    spec: definition.spec.parse(spec),
    status: { observedGeneration: 1, ...status },
  } as AnyObject;
  return { definition, key, live: object, wanted: object };
}

function conditionsOf(...types: readonly string[]): readonly Condition[] {
  const rest = { status: 'True', reason: 'Assumed', message: '', observedGeneration: 1 } as const;
  return types.map((type) => ({ type, ...rest, lastTransitionTime: LONG_AGO }));
}

/** The reasons of Ready, of objects that are not new. */
function reasonsOf(dependents: readonly Dependent[]): ReadonlySet<string> {
  return new Set(dependents.flatMap(({ status }) => findStatusCondition(status.conditions, 'Ready')?.reason ?? []));
}
