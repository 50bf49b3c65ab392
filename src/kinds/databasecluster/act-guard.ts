import { isDeepStrictEqual } from 'node:util';
import { TransientError } from '../../base/errors.ts';
import type { Cluster } from '../../cloud/schema.ts';
import { ACCEPT_IDENTITY } from '../../kube/annotations.ts';
import { findStatusCondition } from '../../kube/condition.ts';
import { confirm as confirmObject } from '../confirm.ts';
import type { Login } from '../secrets.ts';
import { differences } from './changes/differences.ts';
import { askFor } from './existence/find-cluster.ts';
import { currentID, isSame } from './identity.ts';
import { isFactorys, type KnownLogins } from './login/known-logins.ts';
import type { ClusterSubject } from './observation.ts';
import { DATABASE_CLUSTERS } from './resource.ts';
import type { LocalWork, Work } from './work.ts';

/* What is checked right before an effect: a cache and a List may be older than what matters. */

/** Reads the object once more before anything is created, changed or ended. */
export function confirm({ world, subject, signal }: LocalWork): Promise<void> {
  return confirmObject(world.api, DATABASE_CLUSTERS, subject, signal, [ACCEPT_IDENTITY]);
}

/**
 * The same, and whether the cluster is still the object's own: while the API server took its time, a List may have come that shows another
 * one under the id. Nothing may be awaited between this and the call.
 */
export async function confirmFor(work: Work, id: string): Promise<boolean> {
  await confirm(work);
  const cluster = work.connection.poller.get(id);
  return cluster === undefined || isSame(work.subject, cluster);
}

/**
 * The cluster as the cloud, asked now, shows it; undefined: there is none. The answer is taken in, unless it does not agree with what was
 * known and a List requested since still shows that: the next List would put it back, and so lead to one look after the other, for ever
 * and without a word. Once Ready says so, no List is requested for this any more: there would be as many as there are clusters.
 */
export async function lookAgain(
  { world, subject, connection, signal }: Work,
  id: string,
  agree: (one: Cluster, other: Cluster) => boolean = () => true,
): Promise<Cluster | undefined> {
  const { client, poller } = connection;
  const known = poller.get(id);
  const askedAt = world.clock.monotonic();
  const cluster = await client.get(id, signal);
  const isAsKnown = known === undefined || (cluster !== undefined && agree(cluster, known));
  // While no List succeeds, one answer is the newest that is known; only that there is no cluster is not believed then.
  if (isAsKnown || (cluster !== undefined && poller.error !== undefined)) {
    poller.learn(id, cluster, askedAt);
    return cluster;
  }
  if (!isContradictionTold(subject)) await poller.refresh();
  if (poller.error !== undefined) throw poller.error;
  const listed = poller.get(id);
  if (listed !== undefined && (cluster === undefined || agree(listed, known))) throw contradicted(listed, cluster);
  return cluster;
}

function isContradictionTold({ status }: ClusterSubject): boolean {
  const reason = findStatusCondition(status.conditions, 'Ready')?.reason;
  return reason === 'ClusterChanged' || reason === 'NotFound';
}

function contradicted({ id, status }: Cluster, alone: Cluster | undefined): TransientError {
  const [reason, as, but] =
    alone === undefined
      ? ['NotFound', '', 'but answers 404']
      : ['ClusterChanged', ` as ${status}`, alone.status === status ? 'but otherwise' : `but as ${alone.status}`];
  const message = `The cloud lists cluster "${id}"${as}, ${but} when asked for it alone: nothing is changed, and Mooring tries again. If this persists, check the cluster in the cloud's console, and proxies on the way to the cloud`;
  return new TransientError(reason, message);
}

/** Whether the cloud, asked now, shows the cluster as it was when the step was decided. If not, the next pass decides again. */
export async function isAsDecidedOn(work: Work, id: string): Promise<boolean> {
  const { subject, connection } = work;
  const known = connection.poller.get(id);
  const live = await lookAgain(work, id, (one, other) => isAlike(subject, one, other));
  return known !== undefined && live !== undefined && isAlike(subject, live, known);
}

/** Whether both mean the same for what should be changed. */
function isAlike(subject: ClusterSubject, one: Cluster, other: Cluster): boolean {
  return (
    isSame(subject, one) &&
    one.status === other.status &&
    isDeepStrictEqual(differences(subject, one), differences(subject, other))
  );
}

/** Whether the object had its own login: one was verified, of this or a former cluster, or the Secret's password is not the factory's. */
function hadAnother({ status }: ClusterSubject, { current, factory }: KnownLogins): boolean {
  const wasVerified = status.credentials !== undefined || status.lastRotation !== undefined;
  return wasVerified || (current !== undefined && !isFactorys(current, factory));
}

/**
 * Guards a password that is about to be written down or set with `login`. If that is the login that new clusters come with, and
 * another one worked before, throws unless the cloud says that the cluster is still the same: somebody may have created another
 * one in its place, at the same address, since the last List.
 */
export async function refuseAnothersLogin(work: Work, known: KnownLogins, login: Login): Promise<void> {
  if (!isFactorys(login, known.factory) || !hadAnother(work.subject, known)) return;
  const id = currentID(work.subject);
  if (await isAsDecidedOn(work, id)) return;
  const message = `The login that new clusters come with works at cluster "${id}", which is not the same cluster as before, or has changed: no password is replaced, and Mooring checks it again`;
  throw new TransientError('ClusterChanged', message);
}

/** Asks the cloud whether the id is free. If not, the next pass sees whose it is. */
export async function isFree(work: Work, id: string): Promise<boolean> {
  return (await askFor(work, id)) === undefined;
}
