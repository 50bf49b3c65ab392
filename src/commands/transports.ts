import { getCACertificates } from 'node:tls';
import { type ConnectionGuard, createUndiciTransport, type HttpTransport } from '../base/http.ts';

/**
 * Of thousands of servers some are called each second, mostly by one pass, and each connection takes some 40 KB: none waits long for
 * its next use.
 */
const KEEP_ALIVE_MS = 2_000;

/** HTTP to clouds and servers: one pool of connections for each set of trusted certificates. */
export interface Transports {
  /** `ca`: PEM to trust besides the system's. `serverName`: whom certificates must name, where it is not the URL's host. */
  of(ca: string | undefined, serverName?: string): HttpTransport;
  close(): Promise<void>;
}

/** `guard`: where connections may go; undefined: anywhere. */
export function transportsFor(guard?: ConnectionGuard): Transports {
  const known = new Map<string, ReturnType<typeof createUndiciTransport>>();
  return {
    of: (ca, serverName) => {
      const key = JSON.stringify([ca, serverName]);
      const made = known.get(key);
      if (made !== undefined) return made;
      const trusted = ca === undefined ? undefined : [...getCACertificates(), ca].join('\n');
      const transport = createUndiciTransport({ ca: trusted, serverName, guard, keepAliveMs: KEEP_ALIVE_MS });
      known.set(key, transport);
      return transport;
    },
    async close() {
      await Promise.all([...known.values()].map((transport) => transport.close()));
    },
  };
}
