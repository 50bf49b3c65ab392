import { backoffMs } from '../base/backoff.ts';
import { type Clock, sleep } from '../base/clock.ts';
import type { Random } from '../base/random.ts';

/** Time from one turn to the next: as often as a leader renews its Lease. */
const TURN = { initialMs: 2_000, maxMs: 2_000 };
/** All go on within this time, so that they do not arrive together. */
const SPREAD_MS = 1_000;

export interface ReachabilityOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Called when an outage ends, with how long it lasted. */
  readonly onReturn?: ((lastedMs: number) => void) | undefined;
}

/** Options of a reflector, whose requests take turns while the API server is away. */
export interface TurnOptions {
  /**
   * Called when the request's turn has come, as it is sent. `isReached`: the server is there, as far as is known; otherwise this request
   * finds out. Absent: the request is sent at once.
   */
  readonly onTurn?: ((isReached: boolean) => void) | undefined;
}

interface Outage {
  readonly over: AbortController;
  /** By the monotonic clock, as the next. */
  readonly beganAt: number;
  /** When the last turn that was given begins. */
  lastTurnAt: number;
}

/**
 * Whether the API server can be reached, judging by all requests of a process. A request without any answer begins an outage, whether
 * refused or reset, as by a load balancer that has no server left; the next answer ends it.
 * - In an outage the lists and watches of reflectors take turns, and nothing else waits: a renewal may reach a server that they do not.
 *   client-go has each reflector wait for up to 30 s by itself, to spare a server that has too much to do. A server that is not reached
 *   is not spared by that, only found late. With turns, an outage costs one attempt every 1 to 2 s, however many kinds and namespaces are
 *   watched.
 * - The first answer to anything, such as a renewal of the Lease, lets all of them go on, spread over a second.
 * - What the answer says does not matter here: after a 429 or 503 each waits as its backoff and Retry-After say. So does one that
 *   repeatedly gets no answer while others do, as if one of two servers were away.
 */
export class Reachability {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #onReturn: ReachabilityOptions['onReturn'];
  #outage: Outage | undefined;

  constructor({ clock, random, onReturn }: ReachabilityOptions) {
    this.#clock = clock;
    this.#random = random;
    this.#onReturn = onReturn;
  }

  /** A request was answered. */
  reached(): void {
    const outage = this.#outage;
    if (outage === undefined) return;
    this.#outage = undefined;
    outage.over.abort();
    this.#onReturn?.(this.#clock.monotonic() - outage.beganAt);
  }

  /** A request was not answered. */
  notReached(): void {
    const now = this.#clock.monotonic();
    this.#outage ??= { over: new AbortController(), beganAt: now, lastTurnAt: now };
  }

  /**
   * Resolves when a reflector's list or watch may be sent, or at once when the signal aborts. The result is whether the server is
   * reached, as far as is known; if not, this request must find out.
   */
  async turn(signal: AbortSignal): Promise<boolean> {
    const outage = this.#outage;
    if (outage === undefined) return true;
    const now = this.#clock.monotonic();
    outage.lastTurnAt = Math.max(now, outage.lastTurnAt) + backoffMs(TURN, 0, this.#random);
    await sleep(this.#clock, outage.lastTurnAt - now, AbortSignal.any([signal, outage.over.signal]));
    const isReached = outage.over.signal.aborted;
    if (isReached) await sleep(this.#clock, SPREAD_MS * this.#random.float(), signal);
    return isReached;
  }
}
