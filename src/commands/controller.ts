import { hostname } from 'node:os';
import { systemClock } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import { LEADER_LEASE } from '../base/lease-names.ts';
import { listenErrorMessage } from '../base/listen-error.ts';
import { createLog, type Log } from '../base/log.ts';
import { systemRandom } from '../base/random.ts';
import { yieldToCollector } from '../base/young-objects.ts';
import { type Config, ConfigError, FLAGS, parseConfig, variableOf } from '../config.ts';
import { proxyFor } from '../http/proxy.ts';
import { connectionGuard, LOOPBACK_NETWORKS, type UrlPolicy } from '../kinds/databasespace/connection/url-policy.ts';
import { type KubeApi, NAMESPACES, type Resource } from '../kube/api.ts';
import { loadKubeConnection } from '../kube/connection/config.ts';
import type { KubeConnection } from '../kube/connection/connection.ts';
import { LEASES } from '../kube/lease.ts';
import { Reachability } from '../kube/reachability.ts';
import { createReviews, type Reviews } from '../kube/reviews.ts';
import { eachOnce } from '../kube/warnings.ts';
import { createMetrics, type Metrics } from '../operator/metrics.ts';
import { createOperator, type Operator } from '../operator.ts';
import { helpRows } from '../plugin/command-line/help.ts';
import { loadCertificateFiles } from '../serving/certificate.ts';
import { type ServeOptions, serve } from '../serving/http-server.ts';
import { serveProbes } from '../serving/probes.ts';
import { createScrapeGuard } from '../serving/scrape-guard.ts';
import { VERSION } from '../version.ts';
import type { Command, CommandIO } from './command.ts';
import { createKubeClients } from './kube-clients.ts';
import { transportsFor } from './transports.ts';

/** At least the number of informers. */
const WATCHES_A_NAMESPACE = 8;
/** A connection that breaks, and is there again with the next request, is no outage. */
const TOLD_OUTAGE_MS = 1_000;

/** `mooring controller`: runs the operator until the signal aborts. */
export const controller: Command = async (argv, io) => {
  if (argv.includes('--help') || argv.includes('-h')) {
    io.stdout(help());
    return 0;
  }
  let config: Config;
  try {
    config = parseConfig(argv, io.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    io.stderr(`${error.message}\nTry mooring controller --help.\n`);
    return 2;
  }
  const log = createLog({ level: config.logLevel, format: config.logFormat, write: io.stdout });
  try {
    await run(config, io, log);
    return 0;
  } catch (error) {
    // A person's mistake has a message that says so; a stack trace would only hide it.
    const expected = error instanceof StartError;
    log.error(expected ? {} : { err: error }, `Mooring cannot run: ${messageOf(error)}`);
    return 1;
  }
};

/** Something in the environment keeps the operator from starting. */
class StartError extends Error {}

function startError(what: string) {
  return (error: unknown): never => {
    throw new StartError(`${what}: ${messageOf(error)}`, { cause: error });
  };
}

function cannotListen(flag: 'metrics-address' | 'health-address') {
  return (error: unknown): never => {
    const text = listenErrorMessage(error, `--${flag} (${variableOf(flag)})`);
    throw new StartError(text, { cause: error });
  };
}

async function run(config: Config, io: CommandIO, log: Log): Promise<void> {
  log.info({ config, version: VERSION, node: process.version }, 'Mooring starts');
  for (const name of config.unknownVariables) log.warn({}, `Mooring does not know the environment variable ${name}`);
  const metrics = createMetrics(systemClock, { version: VERSION, node: process.version });
  const connection = await loadKubeConnection(systemClock, config.kubeconfig).catch(
    startError(`--kubeconfig (${variableOf('kubeconfig')})`),
  );
  // Each watch keeps a connection for itself: none may lack one, however many namespaces there are.
  const watches = WATCHES_A_NAMESPACE * (config.namespaces?.length ?? 1);
  const userAgent = `mooring/${VERSION}`;
  const clientOptions = {
    userAgent,
    reachability: new Reachability({
      clock: systemClock,
      random: systemRandom,
      onReturn: (lastedMs) => {
        if (lastedMs >= TOLD_OUTAGE_MS) log.info({ lastedMs: Math.round(lastedMs) }, 'The API server answers again');
      },
    }),
    onRequest: metrics.kubeRequest,
    onWarning: eachOnce(({ text, ...about }) => log.warn(about, `The API server warns: ${text}`)),
    refusal: (resource: Resource) => (resource === LEASES ? undefined : operator.fence()),
  };
  const clients = createKubeClients(connection, clientOptions, watches);
  tellProxy(io.env, log);
  const urlPolicy = urlPolicyOf(config, connection);
  const operator: Operator = createOperator({
    api: clients.api,
    clock: { ...systemClock, yieldNow: yieldToCollector(systemClock) },
    random: systemRandom,
    transport: transportsFor(userAgent, io.env, connectionGuard(urlPolicy)).of,
    log,
    metrics,
    namespaces: config.namespaces,
    secrets: config.secrets,
    concurrency: config.concurrency,
    urlPolicy,
    instance: hostname(),
    lease: leaseOf(config, clients.leases, connection.namespace),
  });
  const secured = await securedMetrics(config, createReviews(connection, clients.transport), log);
  const servers = await serveEndpoints(config, secured, metrics, operator);
  log.info({ metrics: servers[0]?.address, health: servers[1]?.address, server: connection.server }, 'Mooring listens');
  try {
    const running = operator.run(io.signal);
    await Promise.all([running, tellAbsent(clients.api, config.namespaces ?? [], log, io.signal)]);
  } finally {
    await Promise.all(servers.map((server) => server.close()));
    await clients.close();
  }
  log.info({}, 'Mooring has stopped');
}

/** Undefined: this process acts alone, whatever others do. */
function leaseOf({ leaderElect, shardBySpace, leaseTimes }: Config, api: KubeApi, namespace: string) {
  if (!leaderElect && !shardBySpace) return undefined;
  return { ...leaseTimes, api, namespace, name: LEADER_LEASE, shardBySpace };
}

/** Warns of missing namespaces: nothing else would show a wrong name. If they cannot be read, the watches there say why. */
async function tellAbsent(api: KubeApi, names: readonly string[], log: Log, signal: AbortSignal): Promise<void> {
  const flag = `--namespaces (${variableOf('namespaces')})`;
  for (const name of names) {
    const found = await api.get(NAMESPACES, { name }, signal).catch(() => null);
    if (found === undefined)
      log.warn({}, `Namespace ${name} does not exist: nothing happens in it until it does. Check ${flag}`);
  }
}

/** In a pod, loopback is the pod itself; elsewhere it is the machine of somebody who tries things out. */
function urlPolicyOf({ allowHTTP, allowedBaseURLs, allowedNetworks }: Config, { inPod }: KubeConnection): UrlPolicy {
  const loopback = inPod && !allowHTTP ? [] : LOOPBACK_NETWORKS;
  return { allowHTTP, allowedBaseURLs, allowedNetworks: [...allowedNetworks, ...loopback] };
}

/** Throws StartError if the environment names a proxy that cannot be used: without it, nothing would be reached. */
function tellProxy(env: NodeJS.ProcessEnv, log: Log): void {
  for (const cloud of ['https://cloud.invalid', 'http://cloud.invalid']) {
    try {
      const proxy = proxyFor(cloud, undefined, env);
      if (proxy === undefined) continue;
      const { protocol } = new URL(cloud);
      const told = `Clouds and servers by ${protocol}// are reached through a proxy, unless NO_PROXY names them`;
      // The origin has no login.
      log.info({ proxy: new URL(proxy).origin }, told);
    } catch (error) {
      throw new StartError(messageOf(error), { cause: error });
    }
  }
}

async function securedMetrics({ metricsSecure }: Config, reviews: Reviews, log: Log): Promise<ServeOptions> {
  if (metricsSecure === undefined) return {};
  const certificate = await loadCertificateFiles(metricsSecure, systemClock, log).catch(startError('--metrics-secure'));
  return { certificate, guard: createScrapeGuard(reviews, systemClock, log) };
}

async function serveEndpoints(config: Config, secured: ServeOptions, metrics: Metrics, operator: Operator) {
  const metricsPages = {
    '/metrics': async () => ({ status: 200, contentType: metrics.contentType, body: await metrics.text() }),
  };
  const metricsServer = await serve(config.metricsAddress, metricsPages, secured).catch(
    cannotListen('metrics-address'),
  );
  try {
    const probes = serveProbes(config.healthAddress, operator, systemClock);
    return [metricsServer, await probes.catch(cannotListen('health-address'))];
  } catch (error) {
    // An open server would keep the process alive, doing nothing.
    await metricsServer.close();
    throw error;
  }
}

function help(): string {
  const rows = Object.entries(FLAGS).map(([name, { about, fallback, type }]) => {
    const flag = `--${name}${type === 'string' ? ' …' : ''}`;
    const preset = fallback === '' ? '' : ` (default ${fallback})`;
    return [flag, `${about}${preset}; ${variableOf(name)}`] as const;
  });
  return `mooring controller: runs the operator until it is stopped.\n\nFlags, each also an environment variable:\n${helpRows(rows)}\n`;
}
