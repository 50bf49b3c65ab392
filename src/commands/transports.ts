import { getCACertificates } from 'node:tls';
import { Recent } from '../base/collections/recent.ts';
import type { HttpTransport } from '../base/transport.ts';
import { lookupsAtOnce, sharedLookup } from '../http/lookup.ts';
import { createProxiedTransport } from '../http/proxied-transport.ts';
import type { ConnectionGuard } from '../http/undici-transport.ts';
import { VERSION } from '../version.ts';

/**
 * Of thousands of servers some are called each second, mostly by one pass, and each connection takes some 40 KB: none is kept long for
 * its next use.
 */
const KEEP_ALIVE_MS = 2_000;

/**
 * Of one origin, which may be a cloud with many spaces, or a gateway to all servers: those that hang must not hold up the others. More
 * than there are passes and pollers at once; each space and server limits its own requests.
 */
const CONNECTIONS = 4_096;

/** How commands of the plugin name themselves. */
export const PLUGIN_AGENT = `kubectl-mooring/${VERSION}`;

/** HTTP to clouds and servers: one pool of connections for each set of trusted certificates. */
export interface Transports {
  /** `ca`: PEM to trust besides the system's. `serverName`: the name that certificates must have, if it is not the URL's host. */
  of(ca: string | undefined, serverName?: string): HttpTransport;
  close(): Promise<void>;
}

type Transport = ReturnType<typeof createProxiedTransport>;

/** How many are kept that nobody uses. One with `ca` takes over 1 MB, as it holds the system's certificates as well. */
const KEPT = 32;

/** `guard`: where connections may go; undefined: anywhere. `env`: names the proxies, and says how many threads Node has. */
export function transportsFor(userAgent: string, env: NodeJS.ProcessEnv, guard?: ConnectionGuard): Transports {
  const lookup = sharedLookup(lookupsAtOnce(env));
  const kept = new Recent<string, Transport>(KEPT);
  /** All that may be in use: meanwhile no second one is made. The connections of one that nobody uses soon end by themselves. */
  const made = new Map<string, WeakRef<Transport>>();
  const make = (key: string, ca: string | undefined, serverName: string | undefined) => {
    for (const [each, transport] of made) if (transport.deref() === undefined) made.delete(each);
    const trusted = ca === undefined ? undefined : [...getCACertificates(), ca].join('\n');
    const pool = { connections: CONNECTIONS, keepAliveMs: KEEP_ALIVE_MS };
    const transport = createProxiedTransport({ ca: trusted, serverName, guard, lookup, userAgent, ...pool }, env);
    made.set(key, new WeakRef(transport));
    return transport;
  };
  return {
    of: (ca, serverName) =>
      kept.get(JSON.stringify([ca, serverName]), (key) => made.get(key)?.deref() ?? make(key, ca, serverName)),
    async close() {
      await Promise.all([...made.values()].map((transport) => transport.deref()?.close()));
    },
  };
}
