import { splitAddress } from '../../base/address.ts';
import { PAUSED } from '../../kube/annotations.ts';
import { type Condition, findStatusCondition, isStatusConditionTrue } from '../../kube/condition.ts';
import { type KubeObject, type ObjectKey, type ObjectMeta, objectKey } from '../../kube/object.ts';
import { destroys } from '../databasecluster/decide-deletion.ts';
import { type ClusterRecord, clusterRecordOf } from '../databasecluster/record.ts';
import type { SpaceConnections } from '../databasespace/connection.ts';
import { createIt } from '../missing.ts';
import { admits } from '../namespaces.ts';
import type { ServerPlace, Servers } from './servers.ts';

/** What is needed to find the server of a cluster and to work on it. */
export interface ServerWorld {
  readonly connections: SpaceConnections;
  /** A DatabaseCluster as last seen. */
  readonly cluster: (key: ObjectKey) => KubeObject | undefined;
  /** Those of all DatabaseClusters that were seen. */
  readonly clusterKeys: () => Iterable<ObjectKey>;
  /** Whether this operator watches the namespace: what is in others it never sees. */
  readonly watches: (namespace: string) => boolean;
  /** Labels of a namespace; undefined: there is none. */
  readonly namespaceLabels: (
    name: string,
    signal: AbortSignal,
  ) => Promise<Readonly<Record<string, string>> | undefined>;
  readonly servers: Servers;
  /** Whether there is an object of this DatabaseSpace. */
  readonly hasSpace: (key: ObjectKey) => boolean;
}

/** Of what is on a cluster that is suspended. */
export const CLUSTER_SUSPENDED = 'ClusterSuspended';

/** The server of a DatabaseCluster as the users and databases on it find it. */
export type ServerAccess =
  | {
      readonly server: 'waiting';
      /** leaving: its object is being deleted, and no server answers any more. */
      readonly why: 'missing' | 'leaving' | 'suspended' | 'notReady';
      readonly reason: string;
      readonly message: string;
      /** This process has just begun, and nothing says that the cluster does not work. */
      readonly starting: boolean;
      /** leaving: the cluster is destroyed, with all that is on it. */
      readonly destroyed: boolean;
      /** suspended: as the cluster's spec says, so until a person wants otherwise. */
      readonly rests: boolean;
    }
  /** The cluster does not admit this object. */
  | { readonly server: 'refused'; readonly reason: string; readonly message: string }
  | OpenServer;

export interface OpenServer extends ServerPlace {
  readonly server: 'open';
  readonly clusterName: string;
  /** When the cluster was created: with another value it is another one. */
  readonly identity: string;
  /** HTTP base URL. */
  readonly endpoint: string;
  /** `host:port` of every server: first the one of `endpoint`, then others that run. */
  readonly addresses: readonly string[];
  readonly verifyIntervalMs: number;
  /** Whether it is the password that new clusters come with: nobody is ever given that. */
  readonly isFactoryPassword: (password: string) => boolean;
}

interface Dependent {
  readonly metadata: ObjectMeta;
  readonly spec: { readonly clusterRef: { readonly name: string; readonly namespace?: string | undefined } };
}

export function clusterKeyOf({ metadata, spec }: Dependent): ObjectKey {
  return objectKey(spec.clusterRef.namespace ?? metadata.namespace ?? '', spec.clusterRef.name);
}

/**
 * Whether the server of the object's cluster can be worked on, by what the cluster's status says: its login must be
 * secured and a server must answer. Costs no call, but for the labels of a namespace where they decide.
 */
export async function serverAccess(world: ServerWorld, subject: Dependent, signal: AbortSignal): Promise<ServerAccess> {
  const clusterKey = clusterKeyOf(subject);
  const { name, namespace = subject.metadata.namespace ?? '' } = subject.spec.clusterRef;
  const object = world.cluster(clusterKey);
  const called = `DatabaseCluster "${name}" in namespace "${namespace}"`;
  if (object === undefined) {
    const { namespace: own = '' } = subject.metadata;
    const remedy = createIt(world.watches, { field: 'clusterRef', name, namespace, own }, world.clusterKeys);
    return waiting('missing', 'ClusterNotFound', `Waiting for ${called}: ${remedy}`);
  }
  const cluster = clusterRecordOf(object);
  const own = subject.metadata.namespace ?? '';
  const allowed = cluster?.spec.allowedNamespaces;
  if (own !== namespace && !(await admits(allowed, () => world.namespaceLabels(own, signal)))) {
    const message = `${called} does not admit namespace "${own}": have it added to the cluster's allowedNamespaces`;
    return { server: 'refused', reason: 'ClusterNotAllowed', message };
  }
  if (cluster === undefined)
    return waiting('notReady', 'WaitingForCluster', `Waiting for ${called}, whose spec is not valid`);
  return openOf(world, clusterKey, called, cluster);
}

function openOf(
  world: ServerWorld,
  clusterKey: ObjectKey,
  called: string,
  { metadata, spec, status }: ClusterRecord,
): ServerAccess {
  const leaving = metadata.deletionTimestamp !== undefined;
  const isTrue = (type: string) => isStatusConditionTrue(status.conditions, type);
  const { endpoint, credentials, createdAt, servers = [] } = status;
  const ready = findStatusCondition(status.conditions, 'Ready');
  const usable = isTrue('CredentialsSecured') && isTrue('Available') && endpoint === credentials?.endpoint;
  if (endpoint === undefined || credentials === undefined || createdAt === undefined || !usable) {
    // What is protected, paused or blocked may stay after all, with all that is on it: what should go from there waits.
    const held = spec.deletionProtection || metadata.annotations?.[PAUSED] === 'true';
    const blocked = ready?.reason === 'DeletionBlocked' || ready?.reason === 'DeletionProtected';
    // Nor does it go because it is to: before it says that it is being destroyed, it may yet say that it cannot be.
    const destroyed = destroys(spec);
    const goes = !destroyed || ready?.reason === 'Destroying';
    if (leaving && !held && !blocked && goes) {
      return { ...waiting('leaving', 'ClusterDeleting', `${called} is being deleted`), destroyed };
    }
    // Also while it is on its way there: what was right stays so, and nobody is to wait for it.
    const rests = spec.state === 'Suspended';
    if (rests || status.state === 'suspended' || status.state === 'suspending') {
      const is = status.state === 'suspended' ? 'is suspended' : 'is being suspended';
      const message = `${called} ${is}: this goes on when it runs again`;
      return { ...waiting('suspended', CLUSTER_SUSPENDED, message), rests };
    }
    const needed = { endpoint, credentials, createdAt };
    const lacking = (Object.keys(needed) as (keyof typeof needed)[]).filter((field) => needed[field] === undefined);
    const why = whyNotReady(spec, ready, lacking);
    return waiting('notReady', 'WaitingForCluster', `Waiting for ${called}: ${why}`);
  }
  const space = objectKey(spec.spaceRef.namespace ?? metadata.namespace ?? '', spec.spaceRef.name);
  const connection = world.connections.get(space);
  if (connection === undefined) {
    // Nobody will ever reach the server by way of it: who waits for that keeps itself, and the cluster's object, for nothing.
    if (leaving && !world.hasSpace(space))
      return waiting('leaving', 'ClusterDeleting', `${called} is being deleted, and its DatabaseSpace is gone already`);
    const message = `Waiting for ${called}: its DatabaseSpace "${spec.spaceRef.name}" is not connected`;
    return { ...waiting('notReady', 'WaitingForCluster', message), starting: isTrue('Ready') };
  }
  const known = servers.filter(({ address }) => splitAddress(address) !== undefined);
  const running = known.filter((server) => server.status === 'running');
  const others = known.filter((server) => server.status !== 'running');
  const byUse = [...running, ...others].map(({ address }) => address);
  const used = byUse.find((address) => connection.serverURL(address) === endpoint);
  if (used === undefined) {
    // The space makes another URL of its address by now, or whoever wrote the status did: no login goes there.
    const why = whyNotReady(spec, ready, byUse.length === 0 ? ['servers'] : []);
    // The cluster is about to say where it is now.
    const starting = isTrue('Ready');
    return { ...waiting('notReady', 'WaitingForCluster', `Waiting for ${called}: ${why}`), starting };
  }
  return {
    server: 'open',
    clusterKey,
    clusterName: metadata.name,
    identity: createdAt,
    leaving,
    endpoint,
    addresses: [...new Set([used, ...byUse])],
    verifyIntervalMs: connection.verifyIntervalMs,
    adminSecretName: credentials.secretName,
    factoryUsername: connection.factoryLogin.username,
    isFactoryPassword: (password) => password === connection.factoryLogin.password,
    // Few of many thousand objects call their server soon.
    get logins() {
      return connection.logins(endpoint, status.clusterID ?? '');
    },
  };
}

type Waiting = Extract<ServerAccess, { server: 'waiting' }>;

/** `lacking`: what its status does not tell, though it is needed. */
function whyNotReady(
  { managementPolicy }: ClusterRecord['spec'],
  ready: Condition | undefined,
  lacking: readonly string[],
): string {
  if (managementPolicy === 'Observe')
    return 'it is only observed, so nothing is done on its server: set managementPolicy: Manage';
  if (ready === undefined) return 'it was not looked at yet';
  if (ready.status !== 'True') return `its condition Ready says ${ready.reason}`;
  return lacking.length === 0
    ? 'it is Ready, and its login is tried at another address now'
    : `it is Ready, but its status lacks ${lacking.join(', ')}: if that stays so, look for its Events and at the version of the CustomResourceDefinitions`;
}

function waiting(why: Waiting['why'], reason: string, message: string): Waiting {
  return { server: 'waiting', why, reason, message, starting: false, destroyed: false, rests: false };
}
