import { digestOf } from '../../database/logins.ts';
import type { ObjectKey } from '../../kube/object.ts';
import type { Login } from '../secrets.ts';
import { type UserSubject, usernameOf } from './observation.ts';

interface Created {
  /** See `creation`. */
  readonly what: string;
  /** Digests of the passwords that it may have: the one that the server took or that signed in, and any given since without an answer. */
  readonly digests: readonly string[];
  /** The server refused all of them: somebody else may have made the user. */
  readonly isDoubtful: boolean;
}

/** The users that this process created for objects. Losing this costs a sign-in, or leaves a user to people. */
export class Creations {
  readonly #byKey = new Map<ObjectKey, Created>();

  /** Reports whether the object's user was created here, on the cluster of that identity: the status says so only once it works. */
  has(subject: CreatedFor, identity: string): boolean {
    return this.#byKey.get(subject.key)?.what === creation(subject, identity);
  }

  /** The same, and as far as was seen, that user is still the one that is there. */
  isSure(subject: CreatedFor, identity: string): boolean {
    return this.has(subject, identity) && this.#byKey.get(subject.key)?.isDoubtful === false;
  }

  made(subject: CreatedFor, identity: string, login: Login): void {
    const what = creation(subject, identity);
    this.#byKey.set(subject.key, { what, digests: [digestOf(login)], isDoubtful: false });
  }

  /** Called when the server was given a password of the user. `isTaken`: it said that it took it; otherwise it may have. */
  gave(key: ObjectKey, login: Login, isTaken: boolean): void {
    const known = this.#byKey.get(key);
    if (known === undefined) return;
    const digest = digestOf(login);
    const others = isTaken ? [] : known.digests.filter((other) => other !== digest);
    this.#byKey.set(key, { ...known, digests: [...others, digest] });
  }

  /** Called when the user exists and these logins are refused. */
  refused(key: ObjectKey, logins: readonly Login[]): void {
    const known = this.#byKey.get(key);
    if (known !== undefined && isEachAmong(known.digests, logins)) this.#byKey.set(key, { ...known, isDoubtful: true });
  }

  /**
   * Reports whether the user was created here, and its password was lost before it was seen to be refused: then whatever the Secret
   * holds proves nothing. `logins`: those that it holds.
   */
  hasLostPassword(subject: CreatedFor, identity: string, logins: readonly Login[]): boolean {
    const known = this.#byKey.get(subject.key);
    if (known === undefined || known.isDoubtful || !this.has(subject, identity)) return false;
    return !isEachAmong(known.digests, logins);
  }

  /** Called when the login signed in. */
  accepted(key: ObjectKey, login: Login): void {
    const known = this.#byKey.get(key);
    if (known !== undefined) this.#byKey.set(key, { ...known, digests: [digestOf(login)] });
  }

  forget(key: ObjectKey): void {
    this.#byKey.delete(key);
  }
}

function isEachAmong(digests: readonly string[], logins: readonly Login[]): boolean {
  const those = logins.map(digestOf);
  return digests.every((digest) => those.includes(digest));
}

type CreatedFor = Pick<UserSubject, 'key' | 'metadata' | 'spec'>;

/** Identifies a creation: an object that has replaced another one has created nothing yet, and may want another name. */
function creation(subject: CreatedFor, identity: string): string {
  return JSON.stringify([subject.metadata.uid, usernameOf(subject), identity]);
}
