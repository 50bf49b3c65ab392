import type { Cluster } from '../../../cloud/schema.ts';
import type { SpacePoller } from '../../../cloud/space-poller.ts';
import { findStatusCondition } from '../../../kube/condition.ts';
import type { ObjectKey } from '../../../kube/object.ts';
import { comesBefore, type Hold } from '../../claim.ts';
import { isSamePlace, type Place } from '../../databasespace/place.ts';
import { type HeldRecord, heldRecordOf } from '../held-record.ts';
import { createdAtOf, currentID, desiredID, mayExist, placeOf, spaceKeyOf } from '../identity.ts';
import type { ClusterSubject } from '../observation.ts';
import type { ClusterRecord } from '../record.ts';
import type { Work } from '../work.ts';
import type { ClusterWorld } from '../world.ts';
import { isPrecise, isShown, maybeSame } from './same-cluster.ts';

/* Which DatabaseClusters have or want one id in one place of the cloud, by whatever DatabaseSpace, connected or not. */

/** Whether the object's claims count. One that the space does not admit takes no id from others, unless it may have a cluster already. */
export function claims(cluster: ClusterRecord): boolean {
  const ready = findStatusCondition(cluster.status.conditions, 'Ready');
  return mayExist(cluster) || ready?.reason !== 'SpaceNotAllowed';
}

/** What is known of these objects, of those whose claims count. */
export function claiming(world: Pick<ClusterWorld, 'cluster'>, keys: Iterable<ObjectKey>): readonly HeldRecord[] {
  return [...keys]
    .map((key) => heldRecordOf(world.cluster(key)))
    .filter((record) => record !== undefined)
    .filter(claims);
}

/**
 * Whether a wish for an id made through a DatabaseSpace counts for `own`, which names the same place. A wish through another
 * one counts only while that is Ready: anybody can name the place, but nothing is begun without tokens that the cloud accepts there.
 */
function wishesCount(space: ObjectKey, own: ObjectKey, seen: ClusterWorld['space']): boolean {
  return space === own || seen(space)?.ready?.status === 'True';
}

/**
 * The objects that have the id in this place, or want it in a way that counts. What an object has stays its own whatever its spec says,
 * even if that can no longer be read, and whatever became of its DatabaseSpace. `here`: where the subject is looked for; by default where
 * its space is now, which may be gone while a look goes on.
 */
export function claimantsOf(
  world: ClusterWorld,
  subject: Pick<ClusterSubject, 'metadata' | 'spec'>,
  id: string,
  here = world.places.get(spaceKeyOf(subject)),
): readonly ClusterRecord[] {
  const own = spaceKeyOf(subject);
  const isHere = (record: ClusterRecord) => {
    const there = placeOf(world, record);
    return here === undefined || (there !== undefined && isSamePlace(there, here));
  };
  return [...world.places.same(own, here)].flatMap((space) =>
    claiming(world, world.claimants(space, id)).filter(
      (record) => isHere(record) && (mayExist(record) || wishesCount(space, own, world.space)),
    ),
  );
}

/** By what the cluster was found, which the look keeps even if the DatabaseSpace is gone by now. */
type Looking = Pick<Work, 'world' | 'subject'> & {
  readonly connection: {
    readonly place: Place;
    readonly poller: Pick<SpacePoller, 'get' | 'listsBeside'>;
  };
};

/**
 * The other object that has or wants this id, if it comes first. `cluster`: what the cloud shows under it. That may be the cluster of an
 * object that has just renamed it, or for which somebody else has, whose status does not say so yet.
 */
export function firstClaimant(work: Looking, id: string, cluster: Cluster | undefined): ObjectKey | undefined {
  const { world, subject, connection } = work;
  const having = claimantsOf(world, subject, id, connection.place).filter((claimant) => currentID(claimant) === id);
  const others = cluster === undefined ? having : [...having, ...knowingOtherwise(work, cluster)];
  return comesBefore(subject, others, holdOf);
}

/**
 * The other objects that know the cluster under the id that it had before, whatever their specs say of ids. It may have vanished, and
 * another one be about to take its place.
 */
function knowingOtherwise(
  { world, subject, connection: { poller, place } }: Looking,
  cluster: Cluster,
): readonly ClusterRecord[] {
  const createdAt = createdAtOf(cluster);
  // The subject's own was looked for under all ids.
  if (createdAt === undefined || createdAt === subject.status.createdAt) return [];
  return claiming(world, world.recorders(createdAt)).filter((record) => {
    const { status } = record;
    const { clusterID = '' } = status.createdAt === createdAt ? status : (status.former ?? {});
    const there = placeOf(world, record);
    const was = { clusterID, createdAt };
    const isElsewhere = clusterID !== cluster.id && there !== undefined && isSamePlace(there, place);
    // The last List may be older than the object's own rename.
    const isIt = () => isPrecise(cluster) || desiredID(record) === cluster.id || !isShown(poller, was);
    return isElsewhere && maybeSame(poller, was, cluster) && isIt();
  });
}

/** How far the object has come with its cluster. */
export function holdOf({ status }: ClusterRecord): Hold {
  if (status.createdAt !== undefined) return 'has';
  return status.operation === undefined && status.former === undefined ? 'wants' : 'begun';
}
