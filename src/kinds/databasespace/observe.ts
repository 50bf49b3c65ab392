import { dependentsFirst } from '../dependents-first.ts';
import { type SpaceObservation, type SpaceSubject, secretFinalizer, secretNames } from './observation.ts';
import { observeCloud } from './observe-cloud.ts';
import type { SpaceWorld } from './world.ts';

/** Reads what is known of the space, and what needs it. */
export async function observeSpace(
  world: SpaceWorld,
  subject: SpaceSubject,
  signal: AbortSignal,
): Promise<SpaceObservation> {
  const namespace = subject.metadata.namespace ?? '';
  const kept = await world.secrets.keptBy(namespace, secretFinalizer(subject), subject.status.keptSecrets ?? []);
  const names = secretNames(subject.spec);
  const neededBy = world.neededBy(subject.key);
  const goesAfter = subject.deleting ? goesAfterDependents(world, subject) : undefined;
  return {
    neededBy,
    hasDependents: world.hasDependents(subject.key),
    goesAfter,
    keptSecrets: kept.filter((name) => names.includes(name)),
    staleSecrets: kept.filter((name) => !names.includes(name)),
    freeSecrets: names.filter((name) => !kept.includes(name) && world.secrets.canBeKept(namespace, name)),
    leavingSecrets: names.filter((name) => world.secrets.isLeaving(namespace, name)),
    cloud:
      subject.deleting && neededBy.length === 0 && goesAfter === undefined
        ? undefined
        : await observeCloud(world, subject, signal),
  };
}

/** For how long it waits for users and databases that may follow it. Nobody misses it so soon, and an API server may restart meanwhile. */
const FOLLOWING_MS = 30_000;

function goesAfterDependents(world: SpaceWorld, subject: SpaceSubject): SpaceObservation['goesAfter'] {
  const sinceMs = world.going.begin(subject, world.clock.monotonic());
  return dependentsFirst(world.dependents(subject.key), sinceMs, 'clusters of this space', FOLLOWING_MS);
}
