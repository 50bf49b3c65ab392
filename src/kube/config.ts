import { existsSync } from 'node:fs';
import type * as https from 'node:https';
import { delimiter } from 'node:path';
import type { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import type { Clock } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import type { UndiciTransportOptions } from '../base/http.ts';
import { loadPodConnection, renewed } from './in-pod.ts';
import { proxyFor } from './proxy.ts';

export interface KubeConnection {
  readonly server: string;
  readonly tls: Pick<UndiciTransportOptions, 'ca' | 'cert' | 'key' | 'serverName' | 'insecureSkipVerify' | 'proxy'>;
  readonly authorize: (renew: boolean) => Promise<Readonly<Record<string, string>>>;
  /** The namespace of the context, or of the pod. */
  readonly namespace: string;
  /** Whether it is the pod's service account. */
  readonly inPod: boolean;
}

/** There is no such file: whoever named it knows how to name another. */
export class NoKubeconfigError extends Error {
  override readonly name = 'NoKubeconfigError';
}

/**
 * How to reach the API server: the named kubeconfig, else the pod's service account, else the default kubeconfig.
 * Throws when the file cannot be read or names no cluster.
 */
export async function loadKubeConnection(
  clock: Clock,
  kubeconfig: string | undefined,
  context?: string,
): Promise<KubeConnection> {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = '443' } = process.env;
  if (kubeconfig === undefined && context === undefined && host !== undefined)
    return loadPodConnection(clock, host, port);
  return loadFileConnection(clock, kubeconfig, context);
}

async function loadFileConnection(
  clock: Clock,
  kubeconfig: string | undefined,
  context: string | undefined,
): Promise<KubeConnection> {
  // Only the module for configuration, and only where there is a kubeconfig: it loads every model of the API, which takes
  // half a second and some 55 MB.
  const { KubeConfig } = await import('@kubernetes/client-node/dist/config.js');
  const load = () => {
    const config = new KubeConfig();
    if (kubeconfig === undefined) config.loadFromDefault();
    else for (const path of filesOf(kubeconfig)) addFile(config, path, new KubeConfig());
    if (context === undefined) return config;
    const known = config.getContexts().map(({ name }) => name);
    if (!known.includes(context)) throw new Error(`There is no context "${context}": use one of ${known.join(', ')}`);
    config.setCurrentContext(context);
    return config;
  };
  let config = load();
  const cluster = config.getCurrentCluster();
  if (cluster === null) throw new Error(`Kubeconfig ${kubeconfig ?? ''} names no current cluster`.replace('  ', ' '));
  // What the library makes up where it finds nothing.
  if (
    kubeconfig === undefined &&
    cluster.server === 'http://localhost:8080' &&
    config.getCurrentUser()?.name === 'user'
  )
    throw new Error('There is no kubeconfig: set KUBECONFIG, or name one with --kubeconfig');

  const proxy = proxyFor(cluster.server, cluster.proxyUrl, process.env);
  const readOptions = async (refused = false) => {
    // A login that was refused may still be in the library's cache, which knows nothing of refusals.
    if (refused) config = load();
    const options: https.RequestOptions = {};
    await config.applyToHTTPSOptions(options).catch(loginError);
    return options;
  };
  const initial = await readOptions();
  let [cert, key] = [toPem(initial.cert), toPem(initial.key)];
  const readLogin = async (refused: boolean) => {
    const options = await readOptions(refused);
    [cert, key] = [toPem(options.cert), toPem(options.key)];
    return toHeaders(options);
  };
  return {
    server: cluster.server,
    inPod: false,
    namespace: config.getContextObject(config.getCurrentContext())?.namespace ?? 'default',
    tls: {
      ca: toPem(initial.ca),
      cert: () => cert,
      key: () => key,
      serverName: initial.servername,
      insecureSkipVerify: initial.rejectUnauthorized === false,
      proxy,
    },
    authorize: renewed(clock, toHeaders(initial), readLogin),
  };
}

/** The files that KUBECONFIG lists, without those that are not there; or the one that is named. */
function filesOf(kubeconfig: string): readonly string[] {
  if (existsSync(kubeconfig)) return [kubeconfig];
  const there = kubeconfig.split(delimiter).filter((path) => path !== '' && existsSync(path));
  if (there.length > 0) return there;
  throw new NoKubeconfigError(`There is no kubeconfig ${kubeconfig}`);
}

/** As kubectl merges files: what stands in an earlier one holds. */
function addFile(config: KubeConfig, path: string, file: KubeConfig): void {
  try {
    file.loadFromFile(path);
  } catch (error) {
    throw new Error(`Kubeconfig ${path} cannot be read: ${messageOf(error)}`, { cause: error });
  }
  const isNew = (known: readonly { readonly name: string }[] | undefined) => (each: { readonly name: string }) =>
    known?.some(({ name }) => name === each.name) !== true;
  for (const cluster of file.getClusters().filter(isNew(config.getClusters()))) config.addCluster(cluster);
  for (const user of file.getUsers().filter(isNew(config.getUsers()))) config.addUser(user);
  for (const context of file.getContexts().filter(isNew(config.getContexts()))) config.addContext(context);
  if (!config.getCurrentContext()) config.setCurrentContext(file.getCurrentContext());
}

/** What an exec plugin printed instead of a credential may be one: no word of it is repeated. */
function loginError(error: unknown): never {
  if (error instanceof SyntaxError) throw new Error('The exec plugin of the kubeconfig printed no ExecCredential');
  throw new Error(`Cannot get a login as the kubeconfig says: ${messageOf(error).trim()}`, { cause: error });
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
