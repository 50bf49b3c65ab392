import { isPaused } from '../../../kube/annotations.ts';
import { isStatusConditionTrue } from '../../../kube/condition.ts';
import { isMoveDue, isRotationDue } from '../existence/source-login.ts';
import { adminSecretName, currentID } from '../identity.ts';
import type { ClusterSubject } from '../observation.ts';
import { type ClusterRecord, clusterRecordOf } from '../record.ts';
import type { ClusterWorld } from '../world.ts';

/* A clone has the password that its source had when it was made, and is signed in to with what is in the source's Secret then. */

/** For how long a clone holds up a new password of its source: the cloud may never finish it. */
const MAKING_MS = 3_600_000;

/**
 * The names of the objects whose clusters are being cloned from the subject's, and that would lose their login with a new password,
 * if one is due.
 */
export function clonesToSecure(world: ClusterWorld, subject: ClusterSubject): readonly string[] {
  const { clock, memory } = world;
  if (!isRotationDue(subject, clock.now()) && !isMoveDue(subject)) return [];
  const names: string[] = [];
  for (const key of new Set(world.clones(subject.key, secretNow(subject)))) {
    const record = clusterRecordOf(world.cluster(key));
    if (record === undefined || !isCloneOf(subject, record)) continue;
    const { metadata } = record;
    // Another clone that is made for the object later is waited for as long.
    if (!isToBeSecured(record)) memory.clones.forget(key);
    else if (memory.clones.begin({ key, metadata }, clock.monotonic()) < MAKING_MS) names.push(metadata.name);
  }
  return names.sort();
}

/** Whether a new password of its source waits for the object, a clone: it need not wait for that one in turn. */
export function isWaitedFor({ clock, memory }: ClusterWorld, subject: ClusterSubject): boolean {
  const sinceMs = memory.clones.elapsedMs(subject, clock.monotonic());
  return sinceMs !== undefined && sinceMs < MAKING_MS;
}

function isCloneOf(source: ClusterSubject, { spec: { cloneFrom, adminCredentials } }: ClusterRecord): boolean {
  if (cloneFrom?.clusterRef !== undefined) return cloneFrom.clusterRef.name === source.metadata.name;
  const secretName = adminCredentials?.existingSecretRef?.name;
  return cloneFrom?.clusterID === currentID(source) && secretName === secretNow(source);
}

/** The Secret that has the login, which may be to move to another one. */
function secretNow(source: ClusterSubject): string {
  return source.status.credentials?.secretName ?? adminSecretName(source);
}

/** Whether it was asked for, and does not have a login of its own yet. */
function isToBeSecured({ metadata, spec, status }: ClusterRecord): boolean {
  const { operation, createdAt, credentials, conditions } = status;
  const isBegun = (operation !== undefined || createdAt !== undefined) && credentials === undefined;
  const isGoing = metadata.deletionTimestamp !== undefined || isPaused(metadata);
  return isBegun && !isGoing && spec.managementPolicy === 'Manage' && !isStatusConditionTrue(conditions, 'Stalled');
}
