import { ceilingMs } from '../base/backoff.ts';
import type { Clock } from '../base/clock.ts';
import { SingleFlight } from '../base/single-flight.ts';
import { HttpError } from '../base/transport.ts';
import { readTextAnswer } from '../http/answer.ts';
import { NO_ANSWER, type Operation } from '../http/api-call.ts';
import type { ApiEndpoint } from '../http/api-endpoint.ts';
import { ApiError } from '../http/api-error.ts';
import { BadAnswer } from '../http/json-stream.ts';

export type AccessLevel = 'read' | 'write' | 'admin';

/** An API token: a client id and secret with one access level on one space ("Authentication"). */
export interface CloudCredential {
  readonly level: AccessLevel;
  readonly clientID: string;
  readonly clientSecret: string;
}

/** How long a refused credential is not tried again: it rarely becomes right, and trying too often locks it out. */
const REFUSED_MS = 240_000;
/** For one that worked before: the cloud may refuse it only for a moment. */
const REFUSED_SINCE = { initialMs: 60_000, maxMs: REFUSED_MS };
/** How long an answer that makes no sense is given to all who ask: if a List fails by it, the space gets a look at once. */
const NONSENSE_MS = 500;
/** For this long, refusals of new tokens may be chance: others exchanging the same API token may end the tokens it gave before. */
const PASSING_MS = 120_000;

/** Reports whether the cloud clearly says that the credential is wrong. */
export function isRefusedExchange(error: ApiError): boolean {
  return error.operation === 'authenticate' && ['unauthorized', 'invalid', 'forbidden'].includes(error.kind);
}

interface Token {
  readonly value: string;
  /** Monotonic time from which it is renewed before use; `undefined` if only a 401 says that it has ended. */
  readonly renewAtMs: number | undefined;
}

/**
 * The access token of one credential, shared by all that have the same credential, of whatever level. Never exchanges twice at a
 * time; renews a little before the token's end, if that is known (compatibility.md: only a 401 says for sure). A renewal that
 * fails for a while is no failure while the token works.
 */
export class TokenSource {
  readonly #credential: CloudCredential;
  readonly #clock: Clock;
  readonly #levels: Set<AccessLevel>;
  readonly #exchanging = new SingleFlight<Token>();
  #token: Token | undefined;
  /** Since when no call has succeeded, even with new tokens. Monotonic. */
  #refusedAtOnceMs: number | undefined;
  /** Why there is no token, since when, and until when nobody asks again. */
  #failed: { readonly error: ApiError; readonly atMs: number; readonly untilMs: number } | undefined;
  /** How many times in a row it was refused since it worked; undefined if it never worked. */
  #refusals: number | undefined;

  constructor(credential: CloudCredential, clock: Clock) {
    this.#credential = credential;
    this.#clock = clock;
    this.#levels = new Set([credential.level]);
  }

  isOf({ clientID, clientSecret }: CloudCredential): boolean {
    return clientID === this.#credential.clientID && clientSecret === this.#credential.clientSecret;
  }

  /** Uses it for that level too. */
  serve(level: AccessLevel): void {
    this.#levels.add(level);
  }

  worked(): void {
    this.#refusedAtOnceMs = undefined;
  }

  /** A new token was refused. Reports whether that may pass by itself: not if it has gone on for long. */
  wasRefusedAtOnce(): boolean {
    const nowMs = this.#clock.monotonic();
    this.#refusedAtOnceMs ??= nowMs;
    return nowMs - this.#refusedAtOnceMs < PASSING_MS;
  }

  /** Returns the current token, or a new one through the endpoint. */
  async get(endpoint: ApiEndpoint, signal?: AbortSignal): Promise<string> {
    const token = this.#token;
    if (token !== undefined && (token.renewAtMs === undefined || this.#clock.monotonic() < token.renewAtMs)) {
      return token.value;
    }
    if (this.#failed !== undefined && this.#clock.monotonic() < this.#failed.untilMs) throw this.#failed.error;
    try {
      return (await this.#exchanging.run((shared) => this.#exchange(endpoint, shared), signal)).value;
    } catch (error) {
      if (error instanceof HttpError) throw this.#error('aborted', 'it was canceled');
      throw error;
    }
  }

  /** The error of the last refusal, if nothing was accepted since. */
  get refusal(): ApiError | undefined {
    const error = this.#failed?.error;
    return error && isRefusedExchange(error) ? error : undefined;
  }

  /** Forgets the last refusal, which counts for some time, as soon as it is this old. */
  forgetRefusal(ageMs = 0): void {
    if (this.#failed === undefined) return;
    const untilMs = Math.min(this.#failed.untilMs, this.#failed.atMs + ageMs);
    this.#failed = this.#clock.monotonic() < untilMs ? { ...this.#failed, untilMs } : undefined;
  }

  /** A 401 came for this token. A newer one is kept. */
  drop(value: string): void {
    if (this.#token?.value === value) this.#token = undefined;
  }

  async #exchange(endpoint: ApiEndpoint, signal: AbortSignal): Promise<Token> {
    try {
      this.#token = await this.#ask(endpoint, signal);
      this.#refusals = 0;
      this.#failed = undefined;
      return this.#token;
    } catch (error) {
      const holdMs = error instanceof ApiError ? this.#holdMs(error) : 0;
      const atMs = this.#clock.monotonic();
      if (error instanceof ApiError && holdMs > 0) this.#failed = { error, atMs, untilMs: atMs + holdMs };
      // It was asked for before the token in use ends, which only a 401 says.
      if (this.#token === undefined || !isPassing(error)) throw error;
      this.#token = { ...this.#token, renewAtMs: this.#clock.monotonic() + RENEW_AGAIN_MS };
      return this.#token;
    }
  }

  #holdMs(error: ApiError): number {
    if (!isRefusedExchange(error)) return error.kind === 'badAnswer' ? NONSENSE_MS : 0;
    return this.#refusals === undefined ? REFUSED_MS : ceilingMs(REFUSED_SINCE, this.#refusals++);
  }

  async #ask(endpoint: ApiEndpoint, signal: AbortSignal): Promise<Token> {
    const { clientID, clientSecret } = this.#credential;
    const problem = credentialProblem(clientID, 'client id') ?? credentialProblem(clientSecret, 'client secret');
    if (problem !== undefined) throw this.#error('unauthorized', problem);
    // As they are, not Base64 ("Token exchange", compatibility.md).
    const value = await endpoint.call(
      this.#operation(),
      { headers: { authorization: `Basic ${clientID}:${clientSecret}` }, signal, secrets: [clientSecret] },
      async (response) => tokenFrom(await readTextAnswer(response)),
    );
    return { value, renewAtMs: renewalMs(value, this.#clock) };
  }

  #operation(): Operation {
    return {
      name: 'authenticate',
      phrase: `exchange the API token of level ${levelWords([...this.#levels])}`,
      method: 'POST',
      path: ['api', 'v1', 'auth'],
      idempotent: true,
      // By the document an invalid client id or secret gets a 400. Nothing that is exchanged can be missing: a 404 says nothing about it.
      kinds: { 400: 'unauthorized', 404: 'badAnswer', 405: 'badAnswer' },
      words: {
        unauthorized: 'the client id or the client secret was refused',
        forbidden: 'the client id or the client secret was refused',
        badAnswer: 'there is no such API at this address',
        lost: NO_ANSWER,
      },
    };
  }

  #error(kind: 'unauthorized' | 'aborted', what: string): ApiError {
    const { name, phrase, idempotent } = this.#operation();
    return new ApiError({ api: 'cloud', operation: name, phrase, idempotent, kind, what });
  }
}

function levelWords(levels: readonly AccessLevel[]): string {
  return levels.length === 1 ? levels.join() : `${levels.slice(0, -1).join(', ')} and ${levels.at(-1)}`;
}

function credentialProblem(value: string, name: string): string | undefined {
  if (value === '') return `the ${name} is empty`;
  if (/^[\x21-\x7e]+$/.test(value)) return undefined;
  return `the ${name} holds a line break, a space or another character that cannot be sent, such as the line break that \`echo\` writes at the end`;
}

const MAX_TOKEN_LENGTH = 16 * 1024;

/** The text if it is no JSON string. */
function unquoted(text: string): string {
  try {
    return String(JSON.parse(text));
  } catch {
    return text;
  }
}

/** A plain string, or one in quotation marks, as a JSON library would write it. */
function tokenFrom(body: string): string {
  const text = body.trim();
  const token = text.startsWith('"') ? unquoted(text) : text;
  if (token.length > MAX_TOKEN_LENGTH || !/^[\x21-\x7e]+$/.test(token) || /^[{[<"]/.test(token)) {
    throw new BadAnswer('the answer is not an access token');
  }
  return token;
}

/** Reports whether the other side did not do what it usually does: it refused nothing, and the caller has not given up. */
function isPassing(error: unknown): boolean {
  return error instanceof ApiError && error.kind !== 'aborted' && !isRefusedExchange(error);
}

const RENEW_BEFORE_END_MS = 60_000;
/** How long a token stays in use when its renewal failed. */
const RENEW_AGAIN_MS = 10_000;

/**
 * When to renew: a minute before the end, or a fifth of the lifetime if that is less. If the token names both ends of its
 * lifetime, that is counted from now, so that a clock set differently does no harm.
 */
function renewalMs(token: string, clock: Clock): number | undefined {
  const claims = jwtClaims(token);
  const endS = numberOf(claims, 'exp');
  if (endS === undefined) return undefined;
  const startS = numberOf(claims, 'iat') ?? clock.now() / 1000;
  const lifetimeMs = (endS - startS) * 1000;
  // It ends before it begins: nonsense, or a clock that is far off. A 401 will tell.
  if (lifetimeMs <= 0) return undefined;
  return clock.monotonic() + lifetimeMs - Math.min(RENEW_BEFORE_END_MS, lifetimeMs / 5);
}

function jwtClaims(token: string): unknown {
  const payload = token.split('.')[1];
  if (payload === undefined) return undefined;
  try {
    return JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
}

function numberOf(claims: unknown, name: 'exp' | 'iat'): number | undefined {
  if (typeof claims !== 'object' || claims === null) return undefined;
  const value: unknown = Reflect.get(claims, name);
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}
