import type { Cluster } from '../../cloud/schema.ts';
import { isPaused } from '../../kube/annotations.ts';
import { isStatusConditionTrue } from '../../kube/condition.ts';
import { failureOf } from '../../kube/failure.ts';
import type { SpaceConnection } from '../databasespace/connection/connection.ts';
import { dependentsFirst } from '../dependents-first.ts';
import { stateNotShown, takeIn } from './changes/not-shown.ts';
import { destroys, needsCloudToGo } from './decide-deletion.ts';
import { endpointOf, sourcesAddress } from './endpoint.ts';
import { firstClaimant } from './existence/claimants.ts';
import { cloneSourceOf } from './existence/clone-source.ts';
import { isToBeCreated } from './existence/decide-absent.ts';
import { findCluster } from './existence/find-cluster.ts';
import { moveOf } from './existence/moved.ts';
import { createdAtOf, desiredID, isOnlyObserved, isSame, owns } from './identity.ts';
import { clonesToSecure } from './login/clones.ts';
import { observeLogin } from './login/observe-login.ts';
import { observeSecret } from './login/secret-taken.ts';
import type { ClusterObservation, ClusterSubject, SpaceSeen } from './observation.ts';
import { findConnection } from './observe-space.ts';
import { isSecured } from './present.ts';
import { refusalWords } from './refused-token.ts';
import type { Work } from './work.ts';
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
  if (isGoing(subject) && !needsCloudToGo(subject.spec)) return { space: 'notNeeded' };
  const local = { world, subject, signal };
  const connection = await findConnection(local);
  if ('space' in connection) return connection;
  const work = { ...local, connection };
  const { poller } = connection;
  if (subject.lookNow) await poller.refresh();
  const { id, cluster, lookalikes } = await findCluster(work);
  const moved = moveOf(world, subject, connection.place);
  const hasFollowed = cluster !== undefined && createdAtOf(cluster) === subject.status.createdAt;
  if (moved !== undefined && !hasFollowed) return moved;
  poller.follow(id);
  const isOurChange = cluster !== undefined && takeIn(world, subject, cluster, poller);
  const endpoint =
    cluster === undefined || isEnding(subject, connection)
      ? undefined
      : endpointOf(world, connection, subject, cluster);
  const shownAt =
    cluster === undefined || endpoint !== undefined ? undefined : sourcesAddress(world, connection, subject, cluster);
  // To the poller the cluster is at rest.
  if (shownAt !== undefined) void poller.refresh();
  const seen = {
    space: 'seen',
    place: connection.place,
    canDestroy: connection.client.canDestroy,
    destroyRefusal: destroyRefusalOf(world, subject, connection),
    id,
    claimedBy: firstClaimant(work, id, cluster),
    mayLandUntilMs: mayLandUntilMs(world, subject),
    createdByCall: world.memory.createdByCall(subject.key, subject.status.operation),
    self: world.memory.attempts.self,
    cluster,
    absence: absenceOf(world, subject, cluster, lookalikes.length > 0),
    lookalikes,
    away: poller.isAway ? subject.spec.spaceRef.name : undefined,
    renameTaken: isRenameTaken(subject, connection, cluster),
    notShown: cluster && stateNotShown(world, subject, cluster, isToEnd(subject) ? 'gone' : WANTED[subject.spec.state]),
    isOurChange,
    endpoint,
    sourcesAddress: shownAt,
    cloneSource: cluster === undefined ? await cloneSourceOf(work) : undefined,
  } as const;
  const login = await loginOf(work, { ...seen, login: { login: 'notTried' } });
  // A new password that is written down goes on: what is cloned waits for that.
  const isBegun = login.login === 'tried' && login.next !== 'none';
  const isToGo = isToEnd(subject) && destroys(subject.spec);
  return { ...seen, login, ...(isBegun ? {} : { clones: clonesToSecure(world, subject, isToGo) }) };
}

/** That a cluster is protected is known without a look: whoever deleted its object must hear of it even if the look fails. */
export async function orProtected(
  { deleting, spec }: ClusterSubject,
  look: Promise<ClusterObservation>,
): Promise<ClusterObservation> {
  try {
    return await look;
  } catch (error) {
    if (!deleting || !spec.deletionProtection) throw error;
    const failure = failureOf(error);
    if (failure.lasting === 'conflict') throw error;
    return { space: 'protected', ...failure };
  }
}

function destroyRefusalOf(world: ClusterWorld, subject: ClusterSubject, { client }: SpaceConnection) {
  const refusal = isToEnd(subject) ? client.destroyRefusal : undefined;
  return refusal && refusalWords(world, subject, refusal, 'admin');
}

/** Whether the end of the cluster, or of its management, is asked for. */
function isToEnd({ deleting, spec }: ClusterSubject): boolean {
  return deleting && !spec.deletionProtection;
}

/** A protected or paused cluster goes on as it is, and users and databases on it are still looked after. */
function isGoing(subject: ClusterSubject): boolean {
  return isToEnd(subject) && !isPaused(subject.metadata);
}

/** Nor does one end that must be destroyed, while nobody gives Mooring a token that serves for it. */
function isEnding(subject: ClusterSubject, { client }: SpaceConnection): boolean {
  return isGoing(subject) && (client.canDestroy || !destroys(subject.spec));
}

const WANTED = { Running: 'running', Suspended: 'suspended' } as const;

/** What is on a cluster that stays goes first. */
function neededBy(world: ClusterWorld, subject: ClusterSubject): ClusterObservation | undefined {
  const { spec, status } = subject;
  const usable = isStatusConditionTrue(status.conditions, 'Available');
  if (!isGoing(subject) || destroys(spec) || !usable) return undefined;
  const sinceMs = world.memory.going.begin(subject, world.clock.monotonic());
  const wait = dependentsFirst(world.dependents(subject.key), sinceMs, 'the cluster', FOLLOWING_MS);
  return wait && { space: 'needed', reason: 'WaitingForDependents', ...wait };
}

/** For how long an object of a cluster that stays waits for others that may follow it. */
const FOLLOWING_MS = 5_000;

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
const CLOUD_LANDING_MS = 120_000;

function mayLandUntilMs({ clock, memory }: ClusterWorld, subject: ClusterSubject): number | undefined {
  const { key, status } = subject;
  const atMs = status.operation === undefined ? undefined : memory.attempts.lastMadeAtMs(key, status.operation);
  const nowMs = clock.now();
  // The wall clock was set back, so nobody knows how long ago it was: as late as when this was first seen.
  if (atMs !== undefined && atMs > nowMs)
    return nowMs + CLOUD_LANDING_MS - memory.ahead.begin(subject, clock.monotonic());
  memory.ahead.forget(key);
  return atMs === undefined ? undefined : atMs + CLOUD_LANDING_MS;
}

/**
 * Looks at a login only if the cluster is surely ours and nobody else's, runs, and should; or at its Secret, if one is to be created.
 * After any pause, what signed in before it proves nothing.
 */
async function loginOf(work: Work, seen: SpaceSeen): Promise<SpaceSeen['login']> {
  const { world, subject, connection } = work;
  const { cluster, endpoint } = seen;
  const { spec, status } = subject;
  if (isToBeCreated(subject, seen)) return (await observeSecret(work)) ?? { login: 'notTried' };
  const skip =
    cluster === undefined ||
    seen.claimedBy !== undefined ||
    cluster.status !== 'running' ||
    isEnding(subject, connection) ||
    world.memory.inEndingNamespace.has(subject.key) ||
    status.createdAt === undefined ||
    !isSame(subject, cluster) ||
    isOnlyObserved(subject) ||
    spec.managementPolicy === 'Observe' ||
    // Look once before it sleeps, if that was never done: a cluster must never wake up with the factory login.
    (spec.state === 'Suspended' && isSecured(subject));
  if (skip || endpoint === undefined) world.memory.looksAway(subject.key);
  if (skip) return { login: 'notTried', ...lostSecretOf(world, subject, seen) };
  if (endpoint !== undefined) return observeLogin(work, endpoint);
  return { login: 'noServer', forMs: world.memory.unreachable.begin(subject, world.clock.monotonic()) };
}

/** The login of a sleeping cluster cannot be tried, but a missing Secret is noticed, and can be restored before it is needed. */
function lostSecretOf({ secrets }: ClusterWorld, subject: ClusterSubject, { cluster }: SpaceSeen) {
  const name = subject.status.credentials?.secretName;
  const sleeps = cluster?.status === 'suspended' && owns(subject) && !subject.deleting && isSame(subject, cluster);
  if (name === undefined || !sleeps) return {};
  return secrets.version(subject.metadata.namespace ?? '', name) === undefined ? { lostSecret: name } : {};
}
