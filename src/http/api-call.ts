import type { Clock } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import {
  HttpError,
  type HttpRequest,
  type HttpResponse,
  type HttpTimeouts,
  type HttpTransport,
} from '../base/transport.ts';
import { ApiError, type ApiErrorKind } from './api-error.ts';
import { baseURLProblem, givenSegmentProblem, joinURL, segmentProblem } from './api-url.ts';
import { encodingWords, readErrorBody } from './error-body.ts';
import { BadAnswer } from './json-stream.ts';
import { retryAfterMs, untilWords } from './retry-after.ts';
import type { Trial } from './trial.ts';

/** One HTTP exchange, for metrics. */
export interface RequestRecord {
  readonly operation: string;
  /** The status, or the kind of error if there was no answer. */
  readonly code: string;
  readonly durationMs: number;
}

/** One operation of one document on one resource. */
export interface Operation {
  readonly name: string;
  /** What is tried, worded to follow `Cannot`. */
  readonly phrase: string;
  readonly method: HttpRequest['method'];
  /** Unencoded. */
  readonly path: readonly string[];
  /** The segment of `path` that the other side gave, if any. */
  readonly given?: string;
  readonly idempotent: boolean;
  /** Statuses that mean something other than usual. */
  readonly kinds?: Readonly<Record<number, ApiErrorKind>>;
  /** Our words for a kind, if the usual ones say too little. */
  readonly words?: Readonly<Partial<Record<ApiErrorKind, string>>>;
  /** Slow by nature: a timeout says nothing about the other side's health. */
  readonly slow?: boolean;
  /** A change decided by a look right before it: it goes at once or not at all, as others may change what was seen. */
  readonly follows?: boolean;
  /** Nobody waits for it in particular, once it has succeeded: if few requests are let through, others come first. */
  readonly routine?: boolean;
}

/** One call's turn, which has been counted. `waited`: whether it had to be waited for. */
export interface Turn {
  readonly waited: boolean;
}

export interface Exchange {
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: string;
  readonly signal?: AbortSignal | undefined;
  readonly timeouts?: Partial<HttpTimeouts> | undefined;
  /** For a call that follows a look: its turn, if that was waited for before the look. */
  readonly turn?: Turn | undefined;
  /** For a call that follows a look: since when it may have waited for its token, by the monotonic clock. */
  readonly askedAt?: number | undefined;
  /** Everything in this request that no error may show. */
  readonly secrets?: readonly string[];
}

export interface CallOptions {
  readonly api: 'cloud' | 'server';
  readonly baseURL: string;
  readonly transport: HttpTransport;
  readonly clock: Clock;
  readonly onRequest?: ((record: RequestRecord) => void) | undefined;
  /** Called after a 421, with the primary's address if one comes with it. Returns what else to say of that, after a comma. */
  readonly onNotPrimary?: ((primary: string | undefined) => string | undefined) | undefined;
}

/** A connection that the server closed while idle breaks at once; one that breaks later has another reason. */
const BROKEN_AT_ONCE_MS = 1_000;

/** One call of one operation: turns everything that can go wrong with it into an ApiError. */
export class ApiCall {
  readonly #options: CallOptions;
  readonly #operation: Operation;
  readonly #exchange: Exchange;
  /** All that no error may show. */
  readonly #secrets: () => readonly string[];

  constructor(options: CallOptions, operation: Operation, exchange: Exchange, secrets: () => readonly string[]) {
    this.#options = options;
    this.#operation = operation;
    this.#exchange = exchange;
    this.#secrets = secrets;
  }

  /** Returns the request. Throws ApiError `invalid` if it could not be sent as meant. */
  request(): HttpRequest {
    const { baseURL } = this.#options;
    const { method, path, given } = this.#operation;
    const { headers, body, signal, timeouts = {} } = this.#exchange;
    const problems = path.map((part) => (part === given ? givenSegmentProblem : segmentProblem)(part));
    const problem = baseURLProblem(baseURL) ?? problems.find((found) => found !== undefined);
    if (problem !== undefined) throw this.error('invalid', { what: `not sent, because ${problem}` });
    if (Object.values(headers ?? {}).some((value) => !HEADER_VALUE.test(value))) {
      throw this.error('invalid', {
        what: 'not sent, because a credential holds a line break or another odd character',
      });
    }
    return {
      method,
      url: joinURL(baseURL, path),
      headers: {
        accept: 'application/json, text/plain',
        // Without it, anything in between may pack the answer as it likes (RFC 9110).
        'accept-encoding': 'identity',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body }),
      signal,
      timeouts,
    };
  }

  /**
   * Sends the request. If there is a `trial`, a GET over a connection that had been closed is sent once more: the trial says
   * whether that was all that was wrong.
   */
  async send<T>(
    request: HttpRequest,
    trial: Trial | undefined,
    read: (response: HttpResponse) => Promise<T>,
  ): Promise<T> {
    const startedMs = this.#options.clock.monotonic();
    try {
      return await this.#sendOnce(request, read);
    } catch (error) {
      const tookMs = this.#options.clock.monotonic() - startedMs;
      const again =
        request.method === 'GET' &&
        error instanceof Unanswered &&
        error.cause.kind === 'lost' &&
        tookMs < BROKEN_AT_ONCE_MS &&
        !request.signal?.aborted;
      if (!again || trial === undefined) throw error;
      return await trial.run(
        startedMs,
        () => this.#sendOnce(request, read),
        error,
        (next) => next instanceof Unanswered,
      );
    }
  }

  async #sendOnce<T>(request: HttpRequest, read: (response: HttpResponse) => Promise<T>): Promise<T> {
    const { clock, onRequest } = this.#options;
    const startedMs = clock.monotonic();
    let code = 'lost';
    try {
      const response = await this.#answer(request);
      code = String(response.status);
      if (response.status < 200 || response.status > 299) throw await this.#fromStatus(response);
      return await this.#read(response, read);
    } catch (error) {
      if (error instanceof Unanswered) code = error.cause.kind;
      throw error;
    } finally {
      onRequest?.({ operation: this.#operation.name, code, durationMs: clock.monotonic() - startedMs });
    }
  }

  async #answer(request: HttpRequest): Promise<HttpResponse> {
    try {
      return await this.#options.transport(request);
    } catch (error) {
      throw new Unanswered(error instanceof HttpError ? error : new HttpError('lost', messageOf(error)));
    }
  }

  async #read<T>(response: HttpResponse, read: (response: HttpResponse) => Promise<T>): Promise<T> {
    try {
      return await read(response);
    } catch (error) {
      if (error instanceof HttpError && error.kind !== 'tooLarge') throw this.#fromHttpError(error, response.status);
      const what =
        encodingWords(response) ??
        (error instanceof BadAnswer || error instanceof HttpError ? error.message : 'the answer is unreadable');
      throw this.error('badAnswer', { what, status: response.status });
    }
  }

  async #fromStatus(response: HttpResponse): Promise<ApiError> {
    const { status, headers } = response;
    const { code, message, primaryAddress } = await readErrorBody(response);
    const more = status === 421 ? this.#options.onNotPrimary?.(primaryAddress) : undefined;
    const kind = this.#operation.kinds?.[status] ?? kindOfStatus(status);
    const nowMs = this.#options.clock.now();
    const after = status === 429 || status === 503 ? retryAfterMs(headers, nowMs) : undefined;
    const until = after === undefined ? '' : untilWords(after, nowMs);
    const isRedirect = status >= 300 && status <= 399;
    const what = isRedirect
      ? 'the address redirects, which is not followed'
      : `${this.#words(kind)}${until === '' ? '' : `, and it asks for a pause${until}`}`;
    const primary =
      primaryAddress === undefined ? '' : `; primary: ${[primaryAddress, more].filter(Boolean).join(', ')}`;
    const words =
      encodingWords(response) ?? (isRedirect ? this.#redirectWords(headers['location']) : undefined) ?? message ?? '';
    return this.error(kind, {
      what,
      status,
      code,
      serverMessage: `${words}${primary}`,
      ...(after === undefined ? {} : { retryAfterMs: after }),
    });
  }

  /** Names the other origin that a redirect leads to; undefined if it is the same, or none. The rest of it may hold secrets. */
  #redirectWords(location = ''): string | undefined {
    const { baseURL } = this.#options;
    const target = URL.parse(location, baseURL);
    const isElsewhere = target !== null && target.host !== '' && target.origin !== new URL(baseURL).origin;
    return isElsewhere ? `to ${target.protocol}//${target.host}` : undefined;
  }

  fromThrown(error: unknown): ApiError {
    if (error instanceof Unanswered) return this.#fromHttpError(error.cause, undefined);
    return this.error('lost', { what: 'the call broke off', detail: messageOf(error) });
  }

  #fromHttpError(error: HttpError, status: number | undefined): ApiError {
    const kind = error.kind === 'tooLarge' ? 'badAnswer' : error.kind;
    const remedy = error.isUntrusted
      ? '; if it should be trusted, its CA belongs in caBundle of the DatabaseSpace'
      : '';
    return this.error(kind, { status, detail: `${error.message}${remedy}`, isWithheld: error.isWithheld });
  }

  held(refusal: { readonly sinceMs: number; readonly lastFailure: string; readonly retryAfterMs: number }): ApiError {
    const since = new Date(refusal.sinceMs).toISOString();
    const what = `not tried, because calls have failed since ${since}; the last: ${refusal.lastFailure}`;
    return this.error('unavailable', { what, retryAfterMs: refusal.retryAfterMs, heldSinceMs: refusal.sinceMs });
  }

  #words(kind: ApiErrorKind): string {
    const { method, words } = this.#operation;
    return words?.[kind] ?? (kind === 'lost' && method === 'GET' ? NO_ANSWER : WORDS[kind]);
  }

  error(
    kind: ApiErrorKind,
    more: {
      what?: string;
      status?: number | undefined;
      code?: string | undefined;
      serverMessage?: string;
      detail?: string;
      retryAfterMs?: number;
      heldSinceMs?: number;
      isWithheld?: boolean;
    },
  ): ApiError {
    const { name, phrase, idempotent } = this.#operation;
    return new ApiError({
      api: this.#options.api,
      operation: name,
      phrase,
      idempotent,
      kind,
      what: more.what ?? this.#words(kind),
      secrets: this.#secrets(),
      said: this.#said(),
      ...more,
    });
  }

  /** Path and body without their secrets: the object's author knows the rest, as it follows from the object. */
  #said(): readonly string[] {
    const { body = '', secrets = [] } = this.#exchange;
    const words = secrets.filter((secret) => secret !== '').map((secret) => JSON.stringify(secret).slice(1, -1));
    const open = words.reduce<readonly string[]>((parts, word) => parts.flatMap((part) => part.split(word)), [body]);
    return [...this.#operation.path, ...open];
  }
}

/** No answer came. Wraps what the transport threw, to tell it from a failure to read an answer. */
class Unanswered extends Error {
  override readonly cause: HttpError;
  constructor(cause: HttpError) {
    super(cause.message);
    this.cause = cause;
  }
}

/** What HTTP lets a header carry, except letters beyond ASCII, on which servers do not agree. */
const HEADER_VALUE = /^[\x20-\x7e]*$/;

const KINDS: Readonly<Record<number, ApiErrorKind>> = {
  401: 'unauthorized',
  403: 'forbidden',
  404: 'notFound',
  408: 'unavailable',
  409: 'conflict',
  421: 'unavailable',
  429: 'throttled',
};

function kindOfStatus(status: number): ApiErrorKind {
  if (status >= 500 && status <= 599) return 'unavailable';
  return KINDS[status] ?? (status >= 400 && status <= 499 ? 'invalid' : 'badAnswer');
}

/** For calls that change nothing. */
export const NO_ANSWER = 'no complete answer came';
export const MAY_HAVE_TAKEN_EFFECT = ', it may have taken effect';

const WORDS: Readonly<Record<ApiErrorKind, string>> = {
  unreachable: 'the other side is unreachable',
  lost: `${NO_ANSWER}${MAY_HAVE_TAKEN_EFFECT}`,
  unauthorized: 'the access token was refused',
  forbidden: 'the access level is too low',
  notFound: 'something it refers to does not exist',
  conflict: 'it conflicts with what exists',
  invalid: 'the request was refused',
  throttled: 'too many requests',
  unavailable: 'the other side failed',
  badAnswer: 'the answer makes no sense',
  aborted: 'it was canceled',
};
