import { findWorking, isUnsent } from './login/find-working.ts';
import { connectionSecretName, isOurs, type LoginObservation, usernameOf } from './observation.ts';
import { formerSecrets } from './secret/former-secrets.ts';
import { isOurSecret } from './secret/our-secret.ts';
import { passwordsIn } from './secret/passwords.ts';
import type { Work } from './work.ts';

/** For an object that is being deleted: finds out whether the server's user is its own, by its records or by its passwords. */
export async function observeEnd(work: Work): Promise<LoginObservation> {
  const { world, subject, access, at, signal } = work;
  const recorded = isOurs(subject, at.identity) || world.memory.creations.isSure(subject, at.identity);
  const whose = recorded ? 'ours' : await findWhose(work);
  if (whose === 'others') return { login: 'ending', whose };
  if (await world.servers.isReserved(access, usernameOf(subject), signal)) return { login: 'reserved' };
  return whose === 'anyAccepted' ? { login: 'anyAccepted' } : { login: 'ending', whose };
}

/**
 * The List may be older than a user that was created without an answer: only a sign-in tells. When a namespace is deleted, the
 * passwords may already be gone. Then all that is known is that there was no user of this name when its creation began.
 */
async function findWhose(work: Work): Promise<'ours' | 'others' | 'unknown' | 'coming' | 'anyAccepted'> {
  const { world, subject, signal } = work;
  const { namespace = '' } = subject.metadata;
  const secret = await world.secrets.read(namespace, connectionSecretName(subject), signal);
  const former = (await formerSecrets(work)).map((each) => each.secret);
  for (const each of [secret, ...former]) {
    if (each === undefined || !isOurSecret(subject, each)) continue;
    const trust = { fresh: true, trusted: 'neither' } as const;
    const works = await findWorking(work, passwordsIn(each, work), trust);
    if (works === 'anyAccepted') return (await isOnServer(work)) ? 'anyAccepted' : 'others';
    if (works !== 'none') return 'ours';
  }
  if (secret === undefined) return (await isOnServer(work)) ? 'unknown' : 'others';
  if (!isOurSecret(subject, secret)) return 'others';
  const { next, current } = passwordsIn(secret, work);
  const password = next ?? current;
  const isOut = password !== undefined && !isUnsent(work, password);
  return isOut && !(await isOnServer(work)) ? 'coming' : 'others';
}

/** Reports whether the server has the user. No single answer proves that it has not, and the object goes for good. */
async function isOnServer({ world: { servers }, subject, access, signal }: Work): Promise<boolean> {
  const username = usernameOf(subject);
  return (await servers.user(access, username, signal)) !== undefined || servers.listsUser(access, username, signal);
}
