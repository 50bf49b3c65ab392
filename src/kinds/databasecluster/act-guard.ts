import { isDeepStrictEqual } from 'node:util';
import { TransientError } from '../../base/errors.ts';
import { ABANDON, PAUSED } from '../../runtime/reconcile.ts';
import type { SpaceConnection } from '../databasespace/connection.ts';
import { differences } from './differences.ts';
import { ACCEPT_IDENTITY, type ClusterSubject, isSame } from './observation.ts';
import { DATABASE_CLUSTERS } from './resource.ts';
import type { ClusterWorld } from './world.ts';

/* What is asked right before an effect that cannot be taken back: a cache and a List may be older than what matters. */

/** Annotations by which a person says what may be done. */
const ORDERS = [PAUSED, ABANDON, ACCEPT_IDENTITY];

/**
 * Before anything is created or ended, the object itself is asked for once more: what the cache shows may be older
 * than a person's last word. Throws TransientError ObjectChanged if it is.
 */
export async function fence(
  world: ClusterWorld,
  { metadata, deleting }: ClusterSubject,
  signal: AbortSignal,
): Promise<void> {
  const { namespace, name, uid, generation, annotations } = metadata;
  const live = (await world.api.get(DATABASE_CLUSTERS, { namespace, name }, signal))?.metadata;
  const same =
    live?.uid === uid &&
    live.generation === generation &&
    (live.deletionTimestamp !== undefined) === deleting &&
    ORDERS.every((order) => live.annotations?.[order] === annotations?.[order]);
  if (!same)
    throw new TransientError('ObjectChanged', `DatabaseCluster "${name}" changed meanwhile: It is looked at again`);
}

/** Asks the cloud for the cluster: whether it is the one, and as it was, that the step was decided on. If not, the next pass sees what it is. */
export async function isAsDecidedOn(
  world: ClusterWorld,
  subject: ClusterSubject,
  { client, poller }: SpaceConnection,
  id: string,
  signal: AbortSignal,
): Promise<boolean> {
  const known = poller.get(id);
  const askedAt = world.clock.monotonic();
  const live = await client.get(id, signal);
  poller.learn(id, live, askedAt);
  return (
    known !== undefined &&
    live !== undefined &&
    isSame(subject, live) &&
    live.status === known.status &&
    isDeepStrictEqual(differences(subject, live), differences(subject, known))
  );
}

/** Asks the cloud whether the id is free. If not, the next pass sees whose it is. */
export async function isFree(
  world: ClusterWorld,
  { client, poller }: SpaceConnection,
  id: string,
  signal: AbortSignal,
): Promise<boolean> {
  const askedAt = world.clock.monotonic();
  const cluster = await client.get(id, signal);
  if (cluster !== undefined) poller.learn(id, cluster, askedAt);
  return cluster === undefined;
}
