import type { Clock } from '../base/clock.ts';
import type { Random } from '../base/random.ts';

export interface CircuitBreakerOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Consecutive failures after which the other side counts as dead. */
  readonly failures?: number;
}

/**
 * How an admitted call went. `failure`: the other side says that it failed, perhaps at this operation only. `unanswered`: nothing
 * came back. `neutral`: nothing is known about its health (aborted, never sent, or slow by nature).
 */
export type CallOutcome = 'success' | 'failure' | 'unanswered' | 'neutral';

export type Admission =
  | {
      readonly admitted: true;
      /** Nobody knows whether the call can succeed. */
      readonly probe: boolean;
      done(outcome: CallOutcome, failure?: string): void;
    }
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
  /** The probe that is running. */
  probe: object | undefined;
  /** Operations that are held back, the least recently probed first. If nothing answers, all others are held back, too. */
  failing: Set<string>;
  /** Other operations called during the outage: how often each has failed since it worked, or that its first call is running. */
  readonly others: Map<string, number | 'tried'>;
}

/** The time between two probes while the other side counts as dead; up to a twentieth longer by chance. */
const PROBE_EVERY_MS = 30_000;
/** Refused callers come back up to this much later than they could, by chance, so as not to come all at once. */
const SPREAD_MS = 5_000;
/** While a probe is running, its outcome is near. */
const PROBING_RETRY_MS = 1_000;
/** An outage that nobody has wanted to probe for this long ends with any success: nobody feels it. */
const FORGOTTEN_AFTER_MS = 60_000;

/**
 * Keeps an outage cheap: after some failures in a row calls fail at once, except for a probe now and then. As long as there are
 * answers, only operations that fail are held back: each other one gets a first call, and more once that has succeeded.
 */
export class CircuitBreaker {
  readonly #options: CircuitBreakerOptions;
  /** Failures in a row, and how many at the end of that row got no answer. */
  #failures = 0;
  #unanswered = 0;
  /** Which operations failed in the row. Undefined until one does: of thousands of servers few ever fail. */
  #failed: Set<string> | undefined;
  #lastFailure = '';
  #firstFailureMs = 0;
  #outage: Outage | undefined;

  constructor(options: CircuitBreakerOptions) {
    this.#options = options;
  }

  /** Reports whether some calls are held back now, even while a probe is running. */
  get open(): boolean {
    return this.#outage !== undefined;
  }

  /** Asks to make a call of the operation. An admitted caller must report once how it went. */
  admit(operation: string): Admission {
    const refusal = this.peek(operation);
    if (refusal !== undefined) return refusal;
    const call = {};
    const outage = this.#outage;
    const isHeldBack = this.#holdsBack(operation);
    const isFirst = outage !== undefined && !isHeldBack && !outage.others.has(operation);
    if (outage !== undefined && isHeldBack) {
      outage.probeAtMs = this.#nextProbeMs();
      outage.probe = call;
      // Moves it to the end.
      outage.failing.delete(operation);
      outage.failing.add(operation);
    }
    if (isFirst) outage.others.set(operation, 'tried');
    return {
      admitted: true,
      probe: isHeldBack || isFirst,
      done: (outcome, failure) => {
        if (this.#outage?.probe === call) this.#outage.probe = undefined;
        if (isFirst && this.#outage?.others.get(operation) === 'tried') this.#outage.others.delete(operation);
        if (outcome === 'success') this.#succeeded(operation);
        else if (outcome !== 'neutral') this.#failedAt(operation, outcome, isFirst, failure ?? '');
      },
    };
  }

  /** The refusal that `admit` would give now. Uses up no probe. */
  peek(operation: string): Extract<Admission, { admitted: false }> | undefined {
    if (this.#outage === undefined) return undefined;
    const { clock, random } = this.#options;
    const { sinceMs, probeAtMs, probe, others, failing } = this.#outage;
    const refuse = (retryAfterMs: number) =>
      ({ admitted: false, sinceMs, lastFailure: this.#lastFailure, retryAfterMs }) as const;
    const soonMs = () => PROBING_RETRY_MS * (1 + random.float());
    if (!this.#holdsBack(operation)) return others.get(operation) === 'tried' ? refuse(soonMs()) : undefined;
    // Or the operations asked for most often would get every probe, and nobody would learn that another works again.
    const [first] = failing;
    const isNext = !failing.has(operation) || (operation === first && (failing.size > 1 || !this.#isUnanswered));
    const turnMs = isNext ? 0 : SPREAD_MS;
    const waitMs = probeAtMs + turnMs - clock.monotonic();
    if (waitMs <= 0) return undefined;
    return refuse(probe === undefined ? waitMs + SPREAD_MS * random.float() : soonMs());
  }

  /** How many failures in a row are an outage. */
  get #limit(): number {
    return this.#options.failures ?? 5;
  }

  get #isUnanswered(): boolean {
    return this.#unanswered >= this.#limit;
  }

  #holdsBack(operation: string): boolean {
    return this.#outage !== undefined && (this.#isUnanswered || this.#outage.failing.has(operation));
  }

  #succeeded(operation: string): void {
    const outage = this.#outage;
    const wasUnanswered = this.#isUnanswered;
    this.#unanswered = 0;
    const wasFailing = outage?.failing.delete(operation);
    const isPartial = [...(outage?.others.values() ?? [])].some((known) => known !== 'tried');
    // If others worked all the time, those that failed still do. If nothing did, the side is back.
    if (outage !== undefined && this.#isFelt(outage) && !wasUnanswered && (isPartial || wasFailing === false)) {
      outage.others.set(operation, 0);
      // The next one may work again, too.
      if (wasFailing) outage.probeAtMs = this.#options.clock.monotonic();
      return;
    }
    this.#failures = 0;
    this.#failed = undefined;
    this.#outage = undefined;
  }

  #isFelt({ failing, probeAtMs }: Outage): boolean {
    return failing.size > 0 && this.#options.clock.monotonic() <= probeAtMs + FORGOTTEN_AFTER_MS;
  }

  #failedAt(operation: string, outcome: 'failure' | 'unanswered', isFirst: boolean, failure: string): void {
    const { clock } = this.#options;
    if (this.#failures === 0) this.#firstFailureMs = clock.now();
    this.#failures++;
    this.#failed = (this.#failed ?? new Set<string>()).add(operation);
    this.#lastFailure = failure;
    const outage = this.#outage;
    // It answers again, and fails at this operation: what else it fails at must be found out.
    if (outage !== undefined && outcome === 'failure' && this.#isUnanswered) {
      outage.failing = new Set([operation]);
      outage.others.clear();
    }
    this.#unanswered = outcome === 'unanswered' ? this.#unanswered + 1 : 0;
    if (outage !== undefined) {
      const before = outage.others.get(operation);
      const count = (typeof before === 'number' ? before : 0) + 1;
      if (isFirst || count >= this.#limit) {
        outage.failing.add(operation);
        outage.others.delete(operation);
      } else if (typeof before === 'number') outage.others.set(operation, count);
    } else if (this.#failures >= this.#limit) {
      const probeAtMs = this.#nextProbeMs();
      this.#outage = {
        sinceMs: this.#firstFailureMs,
        probeAtMs,
        probe: undefined,
        failing: new Set(this.#failed),
        others: new Map(),
      };
    }
  }

  /** Counted from a probe's start: a hanging probe delays no other, and there is never more than one in that time. */
  #nextProbeMs(): number {
    const { clock, random } = this.#options;
    return clock.monotonic() + PROBE_EVERY_MS * (1 + random.float() / 20);
  }
}
