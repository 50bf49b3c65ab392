import type { Cluster } from '../../../cloud/schema.ts';
import { ApiError } from '../../../http/api-error.ts';
import { findStatusCondition } from '../../../kube/condition.ts';
import { createdAtOf, currentID, desiredID, isSame } from '../identity.ts';
import type { ClusterSubject } from '../observation.ts';
import { wasDestroyed } from '../present.ts';
import type { ClusterRecord } from '../record.ts';
import type { Work } from '../work.ts';
import type { ClusterWorld } from '../world.ts';
import { claimantsOf } from './claimants.ts';
import { neverCreates } from './decide-absent.ts';
import { isPrecise, maybeSame } from './same-cluster.ts';

interface Found {
  /** The id that it was found under, or looked for under. */
  readonly id: string;
  readonly cluster: Cluster | undefined;
  /** Ids of clusters created when ours was, if that does not prove that one of them is ours. */
  readonly lookalikes: readonly string[];
}

/**
 * Finds the cluster under its id, under the id that it was being renamed to, or, if somebody renamed it, under whichever
 * id the List shows the very same cluster.
 */
export async function findCluster(work: Work): Promise<Found> {
  const { world, subject } = work;
  const { poller } = work.connection;
  const look = async (id: string) => poller.get(id) ?? (mustAsk(world, subject) ? await askFor(work, id) : undefined);
  const id = currentID(subject);
  const { createdAt } = subject.status;
  const isOurs = (cluster: Cluster | undefined) => cluster !== undefined && createdAtOf(cluster) === createdAt;
  let cluster = await look(id);
  if (createdAt === undefined) return { id, cluster, lookalikes: cluster === undefined ? formerElsewhere(work) : [] };
  if (cluster !== undefined && isSame(subject, cluster)) return { id, cluster, lookalikes: [] };
  const desired = desiredID(subject);
  const renamed = desired === id ? undefined : await look(desired);
  if (isOurs(renamed)) return { id: desired, cluster: renamed, lookalikes: [] };
  // The cloud answered a call that it is not here: only a List requested since then shows where it is.
  if (cluster === undefined && poller.knows(id)) {
    await poller.refresh();
    if (poller.error !== undefined) throw poller.error;
    // It may be here all the same: the machine that answered was behind the others.
    cluster = poller.get(id);
    if (cluster !== undefined && isSame(subject, cluster)) return { id, cluster, lookalikes: [] };
  }
  // Nobody renames a cluster that is being destroyed.
  if (wasDestroyed(subject)) return { id, cluster, lookalikes: [] };
  // If the space was never listed in full, nobody knows all its clusters.
  if (poller.listedAtMs === undefined && poller.error !== undefined) throw poller.error;
  return amongAll(work, { id, cluster });
}

/** Identity is id and creation time. Here the time alone must do, so it must be beyond doubt. */
function amongAll(work: Work, asked: Pick<Found, 'id' | 'cluster'>): Found {
  const { status } = work.subject;
  const { poller } = work.connection;
  const candidates = maybeIt(work, { clusterID: asked.id, createdAt: status.createdAt }).filter(
    (cluster) => cluster.id !== asked.id && hasFixedPropertiesOf(status, cluster),
  );
  const [only] = candidates;
  const isOurs = candidates.length === 1 && only !== undefined && poller.listsBeside(asked.id, only) === 0;
  if (isOurs && isPrecise(only)) return { id: only.id, cluster: only, lookalikes: [] };
  // It may be the one in the List that makes no sense, even if Lists before did not show it.
  if (asked.cluster === undefined && poller.isPartial) throw poller.error;
  return { ...asked, lookalikes: candidates.map(({ id }) => id) };
}

/** Ids of what may be the vanished cluster that another one is being created to replace: somebody may have renamed it. */
function formerElsewhere(work: Work): readonly string[] {
  const { former } = work.subject.status;
  return former === undefined ? [] : maybeIt(work, former).map(({ id }) => id);
}

/** The clusters that the time of its creation does not tell from the one that was there, under whichever id. */
function maybeIt(
  work: Work,
  was: { readonly clusterID: string; readonly createdAt: string | undefined },
): readonly Cluster[] {
  const { poller } = work.connection;
  return [...poller.clusters()].filter((cluster) => maybeSame(poller, was, cluster) && !isAnothers(work, cluster));
}

/** Whether the cluster has the recorded properties that never change after it was created. */
function hasFixedPropertiesOf({ observed = {} }: ClusterSubject['status'], cluster: Cluster): boolean {
  return (['provider', 'region', 'serverCount'] as const).every(
    (field) => observed[field] === undefined || cluster[field] === undefined || observed[field] === cluster[field],
  );
}

/** Whether another object has recorded it as its own. */
function isAnothers({ world, subject, connection }: Work, cluster: Cluster): boolean {
  const records = ({ metadata, status }: ClusterRecord) =>
    metadata.uid !== subject.metadata.uid &&
    status.clusterID === cluster.id &&
    status.createdAt === createdAtOf(cluster);
  return claimantsOf(world, subject, cluster.id, connection.place).some(records);
}

/**
 * Whether a cluster that is not in the List must be asked for: the List may be older than what matters, and must not lead to
 * a second cluster or the loss of one, nor to a person being told that there is none to take over.
 */
function mustAsk({ memory }: ClusterWorld, subject: ClusterSubject): boolean {
  const { createdAt, operation, former } = subject.status;
  if (former !== undefined || createdAt !== undefined || memory.attempts.maybeMade(subject.key, operation)) return true;
  return neverCreates(subject) !== undefined && !isToldNone(subject);
}

/** Whether a person was told that there is no such cluster. The next List shows one that comes, and costs the same for all. */
function isToldNone({ metadata, status }: ClusterSubject): boolean {
  const ready = findStatusCondition(status.conditions, 'Ready');
  return ready?.reason === 'ClusterNotFound' && status.observedGeneration === metadata.generation;
}

/** Asks the cloud for one cluster; undefined: there is none. What the answer shows is taken in. */
export async function askFor({ world, connection, signal }: Work, id: string): Promise<Cluster | undefined> {
  const { client, poller } = connection;
  const askedAt = world.clock.monotonic();
  try {
    const cluster = await client.get(id, signal);
    if (cluster !== undefined) poller.learn(id, cluster, askedAt);
    return cluster;
  } catch (error) {
    // A cloud may answer 400 for what does not exist, as servers do (compatibility.md). A whole List tells.
    if (!(error instanceof ApiError) || error.kind !== 'invalid') throw error;
    await poller.refresh();
    if (poller.error !== undefined) throw error;
    return poller.get(id);
  }
}
