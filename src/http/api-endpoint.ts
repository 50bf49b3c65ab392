import { instant } from '../base/instant.ts';
import type { Random } from '../base/random.ts';
import type { HttpResponse } from '../base/transport.ts';
import {
  ApiCall,
  type CallOptions,
  type Exchange,
  MAY_HAVE_TAKEN_EFFECT,
  type Operation,
  type Turn,
} from './api-call.ts';
import { ApiError } from './api-error.ts';
import { type CallOutcome, CircuitBreaker } from './circuit-breaker.ts';
import { type Pause, Pauses } from './pauses.ts';
import { RequestLimiter } from './request-limiter.ts';
import { SentSecrets } from './sent-secrets.ts';
import { type RateLimit, TokenBucket } from './token-bucket.ts';
import { Trial } from './trial.ts';

export interface ApiEndpointOptions extends CallOptions {
  readonly random: Random;
  /** The limit it keeps to by itself. */
  readonly rateLimit: RateLimit;
  /** Learns the other side's limit, and may be shared with others. Default: one of its own. */
  readonly limiter?: RequestLimiter | undefined;
  /** What the other side may repeat from anybody's requests. Default: from this endpoint's only. */
  readonly sent?: SentSecrets | undefined;
  /** Called on the first answer after an outage, even a refusal. */
  readonly onRecovered?: (() => void) | undefined;
}

/** A caller that waits longer for its turn gets an error, and can do something else. */
const MAX_WAIT_MS = 5_000;
/** For operations that nobody in particular waits for. */
const MAX_ROUTINE_WAIT_MS = 60_000;
/** For operations that follow a look: what was seen may soon be out of date. */
const MAX_FOLLOWING_WAIT_MS = 1_000;
/** As long may it take to get the token for such an operation. */
const MAX_TOKEN_WAIT_MS = 5_000;

/**
 * One base URL of one API: everything that all calls to it share. Calls wait for their turn in a token bucket and, while the
 * other side answers 429, in the limiter. While the other side is down, a circuit breaker fails all calls at once, or those of
 * the operations that fail. A 429 or 503 with `Retry-After` holds its operation back for that time; all others for at most a
 * minute of it, or not at all if it is the operation's own trouble. Nothing is sent twice, except a GET whose connection broke at
 * once (a kept-alive one that had been closed).
 *
 * An operation that follows a look does not wait for its turn, as others may change what was seen: it goes at once, and is
 * counted. If no GET comes before it, ask for its `turn` before the look.
 */
export class ApiEndpoint {
  readonly #options: ApiEndpointOptions;
  readonly #breaker: CircuitBreaker;
  readonly #bucket: TokenBucket;
  /** Undefined until the first, as most servers never ask for one, and there may be thousands. */
  #pauses: Pauses | undefined;
  readonly #limiter: RequestLimiter;
  readonly #sent: SentSecrets;
  readonly #trial: Trial;
  /** Turns that were given out and not used yet. Some never are, if the look says so. Undefined until the first. */
  #unused: WeakSet<Turn> | undefined;
  /** The routine operations that have succeeded. Until then all else waits for what they bring. Undefined until the first, as above. */
  #succeeded: Set<string> | undefined;

  constructor(options: ApiEndpointOptions) {
    this.#options = options;
    this.#breaker = new CircuitBreaker(options);
    this.#trial = new Trial(options.clock);
    this.#bucket = new TokenBucket(options.clock, options.rateLimit);
    this.#limiter = options.limiter ?? new RequestLimiter(options.clock);
    this.#sent = options.sent ?? new SentSecrets(options.clock);
  }

  /** Returns what `read` makes of an answer of status 2xx. Every failure is an ApiError. */
  async call<T>(operation: Operation, exchange: Exchange, read: (response: HttpResponse) => Promise<T>): Promise<T> {
    const { secrets = [] } = exchange;
    const call = new ApiCall(this.#options, operation, exchange, () => [
      ...new Set([...secrets, ...this.#sent.all(this.#options.baseURL)]),
    ]);
    const request = call.request();
    const waited = await this.#whenDue(call, operation, exchange);
    const admission = this.#breaker.admit(operation.name);
    if (!admission.admitted) throw call.held(admission);
    const sentAt = this.#options.clock.monotonic();
    this.#sent.note(this.#options.baseURL, secrets);
    try {
      // A probe of a side that is known to be down is a single request.
      const result = await call.send(request, admission.probe ? undefined : this.#trial, read);
      if (operation.routine) {
        this.#succeeded ??= new Set();
        this.#succeeded.add(operation.name);
      }
      this.#letThrough(operation, waited);
      this.#ended(() => admission.done('success'));
      return result;
    } catch (error) {
      const apiError = error instanceof ApiError ? error : call.fromThrown(error);
      this.#heed(apiError, operation, sentAt, waited);
      this.#ended(() => admission.done(healthOf(apiError, operation), failureText(apiError)));
      throw apiError;
    }
  }

  /** Waits until the call may be sent, and returns whether the limiter made it wait. Fails if that would take too long. */
  async #whenDue(call: ApiCall, operation: Operation, exchange: Exchange): Promise<boolean> {
    const { signal, turn } = exchange;
    const { follows = false } = operation;
    const maxWaitMs = follows ? MAX_FOLLOWING_WAIT_MS : MAX_WAIT_MS;
    const askedAt = this.#options.clock.monotonic();
    if (follows && askedAt - (exchange.askedAt ?? askedAt) > MAX_TOKEN_WAIT_MS) throw outOfDate(call);
    this.#refuseWhileDown(call, operation, maxWaitMs);
    if (this.#pauses !== undefined) await this.#pauses.wait(operation.name, maxWaitMs, signal);
    await this.#bucket.take(signal);
    this.#refuseAfterWait(call, operation, signal);
    const waitedMs = this.#options.clock.monotonic() - askedAt;
    if (follows && waitedMs > MAX_FOLLOWING_WAIT_MS) throw this.#heldBack(call);
    const waited = follows ? this.#goNow(turn) : await this.#takeTurn(call, operation, signal);
    this.#refuseAfterWait(call, operation, signal);
    return waited;
  }

  /** Something may have been learned while the call waited. */
  #refuseAfterWait(call: ApiCall, operation: Operation, signal: AbortSignal | undefined): void {
    if (signal?.aborted) throw call.error('aborted', { what: 'it was canceled' });
    this.#refuseWhileDown(call, operation, MAX_WAIT_MS, 0);
  }

  /**
   * Resolves when one call that follows a look may be sent, and counts it; or when `signal` aborts. Fails as the call would, with
   * `operation` for its words, if its turn does not come within some seconds.
   */
  async turn(operation: Operation, signal?: AbortSignal): Promise<Turn> {
    const call = new ApiCall(this.#options, operation, {}, () => []);
    this.#refuseWhileDown(call, operation, MAX_WAIT_MS);
    await this.#pauses?.wait(operation.name, MAX_WAIT_MS, signal);
    const turn = { waited: await this.#takeTurn(call, operation, signal) };
    this.#unused = (this.#unused ?? new WeakSet()).add(turn);
    return turn;
  }

  #goNow(turn: Turn | undefined): boolean {
    if (turn !== undefined && this.#unused?.delete(turn)) return turn.waited;
    this.#limiter.goNow();
    return false;
  }

  /** Waits for the operation's turn. Returns whether it had to wait. */
  async #takeTurn(
    call: ApiCall,
    { name, routine = false }: Operation,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    const { clock } = this.#options;
    const afterOthers = routine && this.#succeeded?.has(name) === true;
    const maxMs = routine ? MAX_ROUTINE_WAIT_MS : MAX_WAIT_MS;
    if (this.#limiter.sinceMs === undefined) return this.#limiter.take(this, afterOthers, signal);
    const end = new AbortController();
    const cancel = clock.after(maxMs, () => end.abort());
    const either = signal === undefined ? end.signal : AbortSignal.any([signal, end.signal]);
    const waited = await this.#limiter.take(this, afterOthers, either);
    cancel();
    if (end.signal.aborted) throw this.#heldBack(call);
    return waited;
  }

  /** After an outage everybody comes back: at the rate, without a burst. A refusal counts as an answer. */
  #ended(done: () => void): void {
    const wasDown = this.#breaker.open;
    done();
    if (!wasDown || this.#breaker.open) return;
    this.#bucket.pause(0);
    this.#options.onRecovered?.();
  }

  #letThrough({ name }: Operation, waited: boolean): void {
    this.#limiter.letThrough(this, name, waited);
    this.#pauses?.letThrough(name);
  }

  #heed({ kind, status, retryAfterMs }: ApiError, operation: Operation, sentAt: number, waited: boolean): void {
    let isCommon = true;
    if (status === 429) isCommon = this.#limiter.wasRefused(this, operation.name, sentAt, retryAfterMs);
    else if (status !== undefined && status < 500) this.#letThrough(operation, waited);
    if (retryAfterMs === undefined) return;
    this.#pauses ??= new Pauses(this.#options.clock, this.#bucket, MAX_WAIT_MS);
    if (status === 503) isCommon = this.#pauses.isCommonFailure(operation.name, sentAt, retryAfterMs);
    this.#pauses.begin(operation.name, kind === 'throttled' ? 'throttled' : 'unavailable', retryAfterMs, isCommon);
  }

  /** Throws if the breaker is open or a pause is too long to wait for. The operation's own, which may be longer, is waited out first. */
  #refuseWhileDown(call: ApiCall, { name }: Operation, maxWaitMs: number, maxOwnWaitMs = maxWaitMs): void {
    const refusal = this.#breaker.peek(name);
    if (refusal !== undefined) throw call.held(refusal);
    const pause = this.#pauses?.longerThan(name, maxWaitMs, maxOwnWaitMs);
    if (pause !== undefined) throw pausedError(call, pause);
  }

  #heldBack(call: ApiCall): ApiError {
    const { sinceMs } = this.#limiter;
    const since = sinceMs === undefined ? '' : `: it has answered 429 (too many requests) since ${instant(sinceMs)}`;
    const what = `held back, because there are more requests than the other side allows${since}`;
    return call.error('throttled', { what, retryAfterMs: this.#limiter.waitMs(this) });
  }
}

/** What the call follows is old by now: others may have changed it, and a person may have ordered otherwise. */
function outOfDate(call: ApiCall): ApiError {
  const what = 'not sent, because a token for it took too long to get: what the call is based on may have changed';
  return call.error('unreachable', { what, isWithheld: true });
}

function pausedError(call: ApiCall, { by, leftMs, words }: Pause): ApiError {
  const answered = by === 'throttled' ? '429 (too many requests)' : '503';
  const what = `held back, because the other side answered ${answered} and asked for a pause${words}`;
  return call.error(by, { what, retryAfterMs: leftMs });
}

function healthOf(error: ApiError, operation: Operation): CallOutcome {
  if (error.isWithheld || error.kind === 'aborted' || (error.kind === 'lost' && operation.slow)) return 'neutral';
  if (error.status !== undefined) return error.status >= 500 ? 'failure' : 'success';
  return 'unanswered';
}

/** Told to all calls held back then, so without which call it was and what that may have done. */
function failureText({ status, failure }: ApiError): string {
  return status === undefined ? failure.replace(MAY_HAVE_TAKEN_EFFECT, '') : `HTTP ${status}`;
}
