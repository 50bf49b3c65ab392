import { isDeepStrictEqual } from 'node:util';
import { confirm as confirmObject } from '../confirm.ts';
import type { SpaceConnection } from '../databasespace/connection.ts';
import { differences } from './differences.ts';
import { ACCEPT_IDENTITY, type ClusterSubject, isSame } from './observation.ts';
import { DATABASE_CLUSTERS } from './resource.ts';
import type { ClusterWorld } from './world.ts';

/* What is asked right before an effect: a cache and a List may be older than what matters. */

/** Before anything is created, changed or ended, the object itself is asked for once more. */
export function confirm(world: ClusterWorld, subject: ClusterSubject, signal: AbortSignal): Promise<void> {
  return confirmObject(world.api, DATABASE_CLUSTERS, subject, signal, [ACCEPT_IDENTITY]);
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
