import { listed } from '../../listed.ts';
import { isLoginLookedAfter, isLookedAfter, isMoveDue, isRotationDue } from '../existence/source-login.ts';
import { adminSecretName, currentID } from '../identity.ts';
import type { ClusterSubject } from '../observation.ts';
import { type ClusterRecord, clusterRecordOf } from '../record.ts';
import type { ClusterWorld } from '../world.ts';

/* A clone has the password that its source had when it was made, and is signed in to with what is in the source's Secret then. */

/** For how long a clone holds up a new password of its source: the cloud may never finish it. */
const MAKING_MS = 3_600_000;

/** How often it is looked whether a clone has a login of its own. */
export const CLONE_LOOK_MS = 15_000;
/** Likewise if each look tries the logins of the source. */
export const CLONE_LOOK_WITH_TRIES_MS = 60_000;
/** A name has up to 63 characters. */
const MOST_CLONES = 3;

/** Names the objects in a message. */
export function clonesInWords(names: readonly string[]): string {
  return `DatabaseCluster ${listed(
    names.map((name) => `"${name}"`),
    MOST_CLONES,
  )}`;
}

/** How a person ends the wait for them. Paused ones would not be waited for either, and nobody would have the passwords of their clusters. */
export function withoutClones(names: readonly string[]): string {
  const [them, its] = names.length === 1 ? ['that object', 'its cluster'] : ['these objects', 'their clusters'];
  return `delete ${them} with deletionPolicy: Delete, as nobody would be able to sign in to ${its}`;
}

/**
 * The names of the objects whose clusters are being cloned from the subject's, and that would lose their login with a new password,
 * if one is due, or with its Secret, if that `isToGo`.
 */
export function clonesToSecure(world: ClusterWorld, subject: ClusterSubject, isToGo: boolean): readonly string[] {
  const { clock, memory } = world;
  if (!isToGo && !isRotationDue(subject, clock.now()) && !isMoveDue(subject)) return [];
  // A new password can come later. What is destroyed never comes back.
  const forMs = isToGo ? Number.POSITIVE_INFINITY : MAKING_MS;
  const names: string[] = [];
  for (const key of new Set(world.clones(subject.key, secretNow(subject)))) {
    const record = clusterRecordOf(world.cluster(key));
    if (record === undefined || !isCloneOf(subject, record)) continue;
    const { metadata } = record;
    // Another clone that is made for the object later is waited for as long.
    if (!isToBeSecured(record, isToGo)) memory.clones.forget(key);
    else if (memory.clones.begin({ key, metadata }, clock.monotonic()) < forMs) names.push(metadata.name);
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

/**
 * Whether it was asked for, and does not have a login of its own yet, but will. If that of its source `isToGo` for good, even one that
 * needs a person first counts: nobody could help it then.
 */
function isToBeSecured(record: ClusterRecord, isToGo: boolean): boolean {
  const { operation, createdAt, credentials } = record.status;
  const isBegun = operation !== undefined || createdAt !== undefined;
  return isBegun && credentials === undefined && (isToGo ? isLookedAfter(record) : isLoginLookedAfter(record));
}
