import type { Cluster } from '../../../cloud/schema.ts';
import type { SpacePoller } from '../../../cloud/space-poller.ts';
import { createdAtOf } from '../identity.ts';

/* Whether a cluster under one id is the one that was known under another: somebody may have renamed it. */

/** A cluster that so many Lists in a row showed beside ours is another one. One List alone may show a cluster under both its ids. */
const MOST_LISTS_BESIDE = 2;
/** A creation time in whole seconds may be that of several clusters, and one before 1973 is not in milliseconds. */
const PRECISE_FROM = 1e11;

/** Whether hardly two clusters have the same creation time. */
export function isPrecise({ createdAt = 0 }: Cluster): boolean {
  return createdAt > PRECISE_FROM && createdAt % 1000 !== 0;
}

/** A cluster as it was known: its id and creation time then. */
interface Was {
  readonly clusterID: string;
  readonly createdAt: string | undefined;
}

/** Whether a cluster of that creation time was last shown under the id. */
export function isShown(poller: Pick<SpacePoller, 'get'>, { clusterID, createdAt }: Was): boolean {
  const cluster = poller.get(clusterID);
  return cluster !== undefined && createdAtOf(cluster) === createdAt;
}

/** Whether the time of its creation does not tell the cluster from the one that was known under the id then. */
export function maybeSame(poller: Pick<SpacePoller, 'listsBeside'>, was: Was, cluster: Cluster): boolean {
  return createdAtOf(cluster) === was.createdAt && poller.listsBeside(was.clusterID, cluster) <= MOST_LISTS_BESIDE;
}
