import type { Clock } from './clock.ts';
import { FairTurns } from './fair-turns.ts';

/** Called when its turn has come. */
type Waiter = () => void;

/** What 429s have taught, and who waits because of it. There may be thousands of servers that never answer so. */
interface Limit {
  readonly urgent: FairTurns<Waiter>;
  readonly routine: FairTurns<Waiter>;
  /** Parties whose last request was refused. */
  readonly refused: WeakSet<object>;
  /** Wall clock, milliseconds since the epoch. */
  readonly sinceMs: number;
  ratePerSecond: number;
  /** Monotonic, as all that follow: nobody goes before. */
  goAt: number;
  /** When somebody was refused last. */
  refusedAt: number;
  /** What was sent before this moment and refused says nothing new. */
  heedFrom: number;
  /** Answers that were no 429, and since when they are counted. */
  letThrough: number;
  countedFrom: number;
}

/** Halved by the first 429: what nobody was held back to is not known. */
const FIRST_RATE = 50;
const LEAST_RATE = 0.1;
/** A 429 costs a tenth of the rate at least, and three quarters at most, however little was let through. */
const CUT = { least: 0.9, most: 0.25 };
/** Given back in `STEP_S` seconds in which all of the rate is used: this much of it, and at most `MAX_STEP` requests a second. */
const STEP_SHARE = 0.1;
const MAX_STEP = 1;
const STEP_S = 10;
/** So long after the last 429 nothing is held back any more. */
const FORGOTTEN_MS = 10 * 60_000;
/** A longer pause is for the one who was told of it. */
const MAX_PAUSE_MS = 5_000;
/** Whoever goes at once, and not right after a pause, shows that the rate was not used up: what went before says nothing of it. */
const IDLE_MS = 1_000;
/** While others wait as well, one turn of so many is for what is routine. */
const ROUTINE_SHARE = 5;

/**
 * The rate of requests that the other side lets through, for all parties that one limit may hold: learned from 429s, as the
 * documents name none, and turns for those who wait. Nobody ever waits before the first 429, nor ten minutes after the last.
 *
 * Additive increase, multiplicative decrease: a 429 sets the rate to what was let through since the last one, which is what
 * the limit gives, if both came while requests waited; but not to less than a quarter. Then it grows slowly, and only by use. A
 * 429 counts for all once for each time that it asks to wait, and only if its party was let through before: a party that is
 * always refused has trouble of its own.
 */
export class RequestLimiter {
  readonly #clock: Clock;
  #limit: Limit | undefined;
  #cancelTimer: (() => void) | undefined;
  #turns = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Since when it holds back, in wall-clock milliseconds; undefined: it does not. */
  get sinceMs(): number | undefined {
    return this.#limit?.sinceMs;
  }

  /** About how long the party's next urgent request would wait, in milliseconds. */
  waitMs(party: object): number {
    if (this.#limit === undefined) return 0;
    return (this.#limit.urgent.turnsBefore(party) / this.#limit.ratePerSecond) * 1000;
  }

  /** A request goes without waiting: those who wait do so for it. */
  goNow(): void {
    if (this.#limit !== undefined) this.#spend(this.#limit);
  }

  /**
   * Resolves when it is this request's turn, with whether it had to wait; or when `signal` aborts: look at it afterwards.
   * `routine`: goes after what is not, but for one turn in five.
   */
  async take(party: object, routine: boolean, signal?: AbortSignal): Promise<boolean> {
    const now = this.#clock.monotonic();
    if (this.#limit !== undefined && this.#size === 0 && now - this.#limit.refusedAt > FORGOTTEN_MS) {
      this.#limit = undefined;
    }
    if (this.#limit === undefined || signal?.aborted) return false;
    if (this.#size === 0 && this.#limit.goAt <= now) {
      if (now > this.#limit.heedFrom + IDLE_MS) count(this.#limit, now);
      this.#spend(this.#limit);
      return false;
    }
    await this.#wait(party, routine ? this.#limit.routine : this.#limit.urgent, signal);
    return true;
  }

  /** An answer came that is no 429. `waited`: as `take` said. */
  letThrough(party: object, waited: boolean): void {
    if (this.#limit === undefined) return;
    this.#limit.refused.delete(party);
    this.#limit.letThrough++;
    const { ratePerSecond } = this.#limit;
    if (waited) this.#limit.ratePerSecond += Math.min(MAX_STEP, ratePerSecond * STEP_SHARE) / (ratePerSecond * STEP_S);
  }

  /** A 429 came. `sentAt`: when the request was sent, by the monotonic clock. */
  wasRefused(party: object, sentAt: number, retryAfterMs = 0): void {
    const now = this.#clock.monotonic();
    const pauseMs = Math.min(MAX_PAUSE_MS, retryAfterMs);
    const limit = this.#limit ?? this.#firstLimit(now, now + pauseMs);
    if (limit.refused.has(party)) {
      // Nobody at all is let through: then it is not its own trouble.
      if (limit.letThrough > 0 || sentAt < limit.heedFrom) return;
      limit.ratePerSecond = Math.max(LEAST_RATE, limit.ratePerSecond * CUT.least);
      limit.heedFrom = now + pauseMs;
    } else if (limit === this.#limit && sentAt >= limit.heedFrom) {
      cut(limit, now);
      limit.heedFrom = now + pauseMs;
    }
    this.#limit = limit;
    limit.refused.add(party);
    pause(limit, now + pauseMs, now);
  }

  get #size(): number {
    return this.#limit === undefined ? 0 : this.#limit.urgent.size + this.#limit.routine.size;
  }

  #firstLimit(now: number, heedFrom: number): Limit {
    return {
      urgent: new FairTurns(),
      routine: new FairTurns(),
      refused: new WeakSet(),
      sinceMs: this.#clock.now(),
      ratePerSecond: FIRST_RATE / 2,
      goAt: now,
      refusedAt: now,
      heedFrom,
      countedFrom: now,
      letThrough: 0,
    };
  }

  #wait(party: object, turns: FairTurns<Waiter>, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        signal?.removeEventListener('abort', leave);
        resolve();
      };
      const leave = () => {
        turns.delete(end);
        if (this.#size === 0) this.#stopTimer();
        end();
      };
      turns.add(end, party);
      signal?.addEventListener('abort', leave, { once: true });
      this.#serve();
    });
  }

  #serve(): void {
    const limit = this.#limit;
    if (limit === undefined || this.#cancelTimer !== undefined) return;
    while (this.#size > 0) {
      const delayMs = limit.goAt - this.#clock.monotonic();
      if (delayMs > 0) {
        this.#cancelTimer = this.#clock.after(Math.ceil(delayMs), () => {
          this.#cancelTimer = undefined;
          this.#serve();
        });
        return;
      }
      this.#spend(limit);
      this.#next(limit)?.();
    }
  }

  #next({ urgent, routine }: Limit): Waiter | undefined {
    this.#turns++;
    const [first, second] = this.#turns % ROUTINE_SHARE === 0 ? [routine, urgent] : [urgent, routine];
    return first.take() ?? second.take();
  }

  /** A timer that is late may be made up for by one more at once. */
  #spend(limit: Limit): void {
    const intervalMs = 1000 / limit.ratePerSecond;
    limit.goAt = Math.max(limit.goAt, this.#clock.monotonic() - intervalMs) + intervalMs;
  }

  #stopTimer(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }
}

function pause(limit: Limit, until: number, now: number): void {
  limit.refusedAt = now;
  limit.goAt = Math.max(limit.goAt, until, now + 1000 / limit.ratePerSecond);
}

function cut(limit: Limit, now: number): void {
  const { ratePerSecond, letThrough, countedFrom } = limit;
  const measured = letThrough / Math.max(1, (now - countedFrom) / 1000);
  const kept = Math.min(ratePerSecond * CUT.least, Math.max(ratePerSecond * CUT.most, measured));
  limit.ratePerSecond = Math.max(LEAST_RATE, kept);
  count(limit, now);
}

/** From now on, anew. */
function count(limit: Limit, now: number): void {
  limit.countedFrom = now;
  limit.letThrough = 0;
}
