import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import { digestOf } from '../../database/logins.ts';
import type { KubeApi } from '../../kube/api.ts';
import type { KubeObject, ObjectKey } from '../../kube/object.ts';
import { Absences } from '../absences.ts';
import type { ActsSince } from '../attempts.ts';
import { Elapsed } from '../elapsed.ts';
import { type LoginAt, PasswordTries } from '../password-tries.ts';
import type { Login, Secrets } from '../secrets.ts';
import type { ServerWorld } from '../server/access.ts';
import { FoundRight } from '../server/found-right.ts';
import { PutOff } from '../verification.ts';
import { Creations } from './creations.ts';
import { Replacements } from './login/replacements.ts';

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

/** What only this process remembers. Losing it costs a sign-in, or leaves a user to people, and is never a mistake. */
export class UserMemory {
  readonly tries = new PasswordTries();
  readonly replacements = new Replacements();
  readonly creations = new Creations();
  readonly #actsSinceMs: ActsSince;
  readonly #accepted = new Map<ObjectKey, Accepted>();
  readonly #written = new Map<ObjectKey, readonly string[]>();
  readonly #chosen = new Map<ObjectKey, string>();
  readonly putOff = new PutOff();
  /** For how long the server has refused to create a user that it does not show and may have. */
  readonly hidden = new Elapsed();
  /** For how long the server has said that there is no user to delete. */
  readonly absences = new Absences();
  readonly foundRight = new FoundRight();
  /** For how long the server has refused a password that it accepted before. */
  readonly refused = new Elapsed();
  /** For how long a person's own password could not be read. */
  readonly sourceless = new Elapsed();

  constructor(actsSinceMs: ActsSince) {
    this.#actsSinceMs = actsSinceMs;
  }

  /** Returns when the login was last verified here, or else since when this process acts on the object. Wall clock. */
  verifiedAtMs(key: ObjectKey): number {
    return this.#accepted.get(key)?.atMs ?? this.#actsSinceMs(key);
  }

  accepted(key: ObjectKey, login: LoginAt, clock: Clock): void {
    const [atMs, monotonicMs] = [clock.now(), clock.monotonic()];
    const digest = digestOf(login);
    this.#accepted.set(key, { digest, where: whereOf(login), atMs, monotonicMs });
    this.creations.accepted(key, login);
    this.putOff.forget(key);
    this.hidden.forget(key);
    this.tries.works(key, login);
  }

  /** Reports whether these very bytes signed in there just now. */
  isProven(key: ObjectKey, login: LoginAt, clock: Clock): boolean {
    const known = this.#accepted.get(key);
    if (known?.where !== whereOf(login) || known.digest !== digestOf(login)) return false;
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

  /** Nobody could look for a while. What was seen before proves nothing afterwards, be it that a password signed in or was refused. */
  interrupted(key: ObjectKey): void {
    this.doubt(key);
    this.refused.forget(key);
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

  forget(key: ObjectKey): void {
    this.tries.forget(key);
    this.replacements.forget(key);
    this.#accepted.delete(key);
    this.#written.delete(key);
    this.creations.forget(key);
    this.#chosen.delete(key);
    this.putOff.forget(key);
    this.hidden.forget(key);
    this.absences.forget(key);
    this.refused.forget(key);
    this.sourceless.forget(key);
    this.foundRight.forget(key);
  }
}

/** Names the server, and the cluster by its creation time. What works at one place may not at another. */
function whereOf({ identity, endpoint }: LoginAt): string {
  return `${identity} ${endpoint}`;
}
