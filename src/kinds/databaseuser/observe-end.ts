import type { OpenServer } from '../server/access.ts';
import { isOurSecret, passwordsIn } from './content.ts';
import { findWorking, isUnsent } from './find-working.ts';
import { formerSecrets } from './former-secrets.ts';
import {
  connectionSecretName,
  isOurs,
  type LoginObservation,
  type UserPlace,
  type UserSubject,
  usernameOf,
} from './observation.ts';
import type { UserWorld } from './world.ts';

/** For an object that is being deleted: finds out whether the server's user is its own, by its records or by its passwords. */
export async function observeEnd(
  world: UserWorld,
  subject: UserSubject,
  access: OpenServer,
  at: UserPlace,
  signal: AbortSignal,
): Promise<LoginObservation> {
  const recorded = isOurs(subject, at.identity) || world.memory.isSurelyCreated(subject, at.identity);
  const whose = recorded ? 'ours' : await findWhose(world, subject, access, signal);
  if (whose === 'others') return { login: 'ending', whose };
  if (await world.servers.isReserved(access, usernameOf(subject), signal)) return { login: 'reserved' };
  return whose === 'anyAccepted' ? { login: 'anyAccepted' } : { login: 'ending', whose };
}

/**
 * The List may be older than a user that was created without an answer: only a sign-in tells. When a namespace is deleted, the
 * passwords may already be gone. Then all that is known is that there was no user of this name when its creation began.
 */
async function findWhose(
  world: UserWorld,
  subject: UserSubject,
  access: OpenServer,
  signal: AbortSignal,
): Promise<'ours' | 'others' | 'unknown' | 'coming' | 'anyAccepted'> {
  const { namespace = '' } = subject.metadata;
  const secret = await world.secrets.read(namespace, connectionSecretName(subject), signal);
  const former = (await formerSecrets(world, subject, signal)).map((each) => each.secret);
  for (const each of [secret, ...former]) {
    if (each === undefined || !isOurSecret(subject, each)) continue;
    const trust = { fresh: true, trusted: 'neither' } as const;
    const works = await findWorking(world, subject, access, passwordsIn(each, access, subject), trust, signal);
    if (works === 'anyAccepted') return (await isOnServer(world, subject, access, signal)) ? 'anyAccepted' : 'others';
    if (works !== 'none') return 'ours';
  }
  if (secret === undefined) return (await isOnServer(world, subject, access, signal)) ? 'unknown' : 'others';
  if (!isOurSecret(subject, secret)) return 'others';
  const { next, current } = passwordsIn(secret, access, subject);
  const password = next ?? current;
  const isOut = password !== undefined && !isUnsent(world, subject, password);
  return isOut && !(await isOnServer(world, subject, access, signal)) ? 'coming' : 'others';
}

/** Reports whether the server has the user. No single answer proves that it has not, and the object goes for good. */
async function isOnServer(
  { servers }: UserWorld,
  subject: UserSubject,
  access: OpenServer,
  signal: AbortSignal,
): Promise<boolean> {
  const username = usernameOf(subject);
  return (await servers.user(access, username, signal)) !== undefined || servers.listsUser(access, username, signal);
}
