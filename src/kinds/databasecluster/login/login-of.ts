import type { SpaceConnection } from '../../databasespace/connection/connection.ts';
import type { Place } from '../../databasespace/place.ts';
import { otherHolder, type SecretHolder } from '../../secret-holder.ts';
import { ADMIN_ANNOTATIONS, OWNER_LABEL, ownerValue, type SecretContents } from '../../secrets.ts';
import { createdAtOf, NO_CREATION_TIME } from '../identity.ts';
import type { ClusterSubject } from '../observation.ts';
import { databaseClusterDefinition } from '../schema.ts';

/*
 * Which cluster the login in an admin Secret belongs to. An object may be created in place of a deleted one whose cluster
 * stays (deletionPolicy Retain), and find the Secret that holds the only password of that cluster.
 */

function placeText({ baseURL, teamID, spaceID }: Place): string {
  return `${baseURL} ${teamID}/${spaceID}`;
}

/** Annotations of a Secret that is about to hold a login of this object's cluster. */
export function loginOf({ status }: Pick<ClusterSubject, 'status'>, place: Place): Readonly<Record<string, string>> {
  return { [ADMIN_ANNOTATIONS.loginOf]: `${status.createdAt ?? ''} ${placeText(place)}` };
}

/** What the Secret says; `createdAt` is '' if it says nothing. */
function toldBy({ annotations }: SecretContents): { readonly createdAt: string; readonly where: string } {
  const [createdAt = '', ...where] = (annotations[ADMIN_ANNOTATIONS.loginOf] ?? '').split(' ');
  return { createdAt, where: where.join(' ') };
}

/** Whether the login of the object's cluster was last found in this Secret, and the Secret says so, too. */
export function holdsOwnLogin({ status }: Pick<ClusterSubject, 'status'>, secret: SecretContents): boolean {
  const { createdAt } = toldBy(secret);
  return status.credentials?.secretName === secret.name && createdAt !== '' && createdAt === status.createdAt;
}

/** Whether the Secret says of a new login that it is for the object's cluster, and can mean no other one. */
function isForCluster(
  { status: { createdAt, place } }: Pick<ClusterSubject, 'status'>,
  secret: SecretContents,
): boolean {
  const told = toldBy(secret);
  const isIt = createdAt !== NO_CREATION_TIME && told.createdAt === createdAt;
  return isIt && place !== undefined && told.where === placeText(place);
}

/** The id of the cluster whose login the Secret says it holds, if the space shows it. */
export function shownID(secret: SecretContents, { poller }: Pick<SpaceConnection, 'poller'>): string | undefined {
  const { createdAt } = toldBy(secret);
  return [...poller.clusters()].find((cluster) => createdAtOf(cluster) === createdAt)?.id;
}

/** Whether the Secret says its login is another cluster's. One that says nothing counts as this one's: a person may have restored it. */
export function isOfAnother({ status }: Pick<ClusterSubject, 'status'>, secret: SecretContents): boolean {
  const { createdAt } = toldBy(secret);
  return createdAt !== '' && createdAt !== status.createdAt;
}

/** Likewise, and that cluster may still exist: it is not known to be gone. */
export function isInUse(
  subject: Pick<ClusterSubject, 'status'>,
  secret: SecretContents,
  { place, poller }: Pick<SpaceConnection, 'place' | 'poller'>,
): boolean {
  if (!isOfAnother(subject, secret)) return false;
  if (toldBy(secret).where !== placeText(place)) return true;
  return poller.listedAtMs === undefined || shownID(secret, { poller }) !== undefined;
}

export function isOurSecret(
  { metadata, status }: Pick<ClusterSubject, 'metadata' | 'status'>,
  secret: SecretContents,
): boolean {
  const isTold = secret.labels[OWNER_LABEL] === ownerValue(metadata.name);
  if (holdsOwnLogin({ status }, secret)) return true;
  // Something may have taken the labels before the login was verified.
  return (isTold || isForCluster({ status }, secret)) && holderOf({ metadata }, secret) === undefined;
}

/** Another object that the Secret belongs to. Which cluster its login is for is checked elsewhere. */
export function holderOf(
  { metadata }: Pick<ClusterSubject, 'metadata'>,
  secret: SecretContents,
): SecretHolder | undefined {
  return otherHolder({ kind: databaseClusterDefinition.kind, name: metadata.name }, secret);
}
