import { lookup as systemLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { createSecureContext } from 'node:tls';
import { abortedUnsent, startLimit } from '../base/exchange-limit.ts';
import { tracedTransport } from '../base/trace.ts';
import { HttpError, type HttpTimeouts, type HttpTransport, withheld } from '../base/transport.ts';
import type { Lookup } from './lookup.ts';
import {
  Agent,
  buildConnector,
  type Connector,
  type Dispatcher,
  type Interceptor,
  proxyAgent,
  request as undiciRequest,
} from './undici.ts';
import { codeOf, throughProxy, toHttpError } from './undici-failure.ts';

const DEFAULT_TIMEOUTS: HttpTimeouts = { headersMs: 20_000, bodyMs: 20_000, totalMs: 60_000 };
const CONNECT_TIMEOUT_MS = 5_000;
/** How long a connection gets new requests: a name may have moved, as when another server takes over, and a busy connection never idles. */
const CONNECTION_AGE_MS = 60_000;

export interface UndiciTransportOptions {
  /** PEM certificates to trust instead of the system's. */
  readonly ca?: Renewed | undefined;
  /** PEM client certificate and key. */
  readonly cert?: Renewed | undefined;
  readonly key?: Renewed | undefined;
  /** Name to verify the server's certificate against, if it is not the URL's host. */
  readonly serverName?: string | undefined;
  readonly insecureSkipVerify?: boolean | undefined;
  /** URL of the proxy for everything, with its login if it has one. `guard` and `lookup` have no say in where the proxy connects. */
  readonly proxy?: string | undefined;
  /** How long the proxy may take to connect; 0: as long as the request that needs it. Default: 5 s. */
  readonly proxyAnswerMs?: number | undefined;
  /** Names the client in each request that does not name one itself. */
  readonly userAgent?: string | undefined;
  /** Maximum number of connections per origin. */
  readonly connections?: number;
  /** How long an idle connection is kept. Default: 30 s, or less if the server says so. */
  readonly keepAliveMs?: number;
  /** Where connections may go. Default: anywhere. */
  readonly guard?: ConnectionGuard | undefined;
  /** Resolves names. Default: the system. */
  readonly lookup?: Lookup;
}

/** A function is called before each request, for values that are renewed. */
type Renewed = string | (() => string | undefined);

/** Certificates and key as they are now. */
interface Proofs {
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
}

/** Decides where connections may go, by the very address that each would go to. */
export interface ConnectionGuard {
  /** Reports whether connections for `origin`, such as `https://cloud.example.com`, may go to any address. */
  trusts(origin: string): boolean;
  /** Says why no connection to `host`, a name or address, may go to the IP address that it stands for; undefined if it may. */
  refusalOf(host: string, address: string): string | undefined;
}

/**
 * HTTP over undici with kept-alive connections, each exchange in a span. Redirects are never followed: credentials go only to the
 * named host. Nothing is sent twice.
 */
export function createUndiciTransport(
  options: UndiciTransportOptions = {},
): HttpTransport & { close(): Promise<void> } {
  const keepAliveMs = options.keepAliveMs ?? 30_000;
  const pool = {
    connections: options.connections ?? 16,
    pipelining: 1,
    // Otherwise all wait until the first connection says whether it is HTTP/2, and in an outage for one time limit after the other.
    allowH2: false,
    keepAliveTimeout: keepAliveMs,
    // Otherwise a server's offer counts, up to ten minutes.
    keepAliveMaxTimeout: keepAliveMs,
    clientTtl: CONNECTION_AGE_MS,
  };
  const { proxy, userAgent } = options;
  const named = userAgent === undefined ? {} : { 'user-agent': userAgent };
  const agents = renewedAgents(options, (proofs) => {
    const settings = settingsOf(options, proofs);
    return proxy === undefined
      ? new Agent({ ...pool, connect: connectorOf(options, settings) })
      : proxyAgent({
          ...pool,
          uri: proxy,
          requestTls: settings,
          connectTimeout: CONNECT_TIMEOUT_MS,
          answerTimeout: options.proxyAnswerMs ?? CONNECT_TIMEOUT_MS,
        });
  });

  const transport: HttpTransport = async (request) => {
    const timeouts = { ...DEFAULT_TIMEOUTS, ...request.timeouts };
    const limit = startLimit(timeouts.totalMs, request.signal);
    let isSent = false;
    const failure = (error: unknown, isUnanswered = false) =>
      throughProxy(toHttpError(error, request, { isSent, isOver: limit.isOver(), isUnanswered }), proxy);
    const beforeSending = () => {
      const reason = limit.signal.aborted ? 'it was given up' : request.refusal?.();
      isSent ||= reason === undefined;
      return reason;
    };
    try {
      limit.signal.throwIfAborted();
      const dispatcher = agents.current().compose(askingFirst(beforeSending));
      const exchange = () => {
        const answer = undiciRequest(request.url, {
          dispatcher,
          method: request.method,
          headers: { ...named, ...request.headers },
          body: request.body ?? null,
          headersTimeout: timeouts.headersMs,
          bodyTimeout: timeouts.bodyMs,
          signal: limit.signal,
        });
        return Promise.race([answer, abortedUnsent(limit.signal, () => isSent)]);
      };
      const response = await exchange().catch((error: unknown) => {
        // Usually an idle connection that was reset as the request was given to it. undici takes another only if it was closed.
        if (!isSent && codeOf(error) === 'ECONNRESET') return exchange();
        throw error;
      });
      const headers: Record<string, string> = {};
      for (const [name, value] of Object.entries(response.headers)) {
        if (value !== undefined) headers[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : value;
      }
      return { status: response.statusCode, headers, body: untilEnd(response.body, failure, limit.end) };
    } catch (error) {
      limit.end();
      throw failure(error, true);
    }
  };
  return Object.assign(tracedTransport(transport), { close: agents.destroy });
}

function askingFirst(refusal: () => string | undefined): Interceptor {
  return (dispatch) => (options, handler) => {
    const start = handler.onRequestStart?.bind(handler);
    handler.onRequestStart = (controller, context) => {
      const reason = refusal();
      if (reason === undefined) start?.(controller, context);
      else controller.abort(withheld(reason));
    };
    return dispatch(options, handler);
  };
}

/** How many former agents are kept. They get no new requests; whatever an older one was doing has ended. */
const FORMER_AGENTS = 3;

/**
 * An agent that is replaced when the certificates or key are renewed. A connection keeps what it began with, and ends by itself.
 * Values that make no agent, such as a key without its certificate, are half a renewal: the previous agent stays.
 */
function renewedAgents({ ca, cert, key }: UndiciTransportOptions, make: (proofs: Proofs) => Dispatcher) {
  const now = (given: Renewed | undefined) => (typeof given === 'function' ? given() : given);
  const proofsNow = (): Proofs => ({ ca: now(ca), cert: now(cert), key: now(key) });
  let proofs = proofsNow();
  let agent = make(proofs);
  let former: readonly Dispatcher[] = [];
  const renew = (given: Proofs) => {
    proofs = given;
    try {
      const renewed = make(given);
      former = [agent, ...former].slice(0, FORMER_AGENTS);
      agent = renewed;
    } catch {}
  };
  return {
    current: () => {
      const given = proofsNow();
      if (given.ca !== proofs.ca || given.cert !== proofs.cert || given.key !== proofs.key) renew(given);
      return agent;
    },
    destroy: async () => {
      await Promise.all([agent, ...former].map((each) => each.destroy()));
    },
  };
}

function settingsOf(options: UndiciTransportOptions, { ca, cert, key }: Proofs) {
  return {
    allowH2: false,
    timeout: CONNECT_TIMEOUT_MS,
    // Made once for all connections: reading all certificates of a system takes some 60 ms, and blocks everything else.
    ...((ca ?? cert ?? key) === undefined ? {} : { secureContext: createSecureContext({ ca, cert, key }) }),
    ...(options.serverName === undefined ? {} : { servername: options.serverName }),
    // Said in any case: otherwise NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment would send logins and tokens to anybody.
    rejectUnauthorized: options.insecureSkipVerify !== true,
  };
}

function connectorOf(options: UndiciTransportOptions, settings: ReturnType<typeof settingsOf>): Connector {
  const { guard, lookup = systemLookup } = options;
  const free = tellingOfNames(lookup, (named) =>
    buildConnector({ ...settings, lookup: guardedLookup(named, () => undefined) }),
  );
  if (guard === undefined) return free;
  const guarded = tellingOfNames(lookup, (named) =>
    buildConnector({ ...settings, lookup: guardedLookup(named, guard.refusalOf.bind(guard)) }),
  );
  return (target, callback) => {
    const { protocol, hostname, host = hostname } = target;
    if (guard.trusts(`${protocol}//${host}`)) return free(target, callback);
    // An address is not looked up.
    const refusal = isIP(hostname) === 0 ? undefined : guard.refusalOf(hostname, hostname);
    if (refusal === undefined) guarded(target, callback);
    else callback(new HttpError('unreachable', refusal), null);
  };
}

/** A connector whose errors say so if time ran out before the name was looked up, and no server is to blame. */
function tellingOfNames(lookup: Lookup, make: (lookup: Lookup) => Connector): Connector {
  const unanswered = new Set<string>();
  const connect = make((hostname, options, callback) => {
    unanswered.add(hostname);
    lookup(hostname, options, (error, addresses) => {
      unanswered.delete(hostname);
      callback(error, addresses);
    });
  });
  return (target, callback) =>
    connect(target, (...[error, socket]) => {
      if (error === null) return callback(null, socket);
      const isUnnamed = codeOf(error) === 'UND_ERR_CONNECT_TIMEOUT' && unanswered.has(target.hostname);
      const words = `No name server has said in time where ${target.hostname} is`;
      return callback(isUnnamed ? new Error(words, { cause: error }) : error, null);
    });
}

/**
 * Passes on only addresses that connections may go to. The connection goes to an address looked up here, so a name that means
 * something else a moment later gains nothing.
 */
function guardedLookup(lookup: Lookup, refusalOf: ConnectionGuard['refusalOf']): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, []);
      const refusals = addresses.map(({ address }) => refusalOf(hostname, address));
      const allowed = addresses.filter((_, index) => refusals[index] === undefined);
      const [first] = allowed;
      if (first === undefined) callback(new HttpError('unreachable', refusals[0] ?? `${hostname} has no address`), []);
      else if (options.all) callback(null, allowed);
      else callback(null, first.address, first.family);
    });
  };
}

async function* untilEnd(body: AsyncIterable<Uint8Array>, failure: (error: unknown) => Error, end: () => void) {
  try {
    yield* body;
  } catch (error) {
    throw failure(error);
  } finally {
    end();
  }
}
