import { whereOf } from '../password-tries.ts';
import type { OpenServer } from '../server/access.ts';
import type { Passwords } from './content.ts';
import { type TriedLogin, type UserSubject, usernameOf } from './observation.ts';
import type { UserWorld } from './world.ts';

/** Returns which of the Secret's passwords signs in; `anyAccepted`: the server takes any password, so that this proves nothing. */
export async function findWorking(
  world: UserWorld,
  subject: UserSubject,
  access: OpenServer,
  { current, next }: Passwords,
  { fresh, trusted }: Trust,
  signal: AbortSignal,
): Promise<TriedLogin['works'] | 'anyAccepted'> {
  const signsIn = (password: string | undefined, wary: boolean) =>
    password === undefined ? 'no' : trySignIn(world, subject, access, password, { fresh, wary }, signal);
  const byNext = await signsIn(next, trusted !== 'both');
  if (byNext !== 'no') return byNext === 'anyAccepted' ? 'anyAccepted' : 'next';
  const byCurrent = await signsIn(current, trusted === 'neither');
  return byCurrent === 'yes' ? 'current' : byCurrent === 'anyAccepted' ? 'anyAccepted' : 'none';
}

export interface Trust {
  /** Nothing remembered counts. */
  readonly fresh: boolean;
  /** The passwords for which signing in is enough. Another counts only if one that nobody was ever given does not sign in. */
  readonly trusted: 'both' | 'current' | 'neither';
}

/** `wary`: if any password signs in, this one's sign-in proves nothing, and is not remembered. */
async function trySignIn(
  { clock, memory, random, servers }: UserWorld,
  { key, metadata, spec }: UserSubject,
  access: OpenServer,
  password: string,
  { fresh, wary }: { readonly fresh: boolean; readonly wary: boolean },
  signal: AbortSignal,
): Promise<'yes' | 'no' | 'anyAccepted'> {
  const username = usernameOf({ metadata, spec });
  const login = { username, password };
  const where = whereOf(access.identity, access.endpoint);
  if (!fresh && memory.isProven(key, login, where, clock)) return 'yes';
  if ((await servers.signIn(access, login, signal)) === 'refused') return 'no';
  if (wary && (await access.logins.acceptsAny(username, random, signal))) return 'anyAccepted';
  memory.accepted(key, login, where, clock);
  return 'yes';
}

/** Reports whether no server has heard of the password. */
export function isUnsent({ memory }: UserWorld, subject: UserSubject, password: string): boolean {
  return memory.tries.isUnsent(subject.key, { username: usernameOf(subject), password });
}
