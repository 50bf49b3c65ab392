import { isPaused } from '../../../kube/annotations.ts';
import { findStatusCondition, isStatusConditionTrue } from '../../../kube/condition.ts';
import { untilRotation } from '../../rotation.ts';
import { adminSecretName } from '../identity.ts';
import type { ClusterRecord } from '../record.ts';

/**
 * What is about to change the login of an object's cluster, which runs, as words after "Waiting for it to"; undefined: nothing is, as far
 * as the object tells. A clone that is made meanwhile may have a password that nobody has any more. `isWaitedFor`: a new password waits
 * for that clone.
 */
export function loginChangeAhead(source: ClusterRecord, nowMs: number, isWaitedFor = false): string | undefined {
  if (!isLoginLookedAfter(source)) return undefined;
  if (!isStatusConditionTrue(source.status.conditions, 'CredentialsSecured')) return 'have its login secured';
  if (isWaitedFor) return undefined;
  if (isMoveDue(source)) return `have its login in Secret "${adminSecretName(source)}"`;
  return isRotationDue(source, nowMs) ? 'get a new password' : undefined;
}

/** Whether the spec names another Secret than the one that has the login. It gets a new password, too. */
export function isMoveDue(cluster: ClusterRecord): boolean {
  const { credentials } = cluster.status;
  return credentials !== undefined && credentials.secretName !== adminSecretName(cluster);
}

/** Whether the login should be replaced by a new one, as was asked for or by schedule. */
export function isRotationDue(cluster: ClusterRecord, nowMs: number): boolean {
  const rotateInMs = untilRotation(cluster, cluster.spec.adminCredentials?.rotateEvery, nowMs);
  return rotateInMs !== undefined && rotateInMs <= 0;
}

/** Reasons for which a person must act, while the login is looked after as always: they are about the rest of the cluster. */
const NOT_ABOUT_LOGIN: ReadonlySet<string> = new Set([
  'ImmutableFieldDiffers',
  'StorageCannotShrink',
  'ClusterIDInUse',
  'RefusedByCloud',
  'DeletionProtected',
]);

/** Whether Mooring changes the login if it is not as it should be, and no person must act first. */
export function isLoginLookedAfter(cluster: ClusterRecord): boolean {
  const { metadata, spec, status } = cluster;
  const stalled = findStatusCondition(status.conditions, 'Stalled');
  const isStalled =
    stalled?.status === 'True' &&
    stalled.observedGeneration === metadata.generation &&
    !NOT_ABOUT_LOGIN.has(stalled.reason);
  // One that should be suspended is signed in to only before it sleeps for the first time.
  const goesToSleep = spec.state === 'Suspended' && status.credentials !== undefined;
  return isLookedAfter(cluster) && !isStalled && !goesToSleep;
}

/** Whether Mooring manages the cluster, and its end was not asked for. */
export function isLookedAfter({ metadata, spec }: ClusterRecord): boolean {
  const isGoing = metadata.deletionTimestamp !== undefined && !spec.deletionProtection;
  return spec.managementPolicy === 'Manage' && !isGoing && !isPaused(metadata);
}
