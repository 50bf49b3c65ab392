import { createRequire } from 'node:module';
import { isIP } from 'node:net';
import type * as undici from 'undici';
import { proxyFailure } from './undici-failure.ts';

/*
 * The parts of undici that HTTP uses. Its index also loads fetch, WebSocket, caches and mocks, eighty files that are not used
 * here. These paths are internal to the package: its version is pinned, and a new one must be checked.
 */

export type Connector = undici.buildConnector.connector;
export type Dispatcher = undici.Dispatcher;
export type Interceptor = undici.Dispatcher.DispatcherComposeInterceptor;

interface RequestOptions
  extends Pick<
    undici.Dispatcher.RequestOptions,
    'method' | 'headers' | 'body' | 'headersTimeout' | 'bodyTimeout' | 'signal'
  > {
  readonly dispatcher: Dispatcher;
}

type AskForTunnel = (
  this: Dispatcher,
  asked: undici.Dispatcher.ConnectOptions,
) => Promise<undici.Dispatcher.ConnectData>;

const require = createRequire(import.meta.url);

export const Agent: typeof undici.Agent = require('undici/lib/dispatcher/agent.js');
export const buildConnector: typeof undici.buildConnector = require('undici/lib/core/connect.js');

/**
 * Loads what it needs only if there is a proxy. Never speaks HTTP/2 with the proxy itself. All goes through CONNECT, without TLS, too:
 * whatever the proxy says then is its own word, and never taken for that of the server.
 */
export function proxyAgent(
  options: undici.ProxyAgent.Options & { readonly connectTimeout: number; readonly answerTimeout: number },
): Dispatcher {
  const ProxyAgent: typeof undici.ProxyAgent = require('undici/lib/dispatcher/proxy-agent.js');
  const Pool: typeof undici.Pool = require('undici/lib/dispatcher/pool.js');
  const ask: AskForTunnel = require('undici/lib/api/api-connect.js');
  async function connect(this: Dispatcher, asked: undici.Dispatcher.ConnectOptions) {
    const answer = await ask.call(this, asked);
    if (answer.statusCode !== 200 || answer.socket.readableLength === 0) return answer;
    // A server waits for what it is asked. Without TLS, which would fail, undici would connect again and again, without a pause.
    answer.socket.destroy();
    throw new Error('The proxy answers CONNECT itself instead of connecting');
  }
  const clientFactory = (origin: URL, given: { readonly connect: Connector }) => {
    // undici gives the proxy's address as its name, which TLS does not allow; without a name it goes by the address.
    const connector: Connector = (target, callback) =>
      given.connect(
        isIP(target.servername ?? '') === 0 ? target : { ...target, servername: '' },
        (...[error, socket]) => (error === null ? callback(null, socket) : callback(proxyFailure(error), null)),
      );
    // undici waits five minutes for the answer to CONNECT, whatever becomes of the request that needs the tunnel.
    const limits = { headersTimeout: options.answerTimeout, allowH2: false };
    // undici's index adds `connect` to every dispatcher.
    return Object.assign(new Pool(origin, { ...given, ...limits, connect: connector }), { connect });
  };
  // The proxy is verified whatever NODE_TLS_REJECT_UNAUTHORIZED says: it gets a login, too.
  const proxyTls = { allowH2: false, rejectUnauthorized: true };
  return new ProxyAgent({ ...options, proxyTls, clientFactory, proxyTunnel: true });
}

const requestOf: Dispatcher['request'] = require('undici/lib/api/api-request.js');

/** As undici's `request`. `url`: absolute; otherwise rejects with the code ERR_INVALID_URL. */
export async function request(url: string, { dispatcher, ...options }: RequestOptions) {
  const { origin, pathname, search } = new URL(url);
  return requestOf.call(dispatcher, { ...options, origin, path: `${pathname}${search}` });
}
