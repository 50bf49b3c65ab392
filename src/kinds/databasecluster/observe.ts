import type { Cluster } from '../../cloud/schema.ts';
import { isSettled } from '../../cloud/space-poller.ts';
import { parseStatus } from '../../kube/definition.ts';
import { objectKey } from '../../kube/object.ts';
import type { SpaceConnection } from '../databasespace/connection.ts';
import { admits } from '../namespaces.ts';
import { isSame } from './decide-existence.ts';
import { type ClusterObservation, type ClusterSubject, currentID, type SpaceSeen } from './observation.ts';
import { observeLogin } from './observe-login.ts';
import { databaseClusterDefinition } from './schema.ts';
import type { ClusterWorld } from './world.ts';

export function spaceKeyOf({ metadata, spec }: Pick<ClusterSubject, 'metadata' | 'spec'>): string {
  return objectKey(spec.spaceRef.namespace ?? metadata.namespace ?? '', spec.spaceRef.name);
}

/**
 * Reads what the decision needs: the space's List, as the poller last had it; the cloud itself only where that is not
 * enough; the Secret and the server only where a login is not known to work.
 */
export async function observeCluster(
  world: ClusterWorld,
  subject: ClusterSubject,
  signal: AbortSignal,
): Promise<ClusterObservation> {
  const connection = await findConnection(world, subject, signal);
  if ('space' in connection) return connection;
  const { poller } = connection;
  if (subject.lookNow) await poller.refresh();
  const id = currentID(subject);
  poller.follow(id);
  let cluster = poller.get(id);
  if (cluster === undefined && mustAsk(world, subject)) cluster = await askFor(world, connection, id, signal);
  const endpoint = cluster === undefined ? undefined : endpointOf(connection, cluster);
  const seen = {
    space: 'seen',
    place: connection.place,
    canDestroy: connection.client.canDestroy,
    id,
    cluster,
    endpoint,
    cloneSource: cloneSourceOf(world, subject),
  } as const;
  return {
    ...seen,
    login: await loginOf(world, subject, connection, { ...seen, login: { login: 'notTried' } }, signal),
  };
}

type WithoutSpace = Exclude<ClusterObservation, SpaceSeen>;

async function findConnection(
  world: ClusterWorld,
  subject: ClusterSubject,
  signal: AbortSignal,
): Promise<SpaceConnection | WithoutSpace> {
  const key = spaceKeyOf(subject);
  const { name, namespace = subject.metadata.namespace } = subject.spec.spaceRef;
  const space = world.space(key);
  const waiting = (reason: string, message: string): WithoutSpace => ({ space: 'waiting', reason, message });
  if (space === undefined) {
    return waiting(
      'SpaceNotFound',
      `Waiting for DatabaseSpace "${name}" in namespace "${namespace}": create it, or check spaceRef`,
    );
  }
  const own = subject.metadata.namespace ?? '';
  if (own !== namespace && !(await admits(space.spec?.allowedNamespaces, () => world.namespaceLabels(own, signal)))) {
    const message = `DatabaseSpace "${name}" in namespace "${namespace}" does not admit namespace "${own}": have it added to the space's allowedNamespaces`;
    return { space: 'refused', reason: 'SpaceNotAllowed', message };
  }
  const connection = world.connections.get(key);
  if (connection?.poller.listedAtMs !== undefined) return connection;
  const why = space.ready === undefined ? 'it was not looked at yet' : `${space.ready.reason}: ${space.ready.message}`;
  return waiting(
    'WaitingForSpace',
    `Waiting for DatabaseSpace "${name}" in namespace "${namespace}" to be observed (${why})`,
  );
}

/**
 * Whether a cluster that is not in the List must be asked for: a List may be older than what matters, and neither a
 * second cluster nor the loss of one may follow from it.
 */
function mustAsk(world: ClusterWorld, { key, status }: ClusterSubject): boolean {
  if (status.createdAt !== undefined) return true;
  return status.operation !== undefined && !world.memory.neverAttempted(key, status.operation.startedAt);
}

async function askFor(
  world: ClusterWorld,
  { client, poller }: SpaceConnection,
  id: string,
  signal: AbortSignal,
): Promise<Cluster | undefined> {
  const askedAt = world.clock.monotonic();
  const cluster = await client.get(id, signal);
  if (cluster !== undefined) poller.learn(id, cluster, askedAt);
  return cluster;
}

/** Of the first server that runs. */
function endpointOf(connection: SpaceConnection, cluster: Cluster): string | undefined {
  const server = cluster.servers.find(({ status }) => status === 'running');
  return server === undefined ? undefined : connection.serverURL(server.address);
}

function cloneSourceOf(world: ClusterWorld, { metadata, spec }: ClusterSubject): SpaceSeen['cloneSource'] {
  const { cloneFrom } = spec;
  if (cloneFrom === undefined) return undefined;
  if (cloneFrom.clusterID !== undefined) return { is: 'known', id: cloneFrom.clusterID };
  const name = cloneFrom.clusterRef?.name ?? '';
  const source = world.cluster(objectKey(metadata.namespace ?? '', name));
  const id = source === undefined ? undefined : parseStatus(databaseClusterDefinition, source.status).clusterID;
  if (id !== undefined) return { is: 'known', id };
  return {
    is: 'waiting',
    message: `Waiting for DatabaseCluster "${name}", which is to be cloned, to exist in the cloud`,
  };
}

/** A login is looked at only at a cluster that is surely ours, at rest, and meant to run. */
async function loginOf(
  world: ClusterWorld,
  subject: ClusterSubject,
  connection: SpaceConnection,
  seen: SpaceSeen,
  signal: AbortSignal,
): Promise<SpaceSeen['login']> {
  const { cluster, endpoint } = seen;
  const { spec, status } = subject;
  const skip =
    cluster === undefined ||
    endpoint === undefined ||
    !isSettled(cluster) ||
    subject.deleting ||
    status.createdAt === undefined ||
    !isSame(subject, cluster) ||
    spec.managementPolicy === 'Observe' ||
    spec.state === 'Suspended';
  return skip ? { login: 'notTried' } : observeLogin(world, subject, connection, endpoint, signal);
}
