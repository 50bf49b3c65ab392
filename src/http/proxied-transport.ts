import { isIP } from 'node:net';
import { hostOf } from '../base/host-of.ts';
import { HttpError, type HttpRequest, type HttpTransport } from '../base/transport.ts';
import { proxiesOf } from './proxy.ts';
import { createUndiciTransport, type UndiciTransportOptions } from './undici-transport.ts';

type Transport = ReturnType<typeof createUndiciTransport>;

/**
 * HTTP that goes to each server through the proxy that the environment names for it, and directly if there is none. A proxy looks names
 * up itself, so `guard` judges only a server that the URL names by its address. Rejects if the proxy is of a kind that is not supported.
 */
export function createProxiedTransport(
  options: Omit<UndiciTransportOptions, 'proxy'>,
  env: NodeJS.ProcessEnv,
): Transport {
  // Right away, as certificates that cannot be used are a mistake of whoever asks for the transport.
  const made = new Map<string | undefined, Transport>([[undefined, createUndiciTransport(options)]]);
  const by = (proxy: string | undefined) => {
    const known = made.get(proxy) ?? createUndiciTransport({ ...options, proxy });
    made.set(proxy, known);
    return known;
  };
  const proxyOf = proxiesOf(env);
  const transport: HttpTransport = async (request) => {
    const proxy = proxyOf(request.url);
    if (proxy === undefined) return by(undefined)(request);
    const refusal = refusalOf(request, options.guard);
    if (refusal !== undefined) throw new HttpError('unreachable', refusal);
    return by(proxy)(request);
  };
  return Object.assign(transport, {
    close: async () => {
      await Promise.all([...made.values()].map((each) => each.close()));
    },
  });
}

function refusalOf({ url }: HttpRequest, guard: UndiciTransportOptions['guard']): string | undefined {
  const server = new URL(url);
  const host = hostOf(server);
  return guard === undefined || isIP(host) === 0 || guard.trusts(server.origin)
    ? undefined
    : guard.refusalOf(host, host);
}
