import { messageOf } from '../base/errors.ts';
import type { HttpTransport } from '../base/transport.ts';
import { createUndiciTransport } from '../http/undici-transport.ts';
import type { KubeApi } from '../kube/api.ts';
import { createKubeClient, type KubeClientOptions } from '../kube/client.ts';
import type { KubeConnection } from '../kube/connection/connection.ts';

/** For the requests of many workers at once; more wait for their turn. Watches are not counted here. */
const CONNECTIONS = 64;
/** For renewals, a few at a time, and a watch. */
const LEASE_CONNECTIONS = 4;

type Given = Omit<KubeClientOptions, 'server' | 'transport' | 'authorize'>;

export interface KubeClients {
  readonly api: KubeApi;
  /** Has connections of its own: a renewal of a Lease waits for no other request, however many there are. */
  readonly leases: KubeApi;
  /** The transport of `api`. */
  readonly transport: HttpTransport;
  close(): Promise<void>;
}

/** `watches`: how many run at once, each of which keeps a connection for itself. */
export function createKubeClients(connection: KubeConnection, given: Given, watches: number): KubeClients {
  const all = kubeTransport(connection, CONNECTIONS + watches);
  const own = kubeTransport(connection, LEASE_CONNECTIONS);
  const { server, authorize } = connection;
  return {
    api: createKubeClient({ ...given, server, authorize, transport: all }),
    leases: createKubeClient({ ...given, server, authorize, transport: own }),
    transport: all,
    close: async () => {
      await Promise.all([all.close(), own.close()]);
    },
  };
}

/** Throws if the certificates or the key make no connection. `proxyAnswerMs`: as for `createUndiciTransport`. */
export function kubeTransport({ tls }: Pick<KubeConnection, 'tls'>, connections: number, proxyAnswerMs?: number) {
  try {
    return createUndiciTransport({ ...tls, connections, proxyAnswerMs });
  } catch (error) {
    const message = `The certificates or the key for the API server cannot be used: ${messageOf(error)}`;
    throw new Error(message, { cause: error });
  }
}
