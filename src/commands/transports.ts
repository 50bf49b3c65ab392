import { getCACertificates } from 'node:tls';
import { type ConnectionGuard, createUndiciTransport, type HttpTransport } from '../base/http.ts';

/** HTTP to clouds and servers: one pool of connections for each set of trusted certificates. */
export interface Transports {
  /** `ca`: PEM to trust besides the system's. */
  of(ca: string | undefined): HttpTransport;
  close(): Promise<void>;
}

/** `guard`: where connections may go; undefined: anywhere. */
export function transportsFor(guard?: ConnectionGuard): Transports {
  const known = new Map<string | undefined, ReturnType<typeof createUndiciTransport>>();
  return {
    of: (ca) => {
      const trusted = ca === undefined ? undefined : [...getCACertificates(), ca].join('\n');
      const transport = known.get(ca) ?? createUndiciTransport({ ca: trusted, guard });
      known.set(ca, transport);
      return transport;
    },
    async close() {
      await Promise.all([...known.values()].map((transport) => transport.close()));
    },
  };
}
