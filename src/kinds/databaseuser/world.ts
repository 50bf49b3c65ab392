import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import { digestOf } from '../../database/logins.ts';
import type { KubeApi } from '../../kube/api.ts';
import type { KubeObject, ObjectKey } from '../../kube/object.ts';
import type { ActsSince } from '../attempts.ts';
import { PasswordTries } from '../password-tries.ts';
import type { Login, Secrets } from '../secrets.ts';
import type { ServerWorld } from '../server/access.ts';
import { PutOff } from '../verification.ts';
import { Replacements } from './login/replacements.ts';
import { type UserSubject, usernameOf } from './observation.ts';

/** Reason of the Event for a user that stays on the server although its object is deleted. */
export const USER_LEFT = 'UserLeft';

/** What a DatabaseUser is observed and acted on with. */
export interface UserWorld extends ServerWorld {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly random: Random;
  readonly secrets: Secrets;
  /** Another DatabaseUser as last seen. */
  readonly user: (key: ObjectKey) => KubeObject | undefined;
  /** Keys of the DatabaseUsers that stand for this user on this cluster, or want to. */
  readonly claimants: (cluster: ObjectKey, username: string) => Iterable<ObjectKey>;
  readonly memory: UserMemory;
  /** Called when a change that came from elsewhere was undone. */
  readonly onDriftCorrected: (key: ObjectKey, field: 'password' | 'username', message: string) => void;
  /** Called when the object goes and its user stays on the server. */
  readonly onLeft: (key: ObjectKey, message: string) => void;
}

/** How long an accepted login needs no other proof: from its first use to the end of what follows from it. */
const PROVEN_MS = 60_000;

interface Accepted {
  /** Digest of username and password: a heap dump shows no password. */
  readonly digest: string;
  /** Which server of which cluster. */
  readonly where: string;
  /** By wall clock, and by the clock that never jumps. */
  readonly atMs: number;
  readonly monotonicMs: number;
}

interface Created {
  /** See `creation`. */
  readonly what: string;
  /** Digests of the passwords that it may have: the one that the server took or that signed in, and any given since without an answer. */
  readonly digests: readonly string[];
  /** The server refused all of them: somebody else may have made the user. */
  readonly isDoubtful: boolean;
}

/** What only this process remembers. Losing it costs a sign-in, or leaves a user to people, and is never a mistake. */
export class UserMemory {
  readonly tries = new PasswordTries();
  readonly replacements = new Replacements();
  readonly #actsSinceMs: ActsSince;
  readonly #accepted = new Map<ObjectKey, Accepted>();
  readonly #written = new Map<ObjectKey, readonly string[]>();
  readonly #created = new Map<ObjectKey, Created>();
  readonly #chosen = new Map<ObjectKey, string>();
  readonly putOff = new PutOff();

  constructor(actsSinceMs: ActsSince) {
    this.#actsSinceMs = actsSinceMs;
  }

  /** Returns when the login was last verified here, or else since when this process acts on the object. Wall clock. */
  verifiedAtMs(key: ObjectKey): number {
    return this.#accepted.get(key)?.atMs ?? this.#actsSinceMs(key);
  }

  accepted(key: ObjectKey, login: Login, where: string, clock: Clock): void {
    const [atMs, monotonicMs] = [clock.now(), clock.monotonic()];
    const digest = digestOf(login);
    this.#accepted.set(key, { digest, where, atMs, monotonicMs });
    const created = this.#created.get(key);
    if (created !== undefined) this.#created.set(key, { ...created, digests: [digest] });
    this.putOff.forget(key);
    this.tries.works(key, login);
  }

  /** Reports whether these very bytes signed in there just now. */
  isProven(key: ObjectKey, login: Login, where: string, clock: Clock): boolean {
    const known = this.#accepted.get(key);
    if (known?.where !== where || known.digest !== digestOf(login)) return false;
    return clock.monotonic() - known.monotonicMs < PROVEN_MS;
  }

  /** Reports whether these very bytes were the last to sign in, wherever and whenever. */
  wasAccepted(key: ObjectKey, login: Login): boolean {
    return this.#accepted.get(key)?.digest === digestOf(login);
  }

  /** What was proven may no longer be true. */
  doubt(key: ObjectKey): void {
    const known = this.#accepted.get(key);
    if (known !== undefined) this.#accepted.set(key, { ...known, where: '' });
  }

  /** Notes a coming password that a person chose; undefined: it was generated. Anybody who writes the Secret can forge its own note. */
  chose(key: ObjectKey, coming: Login | undefined): void {
    if (coming === undefined) this.#chosen.delete(key);
    else this.#chosen.set(key, digestOf(coming));
  }

  /** Reports whether this was a coming password that a person chose, even if the person wants another one by now. */
  isChosen(key: ObjectKey, coming: Login): boolean {
    return this.#chosen.get(key) === digestOf(coming);
  }

  /** Returns the Secrets that were created for the object, newest first: the status names one only once it works. */
  secretsWritten(key: ObjectKey): readonly string[] {
    return this.#written.get(key) ?? [];
  }

  wroteSecret(key: ObjectKey, name: string): void {
    this.#written.set(key, [name, ...this.secretsWritten(key).filter((other) => other !== name)]);
  }

  /** Reports whether the object's user was created here, on the cluster of that identity: the status says so only once it works. */
  wasCreated(subject: CreatedFor, identity: string): boolean {
    return this.#created.get(subject.key)?.what === creation(subject, identity);
  }

  /** The same, and as far as was seen, that user is still the one that is there. */
  isSurelyCreated(subject: CreatedFor, identity: string): boolean {
    return this.wasCreated(subject, identity) && this.#created.get(subject.key)?.isDoubtful === false;
  }

  created(subject: CreatedFor, identity: string, login: Login): void {
    const what = creation(subject, identity);
    this.#created.set(subject.key, { what, digests: [digestOf(login)], isDoubtful: false });
  }

  /** Called when the server was given a password of the user. `isTaken`: it said that it took it; otherwise it may have. */
  gave(key: ObjectKey, login: Login, isTaken: boolean): void {
    const known = this.#created.get(key);
    if (known === undefined) return;
    const digest = digestOf(login);
    const others = isTaken ? [] : known.digests.filter((other) => other !== digest);
    this.#created.set(key, { ...known, digests: [...others, digest] });
  }

  /** Called when the user exists and these logins are refused. */
  refused(key: ObjectKey, logins: readonly Login[]): void {
    const known = this.#created.get(key);
    if (known !== undefined && isEachAmong(known.digests, logins))
      this.#created.set(key, { ...known, isDoubtful: true });
  }

  /**
   * Reports whether the user was created here, and its password was lost before it was seen to be refused: then whatever the Secret
   * holds proves nothing. `logins`: those that it holds.
   */
  hasLostPassword(subject: CreatedFor, identity: string, logins: readonly Login[]): boolean {
    const known = this.#created.get(subject.key);
    if (known === undefined || known.isDoubtful || !this.wasCreated(subject, identity)) return false;
    return !isEachAmong(known.digests, logins);
  }

  forget(key: ObjectKey): void {
    this.tries.forget(key);
    this.replacements.forget(key);
    this.#accepted.delete(key);
    this.#written.delete(key);
    this.#created.delete(key);
    this.#chosen.delete(key);
    this.putOff.forget(key);
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
