import { ceilingMs } from '../base/backoff.ts';
import { TerminalError } from '../base/errors.ts';
import { digestOf, type Verdict } from '../database/logins.ts';
import { ApiError, isRefused } from '../http/api-error.ts';
import { type Failure, failureOf } from '../kube/failure.ts';
import type { ObjectKey } from '../kube/object.ts';
import { LANDING_MS } from './attempts.ts';
import type { Login } from './secrets.ts';

/**
 * How long to wait after a refusal before another password is tried, and before a password that the server took but that does
 * not work is given to it again. Doubles each time.
 */
const PAUSES = { initialMs: 60_000, maxMs: 1_800_000 };
/** By then a call with an unknown outcome has long landed, and its password works if it was taken. */
export const LANDED_MS = 600_000;

/** A server refused a password, and no other is tried before the pause is over. */
export interface Refusal {
  /** The failure at that time. */
  readonly failure: Failure;
  /** How much longer the pause lasts; more than 0. */
  readonly forMs: number;
}

/** What became of a password that a server was given: it took it; it refused, but the password works; or it refused. */
export type Given = { readonly is: 'taken' | 'working' } | { readonly is: 'refused'; readonly error: ApiError };

interface Refused {
  readonly about: string;
  readonly failure: Failure;
  /** How many times in a row. */
  readonly times: number;
  readonly untilMs: number;
}

/** A login at one server of one cluster. */
export interface LoginAt extends Login {
  /** The creation time of the cluster: the servers of another one know nothing of what these took. */
  readonly identity: string | undefined;
  readonly endpoint: string;
}

interface Taken {
  readonly digest: string;
  /** The others of this cluster learn of it, if only after a while. */
  readonly identity: string | undefined;
  /** The server that took it. */
  readonly endpoint: string;
  /** How many times since it last worked. */
  readonly times: number;
  readonly atMs: number;
  /** The server at which it has worked since. */
  readonly worksAt?: string;
}

/**
 * What became of the passwords that were given to servers, as far as this process knows. Losing it costs a call, and is never a
 * mistake. Times are of the monotonic clock.
 */
export class PasswordTries {
  readonly #refused = new Map<ObjectKey, Refused>();
  readonly #taken = new Map<ObjectKey, Taken>();
  readonly #unsent = new Map<ObjectKey, string>();
  /** Which request for a new password the last coming one answers. */
  readonly #answers = new Map<ObjectKey, { readonly digest: string; readonly asked: string }>();
  /** When a coming password that somebody else wrote was first seen. */
  readonly #foreign = new Map<ObjectKey, { readonly digest: string; readonly sinceMs: number }>();
  /** When a password was last given that an earlier call may yet set. */
  readonly #givenAgain = new Map<ObjectKey, number>();
  /** For a password that an earlier call may have set: since when calls with it have surely had no effect. */
  readonly #untaken = new Map<ObjectKey, { readonly digest: string; readonly sinceMs: number }>();

  /** The server refused the password. `about`: if it changes, the answer may change too. */
  refused(key: ObjectKey, about: string, error: unknown, nowMs: number): void {
    const before = this.#refused.get(key);
    // A refusal long after the last pause ended counts as the first again.
    const isAgain = before?.about === about && nowMs - before.untilMs < PAUSES.maxMs;
    const times = isAgain ? before.times + 1 : 1;
    const untilMs = nowMs + ceilingMs(PAUSES, times - 1);
    this.#refused.set(key, { about, failure: failureOf(error), times, untilMs });
  }

  /**
   * Returns the refusal while its pause lasts. A try writes the Secret and then restores it; that change is not news, and trying
   * again because of it would never end. Undefined: a password may be tried, as none was refused recently or a person asks for a look.
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

  /** The password was just written down here, and no server has seen it. `asked`: the request for a new one that it answers. */
  prepared(key: ObjectKey, login: Login, asked: string | undefined): void {
    const digest = digestOf(login);
    this.#unsent.set(key, digest);
    if (asked === undefined) this.#answers.delete(key);
    else this.#answers.set(key, { digest, asked });
  }

  /**
   * The request that the password answers, if it was written down here. The Secret says so, too, unless something removes its
   * annotations: then the request would be answered again and again.
   */
  answeredBy(key: ObjectKey, login: Login): string | undefined {
    const known = this.#answers.get(key);
    return known?.digest === digestOf(login) ? known.asked : undefined;
  }

  /** Whether surely no server has taken it or will take it. */
  isUnsent(key: ObjectKey, login: Login): boolean {
    return this.#unsent.get(key) === digestOf(login);
  }

  /**
   * Gives the password to the server. `attempt` signs in with it, and is called after a refusal. Throws what the two throw,
   * except a refusal.
   */
  async give(
    key: ObjectKey,
    login: LoginAt,
    now: () => number,
    call: () => Promise<unknown>,
    attempt?: () => Promise<Verdict>,
  ): Promise<Given> {
    const digest = digestOf(login);
    if (!this.isUnsent(key, login)) this.#givenAgain.set(key, now());
    try {
      await call();
    } catch (error) {
      if (mayHaveTaken(error)) this.#maybeTaken(key);
      else if (isRefused(error) && (await this.#works(key, attempt))) return { is: 'working' };
      else this.#notTaken(key, digest, now());
      if (isRefused(error)) return { is: 'refused', error };
      throw error;
    }
    this.#maybeTaken(key);
    const before = this.#takenBy(key, login);
    const times = before === undefined || before.worksAt !== undefined ? 1 : before.times + 1;
    this.#taken.set(key, { digest, identity: login.identity, endpoint: login.endpoint, times, atMs: now() });
    return { is: 'taken' };
  }

  /** For how much longer an earlier call may set the password that was given last, and so undo the next one; undefined: none may. */
  landsInMs(key: ObjectKey, nowMs: number): number | undefined {
    const leftMs = (this.#givenAgain.get(key) ?? -LANDING_MS) + LANDING_MS - nowMs;
    return leftMs > 0 ? leftMs : undefined;
  }

  /** Signing in is the free test of whether a password is right (compatibility.md), whatever the answer to the change was. */
  async #works(key: ObjectKey, attempt: (() => Promise<Verdict>) | undefined): Promise<boolean> {
    if (attempt === undefined) return false;
    let verdict: Verdict | undefined;
    try {
      verdict = await attempt();
    } finally {
      if (verdict !== 'refused') this.#maybeTaken(key);
    }
    return verdict !== 'refused';
  }

  /** The call surely had no effect. A password that works is not given again, so after a while earlier calls had none either. */
  #notTaken(key: ObjectKey, digest: string, nowMs: number): void {
    if (this.#unsent.get(key) === digest) return;
    const known = this.#untaken.get(key);
    if (known?.digest !== digest) this.#untaken.set(key, { digest, sinceMs: nowMs });
    else if (nowMs - known.sinceMs >= LANDED_MS) this.#unsent.set(key, digest);
  }

  /** The server may have taken the coming password, whatever it said. */
  #maybeTaken(key: ObjectKey): void {
    this.#unsent.delete(key);
    this.#untaken.delete(key);
  }

  /**
   * Whether it was taken a short time ago, so that it may yet work: not all servers of the cluster, nor all machines of a server,
   * may know it already. Not at the server at which it has worked since.
   */
  isAwaited(key: ObjectKey, login: LoginAt, nowMs: number): boolean {
    const known = this.#takenBy(key, login);
    if (known === undefined || known.worksAt === login.endpoint) return false;
    return nowMs - known.atMs < ceilingMs(PAUSES, known.times - 1);
  }

  /** Likewise, and it was another server of the cluster that took it. */
  isAwaitedElsewhere(key: ObjectKey, login: LoginAt, nowMs: number): boolean {
    return this.isAwaited(key, login, nowMs) && this.#takenBy(key, login)?.endpoint !== login.endpoint;
  }

  #takenBy(key: ObjectKey, login: LoginAt): Taken | undefined {
    const known = this.#taken.get(key);
    return known?.digest === digestOf(login) && known.identity === login.identity ? known : undefined;
  }

  /**
   * For how much longer a coming password that somebody else wrote is left in place; 0 or less: no longer. A version that did not
   * mark its passwords may have written it, and may be about to give it to the server.
   */
  leftMs(key: ObjectKey, login: Login, nowMs: number): number {
    const digest = digestOf(login);
    const known = this.#foreign.get(key);
    const foreign = known?.digest === digest ? known : { digest, sinceMs: nowMs };
    this.#foreign.set(key, foreign);
    return foreign.sinceMs + LANDED_MS - nowMs;
  }

  /** The login works. */
  works(key: ObjectKey, login: LoginAt): void {
    const known = this.#takenBy(key, login);
    if (known !== undefined) this.#taken.set(key, { ...known, worksAt: login.endpoint });
  }

  forget(key: ObjectKey): void {
    this.#refused.delete(key);
    this.#taken.delete(key);
    this.#unsent.delete(key);
    this.#answers.delete(key);
    this.#givenAgain.delete(key);
    this.#foreign.delete(key);
    this.#untaken.delete(key);
  }
}

/** Whether the server may have taken a password although the call failed. */
export function mayHaveTaken(error: unknown): boolean {
  return !(error instanceof ApiError) || error.effectUnknown;
}

/** For a coming password that the server refuses and that is dropped; the current one stays. `remedy`: what is or must be done. */
export function refusedNext(error: ApiError, remedy: string): TerminalError {
  const message = `${error.message}. The previous password stays: ${remedy}`;
  return new TerminalError('RefusedByServer', message, { cause: error });
}

/** The remedy if each try uses another password. */
export const TRIES_ANOTHER = 'another one is tried now and then';
