import type { Clock } from '../base/clock.ts';
import type { HttpResponse } from '../base/transport.ts';
import type { Exchange } from '../http/api-call.ts';
import type { ApiEndpoint } from '../http/api-endpoint.ts';
import { ApiError } from '../http/api-error.ts';
import { type CloudOperation, errorOf } from './operations.ts';
import { type AccessLevel, type CloudCredential, isRefusedExchange, TokenSource } from './token.ts';

interface Holder {
  readonly level: AccessLevel;
  readonly tokens: TokenSource;
}

/** From the least to the most powerful. */
const LEVELS: readonly AccessLevel[] = ['read', 'write', 'admin'];

/** The API tokens for one space, and which of them serves for an operation. */
export class Credentials {
  readonly #endpoint: ApiEndpoint;
  readonly #clock: Clock;
  readonly #holders: readonly Holder[];
  /** For every call: a server may know them from an earlier one. */
  readonly #secrets: readonly string[];
  /** Which credential last served for a level: whether levels include the lower ones is not documented. */
  readonly #worked = new Map<AccessLevel, Holder>();

  /**
   * `peers`: those of clients of the same cloud, reached the same way. Nothing of peers that are gone is kept, except tokens still in
   * use.
   */
  constructor(
    endpoint: ApiEndpoint,
    credentials: readonly CloudCredential[],
    peers: readonly Credentials[],
    clock: Clock,
  ) {
    this.#endpoint = endpoint;
    this.#clock = clock;
    this.#secrets = credentials.map((credential) => credential.clientSecret);
    const holders: Holder[] = [];
    for (const level of LEVELS) {
      const credential = credentials.find((candidate) => candidate.level === level);
      if (credential === undefined) continue;
      const known = [...holders, ...peers.flatMap((peer) => peer.#holders)];
      const same = known.find(({ tokens }) => tokens.isOf(credential))?.tokens;
      same?.serve(level);
      holders.push({ level, tokens: same ?? new TokenSource(credential, clock) });
    }
    this.#holders = holders;
  }

  /** Whether there is one of that level. */
  has(level: AccessLevel): boolean {
    return this.#holders.some((holder) => holder.level === level);
  }

  /** Why that of this level was refused last; undefined: it was not, or there is none. */
  refusalOf(level: AccessLevel): ApiError | undefined {
    return this.#holders.find((holder) => holder.level === level)?.tokens.refusal;
  }

  async authenticate(level: AccessLevel | undefined, signal: AbortSignal | undefined): Promise<void> {
    const holders = this.#holders.filter((holder) => level === undefined || holder.level === level);
    if (holders.length === 0) {
      const what = `there is no API token${level === undefined ? '' : ` of level ${level}`}`;
      throw new ApiError({
        api: 'cloud',
        operation: 'authenticate',
        phrase: 'exchange an API token',
        idempotent: true,
        kind: 'forbidden',
        what,
      });
    }
    for (const holder of holders) await holder.tokens.get(this.#endpoint, signal);
  }

  refusedLevel(error: ApiError): AccessLevel | undefined {
    return this.#holders.find(({ tokens }) => tokens.refusal === error)?.level;
  }

  forgetRefusals(ageMs: number): void {
    for (const holder of this.#holders) holder.tokens.forgetRefusal(ageMs);
  }

  /**
   * Calls with the credential that should serve; if that one is refused, or not enough (403), with the next one. Once more with a
   * new token after a 401. `more`: the exchange, without the token.
   */
  async call<T>(
    operation: CloudOperation,
    read: (response: HttpResponse) => Promise<T>,
    signal: AbortSignal | undefined,
    more: Exchange = {},
  ): Promise<T> {
    const refused = new Map<AccessLevel, ApiError>();
    const tried = new Set<TokenSource>();
    for (const holder of this.#candidates(operation)) {
      if (tried.has(holder.tokens)) continue;
      tried.add(holder.tokens);
      try {
        const result = await this.#callAs(holder, operation, read, signal, more);
        this.#worked.set(operation.level, holder);
        return result;
      } catch (error) {
        if (!(error instanceof ApiError) || !(error.kind === 'forbidden' || isRefusedExchange(error))) throw error;
        refused.set(holder.level, error);
      }
    }
    // The error of the level that should serve: the others only stood in for it.
    const least = LEVELS.find((level) => refused.has(level));
    throw (least && refused.get(least)) ?? this.#forbidden(operation);
  }

  /** The credentials that may serve, in turn; the one that did last comes first as well. */
  #candidates(operation: CloudOperation): readonly Holder[] {
    const least = LEVELS.indexOf(operation.level);
    const sufficient = this.#holders.filter((holder) => LEVELS.indexOf(holder.level) >= least);
    const worked = this.#worked.get(operation.level);
    return worked === undefined ? sufficient : [worked, ...sufficient];
  }

  async #callAs<T>(
    holder: Holder,
    operation: CloudOperation,
    read: (response: HttpResponse) => Promise<T>,
    signal: AbortSignal | undefined,
    more: Exchange,
  ): Promise<T> {
    const askedAt = this.#clock.monotonic();
    const send = async (token: string) => {
      const headers = { authorization: `Bearer ${token}` };
      const exchange = { ...more, headers, signal, askedAt, secrets: [token, ...this.#secrets] };
      try {
        const result = await this.#endpoint.call(tellingLevel(operation), exchange, read);
        holder.tokens.worked();
        return result;
      } catch (error) {
        // Any answer other than 401 shows that the access token is valid.
        if (error instanceof ApiError && error.status !== undefined && error.status !== 401) holder.tokens.worked();
        throw error;
      }
    };
    const token = await holder.tokens.get(this.#endpoint, signal);
    try {
      return await send(token);
    } catch (error) {
      if (!isUnauthorized(error)) throw error;
      holder.tokens.drop(token);
    }
    const renewed = await holder.tokens.get(this.#endpoint, signal);
    try {
      return await send(renewed);
    } catch (error) {
      throw isUnauthorized(error) && holder.tokens.wasRefusedAtOnce() ? endedEarly(operation, error) : error;
    }
  }

  #forbidden(operation: CloudOperation): ApiError {
    const levels = LEVELS.slice(LEVELS.indexOf(operation.level)).join(' or ');
    return errorOf(operation, 'forbidden', `not sent, because there is no API token of level ${levels}`);
  }
}

/** The operation, whose error also says which level it takes if a valid token is not enough. */
function tellingLevel(operation: CloudOperation): CloudOperation {
  const forbidden = `the access level is too low: this takes level ${operation.level}`;
  return { ...operation, words: { forbidden, ...operation.words } };
}

function isUnauthorized(error: unknown): error is ApiError {
  return error instanceof ApiError && error.kind === 'unauthorized';
}

/** The API token is not wrong, as it was just exchanged. Somebody else's exchange of it may have ended the access token. */
function endedEarly(operation: CloudOperation, refusal: ApiError): ApiError {
  const what =
    'the access token was refused, though it was exchanged a moment ago: where something else uses the same API token, each may end the access token of the other';
  return errorOf(operation, 'unavailable', what, refusal);
}
