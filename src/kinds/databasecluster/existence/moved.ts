import { ACCEPT_IDENTITY } from '../../../kube/annotations.ts';
import { isSamePlace, type Place, placeInFull } from '../../databasespace/place.ts';
import { currentID, isAccepted, NO_CREATION_TIME } from '../identity.ts';
import type { ClusterObservation, ClusterSubject } from '../observation.ts';
import type { ClusterWorld } from '../world.ts';

/*
 * A DatabaseSpace whose spec now names another place than the cluster is in. A cluster that is not found there has not
 * vanished, and one that is found there is another one, so nothing is done until a person says what is meant.
 */

/** What to report if the space has moved away from a cluster that is, or may be, in the former place; undefined: it has not. */
export function moveOf(
  { memory }: Pick<ClusterWorld, 'memory'>,
  subject: ClusterSubject,
  now: Place,
): Extract<ClusterObservation, { space: 'moved' }> | undefined {
  const { status, key } = subject;
  const { place, createdAt, operation } = status;
  if (place === undefined || isSamePlace(place, now)) return undefined;
  // What was only written down, and surely never requested, can just as well be requested in the new place.
  const mayBeThere = createdAt !== undefined || memory.attempts.maybeMade(key, operation);
  return mayBeThere ? { space: 'moved', reason: 'SpaceMoved', message: messageOf(subject, place, now) } : undefined;
}

function messageOf({ metadata, spec, status }: ClusterSubject, place: Place, now: Place): string {
  const id = currentID({ metadata, spec, status });
  const follow =
    status.createdAt === undefined || status.createdAt === NO_CREATION_TIME
      ? ''
      : `, or, if that is the same cloud at another address, annotate ${ACCEPT_IDENTITY}=${status.createdAt}`;
  return (
    `Cluster "${id}" is in ${placeInFull(place)}, but DatabaseSpace "${spec.spaceRef.name}" now says ${placeInFull(now)}: ` +
    `nothing is done in either. Set the space back${follow}`
  );
}

/** Whether a person says that it is the same cluster. Then the very same cluster must be found there. */
export function isToFollow({ metadata, status }: Pick<ClusterSubject, 'metadata' | 'status'>): boolean {
  return status.createdAt !== undefined && isAccepted(metadata, status.createdAt);
}
