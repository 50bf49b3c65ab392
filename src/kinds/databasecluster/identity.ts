import { parseInstant } from '../../base/instant.ts';
import type { Cluster } from '../../cloud/schema.ts';
import { ACCEPT_IDENTITY } from '../../kube/annotations.ts';
import { type ObjectKey, type ObjectMeta, objectKey } from '../../kube/object.ts';
import type { Place } from '../databasespace/place.ts';
import type { SpacePlaces } from '../databasespace/places.ts';
import type { ClusterSubject, SpaceSeen } from './observation.ts';
import type { ClusterRecord } from './record.ts';

/* Which space, cluster and Secret an object names, and whether a cluster is the object's own. Identity is id and creation time. */

export function spaceKeyOf({ metadata, spec }: Pick<ClusterSubject, 'metadata' | 'spec'>): ObjectKey {
  return objectKey(spec.spaceRef.namespace ?? metadata.namespace ?? '', spec.spaceRef.name);
}

/** Where the object's cluster is, even if its DatabaseSpace names another place by now, or will be. Undefined: not known yet. */
export function placeOf(
  { places }: { readonly places: Pick<SpacePlaces, 'get'> },
  record: ClusterRecord,
): Place | undefined {
  return record.status.place ?? places.get(spaceKeyOf(record));
}

export function desiredID({ metadata, spec }: Pick<ClusterSubject, 'metadata' | 'spec'>): string {
  return spec.clusterID ?? metadata.name;
}

/** The id that the cluster has, or is about to get, in the cloud. */
export function currentID(subject: ClusterRecord): string {
  return subject.status.clusterID ?? subject.status.operation?.target ?? desiredID(subject);
}

export function adminSecretName({ metadata, spec }: Pick<ClusterSubject, 'metadata' | 'spec'>): string {
  return spec.adminCredentials?.secretName ?? `${metadata.name}-admin`;
}

/** Recorded in the status if the cloud reports no creation time. */
export const NO_CREATION_TIME = 'unknown';

/** createdAt as the status stores it. */
export function createdAtOf(cluster: Cluster): string | undefined {
  if (cluster.createdAt === undefined) return undefined;
  const date = new Date(cluster.createdAt);
  return Number.isNaN(date.getTime()) ? String(cluster.createdAt) : date.toISOString();
}

/** Whether a person says that the cluster created then is to be the object's. The time may be written in another form, such as without milliseconds. */
export function isAccepted({ annotations }: Pick<ObjectMeta, 'annotations'>, createdAt: string): boolean {
  const accepted = annotations?.[ACCEPT_IDENTITY] ?? '';
  return createdAt !== NO_CREATION_TIME && (accepted === createdAt || parseInstant(accepted) === Date.parse(createdAt));
}

/** What the status records as the cluster's identity besides its id. */
export function identityOf(cluster: Cluster): string {
  return createdAtOf(cluster) ?? NO_CREATION_TIME;
}

/**
 * Whether it is the cluster that the status records. If the cloud reports no creation time, the id alone decides. If it
 * reports one only once the cluster is up, the id decides until the login was verified.
 */
export function isSame({ status }: Pick<ClusterSubject, 'status'>, cluster: Cluster): boolean {
  const createdAt = createdAtOf(cluster);
  const isNotTold = status.createdAt === NO_CREATION_TIME && status.credentials === undefined;
  return createdAt === undefined || createdAt === status.createdAt || isNotTold;
}

/** Whether there is a cluster and it is surely this object's. */
export function isOurs({ status }: Pick<ClusterSubject, 'status'>, { cluster }: Pick<SpaceSeen, 'cluster'>): boolean {
  return cluster !== undefined && status.createdAt !== undefined && isSame({ status }, cluster);
}

/** Whether it is the vanished cluster that another one is being created to replace, under its id or the one that the spec names. */
export function isFormer(subject: ClusterRecord, cluster: Cluster): boolean {
  const { former } = subject.status;
  if (former === undefined || former.createdAt !== createdAtOf(cluster)) return false;
  return cluster.id === former.clusterID || cluster.id === desiredID(subject);
}

/** Whether it should be managed but was only observed until now: whether it may be taken over is still undecided. */
export function isOnlyObserved({ spec, status }: Pick<ClusterSubject, 'spec' | 'status'>): boolean {
  return spec.managementPolicy === 'Manage' && status.observedOnly === true;
}

/** Whether there is, or may be, a cluster of the object's own. */
export function owns(subject: Pick<ClusterSubject, 'spec' | 'status'>): boolean {
  const { spec, status } = subject;
  const isCreating = status.operation !== undefined || status.former !== undefined;
  const isOwner = isCreating || (status.createdAt !== undefined && !isOnlyObserved(subject));
  return isOwner && spec.managementPolicy === 'Manage';
}

/** Whether something in the cloud is, or may be, this object's. */
export function mayExist({ status }: Pick<ClusterSubject, 'status'>): boolean {
  const { createdAt, clusterID, operation, former } = status;
  return [createdAt, clusterID, operation, former].some((told) => told !== undefined);
}
