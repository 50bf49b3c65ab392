import type { Clock } from '../base/clock.ts';
import { FairTurns } from './fair-turns.ts';
import { OwnTrouble } from './own-trouble.ts';

/** Called when its turn has come. */
type Waiter = () => void;

/** What 429s have taught, and who waits because of them. There may be thousands of servers that never answer so. */
interface Limit {
  readonly urgent: FairTurns<Waiter>;
  readonly routine: FairTurns<Waiter>;
  /** Wall clock, milliseconds since the epoch. */
  readonly sinceMs: number;
  ratePerSecond: number;
  /** Whether no 429 has shown yet what is let through at our rate. */
  isGuess: boolean;
  /** Monotonic, like all that follow: nobody goes before. */
  goAt: number;
  /** When somebody was last refused. */
  refusedAt: number;
  /** A refused request that was sent before this moment says nothing new. */
  heedFrom: number;
  /** The number of answers other than 429, and since when they are counted. */
  letThrough: number;
  countedFrom: number;
  /** The rate when that count began. */
  countedAtRate: number;
  /** The rate at which all were let through before the count began, without a 429 in between; 0: there was one. */
  provenRate: number;
  /** When a request last went at once, and not right after a pause: the rate was not used up. */
  unusedAt: number;
}

/** Halved by the first 429: before it nobody is held back, so the limit is not known. */
const FIRST_RATE = 50;
const LEAST_RATE = 0.1;
/** A 429 cuts the rate by a tenth at least, and by three quarters at most, however little was let through. */
const CUT = { least: 0.9, most: 0.25 };
/** Given back per `STEP_S` seconds of full use: this share of the rate, and at most `MAX_STEP` requests a second. */
const STEP_SHARE = 0.1;
const MAX_STEP = 1;
const STEP_S = 10;
/** A rate that is a guess grows faster, as in TCP's slow start: full use doubles it in this many seconds. */
const GUESS_DOUBLES_IN_S = 5;
/** This long after the last 429, nothing is held back any more. */
const FORGOTTEN_MS = 10 * 60_000;
/** A longer pause is only for the one who was told of it. */
const MAX_PAUSE_MS = 5_000;
/** If the rate was not used up lately, it is not cut below this many times the load: that is no limit. */
const HEADROOM = 1.5;
const LATELY_MS = 10_000;
/** Trouble lasts at least this long: requests sent in it cannot show yet what the new rate does. */
const TROUBLE_MS = 1_000;
/** The throughput is averaged over this time. */
const AVERAGED_MS = 30_000;
/** A request that goes at once, and not right after a pause, shows that the rate was not used up: the count starts again. */
const IDLE_MS = 1_000;
/** While others wait as well, one turn in this many is for routine requests; or in fewer, if so many wait that it would take too long. */
const ROUTINE_TURN = 10;
const FREQUENT_ROUTINE_TURN = 5;
const LONG_S = 30;

/**
 * The rate of requests that the other side lets through, for all parties that may share one limit, and turns for those who wait.
 * The rate is learned from 429s, as the documents name none. Nobody waits before the first 429, nor later than ten minutes after
 * the last.
 *
 * Additive increase, multiplicative decrease: a 429 cuts the rate to what was let through since the previous one. If requests
 * waited all that time, that is what the limit gives. The rate is never cut to less than a quarter; nor, if nobody has to wait,
 * below the usual throughput. Then it grows slowly, and only by use; but fast until a second 429, as all that the first one shows is
 * that a burst was too much. A 429 counts for all once for each time that it asks to wait, and not if it is a party's or an operation's
 * own trouble.
 */
export class RequestLimiter {
  readonly #clock: Clock;
  #limit: Limit | undefined;
  #cancelTimer: (() => void) | undefined;
  #turns = 0;
  /** Undefined until the first 429, for the same reason as `Limit`. */
  #trouble: OwnTrouble | undefined;
  /** About how many are let through in a second, and when that was computed. */
  #average = 0;
  #averagedAt = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Since when it holds requests back, in wall-clock milliseconds; undefined if it does not. */
  get sinceMs(): number | undefined {
    return this.#limit?.sinceMs;
  }

  /** About how long the party's next urgent request would wait, in milliseconds. */
  waitMs(party: object): number {
    if (this.#limit === undefined) return 0;
    return (this.#limit.urgent.turnsBefore(party) / this.#limit.ratePerSecond) * 1000;
  }

  /** Counts a request that goes without waiting: those who wait do so for longer. */
  goNow(): void {
    if (this.#limit !== undefined) this.#spend(this.#limit);
  }

  /**
   * Resolves on this request's turn, with whether it had to wait; or when `signal` aborts: check it afterwards. `routine`: goes
   * after others, except for one turn in ten, or in five.
   */
  async take(party: object, routine: boolean, signal?: AbortSignal): Promise<boolean> {
    const now = this.#clock.monotonic();
    if (this.#limit !== undefined && this.#size === 0 && now - this.#limit.refusedAt > FORGOTTEN_MS) {
      this.#limit = undefined;
    }
    if (this.#limit === undefined || signal?.aborted) return false;
    if (this.#size === 0 && this.#limit.goAt <= now) {
      if (now > this.#limit.heedFrom + IDLE_MS) {
        count(this.#limit, now);
        this.#limit.unusedAt = now;
      }
      this.#spend(this.#limit);
      return false;
    }
    await this.#wait(party, routine ? this.#limit.routine : this.#limit.urgent, signal);
    return true;
  }

  /** An answer other than 429 came. `waited`: what `take` returned. */
  letThrough(party: object, operation: string, waited: boolean): void {
    this.#trouble?.letThrough(party, operation);
    this.#average = this.#averageAt(this.#clock.monotonic()) + 1000 / AVERAGED_MS;
    if (this.#limit === undefined) return;
    this.#limit.letThrough++;
    const { ratePerSecond } = this.#limit;
    if (!waited) return;
    const step = Math.min(MAX_STEP, ratePerSecond * STEP_SHARE) / (ratePerSecond * STEP_S);
    this.#limit.ratePerSecond += this.#limit.isGuess ? Math.LN2 / GUESS_DOUBLES_IN_S : step;
    // What was let through at half the rate says no more about this one than that it is not too much.
    if (this.#limit.ratePerSecond <= 2 * this.#limit.countedAtRate) return;
    this.#limit.provenRate = this.#limit.countedAtRate;
    count(this.#limit, this.#clock.monotonic());
  }

  /** A 429 came. Returns whether it concerns other operations. `sentAt`: when the request was sent, by the monotonic clock. */
  wasRefused(party: object, operation: string, sentAt: number, retryAfterMs = 0): boolean {
    const now = this.#clock.monotonic();
    const isNews = this.#limit === undefined || sentAt >= this.#limit.heedFrom;
    this.#trouble ??= new OwnTrouble();
    const refusal = this.#trouble.refused(party, operation, isNews);
    if (refusal === 'own') return false;
    const pauseMs = Math.min(MAX_PAUSE_MS, retryAfterMs);
    const heedFrom = now + Math.max(pauseMs, TROUBLE_MS);
    const limit = this.#limit ?? this.#firstLimit(now, heedFrom);
    if (limit === this.#limit && isNews) {
      // If not new, nobody at all was let through since: that is not its own trouble.
      if (refusal === 'new') cut(limit, now, this.#averageAt(now));
      else limit.ratePerSecond = Math.max(LEAST_RATE, limit.ratePerSecond * CUT.least);
      limit.heedFrom = heedFrom;
    }
    this.#limit = limit;
    // The next turn is a routine one, to learn whether others are let through: the same caller must not come first after each pause.
    this.#turns = -1;
    if (refusal === 'same') limit.refusedAt = now;
    else if (isNews || refusal === 'new') pause(limit, now + pauseMs, now);
    return refusal !== 'same';
  }

  #averageAt(now: number): number {
    this.#average *= Math.exp((this.#averagedAt - now) / AVERAGED_MS);
    this.#averagedAt = now;
    return this.#average;
  }

  get #size(): number {
    return this.#limit === undefined ? 0 : this.#limit.urgent.size + this.#limit.routine.size;
  }

  #firstLimit(now: number, heedFrom: number): Limit {
    const ratePerSecond = Math.max(FIRST_RATE / 2, this.#averageAt(now) * HEADROOM);
    return {
      urgent: new FairTurns(),
      routine: new FairTurns(),
      sinceMs: this.#clock.now(),
      ratePerSecond,
      isGuess: true,
      goAt: now,
      refusedAt: now,
      heedFrom,
      countedFrom: now,
      countedAtRate: ratePerSecond,
      provenRate: 0,
      letThrough: 0,
      unusedAt: Number.NEGATIVE_INFINITY,
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

  #next({ urgent, routine, ratePerSecond }: Limit): Waiter | undefined {
    this.#turns++;
    const isLong = routine.size * ROUTINE_TURN > ratePerSecond * LONG_S;
    const isRoutine = this.#turns % (isLong ? FREQUENT_ROUTINE_TURN : ROUTINE_TURN) === 0;
    const [first, second] = isRoutine ? [routine, urgent] : [urgent, routine];
    return first.take() ?? second.take();
  }

  /** One more at once may make up for a late timer. */
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

function cut(limit: Limit, now: number, average: number): void {
  const { ratePerSecond, letThrough, countedFrom, provenRate, unusedAt } = limit;
  const measured = Math.max(provenRate, letThrough / Math.max(1, (now - countedFrom) / 1000));
  const kept = Math.min(ratePerSecond * CUT.least, Math.max(ratePerSecond * CUT.most, measured));
  const least = now - unusedAt < LATELY_MS ? Math.min(ratePerSecond, average * HEADROOM) : 0;
  limit.ratePerSecond = Math.max(LEAST_RATE, kept, least);
  limit.isGuess &&= measured === 0;
  limit.provenRate = 0;
  count(limit, now);
}

/** Starts counting again. */
function count(limit: Limit, now: number): void {
  limit.countedFrom = now;
  limit.countedAtRate = limit.ratePerSecond;
  limit.letThrough = 0;
}
