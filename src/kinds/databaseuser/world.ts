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
import { type UserSubject, usernameOf } from './observation.ts';

/** Reason of the Event that tells of a user who stays on the server though its object goes. */
export const USER_LEFT = 'UserLeft';

/** What a DatabaseUser is observed with and acted on through. */
export interface UserWorld extends ServerWorld {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly random: Random;
  readonly secrets: Secrets;
  /** Another DatabaseUser as last seen. */
  readonly user: (key: ObjectKey) => KubeObject | undefined;
  /** Keys of the DatabaseUsers that stand for this user, or want to, on this cluster. */
  readonly claimants: (cluster: ObjectKey, username: string) => Iterable<ObjectKey>;
  readonly memory: UserMemory;
  /** A change that came from elsewhere was undone. */
  readonly onDriftCorrected: (key: ObjectKey, field: 'password' | 'username', message: string) => void;
  /** The object goes, and its user stays on the server. */
  readonly onLeft: (key: ObjectKey, message: string) => void;
}

/** How long a login that was accepted needs no other proof: from its first use to the end of what follows from it. */
const PROVEN_MS = 60_000;

interface Accepted {
  /** Of username and password; a heap dump shows no password. */
  readonly digest: string;
  /** Which server of which cluster. */
  readonly where: string;
  /** By wall clock, and by the one that never jumps. */
  readonly atMs: number;
  readonly monotonicMs: number;
}

interface Created {
  /** As `creation` has it. */
  readonly what: string;
  /** Of the passwords that it may have: one that the server took or that signed in, and any that it was given since without an answer. */
  readonly digests: readonly string[];
  /** The server refused all of them: somebody else may have made the user. */
  readonly isDoubtful: boolean;
}

/** What is remembered in this process only. Losing it costs a sign-in, or leaves a user to people, and is never a mistake. */
export class UserMemory {
  readonly tries = new PasswordTries();
  readonly #actsSinceMs: ActsSince;
  readonly #accepted = new Map<ObjectKey, Accepted>();
  readonly #written = new Map<ObjectKey, readonly string[]>();
  readonly #created = new Map<ObjectKey, Created>();
  readonly #chosen = new Map<ObjectKey, string>();
  readonly putOff = new PutOff();

  constructor(actsSinceMs: ActsSince) {
    this.#actsSinceMs = actsSinceMs;
  }

  /** When the login was last verified here; before that, since when this process acts on the object. Wall clock. */
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

  /** These very bytes signed in there just now. */
  isProven(key: ObjectKey, login: Login, where: string, clock: Clock): boolean {
    const known = this.#accepted.get(key);
    if (known?.where !== where || known.digest !== digestOf(login)) return false;
    return clock.monotonic() - known.monotonicMs < PROVEN_MS;
  }

  /** These very bytes were the last that signed in, wherever and whenever. */
  wasAccepted(key: ObjectKey, login: Login): boolean {
    return this.#accepted.get(key)?.digest === digestOf(login);
  }

  /** What was proven may not be true any more. */
  doubt(key: ObjectKey): void {
    const known = this.#accepted.get(key);
    if (known !== undefined) this.#accepted.set(key, { ...known, where: '' });
  }

  /** The coming password, where a person chose it; undefined: it was generated. Remembered, as anybody who writes the Secret can forge its note of that. */
  chose(key: ObjectKey, coming: Login | undefined): void {
    if (coming === undefined) this.#chosen.delete(key);
    else this.#chosen.set(key, digestOf(coming));
  }

  /** Whether it was the coming password that a person chose, be it that the person wants another one by now. */
  isChosen(key: ObjectKey, coming: Login): boolean {
    return this.#chosen.get(key) === digestOf(coming);
  }

  /** The Secrets that were created for the object, the newest first: the status names one only when it works. */
  secretsWritten(key: ObjectKey): readonly string[] {
    return this.#written.get(key) ?? [];
  }

  wroteSecret(key: ObjectKey, name: string): void {
    this.#written.set(key, [name, ...this.secretsWritten(key).filter((other) => other !== name)]);
  }

  /** Whether the object's user was created here, on the cluster of that identity: the status says so only when it works. */
  wasCreated(subject: CreatedFor, identity: string): boolean {
    return this.#created.get(subject.key)?.what === creation(subject, identity);
  }

  /** The same, and that user is still the one that is there, as far as was seen. */
  isSurelyCreated(subject: CreatedFor, identity: string): boolean {
    return this.wasCreated(subject, identity) && this.#created.get(subject.key)?.isDoubtful === false;
  }

  created(subject: CreatedFor, identity: string, login: Login): void {
    const what = creation(subject, identity);
    this.#created.set(subject.key, { what, digests: [digestOf(login)], isDoubtful: false });
  }

  /** The server was given a password of the user. `isTaken`: it said that it took it; else it may have. */
  gave(key: ObjectKey, login: Login, isTaken: boolean): void {
    const known = this.#created.get(key);
    if (known === undefined) return;
    const digest = digestOf(login);
    const others = isTaken ? [] : known.digests.filter((other) => other !== digest);
    this.#created.set(key, { ...known, digests: [...others, digest] });
  }

  /** The user is there, and these logins are refused. */
  refused(key: ObjectKey, logins: readonly Login[]): void {
    const known = this.#created.get(key);
    if (known !== undefined && isEachAmong(known.digests, logins))
      this.#created.set(key, { ...known, isDoubtful: true });
  }

  /**
   * Whether the user was created here, and its password went before it was seen to be refused: whatever the Secret holds now proves
   * nothing. `logins`: those that it holds.
   */
  hasLostPassword(subject: CreatedFor, identity: string, logins: readonly Login[]): boolean {
    const known = this.#created.get(subject.key);
    if (known === undefined || known.isDoubtful || !this.wasCreated(subject, identity)) return false;
    return !isEachAmong(known.digests, logins);
  }

  forget(key: ObjectKey): void {
    this.tries.forget(key);
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

/** An object that has come in the place of another one has created nothing yet, and may want another name. */
function creation(subject: CreatedFor, identity: string): string {
  return JSON.stringify([subject.metadata.uid, usernameOf(subject), identity]);
}
