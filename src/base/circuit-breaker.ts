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

/**
 * How an admitted call went. `failure`: the other side says that it failed, which may be true of this operation only; `unanswered`:
 * it said nothing, and would not to any other either; `neutral`: that says nothing about its health (aborted, or slow by its nature).
 */
export type CallOutcome = 'success' | 'failure' | 'unanswered' | 'neutral';

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
  /** Of operations that have not failed in it: whether each is known to work, or is being tried for the first time. */
  readonly others: Map<string, 'works' | 'tried'>;
}

/** Who is refused comes back up to so much later than he could, by chance: not all at the same moment. */
const SPREAD_MS = 5_000;
/** While a probe is under way its outcome is near. */
const PROBING_RETRY_MS = 1_000;

/**
 * Keeps an outage cheap: after some failures in a row calls fail at once, but for one probe now and then. Where all of these were
 * answers, only operations that failed are held back: of each other one a first call is made, and more once that has succeeded.
 */
export class CircuitBreaker {
  readonly #options: Required<CircuitBreakerOptions>;
  #failures = 0;
  /** Operations that failed in a row; undefined: no answer came, so each does. */
  #failing: Set<string> | undefined = new Set();
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

  /** Asks to make a call of the operation. Whoever is admitted must report how it went, once. */
  admit(operation: string): Admission {
    const refusal = this.peek(operation);
    if (refusal !== undefined) return refusal;
    const call = {};
    const outage = this.#outage;
    if (outage !== undefined && this.#fails(operation)) {
      outage.probeAtMs = this.#nextProbeMs();
      outage.probe = call;
    } else if (outage !== undefined && !outage.others.has(operation)) outage.others.set(operation, 'tried');
    return {
      admitted: true,
      done: (outcome, failure) => {
        if (this.#outage?.probe === call) this.#outage.probe = undefined;
        this.#record(operation, outcome, failure ?? '');
      },
    };
  }

  /** The refusal that `admit` would give now, without using up a probe. */
  peek(operation: string): Extract<Admission, { admitted: false }> | undefined {
    if (this.#outage === undefined) return undefined;
    const { clock, random } = this.#options;
    const { sinceMs, probeAtMs, probe, others } = this.#outage;
    const refuse = (retryAfterMs: number) =>
      ({ admitted: false, sinceMs, lastFailure: this.#lastFailure, retryAfterMs }) as const;
    const soonMs = () => PROBING_RETRY_MS * (1 + random.float());
    if (!this.#fails(operation)) return others.get(operation) === 'tried' ? refuse(soonMs()) : undefined;
    const waitMs = probeAtMs - clock.monotonic();
    if (waitMs <= 0) return undefined;
    return refuse(probe === undefined ? waitMs + SPREAD_MS * random.float() : soonMs());
  }

  #fails(operation: string): boolean {
    return this.#failing === undefined || this.#failing.has(operation);
  }

  #record(operation: string, outcome: CallOutcome, failure: string): void {
    const others = this.#outage?.others;
    if (others?.get(operation) === 'tried') others.delete(operation);
    if (outcome === 'neutral') return;
    if (outcome === 'success') {
      // What fails, fails still.
      if (others !== undefined && !this.#fails(operation)) others.set(operation, 'works');
      else this.#reset();
      return;
    }
    if (this.#failures === 0) this.#firstFailureMs = this.#options.clock.now();
    this.#failures++;
    this.#lastFailure = failure;
    if (outcome === 'unanswered') this.#failing = undefined;
    else this.#failing?.add(operation);
    if (this.#outage === undefined && this.#failures >= this.#options.failures) {
      const [sinceMs, probeAtMs] = [this.#firstFailureMs, this.#nextProbeMs()];
      this.#outage = { sinceMs, probeAtMs, probe: undefined, others: new Map() };
    }
  }

  #reset(): void {
    this.#failures = 0;
    this.#failing = new Set();
    this.#outage = undefined;
  }

  /** Reckoned from a probe's start: a hanging probe delays no other, and there is never more than one in the time. */
  #nextProbeMs(): number {
    const { clock, random, probeEveryMs } = this.#options;
    return clock.monotonic() + probeEveryMs * (1 + random.float() / 5);
  }
}
