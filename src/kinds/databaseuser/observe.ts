import { serverAccess } from '../server/access.ts';
import { isOnSameCluster } from '../server/dependents.ts';
import { isIdentifier } from '../server-schema.ts';
import { areSecretsAsVerified, observeLogin } from './login/observe-login.ts';
import { isOurs, type UserObservation, type UserSeen, type UserSubject, usernameOf } from './observation.ts';
import { observeEnd } from './observe-end.ts';
import { claimedByOther } from './records.ts';
import { type Work, workOn } from './work.ts';
import type { UserWorld } from './world.ts';
import { wrongSpec } from './wrong-spec.ts';

/** Reads what the decision needs: caches first, Secrets and the server only if the login is not known to work. */
export async function observeUser(
  world: UserWorld,
  subject: UserSubject,
  signal: AbortSignal,
): Promise<UserObservation> {
  // An object whose user stays can go without asking its server.
  if (subject.deleting && subject.spec.deletionPolicy === 'Retain') return { server: 'notNeeded' };
  const local = { world, subject, signal };
  const { memory } = world;
  const access = await serverAccess(world, subject, signal);
  const wasRight = memory.foundRight.note(subject);
  if (access.server !== 'open') {
    memory.interrupted(subject.key);
    const isUnchanged = areSecretsAsVerified(local) && isOnSameCluster(access, (identity) => isOurs(subject, identity));
    return { ...access, foundRight: wasRight && isUnchanged };
  }
  const claimedBy = claimedByOther(world, subject);
  const work = workOn(local, access);
  const login = await memory.foundRight.looking(subject.key, () => loginOf(work, claimedBy));
  return { server: 'open', at: work.at, claimedBy, login };
}

async function loginOf(work: Work, claimedBy: string | undefined): Promise<UserSeen['login']> {
  const { subject } = work;
  if (claimedBy !== undefined || !isIdentifier(usernameOf(subject))) return { login: 'notTried' };
  if (subject.deleting) return observeEnd(work);
  if (wrongSpec(subject) !== undefined) return { login: 'notTried' };
  return observeLogin(work);
}
