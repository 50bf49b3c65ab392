import type { Reference } from '../../../base/collections/reference-index.ts';
import { keyOf, type ObjectKey } from '../../../kube/object.ts';
import { comesBefore } from '../../claim.ts';
import { isSamePlace } from '../../databasespace/place.ts';
import type { SpacePlaces } from '../../databasespace/places.ts';
import { isSame, NO_CREATION_TIME, placeOf, spaceKeyOf } from '../identity.ts';
import type { ClusterRecord } from '../record.ts';
import type { ClusterWorld } from '../world.ts';
import { claiming } from './claimants.ts';

/*
 * Which DatabaseClusters record the very same cluster. Two do after a backup was restored, with its status, beside the objects that it was
 * made of. What the spec or the DatabaseSpace of a copy says makes no difference.
 */

/** What knows which objects have the same cluster. */
export interface SharingWorld extends Pick<ClusterWorld, 'cluster' | 'connections'> {
  readonly places: Pick<SpacePlaces, 'get'>;
  /** Keys of the DatabaseClusters that have this reference. */
  readonly referring: (reference: Reference) => Iterable<ObjectKey>;
}

/** What all that record the object's cluster refer to, whatever its id was then: a backup may be older than a rename. */
export function createdReference({
  status: { createdAt, clusterID },
}: {
  readonly status: Pick<ClusterRecord['status'], 'createdAt' | 'clusterID'>;
}): Reference | undefined {
  if (createdAt === undefined) return undefined;
  return createdAt === NO_CREATION_TIME ? `created/${createdAt}/${clusterID}` : `created/${createdAt}`;
}

/** The same for the vanished cluster that another one is being created to replace, too. */
export function createdReferences({ status }: Pick<ClusterRecord, 'status'>): readonly Reference[] {
  return [status, status.former ?? {}].flatMap((known) => createdReference({ status: known }) ?? []);
}

/** The other objects that record the cluster of this one. Next to nothing is read for a cluster that only one records, as nearly all are. */
export function sharing(world: SharingWorld, record: ClusterRecord): readonly ClusterRecord[] {
  const reference = createdReference(record);
  if (reference === undefined) return [];
  const keys = [...world.referring(reference)].filter((key) => key !== keyOf(record));
  return claiming(world, keys).filter((other) => isOfSameCluster(world, record, other));
}

/** The other object that has the very cluster that this one has, if it comes first: the one that knows its id, or otherwise the older. */
export function sharedWith(world: SharingWorld, record: ClusterRecord): ObjectKey | undefined {
  const others = sharing(world, record);
  const pollers = [record, ...others].flatMap((one) => pollerAtPlaceOf(world, one));
  const knowsID = ({ status }: ClusterRecord) =>
    pollers.some((poller) => {
      const cluster = poller.get(status.clusterID ?? '');
      return cluster !== undefined && isSame({ status }, cluster);
    });
  return comesBefore(record, others, (one) => (knowsID(one) ? 'has' : 'begun'));
}

/** Several clusters may have been created at the same time, but each has servers of its own. */
function isOfSameCluster(world: SharingWorld, one: ClusterRecord, other: ClusterRecord): boolean {
  const [{ createdAt, clusterID, endpoint }, its] = [one.status, other.status];
  const isIt = clusterID === its.clusterID || (endpoint !== undefined && endpoint === its.endpoint);
  const [here, there] = [placeOf(world, one), placeOf(world, other)];
  return createdAt === its.createdAt && isIt && here !== undefined && there !== undefined && isSamePlace(here, there);
}

/** None if its DatabaseSpace is not connected, or names another place by now. */
function pollerAtPlaceOf(world: SharingWorld, record: ClusterRecord) {
  const connection = world.connections.get(spaceKeyOf(record));
  const place = placeOf(world, record);
  return connection !== undefined && place !== undefined && isSamePlace(connection.place, place)
    ? [connection.poller]
    : [];
}
