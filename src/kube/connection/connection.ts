import type { UndiciTransportOptions } from '../../http/undici-transport.ts';

/** The headers that say who asks, names in lower case. */
export type LoginHeaders = Readonly<Record<string, string | readonly string[]>>;

/** How to reach the API server, and as whom. */
export interface KubeConnection {
  readonly server: string;
  readonly tls: Pick<UndiciTransportOptions, 'ca' | 'cert' | 'key' | 'serverName' | 'insecureSkipVerify' | 'proxy'>;
  readonly authorize: (renew: boolean) => Promise<LoginHeaders>;
  /** The namespace of the context, or of the pod. */
  readonly namespace: string;
  /** Whether it is the pod's service account. */
  readonly inPod: boolean;
}
