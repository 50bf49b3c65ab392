import { TerminalError, TransientError } from '../../../base/errors.ts';
import { digestOf } from '../../../database/logins.ts';
import { isForeign, ROTATION_ANNOTATIONS } from '../../rotation.ts';
import { type Login, loginFrom, type SecretContents } from '../../secrets.ts';
import { adminSecretName } from '../identity.ts';
import type { ClusterSubject, NextIs, UsableLogin, WorkingLogin } from '../observation.ts';
import type { LocalWork } from '../work.ts';
import type { ClusterWorld } from '../world.ts';
import { readFormer } from './former-secrets.ts';

/* The logins that Secrets hold, and what can be said of them without asking a server. */

/** The logins that may work, with their passwords: for a single use, never kept. */
export interface KnownLogins {
  readonly secretName: string;
  /** The admin Secret; undefined: there is none. */
  readonly secret: SecretContents | undefined;
  readonly current: Login | undefined;
  /** The coming login; undefined also if its password is the factory's, which does not count. */
  readonly next: Login | undefined;
  readonly nextIs: NextIs;
  /** Logins in Secrets that may hold one since before `secretName` changed; for a clone, its source's. The likeliest first. */
  readonly inherited: readonly Inherited[];
  readonly existing: Login | undefined;
  /** Why there is no `existing` although the spec names one. Matters only if nothing else works. */
  readonly existingMissing: Error | undefined;
  readonly factory: Login;
}

/** The logins in another Secret, with the coming one if its password was being replaced. */
interface Inherited {
  readonly secretName: string;
  readonly current: Login | undefined;
  readonly next: Login | undefined;
}

export async function readLogins(work: LocalWork, factory: Login): Promise<KnownLogins> {
  const { world, subject, signal } = work;
  const secretName = adminSecretName(subject);
  const secret = await world.secrets.read(subject.metadata.namespace ?? '', secretName, signal);
  const former = await readFormer(work, secret);
  return {
    secretName,
    secret,
    current: loginUnder('password', secret),
    ...nextIn(secret, factory),
    inherited: former.map((each) => ({
      secretName: each.name,
      current: loginUnder('password', each),
      next: nextIn(each, factory).next,
    })),
    ...(await readExisting(work)),
    factory,
  };
}

/** Returns the coming login in a Secret of ours, and whose it is. */
function nextIn(secret: SecretContents | undefined, factory: Login): Pick<KnownLogins, 'next' | 'nextIs'> {
  const next = loginUnder('nextPassword', secret);
  if (next === undefined) return { next, nextIs: 'none' };
  if (isFactorys(next, factory)) return { next: undefined, nextIs: 'factory' };
  return { next, nextIs: isForeign(next, secret?.annotations[ROTATION_ANNOTATIONS.mark]) ? 'foreign' : 'ours' };
}

/** A login in a Secret of ours. */
export function loginUnder(key: 'password' | 'nextPassword', secret: SecretContents | undefined): Login | undefined {
  const username = secret?.data.get('username');
  const password = secret?.data.get(key);
  return !username || !password ? undefined : { username, password };
}

async function readExisting({
  world,
  subject: { metadata, spec },
  signal,
}: LocalWork): Promise<Pick<KnownLogins, 'existing' | 'existingMissing'>> {
  const ref = spec.adminCredentials?.existingSecretRef;
  if (ref === undefined) return { existing: undefined, existingMissing: undefined };
  const namespace = metadata.namespace ?? '';
  const secret = await world.secrets.read(namespace, ref.name, signal);
  try {
    return { existing: loginFrom(secret, ref, namespace), existingMissing: undefined };
  } catch (error) {
    if (!(error instanceof TransientError) && !(error instanceof TerminalError)) throw error;
    return { existing: undefined, existingMissing: error };
  }
}

/** A known login by its name, and, if it is in another Secret, by the name of that. */
export interface Candidate {
  readonly working: Exclude<UsableLogin, 'held'> | 'next';
  readonly of?: string;
  readonly login: Login;
}

/**
 * In the order in which they are likely to work, except that the factory login comes before the existing one: it must be
 * retired first, and the existing one is not needed while it works.
 */
export function candidates({ next, current, inherited, factory, existing }: KnownLogins): readonly Candidate[] {
  const each = (working: Candidate['working'], login: Login | undefined, of?: string): readonly Candidate[] =>
    login === undefined ? [] : [{ working, login, ...(of === undefined ? {} : { of }) }];
  return [
    ...each('next', next),
    ...each('current', current),
    ...inherited.flatMap((former) => [
      ...each('inheritedNext', former.next, former.secretName),
      ...each('inherited', former.current, former.secretName),
    ]),
    ...each('factory', factory),
    ...each('existing', existing),
  ];
}

/** Returns the login of that name. `of`: the other Secret that it is in. */
export function loginNamed(known: KnownLogins, name: UsableLogin, of: string | undefined): Login | undefined {
  return candidates(known).find((each) => each.working === name && each.of === of)?.login;
}

/** The user whose password the Secret holds, or will hold. */
export function adminUsername({ current, next, factory }: KnownLogins): string {
  return (current ?? next ?? factory).username;
}

/** Whether the password is the one that new clusters come with, whichever user has it. */
export function isFactorys({ password }: Login, factory: Login): boolean {
  return password === factory.password;
}

/** Whether the login in our own Secret works and is the factory login. */
export function isFactorysLogin({ current, factory }: KnownLogins, working: WorkingLogin): boolean {
  return working === 'current' && current !== undefined && digestOf(current) === digestOf(factory);
}

/** Whether the login is of a user other than the one that new clusters come with. */
export function isOtherUser({ factory }: KnownLogins, login: Login | undefined): boolean {
  return login !== undefined && login.username !== factory.username;
}

/** Whether the coming password replaces one that nobody else knows. */
export function hasOwnPassword({ current, factory }: KnownLogins): boolean {
  return current !== undefined && digestOf(current) !== digestOf(factory);
}

/** A value made with `echo` ends with a line break, and a pasted one may have spaces around it: no server strips them. */
export function paddedIn(known: KnownLogins) {
  return (['current', 'existing', 'factory'] as const).filter((name) => {
    const { username = '', password = '' } = known[name] ?? {};
    return [username, password].some((value) => value !== value.trim());
  });
}

/**
 * For how much longer the coming password that somebody else wrote is left in place; undefined: there is none, or no longer.
 * There is no wait while the factory login works, or while only a session does, as that may end at any moment.
 */
export function untilReplaced(
  { clock, memory }: ClusterWorld,
  { key }: ClusterSubject,
  { next, nextIs }: KnownLogins,
  working: WorkingLogin,
): number | undefined {
  if (next === undefined || nextIs !== 'foreign' || working === 'held' || working === 'factory') return undefined;
  const leftMs = memory.tries.leftMs(key, next, clock.monotonic());
  return leftMs > 0 ? leftMs : undefined;
}
