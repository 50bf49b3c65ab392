import type { Random } from '../../../base/random.ts';
import { digestOf, type Logins, type Verdict } from '../../../database/logins.ts';
import type { Login } from '../../secrets.ts';
import type { ClusterSubject, WorkingLogin } from '../observation.ts';
import type { ClusterWorld } from '../world.ts';
import {
  adminUsername,
  type Candidate,
  candidates,
  hasOwnPassword,
  isOtherUser,
  type KnownLogins,
} from './known-logins.ts';

/* Asks a server which logins work. */

/**
 * Tries the logins. A held session proves its password without a call, unless the server was down since, or `fresh` asks for more:
 * nobody tells us when the password is changed elsewhere. So a login from elsewhere, which would overwrite a password in the Secret, is always
 * tried, and after that password. `nextFirst`: tries the coming one first, whatever is held, as a session may end at any moment.
 */
export async function findWorking(
  logins: Logins,
  known: KnownLogins,
  { fresh, nextFirst }: { readonly fresh: boolean; readonly nextFirst: boolean },
  signal: AbortSignal,
): Promise<Candidate | undefined> {
  const isInPlace = ({ working }: Candidate) => working === 'next' || working === 'current';
  const held = (each: Candidate) =>
    !fresh && (known.current === undefined || isInPlace(each)) && logins.isHeld(each.login);
  // Among candidates the coming one is first as it is.
  const isFirst = (each: Candidate) => !nextFirst && held(each);
  const refused = new Set<string>();
  for (const each of candidates(known).toSorted((a, b) => Number(isFirst(b)) - Number(isFirst(a)))) {
    const digest = digestOf(each.login);
    if (refused.has(digest)) continue;
    if (held(each) || (await logins.attempt(each.login, signal)) === 'accepted') return each;
    refused.add(digest);
  }
  return undefined;
}

/** A session outlives a lost password. It must be this object's own: the server may have been another object's before. */
export function isHeld(
  { memory }: ClusterWorld,
  { key, status }: ClusterSubject,
  logins: Logins,
  known: KnownLogins,
): boolean {
  const hadLogin = status.credentials !== undefined || memory.hadLogin(key);
  return hadLogin && heldUsername(logins, known) !== undefined;
}

/**
 * The user of a session that is held: the one that new clusters come with, or the one whose name is in the Secret. Somebody may have
 * written a DatabaseUser's name there, whose session is held as well. undefined: there is no session of either.
 */
export function heldUsername(logins: Logins, known: KnownLogins): string | undefined {
  return [known.factory.username, adminUsername(known)].find((username) => logins.heldBy(username) !== undefined);
}

/**
 * Tries the logins that must fail. The factory's, once the published one works and no other is to come. And a made-up password, if two
 * logins work, or if the only other one that may be right is about to go.
 */
export async function tryOthers(
  logins: Logins,
  known: KnownLogins,
  working: WorkingLogin,
  random: Random,
  signal: AbortSignal,
): Promise<{ readonly factoryAlive: boolean | undefined; readonly acceptsAny: boolean }> {
  const isInPlace = working === 'current' && known.nextIs !== 'ours';
  const factoryAlive = isInPlace ? await isFactoryAlive(logins, known, signal) : undefined;
  const isDoubted = factoryAlive === true || (working === 'next' && hasOwnPassword(known));
  return { factoryAlive, acceptsAny: isDoubted && (await logins.acceptsAny(adminUsername(known), random, signal)) };
}

/** Always asks the server: Ready promises that the factory login is refused. */
async function isFactoryAlive(logins: Logins, known: KnownLogins, signal: AbortSignal): Promise<boolean> {
  const verdict: Verdict = await logins.attempt(known.factory, signal);
  return verdict === 'accepted';
}

/** Returns the user whose login works but may not manage others; undefined: none. The user that new clusters come with always may. */
export async function powerlessUser(
  logins: Logins,
  known: KnownLogins,
  login: Login | undefined,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (login === undefined || !isOtherUser(known, login)) return undefined;
  return (await logins.seesUsers(login, signal)) ? undefined : login.username;
}
