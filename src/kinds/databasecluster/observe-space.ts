import { findStatusCondition } from '../../kube/condition.ts';
import { OBSERVING } from '../../kube/summary.ts';
import type { SpaceConnection } from '../databasespace/connection/connection.ts';
import { isSamePlace } from '../databasespace/place.ts';
import { createIt } from '../missing.ts';
import { admitIt, admits } from '../namespaces.ts';
import { isToFollow, moveOf } from './existence/moved.ts';
import { currentID, mayExist, spaceKeyOf } from './identity.ts';
import { loginMeanwhile } from './login/verify-alone.ts';
import type { ClusterObservation, ClusterSubject, SpaceSeen } from './observation.ts';
import type { LocalWork } from './work.ts';
import type { ClusterWorld, SpaceSeenHere } from './world.ts';

type WithoutSpace = Exclude<ClusterObservation, SpaceSeen>;
type SpaceRefused = Extract<ClusterObservation, { space: 'refused' }>;

/** Returns the connection through which the object's cluster can be seen, or why there is none for it. */
export async function findConnection(work: LocalWork): Promise<SpaceConnection | WithoutSpace> {
  const { world, subject } = work;
  const key = spaceKeyOf(subject);
  const own = subject.metadata.namespace ?? '';
  const { name, namespace = own } = subject.spec.spaceRef;
  const space = world.space(key);
  if (space === undefined) {
    const remedy = createIt(world.watches, { field: 'spaceRef', name, namespace, own }, world.spaceKeys);
    return { space: 'waiting', reason: 'SpaceNotFound', message: `${waitingFor(subject)}: ${remedy}` };
  }
  const refusal = await refusalOfSpace(work);
  if (refusal !== undefined) return refusal;
  // Named by any spec, however wrong the rest: by it goes also which other objects have or want a cluster there.
  const place = world.places.get(key);
  const moved = place === undefined ? undefined : moveOf(world, subject, place);
  if (moved !== undefined && !isToFollow(subject)) return moved;
  const connection = world.connections.get(key);
  if (connection !== undefined && (place === undefined || !isSamePlace(connection.place, place))) {
    // The connection stays for as long as a Secret of the new place is missing.
    const why =
      space.ready === undefined || space.ready.status === 'True'
        ? 'it has just been changed'
        : `it was changed to name another place, and its condition Ready says ${space.ready.reason}`;
    return { space: 'waiting', reason: 'WaitingForSpace', message: `${waitingFor(subject)}: ${why}` };
  }
  // A space with a problem, such as one refused token of several, keeps what it has and takes nothing new.
  const admitted = space.ready?.status === 'True' || subject.deleting || mayExist(subject);
  const isShown = connection?.poller.listedAtMs !== undefined || connection?.poller.has(currentID(subject));
  if (connection !== undefined && isShown && admitted) {
    world.memory.waiting.forget(subject.key);
    return connection;
  }
  return notObserved(work, space, connection);
}

/** Set if the space does not admit the object's namespace. */
export async function refusalOfSpace({ world, subject, signal }: LocalWork): Promise<SpaceRefused | undefined> {
  const own = subject.metadata.namespace ?? '';
  const { name, namespace = own } = subject.spec.spaceRef;
  const allowed = world.space(spaceKeyOf(subject))?.spec?.allowedNamespaces;
  if (own === namespace || (await admits(allowed, () => world.namespaceLabels(own, signal)))) return undefined;
  const message = `DatabaseSpace "${name}" in namespace "${namespace}" does not admit namespace "${own}": ${admitIt(allowed, "the space's")}`;
  return { space: 'refused', reason: 'SpaceNotAllowed', message };
}

/** The space has yet to be observed, or has a problem. */
async function notObserved(
  work: LocalWork,
  { spec, ready }: SpaceSeenHere,
  connection: SpaceConnection | undefined,
): Promise<WithoutSpace> {
  const { world, subject } = work;
  // Names only the reason: the message may change often, and that must not write hundreds of objects.
  const starting = ready?.status === 'True';
  const known = starting ? 'this process has not listed it yet' : `its condition Ready says ${ready?.reason}`;
  const why = ready === undefined ? untold(connection) : known;
  const message = `${waitingFor(subject)} to be observed: ${why}`;
  const isPutOff = ready?.status === 'Unknown' && FIRST_LOOK.has(ready.reason);
  const isFirstLook = ready === undefined || starting || isPutOff;
  const untoldMs = isFirstLook ? untilTold(world, subject, connection) : undefined;
  const login = await loginMeanwhile(work, spec, connection);
  return { space: 'waiting', reason: 'WaitingForSpace', message, starting, untoldMs, login };
}

/** What is said of a space whose status says nothing. */
function untold(connection: SpaceConnection | undefined): string {
  return connection?.poller.listedAtMs === undefined
    ? 'it has not been checked yet'
    : 'it was listed, but its status does not say so: if that cannot be written, an Event StatusRefused of it says why';
}

function waitingFor({ metadata, spec }: ClusterSubject): string {
  const { name, namespace = metadata.namespace ?? '' } = spec.spaceRef;
  return `Waiting for DatabaseSpace "${name}" in namespace "${namespace}"`;
}

/** What a space says of itself while its first look takes its time. */
const FIRST_LOOK: ReadonlySet<string> = new Set(['CloudThrottled', OBSERVING]);

/** How long a cluster that reports nothing yet may stay silent; undefined: it must report now. */
function untilTold(
  { clock, memory }: ClusterWorld,
  subject: ClusterSubject,
  connection: SpaceConnection | undefined,
): number | undefined {
  const { conditions } = subject.status;
  if (conditions !== undefined && findStatusCondition(conditions, 'Ready')?.reason !== OBSERVING) return undefined;
  const isLookedAt = connection !== undefined && connection.poller.listedAtMs === undefined;
  const leftMs = TOLD_AFTER_MS[isLookedAt ? 'lookedAt' : 'queued'] - memory.waiting.begin(subject, clock.monotonic());
  return leftMs > 0 ? leftMs : undefined;
}

/**
 * How long a space may wait for its turn to be looked at for the first time, and how long its List may take. What is asked after that waits
 * for its turn as well: if the cloud limits requests, the looks at a hundred spaces take most of a minute.
 */
const TOLD_AFTER_MS = { queued: 60_000, lookedAt: 10_000 };
