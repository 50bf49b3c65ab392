import type * as https from 'node:https';
// Only the module for configuration: the package's index loads every API class, some 25 MB of heap.
import { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import type { Clock } from '../base/clock.ts';
import type { UndiciTransportOptions } from '../base/http.ts';

export interface KubeConnection {
  readonly server: string;
  readonly tls: Pick<UndiciTransportOptions, 'ca' | 'cert' | 'key' | 'serverName' | 'insecureSkipVerify'>;
  readonly authorize: (renew: boolean) => Promise<Readonly<Record<string, string>>>;
  /** The namespace of the context, or of the pod. */
  readonly namespace: string;
  /** Whether it is the pod's service account. */
  readonly inPod: boolean;
}

/** How long a bearer token is used before the configuration is asked again: token files are renewed by the kubelet. */
const AUTHORIZATION_AGE_MS = 30_000;

/**
 * How to reach the API server: the named kubeconfig, else the pod's service account, else the default kubeconfig.
 * Throws when the file cannot be read or names no cluster.
 */
export async function loadKubeConnection(clock: Clock, kubeconfig: string | undefined): Promise<KubeConnection> {
  const config = new KubeConfig();
  const inPod = kubeconfig === undefined && process.env['KUBERNETES_SERVICE_HOST'] !== undefined;
  if (kubeconfig !== undefined) config.loadFromFile(kubeconfig);
  else if (inPod) config.loadFromCluster();
  else config.loadFromDefault();
  const cluster = config.getCurrentCluster();
  if (cluster === null) throw new Error(`Kubeconfig ${kubeconfig ?? ''} names no current cluster`.replace('  ', ' '));

  const initial: https.RequestOptions = {};
  await config.applyToHTTPSOptions(initial);
  let headers = toHeaders(initial);
  let readAt = clock.monotonic();
  return {
    server: cluster.server,
    inPod,
    namespace: config.getContextObject(config.getCurrentContext())?.namespace ?? 'default',
    tls: {
      ca: toPem(initial.ca),
      cert: toPem(initial.cert),
      key: toPem(initial.key),
      serverName: initial.servername,
      insecureSkipVerify: initial.rejectUnauthorized === false,
    },
    authorize: async (renew) => {
      if (renew || clock.monotonic() - readAt > AUTHORIZATION_AGE_MS) {
        const options: https.RequestOptions = {};
        await config.applyToHTTPSOptions(options);
        headers = toHeaders(options);
        readAt = clock.monotonic();
      }
      return headers;
    },
  };
}

function toHeaders(options: https.RequestOptions): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(options.headers ?? {})) {
    if (value !== undefined) headers[name.toLowerCase()] = String(value);
  }
  if (typeof options.auth === 'string') {
    headers['authorization'] = `Basic ${Buffer.from(options.auth).toString('base64')}`;
  }
  return headers;
}

function toPem(value: unknown): string | undefined {
  if (Array.isArray(value)) return value.map(toPem).join('\n');
  return value === undefined || value === null ? undefined : String(value);
}
