import { type OpenServer, serverAccess } from '../server/access.ts';
import { isIdentifier } from '../server-schema.ts';
import { type UserObservation, type UserPlace, type UserSeen, type UserSubject, usernameOf } from './observation.ts';
import { observeEnd } from './observe-end.ts';
import { areSecretsAsVerified, observeLogin } from './observe-login.ts';
import { firstClaimant } from './records.ts';
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
  const access = await serverAccess(world, subject, signal);
  if (access.server !== 'open') return { ...access, unchanged: areSecretsAsVerified(world, subject) };
  const claimants = [...world.claimants(access.clusterKey, usernameOf(subject))];
  const claimedBy = firstClaimant(subject, claimants.map(world.user));
  const seen = { server: 'open', at: userPlaceOf(access), claimedBy } as const;
  return { ...seen, login: await loginOf(world, subject, access, seen, signal) };
}

/** The addresses are sorted, as what is in a Secret must not change with the servers that happen to run. */
export function userPlaceOf({ clusterName, identity, endpoint, addresses }: OpenServer): UserPlace {
  const [address = ''] = addresses;
  return { clusterName, identity, endpoint, address, addresses: addresses.toSorted().join(',') };
}

async function loginOf(
  world: UserWorld,
  subject: UserSubject,
  access: OpenServer,
  { at, claimedBy }: Pick<UserSeen, 'at' | 'claimedBy'>,
  signal: AbortSignal,
): Promise<UserSeen['login']> {
  if (claimedBy !== undefined || !isIdentifier(usernameOf(subject))) return { login: 'notTried' };
  if (subject.deleting) return observeEnd(world, subject, access, at, signal);
  if (wrongSpec(subject) !== undefined) return { login: 'notTried' };
  return observeLogin(world, subject, access, at, signal);
}
