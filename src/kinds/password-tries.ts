import { ApiError } from '../base/api-error.ts';
import { ceilingMs } from '../base/backoff.ts';
import { TerminalError } from '../base/errors.ts';
import { digestOf } from '../database/logins.ts';
import { type Failure, failureOf } from '../kube/failure.ts';
import type { ObjectKey } from '../kube/object.ts';
import type { Login } from './secrets.ts';

/**
 * In this time, then in twice as long, and so on, another password is tried where one was refused; and the same one is given to the
 * server again that took it, where it has not come to work.
 */
const PAUSES = { initialMs: 60_000, maxMs: 1_800_000 };
/** A call of which nobody knows what became of it has landed long before, and its password works if it was taken. */
export const LANDED_MS = 600_000;

/** A server said no to a password, and none is tried before the pause after that is over. */
export interface Refusal {
  /** What was found then. */
  readonly failure: Failure;
  /** For how long still; more than 0. */
  readonly forMs: number;
}

interface Refused {
  readonly about: string;
  readonly failure: Failure;
  /** How often, one after the other. */
  readonly times: number;
  readonly untilMs: number;
}

/** A login at one server of one cluster: another one knows nothing of what this one took. */
interface LoginAt extends Login {
  readonly where: string;
}

/** Names the server, and the cluster by when it was created: what was found there says nothing of another one. */
export function whereOf(identity: string | undefined, endpoint: string): string {
  return `${identity} ${endpoint}`;
}

interface Taken {
  readonly digest: string;
  readonly where: string;
  /** How often it was. */
  readonly times: number;
  readonly atMs: number;
}

/**
 * What became of the passwords that servers were given, as far as this process knows: losing it costs a call, and is never a
 * mistake. Times are of the monotonic clock.
 */
export class PasswordTries {
  readonly #refused = new Map<ObjectKey, Refused>();
  readonly #taken = new Map<ObjectKey, Taken>();
  readonly #unsent = new Map<ObjectKey, string>();
  /** When a coming password that somebody else wrote was first seen. */
  readonly #foreign = new Map<ObjectKey, { readonly digest: string; readonly sinceMs: number }>();
  /** Since when no call can have had an effect, of a password that a call before may have set. */
  readonly #untaken = new Map<ObjectKey, { readonly digest: string; readonly sinceMs: number }>();

  /** The server says no to the password. `about`: what another answer may follow from. */
  refused(key: ObjectKey, about: string, error: unknown, nowMs: number): void {
    const before = this.#refused.get(key);
    // Of what was long over, another one is the first again.
    const isAgain = before?.about === about && nowMs - before.untilMs < PAUSES.maxMs;
    const times = isAgain ? before.times + 1 : 1;
    const untilMs = nowMs + ceilingMs(PAUSES, times - 1);
    this.#refused.set(key, { about, failure: failureOf(error), times, untilMs });
  }

  /**
   * The refusal, while it stands: that the Secret was written for a try, and put right after it, is no news, and trying again
   * because of it would go on for ever. Undefined: a password may be tried, as none was refused just now, or a person asks for a look.
   */
  refusal(
    { key, lookNow }: { readonly key: ObjectKey; readonly lookNow: boolean },
    about: string,
    nowMs: number,
  ): Refusal | undefined {
    const known = lookNow ? undefined : this.#refused.get(key);
    if (known?.about !== about || known.untilMs <= nowMs) return undefined;
    return { failure: known.failure, forMs: known.untilMs - nowMs };
  }

  /** The password was written down here just now, and no server has heard of it. */
  prepared(key: ObjectKey, login: Login): void {
    this.#unsent.set(key, digestOf(login));
  }

  /** Whether surely no server has taken it, nor will. */
  isUnsent(key: ObjectKey, login: Login): boolean {
    return this.#unsent.get(key) === digestOf(login);
  }

  /** Gives the password to the server. Throws what the call throws. */
  async give(key: ObjectKey, login: LoginAt, now: () => number, call: () => Promise<unknown>): Promise<void> {
    const digest = digestOf(login);
    try {
      await call();
    } catch (error) {
      if (mayHaveTaken(error)) this.#maybeTaken(key);
      else this.#notTaken(key, digest, now());
      throw error;
    }
    this.#maybeTaken(key);
    const times = (this.#takenAt(key, login)?.times ?? 0) + 1;
    this.#taken.set(key, { digest, where: login.where, times, atMs: now() });
  }

  /** It was given as it did not work, and surely had no effect: after a while none can have had that were made before either. */
  #notTaken(key: ObjectKey, digest: string, nowMs: number): void {
    if (this.#unsent.get(key) === digest) return;
    const known = this.#untaken.get(key);
    if (known?.digest !== digest) this.#untaken.set(key, { digest, sinceMs: nowMs });
    else if (nowMs - known.sinceMs >= LANDED_MS) this.#unsent.set(key, digest);
  }

  #maybeTaken(key: ObjectKey): void {
    this.#unsent.delete(key);
    this.#untaken.delete(key);
  }

  /** Whether the server took it a short time ago, so that it may come to work by itself: of several machines not all may know it. */
  isAwaited(key: ObjectKey, login: LoginAt, nowMs: number): boolean {
    const known = this.#takenAt(key, login);
    return known !== undefined && nowMs - known.atMs < ceilingMs(PAUSES, known.times - 1);
  }

  #takenAt(key: ObjectKey, login: LoginAt): Taken | undefined {
    const known = this.#taken.get(key);
    return known?.digest === digestOf(login) && known.where === login.where ? known : undefined;
  }

  /**
   * For how long still a coming password that somebody else wrote is left where it is; 0 or less: no more. It may be of a version
   * that did not mark its own, and on its way to the server.
   */
  leftMs(key: ObjectKey, login: Login, nowMs: number): number {
    const digest = digestOf(login);
    const known = this.#foreign.get(key);
    const foreign = known?.digest === digest ? known : { digest, sinceMs: nowMs };
    this.#foreign.set(key, foreign);
    return foreign.sinceMs + LANDED_MS - nowMs;
  }

  /** It signs in. */
  works(key: ObjectKey, login: Login): void {
    if (this.#taken.get(key)?.digest === digestOf(login)) this.#taken.delete(key);
  }

  forget(key: ObjectKey): void {
    this.#refused.delete(key);
    this.#taken.delete(key);
    this.#foreign.delete(key);
    this.#maybeTaken(key);
  }
}

/** Whether the server may have taken a password though the call that gave it to it failed. */
export function mayHaveTaken(error: unknown): boolean {
  return !(error instanceof ApiError) || error.effectUnknown;
}

/** Of a coming password that the server refuses, and that goes while the one beside it stays. `remedy`: what is done about it, or is to be. */
export function refusedNext(error: ApiError, remedy: string): TerminalError {
  const message = `${error.message}. The password before stays: ${remedy}`;
  return new TerminalError('RefusedByServer', message, { cause: error });
}

/** Another password each time. */
export const TRIES_ANOTHER = 'another one is tried now and then';
