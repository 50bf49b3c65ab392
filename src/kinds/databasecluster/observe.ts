import type { Cluster } from '../../cloud/schema.ts';
import { findStatusCondition, isStatusConditionTrue } from '../../kube/condition.ts';
import { objectKey } from '../../kube/object.ts';
import { OBSERVING } from '../../kube/summary.ts';
import type { SpaceConnection } from '../databasespace/connection.ts';
import { isSamePlace, placeName, placeOf } from '../databasespace/place.ts';
import { dependentsFirst } from '../dependents-first.ts';
import { createIt } from '../missing.ts';
import { admitIt, admits } from '../namespaces.ts';
import { stateNotShown } from './changes/not-shown.ts';
import { destroys, needsCloudToGo } from './decide-deletion.ts';
import { endpointOf } from './endpoint.ts';
import { claimantsOf, firstClaimant } from './existence/claimants.ts';
import { findCluster } from './existence/find-cluster.ts';
import { hasMoved, isToFollow } from './existence/moved.ts';
import {
  adminSecretName,
  createdAtOf,
  currentID,
  desiredID,
  isOnlyObserved,
  isSame,
  mayExist,
  owns,
  spaceKeyOf,
} from './identity.ts';
import { observeLogin } from './login/observe-login.ts';
import { loginMeanwhile } from './login/verify-alone.ts';
import type { ClusterObservation, ClusterSubject, SpaceSeen } from './observation.ts';
import { type ClusterRecord, clusterRecordOf } from './record.ts';
import { CLONE_OF_ITSELF } from './rules.ts';
import type { ClusterWorld } from './world.ts';

/**
 * Reads what the decision needs: the space's List, as the poller last had it; the cloud itself only if that is not
 * enough; the Secret and the server only if no login is known to work.
 */
export async function observeCluster(
  world: ClusterWorld,
  subject: ClusterSubject,
  signal: AbortSignal,
): Promise<ClusterObservation> {
  const needed = neededBy(world, subject);
  if (needed !== undefined) return needed;
  // An object that does not need the cloud to go does not wait for it.
  if (subject.deleting && !needsCloudToGo(subject.spec)) return { space: 'notNeeded' };
  const connection = await findConnection(world, subject, signal);
  if ('space' in connection) return connection;
  const { poller } = connection;
  if (subject.lookNow) await poller.refresh();
  const { id, cluster, lookalikes } = await findCluster(world, subject, connection, signal);
  const moved = hasMoved(world, subject, connection.place);
  if (moved !== undefined && !(cluster !== undefined && createdAtOf(cluster) === subject.status.createdAt))
    return moved;
  poller.follow(id);
  if (cluster !== undefined) world.memory.unseenChanges.shows(subject.key, cluster, world.clock.monotonic());
  // A protected cluster goes on as it is, and users and databases on it are still looked after.
  const goes = subject.deleting && !subject.spec.deletionProtection;
  const endpoint = cluster === undefined || goes ? undefined : endpointOf(connection, subject, cluster);
  const seen = {
    space: 'seen',
    place: placeName(connection.place),
    at: connection.place,
    canDestroy: connection.client.canDestroy,
    id,
    claimedBy: firstClaimant(world, subject, id),
    mayLandUntilMs: mayLandUntilMs(world, subject),
    self: world.memory.attempts.self,
    cluster,
    absence: absenceOf(world, subject, cluster, lookalikes.length > 0),
    lookalikes,
    away: poller.isAway ? subject.spec.spaceRef.name : undefined,
    renameTaken: isRenameTaken(subject, connection, cluster),
    notShown: cluster && stateNotShown(world, subject, cluster, goes ? 'gone' : WANTED[subject.spec.state]),
    endpoint,
    cloneSource: await cloneSourceOf(world, subject, connection, signal),
  } as const;
  return {
    ...seen,
    login: await loginOf(world, subject, connection, { ...seen, login: { login: 'notTried' } }, signal),
  };
}

const WANTED = { Running: 'running', Suspended: 'suspended' } as const;

/** What is on a cluster that stays goes first. */
function neededBy(world: ClusterWorld, subject: ClusterSubject): WithoutSpace | undefined {
  const { spec, status } = subject;
  const usable = isStatusConditionTrue(status.conditions, 'Available');
  if (!subject.deleting || destroys(spec) || !usable) return undefined;
  const sinceMs = world.memory.going.begin(subject, world.clock.monotonic());
  const wait = dependentsFirst(world.dependents(subject.key), sinceMs, 'the cluster', FOLLOWING_MS);
  return wait && { space: 'needed', reason: 'WaitingForDependents', ...wait };
}

/** For how long an object of a cluster that stays waits for others that may follow it. */
const FOLLOWING_MS = 5_000;

type WithoutSpace = Exclude<ClusterObservation, SpaceSeen>;

async function findConnection(
  world: ClusterWorld,
  subject: ClusterSubject,
  signal: AbortSignal,
): Promise<SpaceConnection | WithoutSpace> {
  const key = spaceKeyOf(subject);
  const own = subject.metadata.namespace ?? '';
  const { name, namespace = own } = subject.spec.spaceRef;
  const space = world.space(key);
  const waiting = (reason: string, message: string): WithoutSpace => ({ space: 'waiting', reason, message });
  if (space === undefined) {
    const remedy = createIt(world.watches, { field: 'spaceRef', name, namespace, own }, world.spaceKeys);
    return waiting('SpaceNotFound', `Waiting for DatabaseSpace "${name}" in namespace "${namespace}": ${remedy}`);
  }
  const allowed = space.spec?.allowedNamespaces;
  if (own !== namespace && !(await admits(allowed, () => world.namespaceLabels(own, signal)))) {
    const message = `DatabaseSpace "${name}" in namespace "${namespace}" does not admit namespace "${own}": ${admitIt(allowed, "the space's")}`;
    return { space: 'refused', reason: 'SpaceNotAllowed', message };
  }
  const place = space.spec === undefined ? undefined : placeOf(space.spec);
  const moved = place === undefined ? undefined : hasMoved(world, subject, place);
  if (moved !== undefined && !isToFollow(subject)) return moved;
  const connection = world.connections.get(key);
  if (place !== undefined && connection !== undefined && !isSamePlace(connection.place, place))
    return waiting(
      'WaitingForSpace',
      `Waiting for DatabaseSpace "${name}" in namespace "${namespace}": it has just been changed`,
    );
  // A space with a problem, such as one refused token of several, keeps what it has and takes nothing new.
  const admitted = space.ready?.status === 'True' || hasBegun(subject);
  const isShown = connection?.poller.listedAtMs !== undefined || connection?.poller.has(currentID(subject));
  if (connection !== undefined && isShown && admitted) {
    world.memory.waiting.forget(subject.key);
    return connection;
  }
  // Names only the reason: the message may change often, and that must not write hundreds of objects.
  const starting = space.ready?.status === 'True';
  const known = starting ? 'this process has not listed it yet' : `its condition Ready says ${space.ready?.reason}`;
  const why = space.ready === undefined ? 'it has not been checked yet' : known;
  const message = `Waiting for DatabaseSpace "${name}" in namespace "${namespace}" to be observed: ${why}`;
  const isPutOff = space.ready?.status === 'Unknown' && FIRST_LOOK.has(space.ready.reason);
  const isFirstLook = space.ready === undefined || starting || isPutOff;
  const untoldMs = isFirstLook ? untilTold(world, subject, connection) : undefined;
  const login = await loginMeanwhile(world, subject, space.spec, connection, signal);
  return { space: 'waiting', reason: 'WaitingForSpace', message, starting, untoldMs, login };
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
 * How long a space may wait for its turn to be looked at for the first time, and how long that look may take. If the cloud limits
 * requests, the looks at a hundred spaces take most of a minute.
 */
const TOLD_AFTER_MS = { queued: 60_000, lookedAt: 10_000 };

function hasBegun({ status, deleting }: ClusterSubject): boolean {
  return deleting || mayExist({ status });
}

function isRenameTaken(subject: ClusterSubject, { poller }: SpaceConnection, cluster: Cluster | undefined): boolean {
  const desired = desiredID(subject);
  const target = cluster === undefined || cluster.id === desired ? undefined : poller.get(desired);
  if (target === undefined) return false;
  const createdAt = createdAtOf(target);
  return createdAt === undefined || createdAt !== subject.status.createdAt;
}

/** For a recorded cluster that neither List nor Get shows. Also while its object is deleted, so that the cluster is not left behind. */
function absenceOf(
  { clock, memory: { absences } }: ClusterWorld,
  subject: ClusterSubject,
  cluster: Cluster | undefined,
  hasLookalikes: boolean,
) {
  if (cluster === undefined && subject.status.createdAt !== undefined)
    return absences.missed(subject, hasLookalikes, clock);
  absences.present(subject, cluster);
  return undefined;
}

/** How long the cloud may still carry out a call after it was made, if no answer came. */
const LANDING_MS = 120_000;

function mayLandUntilMs({ clock, memory }: ClusterWorld, subject: ClusterSubject): number | undefined {
  const { key, status } = subject;
  const atMs = status.operation === undefined ? undefined : memory.attempts.lastMadeAtMs(key, status.operation);
  const nowMs = clock.now();
  // The wall clock was set back, so nobody knows how long ago it was: as late as when this was first seen.
  if (atMs !== undefined && atMs > nowMs) return nowMs + LANDING_MS - memory.ahead.begin(subject, clock.monotonic());
  memory.ahead.forget(key);
  return atMs === undefined ? undefined : atMs + LANDING_MS;
}

/** The cluster to clone, which must run or be suspended, and be in this place, as a clone is made where its source is. */
async function cloneSourceOf(
  world: ClusterWorld,
  subject: ClusterSubject,
  { poller, place }: SpaceConnection,
  signal: AbortSignal,
): Promise<SpaceSeen['cloneSource']> {
  const { cloneFrom } = subject.spec;
  if (cloneFrom === undefined) return undefined;
  const isReady = (cluster: Cluster | undefined) => cluster?.status === 'running' || cluster?.status === 'suspended';
  const isItself =
    cloneFrom.clusterRef === undefined
      ? cloneFrom.clusterID === desiredID(subject)
      : cloneFrom.clusterRef.name === subject.metadata.name;
  if (isItself) return { is: 'unusable', reason: 'InvalidSpec', message: `spec.${CLONE_OF_ITSELF}` };
  if (cloneFrom.clusterRef === undefined) {
    const id = cloneFrom.clusterID ?? '';
    const cluster = poller.get(id);
    const called = `cluster "${id}" in ${placeName(place)}, which is to be cloned`;
    if (cluster === undefined)
      return { is: 'waiting', message: `Waiting for ${called}: create it there, or check cloneFrom.clusterID` };
    if (!isReady(cluster)) return { is: 'waiting', message: `Waiting for ${called}, to run or to be suspended` };
    const keeper = await findKeeper(world, subject, cluster, signal);
    if (keeper !== undefined) {
      const remedy = admitIt(keeper.spec.allowedNamespaces, "that one's");
      const message = `Cluster "${id}" in ${placeName(place)}, which is to be cloned, is that of a DatabaseCluster that does not admit namespace "${subject.metadata.namespace}": delete this object, or ${remedy}`;
      return { is: 'unusable', reason: 'ClusterNotAllowed', message };
    }
    return { is: 'known', id, createdAt: createdAtOf(cluster) };
  }
  const { name } = cloneFrom.clusterRef;
  const { namespace = '' } = subject.metadata;
  const object = world.cluster(objectKey(namespace, name));
  if (object === undefined) {
    const missing = { field: 'cloneFrom.clusterRef', name, namespace, own: namespace };
    const others = () => Iterator.from(world.clusterKeys()).filter((key) => key !== subject.key);
    const remedy = createIt(world.watches, missing, others);
    return { is: 'waiting', message: `Waiting for DatabaseCluster "${name}", which is to be cloned: ${remedy}` };
  }
  const source = clusterRecordOf(object);
  // Undefined if there is no such space now: one may yet appear, and this says nothing about where the source is.
  const theirs = source && world.places.get(spaceKeyOf(source));
  if (theirs !== undefined && !isSamePlace(theirs, place)) {
    const message = `DatabaseCluster "${name}", which is to be cloned, is not in ${placeName(place)}: delete this object, and create it in the space of that one`;
    return { is: 'unusable', reason: 'CloneSourceElsewhere', message };
  }
  const cluster = theirs && poller.get(source?.status.clusterID ?? '');
  const isTheirs = source?.status.createdAt !== undefined && cluster !== undefined && isSame(source, cluster);
  if (isTheirs && isReady(cluster)) return { is: 'known', id: cluster.id, createdAt: createdAtOf(cluster) };
  const message = `Waiting for DatabaseCluster "${name}", which is to be cloned, to run or to be suspended`;
  return { is: 'waiting', message };
}

/**
 * Returns the DatabaseCluster of the cluster that does not admit the subject's namespace. A clone has all the data, so only namespaces
 * that are admitted may make one.
 */
async function findKeeper(
  world: ClusterWorld,
  subject: ClusterSubject,
  cluster: Cluster,
  signal: AbortSignal,
): Promise<ClusterRecord | undefined> {
  const { namespace: own = '' } = subject.metadata;
  for (const record of claimantsOf(world, subject, cluster.id)) {
    const { metadata, spec, status } = record;
    const isTheirs = status.createdAt === undefined ? mayExist(record) : isSame(record, cluster);
    if (metadata.namespace === own || currentID(record) !== cluster.id || !isTheirs) continue;
    if (!(await admits(spec.allowedNamespaces, () => world.namespaceLabels(own, signal)))) return record;
  }
  return undefined;
}

/** Looks at a login only if the cluster is surely ours, runs, and should. */
async function loginOf(
  world: ClusterWorld,
  subject: ClusterSubject,
  connection: SpaceConnection,
  seen: SpaceSeen,
  signal: AbortSignal,
): Promise<SpaceSeen['login']> {
  const { cluster, endpoint } = seen;
  const { spec, status } = subject;
  const skip =
    cluster === undefined ||
    cluster.status !== 'running' ||
    subject.deleting ||
    status.createdAt === undefined ||
    !isSame(subject, cluster) ||
    isOnlyObserved(subject) ||
    spec.managementPolicy === 'Observe' ||
    // Look once before it sleeps, if that was never done: a cluster must never wake up with the factory login.
    (spec.state === 'Suspended' && status.credentials !== undefined);
  if (skip) return { login: 'notTried', ...lostSecretOf(world, subject, seen) };
  if (endpoint !== undefined) return observeLogin(world, subject, connection, endpoint, signal);
  return { login: 'noServer', forMs: world.memory.unreachable.begin(subject, world.clock.monotonic()) };
}

/** The login of a sleeping cluster cannot be tried, but a missing Secret is noticed, and can be restored before it is needed. */
function lostSecretOf({ secrets }: ClusterWorld, subject: ClusterSubject, { cluster }: SpaceSeen) {
  const { credentials } = subject.status;
  // If Secrets are not watched, nothing reports on one with another name.
  const name = credentials?.secretName === adminSecretName(subject) ? credentials.secretName : undefined;
  const sleeps = cluster?.status === 'suspended' && owns(subject) && !subject.deleting && isSame(subject, cluster);
  if (name === undefined || !sleeps) return {};
  return secrets.version(subject.metadata.namespace ?? '', name) === undefined ? { lostSecret: name } : {};
}
