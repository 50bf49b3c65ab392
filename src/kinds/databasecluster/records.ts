import { type KubeObject, keyOf, type ObjectKey } from '../../kube/object.ts';
import type { Reference } from '../../runtime/reference-index.ts';
import { isSamePlace, type Place } from '../databasespace/place.ts';
import { claims, mayExist, spaceKeyOf } from './claimants.ts';
import { needsCloudToGo } from './decide-deletion.ts';
import { currentID, desiredID } from './observation.ts';
import { type ClusterRecord, clusterRecordOf } from './record.ts';
import { CLUSTER_FINALIZER } from './resource.ts';

/* What all DatabaseClusters together say of a space: its ids, and what needs it. */

interface Clusters {
  values(): Iterable<KubeObject>;
}

/** DatabaseClusters of a space, read once for each version of them: spaces ask for all of theirs with each List. */
function* clustersOf(clusters: Clusters, space: ObjectKey): IterableIterator<ClusterRecord> {
  for (const object of clusters.values()) {
    const record = clusterRecordOf(object);
    if (record !== undefined && spaceKeyOf(record) === space) yield record;
  }
}

/** Ids that DatabaseClusters of the space stand for, or want to, in the place where the space is now. */
export function claimedIDs(clusters: Clusters, space: ObjectKey, place?: Place): ReadonlySet<string> {
  const isHere = ({ status }: ClusterRecord) =>
    place === undefined || status.place === undefined || isSamePlace(status.place, place);
  const claiming = [...clustersOf(clusters, space)].filter((cluster) => claims(cluster) && isHere(cluster));
  return new Set(claiming.flatMap((cluster) => [currentID(cluster), desiredID(cluster)]));
}

/** Clusters that something is to be done to in the cloud when their objects are deleted. */
export function neededBy(clusters: Clusters, space: ObjectKey): readonly ObjectKey[] {
  return [...clustersOf(clusters, space)].filter(needsSpace).map(keyOf);
}

/** A finalizer can be written by anybody; what was done in the cloud is written by us, after the space admitted the object. */
function needsSpace(cluster: ClusterRecord): boolean {
  const { metadata, spec } = cluster;
  return needsCloudToGo(spec) && mayExist(cluster) && (metadata.finalizers?.includes(CLUSTER_FINALIZER) ?? false);
}

/** The space that the object's cluster cannot go without; undefined: it can. */
export function neededSpace(object: KubeObject | undefined): ObjectKey | undefined {
  const record = clusterRecordOf(object);
  return record !== undefined && needsSpace(record) ? spaceKeyOf(record) : undefined;
}

/** Where the object's cluster is, or is to be; undefined: its spec cannot be read. */
export function placeOf(object: KubeObject): { readonly space: ObjectKey; readonly id: string } | undefined {
  const record = clusterRecordOf(object);
  return record === undefined ? undefined : { space: spaceKeyOf(record), id: currentID(record) };
}

/** Whom a change of the object concerns: those who want its ids. */
export function concerns(object: KubeObject | undefined): readonly Reference[] {
  const record = clusterRecordOf(object);
  if (record === undefined) return [];
  const space = spaceKeyOf(record);
  const ids = new Set([currentID(record), desiredID(record)]);
  return [...ids].map((id) => `clusters/${space}/${id}`);
}
