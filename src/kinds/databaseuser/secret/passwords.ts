import { isForeign } from '../../rotation.ts';
import type { SecretContents } from '../../secrets.ts';
import type { OpenServer } from '../../server/access.ts';
import { type PasswordName, type UserSubject, usernameOf } from '../observation.ts';
import type { LocalWork } from '../work.ts';
import { SECRET_ANNOTATIONS } from './annotations.ts';
import { NEXT_PASSWORD } from './template.ts';

/* The passwords in a connection Secret, and which of them somebody chose or wrote there. */

/** How many bytes of a password a server looks at (compatibility.md). */
const MAX_PASSWORD_BYTES = 72;

export const PASSWORD_KEYS = { current: 'password', next: NEXT_PASSWORD } as const;

export const PASSWORD_NAMES: readonly PasswordName[] = ['current', 'next'];

/** The passwords in a Secret of ours that a server could take and, for the coming one, may be given. For one use, never kept. */
export interface Passwords {
  readonly current: string | undefined;
  readonly next: string | undefined;
  /** What the coming one answers: see ROTATION_ANNOTATIONS. */
  readonly answers?: string | undefined;
  /** See ROTATION_ANNOTATIONS; undefined: an earlier version wrote the Secret. */
  readonly mark?: string | undefined;
  /** Which of them a person chose. */
  readonly own?: readonly PasswordName[] | undefined;
}

/** What is needed to read a Secret's passwords. */
interface Reading {
  readonly access: Pick<OpenServer, 'isFactoryPassword'>;
  readonly subject: Pick<UserSubject, 'status'>;
}

export function passwordsIn(secret: SecretContents | undefined, { access, subject }: Reading): Passwords {
  const under = (key: string) => {
    const value = secret?.data.get(key);
    return value === undefined || secret?.notText.has(key) || refusalOfPassword(value) !== undefined
      ? undefined
      : value;
  };
  const next = under(PASSWORD_KEYS.next);
  const answers = secret?.annotations[SECRET_ANNOTATIONS.nextAnswers];
  const mark = secret?.annotations[SECRET_ANNOTATIONS.nextMark];
  const told = secret?.annotations[SECRET_ANNOTATIONS.own]?.split(',') ?? [];
  const isOwn = { current: secret !== undefined && isOwnAsVerified(subject, secret), next: false };
  const own = PASSWORD_NAMES.filter((name) => told.includes(PASSWORD_KEYS[name]) || isOwn[name]);
  return {
    current: under(PASSWORD_KEYS.current),
    next: next === undefined || access.isFactoryPassword(next) ? undefined : next,
    ...(answers === undefined ? {} : { answers }),
    ...(mark === undefined ? {} : { mark }),
    ...(own.length === 0 ? {} : { own }),
  };
}

/**
 * Reports whether a Secret without the note, which earlier versions did not write, holds a person's own password: it is unchanged
 * since such a password was verified in it, or no later version has written a password there since.
 */
function isOwnAsVerified(
  { status }: Pick<UserSubject, 'status'>,
  { resourceVersion, annotations }: SecretContents,
): boolean {
  const { sourceResourceVersion, secretResourceVersion } = status.connection ?? {};
  if (sourceResourceVersion === undefined) return false;
  return secretResourceVersion === resourceVersion || annotations[SECRET_ANNOTATIONS.nextMark] === undefined;
}

/**
 * Reports whether somebody else wrote the coming password: it is neither the generated one that was written here, nor a person's own.
 * That its key held a person's own password before says nothing about the one there now.
 */
export function isNextForeign({ next: password, mark }: Passwords, { world, subject }: LocalWork): boolean {
  if (password === undefined) return false;
  const login = { username: usernameOf(subject), password };
  return !world.memory.isChosen(subject.key, login) && isForeign(login, mark);
}

/** Marks the password as one that a person chose, whatever the Secret notes. */
export function withOwn({ own = [], ...passwords }: Passwords): Passwords {
  return { ...passwords, own: [...own, 'current'] };
}

/** Returns why no server could take the password as it is; undefined: one can. */
export function refusalOfPassword(password: string): string | undefined {
  if (password === '') return 'is empty';
  const bytes = Buffer.byteLength(password);
  return bytes > MAX_PASSWORD_BYTES
    ? `has ${bytes} bytes, and a server looks at the first ${MAX_PASSWORD_BYTES} only`
    : undefined;
}
