import type { LoginAt } from '../../password-tries.ts';
import { type TriedLogin, usernameOf } from '../observation.ts';
import type { Passwords } from '../secret/passwords.ts';
import type { LocalWork, Work } from '../work.ts';

/** Returns which of the Secret's passwords signs in; `anyAccepted`: the server takes any password, so that this proves nothing. */
export async function findWorking(
  work: Work,
  { current, next }: Passwords,
  { fresh, trusted }: Trust,
): Promise<TriedLogin['works'] | 'anyAccepted'> {
  const signsIn = (password: string | undefined, wary: boolean) =>
    password === undefined ? 'no' : trySignIn(work, password, { fresh, wary });
  const byNext = await signsIn(next, trusted !== 'both');
  if (byNext !== 'no') return byNext === 'anyAccepted' ? 'anyAccepted' : 'next';
  const byCurrent = await signsIn(current, trusted === 'neither');
  return byCurrent === 'yes' ? 'current' : byCurrent === 'anyAccepted' ? 'anyAccepted' : 'none';
}

interface Trust {
  /** Nothing remembered counts. */
  readonly fresh: boolean;
  /** The passwords for which signing in is enough. Another counts only if one that nobody was ever given does not sign in. */
  readonly trusted: 'both' | 'current' | 'neither';
}

/** `wary`: if any password signs in, this one's sign-in proves nothing, and is not remembered. */
async function trySignIn(
  work: Work,
  password: string,
  { fresh, wary }: { readonly fresh: boolean; readonly wary: boolean },
): Promise<'yes' | 'no' | 'anyAccepted'> {
  const { world, subject, access, signal } = work;
  const { clock, memory, random, servers } = world;
  const { key } = subject;
  const login = { username: usernameOf(subject), password };
  const there = loginAt(work, password);
  if (!fresh && memory.isProven(key, there, clock)) return 'yes';
  if ((await servers.signIn(access, login, signal)) === 'refused') return 'no';
  if (wary && (await access.logins.acceptsAny(login.username, random, signal))) return 'anyAccepted';
  memory.accepted(key, there, clock);
  return 'yes';
}

/** Reports whether no server has heard of the password. */
export function isUnsent({ world, subject }: LocalWork, password: string): boolean {
  return world.memory.tries.isUnsent(subject.key, { username: usernameOf(subject), password });
}

/** The user's login with that password, at its server. */
export function loginAt({ subject, at }: Work, password: string): LoginAt {
  return { username: usernameOf(subject), password, identity: at.identity, endpoint: at.endpoint };
}
