import { type ObjectKey, objectKey } from '../../kube/object.ts';
import { isSamePlace } from '../databasespace/place.ts';
import { type ClusterSubject, currentID } from './observation.ts';
import { type ClusterRecord, clusterRecordOf } from './record.ts';
import type { ClusterWorld } from './world.ts';

/* Which DatabaseClusters stand for one id in one place of the cloud, by whatever DatabaseSpace. */

export function spaceKeyOf({ metadata, spec }: Pick<ClusterSubject, 'metadata' | 'spec'>): ObjectKey {
  return objectKey(spec.spaceRef.namespace ?? metadata.namespace ?? '', spec.spaceRef.name);
}

/** Those that have the id or want it, where the subject's space is now. */
export function* claimantsOf(
  world: ClusterWorld,
  subject: ClusterSubject,
  id: string,
): IterableIterator<{ readonly key: ObjectKey; readonly claimant: ClusterRecord }> {
  for (const space of world.connections.samePlace(spaceKeyOf(subject))) {
    const here = world.connections.get(space)?.place;
    for (const key of world.claimants(space, id)) {
      const claimant = clusterRecordOf(world.cluster(key));
      const place = claimant?.status.place;
      // What it stands for may be in another place than its space is now.
      const isHere = here === undefined || place === undefined || isSamePlace(place, here);
      if (claimant !== undefined && isHere) yield { key, claimant };
    }
  }
}

/**
 * The other object that stands for this id, if it comes first. Who has the cluster comes before who is about to create
 * it, before who only wants it; then the older comes first.
 */
export function firstClaimant(world: ClusterWorld, subject: ClusterSubject, id: string): ObjectKey | undefined {
  let first = { rank: rankOf(subject), uid: subject.metadata.uid, key: subject.key };
  for (const { key, claimant } of claimantsOf(world, subject, id)) {
    if (currentID(claimant) !== id) continue;
    const rank = rankOf(claimant);
    if (claimant.metadata.uid !== first.uid && rank < first.rank) first = { rank, uid: claimant.metadata.uid, key };
  }
  return first.uid === subject.metadata.uid ? undefined : first.key;
}

/** Sorts as text: what comes first has the id. */
function rankOf({ metadata, status }: ClusterRecord): string {
  const hold = status.createdAt !== undefined ? 0 : status.operation !== undefined ? 1 : 2;
  return [hold, metadata.creationTimestamp ?? '', metadata.uid].join('/');
}
