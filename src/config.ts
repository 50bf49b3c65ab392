import { parseArgs } from 'node:util';
import { z } from 'zod';
import { argumentMistake } from './base/argument-mistake.ts';
import { DURATION_PATTERN, parseDuration } from './base/duration.ts';
import { networksOf } from './http/address.ts';
import { LEASE_TIMES, type LeaseTimes, problemOf } from './kube/lease.ts';
import { parseAddress } from './serving/http-server.ts';

/** How the operator was started: read once, checked as a whole. */
export interface Config {
  /** Path; undefined: in-cluster, otherwise the default kubeconfig. */
  readonly kubeconfig: string | undefined;
  /** Undefined: all. */
  readonly namespaces: readonly string[] | undefined;
  /** How to learn about Secrets. */
  readonly secrets: 'watch' | 'get';
  readonly metricsAddress: string;
  /** Paths of certificate and key if /metrics is served over TLS to those who may see it; undefined: to everybody. */
  readonly metricsSecure: { readonly cert: string; readonly key: string } | undefined;
  readonly healthAddress: string;
  readonly leaderElect: boolean;
  readonly shardBySpace: boolean;
  readonly leaseTimes: LeaseTimes;
  /** Workers per kind. */
  readonly concurrency: number;
  readonly allowedBaseURLs: readonly string[] | undefined;
  readonly allowHTTP: boolean;
  /** Networks such as 10.0.0.0/8. */
  readonly allowedNetworks: readonly string[];
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error';
  readonly logFormat: 'json' | 'pretty';
  /**
   * Variables that look like ours but mean nothing, perhaps typing errors. They are not refused, because Kubernetes gives pods such
   * variables for each Service, by its name.
   */
  readonly unknownVariables: readonly string[];
}

interface Flag {
  readonly type: 'string' | 'boolean';
  readonly about: string;
  readonly fallback: string;
}

/** Each is also an environment variable: MOORING_ and the name in capitals, with underscores. */
export const FLAGS: Readonly<Record<string, Flag>> = {
  kubeconfig: {
    type: 'string',
    about: 'kubeconfig file; otherwise the in-cluster configuration, otherwise the default kubeconfig',
    fallback: '',
  },
  namespaces: { type: 'string', about: 'namespaces to watch, comma-separated; otherwise all', fallback: '' },
  secrets: {
    type: 'string',
    about: 'watch: list and watch Secrets, to notice changes at once; get: only read them by name',
    fallback: 'watch',
  },
  'metrics-address': { type: 'string', about: 'host:port of /metrics', fallback: ':8080' },
  'metrics-secure': {
    type: 'boolean',
    about: 'serve /metrics over TLS, only to clients that RBAC allows to get it',
    fallback: 'false',
  },
  'metrics-cert-file': {
    type: 'string',
    about: 'certificate for --metrics-secure, PEM; read again when it changes',
    fallback: '',
  },
  'metrics-key-file': { type: 'string', about: 'key of the certificate, PEM', fallback: '' },
  'health-address': { type: 'string', about: 'host:port of /livez and /readyz', fallback: ':8081' },
  'leader-elect': {
    type: 'boolean',
    about: 'act only while holding the Lease; for several replicas',
    fallback: 'false',
  },
  'shard-by-space': {
    type: 'boolean',
    about: 'share the spaces among all replicas, instead of letting only one act',
    fallback: 'false',
  },
  'leader-elect-lease-duration': {
    type: 'string',
    about: "how long other replicas wait after the acting replica's last sign of life",
    fallback: `${LEASE_TIMES.leaseDurationMs / 1000}s`,
  },
  'leader-elect-renew-deadline': {
    type: 'string',
    about: 'how long a replica acts after it last renewed the Lease; shorter than the lease duration',
    fallback: `${LEASE_TIMES.renewDeadlineMs / 1000}s`,
  },
  'leader-elect-retry-period': {
    type: 'string',
    about: 'time between two attempts to take or renew the Lease; shorter than the renew deadline',
    fallback: `${LEASE_TIMES.retryPeriodMs / 1000}s`,
  },
  concurrency: { type: 'string', about: 'objects of one kind that are worked on at the same time', fallback: '10' },
  'allowed-base-urls': {
    type: 'string',
    about: 'base URLs that DatabaseSpaces may name, comma-separated; otherwise all',
    fallback: '',
  },
  'allow-http': {
    type: 'boolean',
    about: 'allow http to hosts other than loopback, and loopback in a pod',
    fallback: 'false',
  },
  'allowed-networks': {
    type: 'string',
    about: 'non-public networks that may be reached, comma-separated, such as 10.0.0.0/8',
    fallback: '',
  },
  'log-level': { type: 'string', about: 'debug, info, warn or error', fallback: 'info' },
  'log-format': { type: 'string', about: 'json or pretty', fallback: 'json' },
};

const list = z.string().transform((text) => {
  const items = text.split(',').map((item) => item.trim());
  return text.trim() === '' ? undefined : items;
});
const yesOrNo = z.enum(['true', 'false'], 'must be true or false').transform((text) => text === 'true');
const address = z.string().refine(isAddress, 'must be host:port, such as :8080 or 127.0.0.1:8080');
const duration = z.string().regex(DURATION_PATTERN, 'must be a duration such as 15s').transform(parseDuration);
/** A space cannot name any other URL, so it would allow nothing. */
function isBaseURL(url: URL | null): boolean {
  if (url === null || !/^https?:$/.test(url.protocol)) return false;
  return url.username === '' && url.password === '' && !/[?#]/.test(url.href);
}

/** The value of --allowed-base-urls; undefined: all. */
export const baseURLs = list.refine(
  (urls) => urls?.every((url) => isBaseURL(URL.parse(url))) ?? true,
  'must be http or https URLs such as https://cloud.example.com, separated by commas, without user, ? or #',
);
const DNS_LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

const schema = z.object({
  kubeconfig: z.string().transform((path) => (path === '' ? undefined : path)),
  namespaces: list.refine(
    (names) => names?.every((name) => DNS_LABEL.test(name)) ?? true,
    'must be names of namespaces, separated by commas',
  ),
  secrets: z.enum(['watch', 'get'], 'must be watch or get'),
  'metrics-address': address,
  'metrics-secure': yesOrNo,
  'metrics-cert-file': z.string(),
  'metrics-key-file': z.string(),
  'health-address': address,
  'leader-elect': yesOrNo,
  'shard-by-space': yesOrNo,
  'leader-elect-lease-duration': duration,
  'leader-elect-renew-deadline': duration,
  'leader-elect-retry-period': duration,
  concurrency: z.coerce
    .number('must be a whole number from 1 to 100')
    .int()
    .min(1)
    .max(100, 'must be a whole number from 1 to 100'),
  'allowed-base-urls': baseURLs,
  'allow-http': yesOrNo,
  'allowed-networks': list
    .transform((networks) => networks ?? [])
    .refine(areNetworks, 'must be networks such as 10.0.0.0/8, separated by commas'),
  'log-level': z.enum(['debug', 'info', 'warn', 'error'], 'must be debug, info, warn or error'),
  'log-format': z.enum(['json', 'pretty'], 'must be json or pretty'),
});

/** Everything that is wrong with flags and environment, one line each. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** Flags win over the environment, which wins over the defaults. Throws ConfigError. */
export function parseConfig(argv: readonly string[], env: Readonly<Record<string, string | undefined>>): Config {
  const flags = readFlags(argv);
  const problems: string[] = [];
  // An empty variable is how a manifest or a shell leaves one unset.
  const fromEnv = (name: string) => env[variableOf(name)] || undefined;
  const given = Object.fromEntries(
    Object.entries(FLAGS).map(([name, { fallback }]) => [name, flags.get(name) ?? fromEnv(name) ?? fallback]),
  );
  const result = schema.safeParse(given);
  if (!result.success) {
    for (const issue of result.error.issues) {
      const name = String(issue.path[0]);
      // What is before an @ in a URL may be a password, which may hold any character.
      const shown = String(given[name]).replace(/\/\/.*@/s, '//***@');
      problems.push(`--${name} (${variableOf(name)}) ${issue.message}, not "${shown}"`);
    }
  }
  if (!result.success) throw new ConfigError(problems.join('\n'));
  const value = result.data;
  const leaseTimes = {
    leaseDurationMs: value['leader-elect-lease-duration'],
    renewDeadlineMs: value['leader-elect-renew-deadline'],
    retryPeriodMs: value['leader-elect-retry-period'],
  };
  const metricsSecure = metricsFiles(value['metrics-secure'], value['metrics-cert-file'], value['metrics-key-file']);
  const flagOf = (name: string) => `--${name}=${String(given[name])}`;
  const problem = problemOf(leaseTimes, {
    leaseDuration: flagOf('leader-elect-lease-duration'),
    renewDeadline: flagOf('leader-elect-renew-deadline'),
    retryPeriod: flagOf('leader-elect-retry-period'),
  });
  if (problem !== undefined) throw new ConfigError(`${problem}, or two could lead at once`);
  return Object.freeze({
    kubeconfig: value.kubeconfig,
    namespaces: value.namespaces,
    secrets: value.secrets,
    metricsAddress: value['metrics-address'],
    metricsSecure,
    healthAddress: value['health-address'],
    leaderElect: value['leader-elect'],
    shardBySpace: value['shard-by-space'],
    leaseTimes,
    concurrency: value.concurrency,
    allowedBaseURLs: value['allowed-base-urls'],
    allowHTTP: value['allow-http'],
    allowedNetworks: value['allowed-networks'],
    logLevel: value['log-level'],
    logFormat: value['log-format'],
    unknownVariables: Object.keys(env).filter(isUnknown),
  });
}

/** Anybody who names files expects TLS, and TLS needs both. Throws ConfigError. */
function metricsFiles(secure: boolean, cert: string, key: string): Config['metricsSecure'] {
  if (!secure && cert === '' && key === '') return undefined;
  if (secure && cert !== '' && key !== '') return { cert, key };
  throw new ConfigError('--metrics-secure, --metrics-cert-file and --metrics-key-file go together: give all or none');
}

export function variableOf(flag: string): string {
  return `MOORING_${flag.toUpperCase().replaceAll('-', '_')}`;
}

const OURS: ReadonlySet<string> = new Set(Object.keys(FLAGS).map(variableOf));
/** What Kubernetes sets for a Service whose name begins with ours. */
const OF_A_SERVICE = /_(SERVICE_HOST|SERVICE_PORT(_.*)?|PORT(_\d+_(TCP|UDP|SCTP)(_.*)?)?)$/;

/** Variables read by the tools beside the operator. */
const OF_A_TOOL = /^MOORING_(CACHE|CHROMIUM|TEST_.*|CONFORMANCE_.*)$/;

function isUnknown(name: string): boolean {
  return name.startsWith('MOORING_') && !OURS.has(name) && !OF_A_SERVICE.test(name) && !OF_A_TOOL.test(name);
}

function readFlags(argv: readonly string[]): ReadonlyMap<string, string> {
  const options = Object.fromEntries(Object.keys(FLAGS).map((name) => [name, { type: 'string' as const }]));
  try {
    const { values } = parseArgs({ args: argv.map(withValue), options });
    return new Map(Object.entries(values).map(([name, value]) => [name, String(value)]));
  } catch (error) {
    throw new ConfigError(argumentMistake(error, Object.keys(FLAGS)));
  }
}

/** Gives `--leader-elect` and `--no-leader-elect` the value that Kubernetes components take there, so that any other value is reported. */
function withValue(argument: string): string {
  const [, no, name = ''] = /^--(no-)?([a-z-]+)$/.exec(argument) ?? [];
  return FLAGS[name]?.type === 'boolean' ? `--${name}=${no === undefined}` : argument;
}

function isAddress(text: string): boolean {
  return succeeds(() => parseAddress(text));
}

function areNetworks(texts: readonly string[]): boolean {
  return succeeds(() => networksOf(texts));
}

function succeeds(attempt: () => unknown): boolean {
  try {
    attempt();
    return true;
  } catch {
    return false;
  }
}
