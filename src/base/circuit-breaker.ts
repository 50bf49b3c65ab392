import type { Clock } from './clock.ts';
import type { Random } from './random.ts';

export interface CircuitBreakerOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Consecutive failures after which the other side is taken for dead. */
  readonly failures?: number;
  /** At most one probe in this time while it is; up to a fifth longer by chance. */
  readonly probeEveryMs?: number;
}

/** How an admitted call went: `neutral` says nothing about the other side's health (aborted, or slow by its nature). */
export type CallOutcome = 'success' | 'failure' | 'neutral';

export type Admission =
  | { readonly admitted: true; done(outcome: CallOutcome, failure?: string): void }
  | {
      readonly admitted: false;
      /** Wall clock, milliseconds since the epoch. */
      readonly sinceMs: number;
      readonly lastFailure: string;
      readonly retryAfterMs: number;
    };

interface Outage {
  readonly sinceMs: number;
  /** Monotonic. */
  probeAtMs: number;
  /** The probe that is under way. */
  probe: object | undefined;
}

/** Who is refused comes back up to so much later than he could, by chance: not all at the same moment. */
const SPREAD_MS = 5_000;
/** While a probe is under way its outcome is near. */
const PROBING_RETRY_MS = 1_000;

/** Keeps an outage cheap: after some failures in a row calls fail at once, but for one probe now and then. */
export class CircuitBreaker {
  readonly #options: Required<CircuitBreakerOptions>;
  #failures = 0;
  #lastFailure = '';
  #firstFailureMs = 0;
  #outage: Outage | undefined;

  constructor(options: CircuitBreakerOptions) {
    this.#options = { failures: 5, probeEveryMs: 30_000, ...options };
  }

  /** Whether calls are held back now; also while a probe is under way. */
  get open(): boolean {
    return this.#outage !== undefined;
  }

  /** Asks to make a call. Whoever is admitted must report how it went, once. */
  admit(): Admission {
    const refusal = this.peek();
    if (refusal !== undefined) return refusal;
    const call = {};
    if (this.#outage !== undefined) {
      this.#outage.probeAtMs = this.#nextProbeMs();
      this.#outage.probe = call;
    }
    return {
      admitted: true,
      done: (outcome, failure) => {
        if (this.#outage?.probe === call) this.#outage.probe = undefined;
        this.#record(outcome, failure ?? '');
      },
    };
  }

  /** The refusal that `admit` would give now, without using up a probe. */
  peek(): Extract<Admission, { admitted: false }> | undefined {
    if (this.#outage === undefined) return undefined;
    const { clock, random } = this.#options;
    const { sinceMs, probeAtMs, probe } = this.#outage;
    const waitMs = probeAtMs - clock.monotonic();
    if (waitMs <= 0) return undefined;
    const retryAfterMs =
      probe === undefined ? waitMs + SPREAD_MS * random.float() : PROBING_RETRY_MS * (1 + random.float());
    return { admitted: false, sinceMs, lastFailure: this.#lastFailure, retryAfterMs };
  }

  #record(outcome: CallOutcome, failure: string): void {
    if (outcome === 'neutral') return;
    if (outcome === 'success') {
      this.#failures = 0;
      this.#outage = undefined;
      return;
    }
    if (this.#failures === 0) this.#firstFailureMs = this.#options.clock.now();
    this.#failures++;
    this.#lastFailure = failure;
    if (this.#outage === undefined && this.#failures >= this.#options.failures) {
      this.#outage = { sinceMs: this.#firstFailureMs, probeAtMs: this.#nextProbeMs(), probe: undefined };
    }
  }

  /** Reckoned from a probe's start: a hanging probe delays no other, and there is never more than one in the time. */
  #nextProbeMs(): number {
    const { clock, random, probeEveryMs } = this.#options;
    return clock.monotonic() + probeEveryMs * (1 + random.float() / 5);
  }
}
