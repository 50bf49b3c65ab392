import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type * as https from 'node:https';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import { proxyFor } from '../../http/proxy.ts';
import type { KubeConnection } from './connection.ts';
import { actingAs, headersFor, type Impersonation } from './impersonation.ts';
import { loadPodConnection, renewed } from './in-pod.ts';
import type { Kubeconfig } from './kubeconfig.ts';

/** The file does not exist; the user who named it knows how to name another. */
export class NoKubeconfigError extends Error {
  override readonly name = 'NoKubeconfigError';
}

/** What a person says in addition to the kubeconfig. */
export interface Overrides {
  readonly context?: string | undefined;
  /** Its fields come before those of the kubeconfig's user. */
  readonly impersonation?: Impersonation;
  /**
   * Called at once with what an exec plugin says to a person, such as where to log in, and with nothing when that is over: when another
   * one begins, or it has given a login. Default: it is said only if the plugin fails.
   */
  readonly tell?: (text: string) => void;
  /** Ends an exec plugin that runs: it may hang. */
  readonly signal?: AbortSignal;
}

/**
 * Returns how to reach the API server: by the named kubeconfig, otherwise the pod's service account, otherwise the default kubeconfig.
 * Throws if the file cannot be read or names no cluster.
 */
export async function loadKubeConnection(
  clock: Clock,
  kubeconfig: string | undefined,
  overrides: Overrides = {},
): Promise<KubeConnection> {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = process.env;
  // As for client-go, an empty variable is none.
  const connection =
    host && kubeconfig === undefined && overrides.context === undefined
      ? await loadPodConnection(clock, host, port || '443')
      : await loadFileConnection(clock, kubeconfig, overrides);
  return actingAs(connection, overrides.impersonation ?? {});
}

/** Acts as whom the kubeconfig says. */
async function loadFileConnection(
  clock: Clock,
  kubeconfig: string | undefined,
  { context, tell, signal }: Omit<Overrides, 'impersonation'>,
): Promise<KubeConnection> {
  // Loaded only if a kubeconfig is used: it takes half a second and some 55 MB.
  const { readKubeconfig, tellPlugin } = await import('./kubeconfig.ts');
  const source = kubeconfig ?? defaultKubeconfig(process.env);
  if (source === undefined) throw new Error('There is no kubeconfig: set KUBECONFIG, or name one with --kubeconfig');
  let told = '';
  const record = (text: string) => {
    told = text === '' ? '' : told + text;
    tell?.(text);
  };
  const load = () => {
    const read = readKubeconfig(filesOf(source), tell && record, signal);
    choose(read, context);
    tellPlugin(read.config);
    return read;
  };
  let { config, tokenFiles, impersonations } = load();
  const cluster = currentCluster(config, source);
  const server = serverOf(cluster.server, source);
  const proxy = proxyFor(server, cluster.proxyUrl, process.env);
  const currentUser = () => config.getCurrentUser()?.name ?? '';
  const readOptions = async (refused = false) => {
    // A login that was refused may still be in the library's cache, which knows nothing of refusals.
    if (refused) ({ config, tokenFiles, impersonations } = load());
    const options: https.RequestOptions = {};
    await config.applyToHTTPSOptions(options).catch((error) => loginError(error, told));
    // Without a login the API server would take whoever asks for somebody without rights.
    if (config.getCurrentUser()?.exec && !toHeaders(options)['authorization'] && !options.cert) throw noLogin();
    const tokenFile = tokenFiles.get(currentUser());
    if (tokenFile === undefined) return options;
    const token = await readFile(tokenFile, 'utf8').catch((error) => loginError(error, ''));
    return { ...options, headers: { ...options.headers, Authorization: `Bearer ${token.trim()}` } };
  };
  const headersOf = (options: https.RequestOptions) => ({
    ...toHeaders(options),
    ...headersFor(impersonations.get(currentUser()) ?? {}),
  });
  const initial = await readOptions();
  if (server.startsWith('https://')) checkAuthority(cluster, toPem(initial.ca), source);
  let [ca, cert, key] = [toPem(initial.ca), toPem(initial.cert), toPem(initial.key)];
  const readLogin = async (refused: boolean) => {
    const options = await readOptions(refused);
    [ca, cert, key] = [toPem(options.ca), toPem(options.cert), toPem(options.key)];
    return headersOf(options);
  };
  return {
    server,
    inPod: false,
    namespace: config.getContextObject(config.getCurrentContext())?.namespace ?? 'default',
    tls: {
      ca: () => ca,
      cert: () => cert,
      key: () => key,
      serverName: initial.servername,
      insecureSkipVerify: initial.rejectUnauthorized === false,
      proxy,
    },
    authorize: renewed(clock, headersOf(initial), readLogin),
  };
}

/** Makes the context the current one, if it is named. Throws if there is none. */
function choose({ config }: Kubeconfig, context: string | undefined): void {
  if (context === undefined) return;
  const known = contextsOf(config);
  if (!known.includes(context)) throw new Error(`There is no context "${context}": use one of ${known.join(', ')}`);
  config.setCurrentContext(context);
}

type Cluster = NonNullable<ReturnType<Kubeconfig['config']['getCurrentCluster']>>;

/** Throws if there is no current cluster, or nobody to act as. */
function currentCluster(config: Kubeconfig['config'], source: string): Cluster {
  const cluster = config.getCurrentCluster();
  if (cluster === null) {
    const known = contextsOf(config);
    const remedy = known.length === 0 ? '' : `: set current-context to one of ${known.join(', ')}`;
    throw new Error(`Kubeconfig ${source} names no current cluster${remedy}`);
  }
  if (config.getCurrentUser() === null) {
    const context = config.getCurrentContext();
    const user = config.getContextObject(context)?.user;
    throw new Error(`Context "${context}" of kubeconfig ${source} names user "${user}": there is none`);
  }
  // As kubectl: whoever names an authority expects that certificates are verified.
  if (cluster.skipTLSVerify && !cluster.server.startsWith('http://') && (cluster.caData || cluster.caFile))
    throw new Error(
      `Cluster "${cluster.name}" of kubeconfig ${source} has both insecure-skip-tls-verify and a certificate authority: leave one out`,
    );
  return cluster;
}

/** Throws if an authority is named that has no certificates: TLS ignores it silently, and then trusts nobody. */
function checkAuthority({ name, caData }: Cluster, ca: string | undefined, source: string): void {
  if (ca === undefined || /-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----/.test(ca)) return;
  const holds = caData
    ? 'certificate-authority-data holds no certificate: it must be base64 of a certificate as PEM, encoded once'
    : 'the file in certificate-authority holds no certificate: it must be PEM';
  throw new Error(`Cluster "${name}" of kubeconfig ${source}: ${holds}`);
}

/** Returns the URL without a login, which nothing sends: it would be logged with the URL. */
function serverOf(server: string, source: string): string {
  const url = URL.parse(server);
  if (url === null)
    throw new Error(
      `The server in kubeconfig ${source} is not a URL: write one such as https://kubernetes.example.com:6443`,
    );
  if (url.username === '' && url.password === '') return server;
  [url.username, url.password] = ['', ''];
  return url.href;
}

/** Returns where kubectl looks if no file is named; undefined if there is none. */
export function defaultKubeconfig(env: NodeJS.ProcessEnv): string | undefined {
  const usual = join(env['HOME'] || homedir(), '.kube', 'config');
  return env['KUBECONFIG'] || (existsSync(usual) ? usual : undefined);
}

function contextsOf(config: Kubeconfig['config']): readonly string[] {
  return config.getContexts().map(({ name }) => name);
}

/** Returns the existing files that KUBECONFIG lists, or the one that is named. */
function filesOf(kubeconfig: string): readonly string[] {
  if (existsSync(kubeconfig)) return [kubeconfig];
  const there = kubeconfig.split(delimiter).filter((path) => path !== '' && existsSync(path));
  if (there.length > 0) return there;
  throw new NoKubeconfigError(`There is no kubeconfig ${kubeconfig}`);
}

/** What an exec plugin printed instead of a credential may be one: none of it is repeated. Nor is what a person was `told` already. */
function loginError(error: unknown, told: string): never {
  // The library takes whatever is JSON for a credential, and then misses its fields.
  if (error instanceof SyntaxError || (error instanceof TypeError && !('code' in error)))
    throw new Error('The exec plugin of the kubeconfig printed no ExecCredential');
  const said = messageOf(error).trim();
  const why =
    said === ''
      ? 'the exec plugin failed, and said nothing'
      : told.includes(said)
        ? 'the exec plugin failed, as it says above'
        : said;
  throw new Error(`Cannot get a login as the kubeconfig says: ${why}`, { cause: error });
}

function noLogin(): Error {
  return new Error('The exec plugin of the kubeconfig gave no login: neither a token nor a client certificate');
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
