import { ApiCall, type CallOptions, type Exchange, type Operation } from './api-call.ts';
import { ApiError } from './api-error.ts';
import { CircuitBreaker } from './circuit-breaker.ts';
import type { HttpResponse } from './http.ts';
import type { Random } from './random.ts';
import { type RateLimit, TokenBucket } from './token-bucket.ts';

export interface ApiEndpointOptions extends CallOptions {
  readonly random: Random;
  readonly rateLimit: RateLimit;
}

/**
 * One base URL of one API: everything that is the same for each call to it. Calls wait for their turn in a token bucket;
 * a circuit breaker fails them at once while the other side is down; 429 and 503 with `Retry-After` hold all calls back for
 * that time. Nothing is sent twice, but a GET whose connection broke at once (a kept-alive one that was closed meanwhile).
 */
export class ApiEndpoint {
  readonly #options: ApiEndpointOptions;
  readonly #breaker: CircuitBreaker;
  readonly #bucket: TokenBucket;

  constructor(options: ApiEndpointOptions) {
    this.#options = options;
    this.#breaker = new CircuitBreaker(options);
    this.#bucket = new TokenBucket(options.clock, options.rateLimit);
  }

  /** The operation's outcome as `read` takes it from an answer of status 2xx. Every failure is an ApiError. */
  async call<T>(operation: Operation, exchange: Exchange, read: (response: HttpResponse) => Promise<T>): Promise<T> {
    const call = new ApiCall(this.#options, operation, exchange);
    const request = call.request();
    this.#refuseWhileDown(call);
    await this.#bucket.take(exchange.signal);
    if (exchange.signal?.aborted) throw call.error('aborted', { what: 'it was given up' });
    // What was learned while waiting counts.
    this.#refuseWhileDown(call);
    const admission = this.#breaker.admit();
    if (!admission.admitted) throw call.held(admission);
    try {
      // A probe of a side that is known to be down is one request.
      const result = await call.send(request, !this.#breaker.open, read);
      // Everybody comes back after an outage: at the rate, without a burst.
      if (this.#breaker.open) this.#bucket.pause(0);
      admission.done('success');
      return result;
    } catch (error) {
      const apiError = error instanceof ApiError ? error : call.fromThrown(error);
      admission.done(healthOf(apiError, operation), failureText(apiError));
      if (apiError.retryAfterMs !== undefined) this.#bucket.pause(apiError.retryAfterMs);
      throw apiError;
    }
  }

  #refuseWhileDown(call: ApiCall): void {
    const refusal = this.#breaker.peek();
    if (refusal !== undefined) throw call.held(refusal);
    const { pausedMs } = this.#bucket;
    if (pausedMs > 0) {
      const what = `held back, because the other side asked for a pause of another ${Math.ceil(pausedMs / 1000)} s`;
      throw call.error('throttled', { what, retryAfterMs: pausedMs });
    }
  }
}

function healthOf(error: ApiError, operation: Operation): 'success' | 'failure' | 'neutral' {
  if (error.kind === 'aborted' || (error.kind === 'lost' && operation.slow)) return 'neutral';
  if (error.status !== undefined) return error.status >= 500 ? 'failure' : 'success';
  return 'failure';
}

function failureText(error: ApiError): string {
  return error.status === undefined ? error.message : `HTTP ${error.status}`;
}
