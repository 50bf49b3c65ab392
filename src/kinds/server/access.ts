import { splitAddress } from '../../http/address.ts';
import { isAbandoned, isPaused } from '../../kube/annotations.ts';
import { findStatusCondition, isStatusConditionTrue } from '../../kube/condition.ts';
import { type ObjectKey, type ObjectMeta, objectKey } from '../../kube/object.ts';
import { hasLetGo } from '../claim.ts';
import { destroys } from '../databasecluster/decide-deletion.ts';
import { heldRecordOf } from '../databasecluster/held-record.ts';
import { spaceKeyOf } from '../databasecluster/identity.ts';
import { type ClusterRecord, clusterRecordOf } from '../databasecluster/record.ts';
import type { ClusterWorld } from '../databasecluster/world.ts';
import { createIt } from '../missing.ts';
import { admitIt, admits } from '../namespaces.ts';
import type { ServerPlace, Servers } from './servers.ts';

/** What is needed to find the server of a cluster and to work on it. */
export interface ServerWorld
  extends Pick<ClusterWorld, 'connections' | 'cluster' | 'clusterKeys' | 'watches' | 'namespaceLabels'> {
  readonly servers: Servers;
  /** The other DatabaseCluster that has the cluster of this one and comes first; undefined: it is this one's own. */
  readonly sharedWith: (cluster: ClusterRecord) => ObjectKey | undefined;
  /** Whether there is an object for the DatabaseSpace of this key. */
  readonly hasSpace: (key: ObjectKey) => boolean;
}

/** Reason of Ready for objects on a suspended cluster. */
export const CLUSTER_SUSPENDED = 'ClusterSuspended';

/** The server of a DatabaseCluster, as its users and databases find it. */
export type ServerAccess =
  | {
      readonly server: 'waiting';
      /**
       * leaving: the cluster's object is being deleted, and no server answers any more.
       * shared: another DatabaseCluster has its cluster, so what is on the server may be that one's.
       */
      readonly why: 'missing' | 'leaving' | 'shared' | 'suspended' | 'notReady';
      readonly reason: string;
      readonly message: string;
      /** This process has just started, and nothing says that the cluster does not work. */
      readonly starting: boolean;
      /** leaving: the cluster is destroyed, with everything on it. */
      readonly destroyed: boolean;
      /** suspended: the cluster's spec says so, so it lasts until a person changes that. */
      readonly rests: boolean;
      /** When the cluster was created, if its object tells. */
      readonly identity?: string | undefined;
      /** shared: the DatabaseCluster that the cluster belongs to. */
      readonly owner?: ObjectKey;
    }
  /** The cluster does not admit this object. */
  | { readonly server: 'refused'; readonly reason: string; readonly message: string }
  | OpenServer;

export interface OpenServer extends ServerPlace {
  readonly server: 'open';
  readonly clusterName: string;
  /** When the cluster was created: another value means another cluster. */
  readonly identity: string;
  /** HTTP base URL. */
  readonly endpoint: string;
  /** `host:port` of every server: first that of `endpoint`, then those that run, then the rest. */
  readonly addresses: readonly string[];
  readonly verifyIntervalMs: number;
  /** Whether this is the password that new clusters come with: nobody is ever given it. */
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
 * Reports whether the server of the object's cluster can be worked on, going by the cluster's status: its login must be secured and a
 * server must answer. Makes no call, except for the labels of a namespace if they decide.
 */
export async function serverAccess(world: ServerWorld, subject: Dependent, signal: AbortSignal): Promise<ServerAccess> {
  const clusterKey = clusterKeyOf(subject);
  const own = subject.metadata.namespace ?? '';
  const { name, namespace = own } = subject.spec.clusterRef;
  const object = world.cluster(clusterKey);
  const called = `DatabaseCluster "${name}" in namespace "${namespace}"`;
  if (object === undefined) {
    const remedy = createIt(world.watches, { field: 'clusterRef', name, namespace, own }, world.clusterKeys);
    return waiting('missing', 'ClusterNotFound', `Waiting for ${called}: ${remedy}`);
  }
  const cluster = clusterRecordOf(object);
  // Whom it admits counts even if the rest of its spec can no longer be read.
  const allowed = (cluster ?? heldRecordOf(object))?.spec.allowedNamespaces;
  if (own !== namespace && !(await admits(allowed, () => world.namespaceLabels(own, signal)))) {
    const message = `${called} does not admit namespace "${own}": ${admitIt(allowed, "the cluster's")}`;
    return { server: 'refused', reason: 'ClusterNotAllowed', message };
  }
  if (cluster === undefined)
    return waiting('notReady', 'WaitingForCluster', `Waiting for ${called}, whose spec is not valid`);
  return openOf(world, clusterKey, called, cluster);
}

function openOf(world: ServerWorld, clusterKey: ObjectKey, called: string, cluster: ClusterRecord): ServerAccess {
  const owner = world.sharedWith(cluster);
  if (owner !== undefined) {
    const message = `Waiting for ${called}: its cluster belongs to DatabaseCluster "${owner}", and its condition Ready says what to do`;
    return { ...waiting('shared', 'WaitingForCluster', message), owner };
  }
  const { metadata, spec, status } = cluster;
  const isTrue = (type: string) => isStatusConditionTrue(status.conditions, type);
  const { endpoint, credentials, createdAt, servers = [] } = status;
  const usable = isTrue('CredentialsSecured') && isTrue('Available') && endpoint === credentials?.endpoint;
  if (endpoint === undefined || credentials === undefined || createdAt === undefined || !usable)
    return unusable(called, cluster);
  const leaving = metadata.deletionTimestamp !== undefined;
  const space = spaceKeyOf(cluster);
  const connection = world.connections.get(space);
  if (connection === undefined) {
    // Nobody can reach the server through it any more: an object that waited for it would keep itself, and the cluster's, for nothing.
    const isThere = world.hasSpace(space);
    if (leaving && !isThere)
      return waiting('leaving', 'ClusterDeleting', `${called} is being deleted, and its DatabaseSpace is gone already`);
    const why = isThere
      ? 'is not connected: its condition Ready says why'
      : "does not exist: the cluster's condition Ready says what to do";
    const message = `Waiting for ${called}: its DatabaseSpace "${spec.spaceRef.name}" ${why}`;
    return { ...waiting('notReady', 'WaitingForCluster', message), starting: isTrue('Ready') };
  }
  const known = servers.filter(({ address }) => splitAddress(address) !== undefined);
  const running = known.filter((server) => server.status === 'running');
  const others = known.filter((server) => server.status !== 'running');
  const byUse = [...running, ...others].map(({ address }) => address);
  const used = byUse.find((address) => connection.findServerURL(address) === endpoint);
  if (used === undefined) {
    // The space makes another URL of its address by now, or somebody else wrote the status: no login is sent there.
    const why = whyNotReady(cluster, byUse.length === 0 ? ['servers'] : []);
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
    // Made on demand: few of many thousand objects call their server soon.
    get logins() {
      return connection.logins(endpoint, status.clusterID ?? '');
    },
  };
}

type Waiting = Extract<ServerAccess, { server: 'waiting' }>;

/** By the cluster's state. */
const RESTING: Readonly<Partial<Record<string, string>>> = {
  suspended: 'is suspended: this goes on when it runs again',
  suspending: 'is being suspended: this goes on when it runs again',
};

/** By its status, the cluster's server cannot be worked on now. */
function unusable(called: string, cluster: ClusterRecord): Waiting {
  const { metadata, spec, status } = cluster;
  const reason = findStatusCondition(status.conditions, 'Ready')?.reason;
  // A cluster that is protected, paused or blocked may stay after all, with everything on it: what should be deleted there waits.
  const held = spec.deletionProtection || isPaused(metadata);
  const blocked = reason === 'DeletionBlocked' || reason === 'DeletionProtected';
  // One that should be destroyed is not gone either: until it says that it is being destroyed, it may still say that it cannot be.
  const destroyed = destroys(spec) && !isAbandoned(metadata);
  const goes = !held && !blocked && (!destroyed || reason === 'Destroying');
  // Once it is let go, nothing keeps it from going, and nobody signs in through it any more.
  if (hasLetGo(metadata) || (metadata.deletionTimestamp !== undefined && goes))
    return { ...waiting('leaving', 'ClusterDeleting', `${called} is being deleted`), destroyed };
  // Also while it is being suspended: what was right stays so, and nobody needs to wait for it.
  const rests = spec.state === 'Suspended';
  if (rests || RESTING[status.state ?? ''] !== undefined) {
    // With driftPolicy: Report, one that somebody else resumed goes on running.
    const how = RESTING[status.state ?? ''] ?? 'should be suspended: this goes on when its state should be Running';
    return { ...waiting('suspended', CLUSTER_SUSPENDED, `${called} ${how}`), rests, identity: status.createdAt };
  }
  const lacking = (['endpoint', 'credentials', 'createdAt'] as const).filter((field) => status[field] === undefined);
  return waiting('notReady', 'WaitingForCluster', `Waiting for ${called}: ${whyNotReady(cluster, lacking)}`);
}

/** `lacking`: the fields that are needed and missing in its status. */
function whyNotReady({ spec, status }: ClusterRecord, lacking: readonly string[]): string {
  if (spec.managementPolicy === 'Observe')
    return 'it is only observed, so nothing is done on its server: set managementPolicy: Manage there if Mooring is to manage it';
  const ready = findStatusCondition(status.conditions, 'Ready');
  if (ready === undefined) return 'it has not been checked yet';
  if (ready.status !== 'True') return `its condition Ready says ${ready.reason}`;
  return lacking.length === 0
    ? 'it is Ready, and its login is tried at another address now'
    : `it is Ready, but its status lacks ${lacking.join(', ')}: if that stays so, look for its Events and at the version of the CustomResourceDefinitions`;
}

function waiting(why: Waiting['why'], reason: string, message: string): Waiting {
  return { server: 'waiting', why, reason, message, starting: false, destroyed: false, rests: false };
}
