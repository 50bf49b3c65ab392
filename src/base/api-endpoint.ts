import { ApiCall, type CallOptions, type Exchange, type Operation } from './api-call.ts';
import { ApiError } from './api-error.ts';
import { CircuitBreaker } from './circuit-breaker.ts';
import type { HttpResponse } from './http.ts';
import type { Random } from './random.ts';
import { RequestLimiter } from './request-limiter.ts';
import { type RateLimit, TokenBucket } from './token-bucket.ts';
import { Trial } from './trial.ts';

export interface ApiEndpointOptions extends CallOptions {
  readonly random: Random;
  /** What it keeps to by itself. */
  readonly rateLimit: RateLimit;
  /** What it learns of the other side's limit, and whom it shares that with. Default: with nobody. */
  readonly limiter?: RequestLimiter | undefined;
  /** Told of the first success after an outage. */
  readonly onRecovered?: (() => void) | undefined;
}

/** Whoever would wait longer for its turn is told so, and has its hands free for what can be done. */
const MAX_WAIT_MS = 5_000;

/**
 * One base URL of one API: everything that is the same for each call to it. Calls wait for their turn in a token bucket, and
 * while the other side answers 429, for that which the limiter gives; a circuit breaker fails them at once while the other
 * side is down; 429 and 503 with `Retry-After` hold all calls back for that time. Nothing is sent twice, but a GET whose
 * connection broke at once (a kept-alive one that was closed meanwhile).
 */
export class ApiEndpoint {
  readonly #options: ApiEndpointOptions;
  readonly #breaker: CircuitBreaker;
  readonly #bucket: TokenBucket;
  readonly #limiter: RequestLimiter;
  readonly #trial: Trial;
  /** What asked for the bucket's pause. */
  #pausedBy: 'throttled' | 'unavailable' = 'unavailable';

  constructor(options: ApiEndpointOptions) {
    this.#options = options;
    this.#breaker = new CircuitBreaker(options);
    this.#trial = new Trial(options.clock);
    this.#bucket = new TokenBucket(options.clock, options.rateLimit);
    this.#limiter = options.limiter ?? new RequestLimiter(options.clock);
  }

  /** The operation's outcome as `read` takes it from an answer of status 2xx. Every failure is an ApiError. */
  async call<T>(operation: Operation, exchange: Exchange, read: (response: HttpResponse) => Promise<T>): Promise<T> {
    const call = new ApiCall(this.#options, operation, exchange);
    const request = call.request();
    this.#refuseWhileDown(call);
    await this.#bucket.take(exchange.signal);
    this.#refuseInCrowd(call, operation);
    const waited = await this.#limiter.take(this, operation.routine ?? false, exchange.signal);
    if (exchange.signal?.aborted) throw call.error('aborted', { what: 'it was given up' });
    // What was learned while waiting counts.
    this.#refuseWhileDown(call);
    const admission = this.#breaker.admit();
    if (!admission.admitted) throw call.held(admission);
    const sentAt = this.#options.clock.monotonic();
    try {
      // A probe of a side that is known to be down is one request.
      const result = await call.send(request, this.#breaker.open ? undefined : this.#trial, read);
      const recovered = this.#breaker.open;
      // Everybody comes back after an outage: at the rate, without a burst.
      if (recovered) this.#bucket.pause(0);
      admission.done('success');
      this.#limiter.letThrough(this, waited);
      if (recovered) this.#options.onRecovered?.();
      return result;
    } catch (error) {
      const apiError = error instanceof ApiError ? error : call.fromThrown(error);
      admission.done(healthOf(apiError, operation), failureText(apiError));
      this.#heed(apiError, sentAt, waited);
      throw apiError;
    }
  }

  #heed({ kind, status, retryAfterMs }: ApiError, sentAt: number, waited: boolean): void {
    if (status === 429) this.#limiter.wasRefused(this, sentAt, retryAfterMs);
    else if (status !== undefined && status < 500) this.#limiter.letThrough(this, waited);
    if (retryAfterMs === undefined) return;
    this.#pausedBy = kind === 'throttled' ? 'throttled' : 'unavailable';
    this.#bucket.pause(retryAfterMs);
  }

  /** A short pause is waited for. */
  #refuseWhileDown(call: ApiCall): void {
    const refusal = this.#breaker.peek();
    if (refusal !== undefined) throw call.held(refusal);
    const { pausedMs } = this.#bucket;
    if (pausedMs <= MAX_WAIT_MS) return;
    const until = instant(Math.ceil((this.#options.clock.now() + pausedMs) / 1000) * 1000);
    const answered = this.#pausedBy === 'throttled' ? '429 (too many requests)' : '503';
    const what = `held back, because the other side answered ${answered} and asked not to be called before ${until}`;
    throw call.error(this.#pausedBy, { what, retryAfterMs: pausedMs });
  }

  #refuseInCrowd(call: ApiCall, { routine = false }: Operation): void {
    const waitMs = routine ? 0 : this.#limiter.waitMs(this);
    const { sinceMs } = this.#limiter;
    if (waitMs <= MAX_WAIT_MS || sinceMs === undefined) return;
    const what = `held back, because there is more to ask than the other side lets through: it has answered 429 (too many requests) since ${instant(sinceMs)}`;
    throw call.error('throttled', { what, retryAfterMs: waitMs });
  }
}

function instant(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}

function healthOf(error: ApiError, operation: Operation): 'success' | 'failure' | 'neutral' {
  if (error.kind === 'aborted' || (error.kind === 'lost' && operation.slow)) return 'neutral';
  if (error.status !== undefined) return error.status >= 500 ? 'failure' : 'success';
  return 'failure';
}

function failureText(error: ApiError): string {
  return error.status === undefined ? error.message : `HTTP ${error.status}`;
}
