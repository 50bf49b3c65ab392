import { expect, test } from 'vitest';
import { ConfigError, FLAGS, parseConfig, variableOf } from './config.ts';

function problemsOf(argv: readonly string[], env: Record<string, string> = {}): readonly string[] {
  try {
    parseConfig(argv, env);
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split('\n');
    throw error;
  }
  return [];
}

test('parseConfig() needs nothing', () => {
  expect(parseConfig([], {})).toEqual({
    kubeconfig: undefined,
    namespaces: undefined,
    secrets: 'watch',
    metricsAddress: ':8080',
    metricsSecure: undefined,
    healthAddress: ':8081',
    leaderElect: false,
    shardBySpace: false,
    leaseTimes: { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 },
    concurrency: 10,
    allowedBaseURLs: undefined,
    allowHTTP: false,
    allowedNetworks: [],
    logLevel: 'info',
    logFormat: 'json',
    unknownVariables: [],
  });
});

test('parseConfig() accepts every flag as a variable too', () => {
  const values: Readonly<Record<string, string>> = {
    kubeconfig: '/etc/kubeconfig',
    namespaces: 'a, b',
    secrets: 'get',
    'metrics-address': '127.0.0.1:1',
    'metrics-secure': 'true',
    'metrics-cert-file': '/tls.crt',
    'metrics-key-file': '/tls.key',
    'health-address': ':2',
    'leader-elect': 'true',
    'shard-by-space': 'true',
    'leader-elect-lease-duration': '30s',
    'leader-elect-renew-deadline': '20s',
    'leader-elect-retry-period': '5s',
    concurrency: '3',
    'allowed-base-urls': 'https://a.example.com',
    'allow-http': 'true',
    'allowed-networks': '10.0.0.0/8, fd00::/8',
    'log-level': 'debug',
    'log-format': 'pretty',
  };
  expect(Object.keys(values).sort()).toEqual(Object.keys(FLAGS).sort());
  const env = Object.fromEntries(Object.entries(values).map(([name, value]) => [variableOf(name), value]));
  const argv = Object.entries(values).flatMap(([name, value]) =>
    FLAGS[name]?.type === 'boolean' ? [`--${name}`] : [`--${name}`, value],
  );
  expect(parseConfig([], env)).toEqual(parseConfig(argv, {}));
  expect(parseConfig(argv, {})).toMatchObject({
    namespaces: ['a', 'b'],
    leaderElect: true,
    concurrency: 3,
    allowedNetworks: ['10.0.0.0/8', 'fd00::/8'],
    secrets: 'get',
    metricsSecure: { cert: '/tls.crt', key: '/tls.key' },
  });
});

test('parseConfig() lets a flag win over a variable, even to turn something off', () => {
  const env = { MOORING_LOG_LEVEL: 'debug', MOORING_LEADER_ELECT: 'true' };
  expect(parseConfig(['--log-level=warn', '--no-leader-elect'], env)).toMatchObject({
    logLevel: 'warn',
    leaderElect: false,
  });
});

test('parseConfig() names all that is wrong at once, with flag, variable and value', () => {
  const problems = problemsOf(['--concurrency', '0', '--metrics-address', 'nowhere', '--namespaces', 'Not_A_Name'], {
    MOORING_ALLOWED_NETWORKS: '10.0.0.0/8,10.0.0.0/40',
    MOORING_LOG_LEVEL: 'loud',
    MOORING_ALLOW_HTTP: 'yes',
  });
  for (const text of [
    /--concurrency \(MOORING_CONCURRENCY\) .*"0"/,
    /--metrics-address .*"nowhere"/,
    /--namespaces .*"Not_A_Name"/,
    /--log-level .*"loud"/,
    /--allow-http .*"yes"/,
    /--allowed-networks .*such as 10\.0\.0\.0\/8.*"10\.0\.0\.0\/8,10\.0\.0\.0\/40"/,
  ]) {
    expect(problems).toContainEqual(expect.stringMatching(text));
  }
  expect(problems).toHaveLength(6);
});

test.each([['--unknown'], ['word'], ['--concurrency']])('parseConfig() refuses %j', (...argv) => {
  expect(problemsOf(argv)).not.toEqual([]);
});

test('parseConfig() names the flag that was probably meant', () => {
  expect(problemsOf(['--namespace=default'])).toEqual(["Unknown option '--namespace'. Did you mean --namespaces?"]);
});

test.each(['', '0', '-1', '101', '1.5', 'many'])('parseConfig() refuses %j workers', (text) => {
  expect(problemsOf([`--concurrency=${text}`]).join()).toMatch(/--concurrency .*1 to 100/);
});

test.each([
  ['--metrics-secure'],
  ['--metrics-cert-file=/tls.crt', '--metrics-key-file=/tls.key'],
  ['--metrics-cert-file=/tls.crt'],
  ['--metrics-key-file=/tls.key'],
  ['--metrics-secure', '--metrics-cert-file=/tls.crt'],
  ['--metrics-secure', '--metrics-key-file=/tls.key'],
])('parseConfig() does not leave open whether /metrics is secured: %j %j', (...argv) => {
  expect(problemsOf(argv)).toEqual([expect.stringMatching(/--metrics-secure, .* go together: give all or none/)]);
});

test.each([
  'ftp://x',
  'https://a.example.com,cloud.example.com:443',
  'https://',
  'https://a.example.com,',
  'https://a.example.com/?a',
  'https://a.example.com/#',
  'https://a.example.com/?',
  'https://me@a.example.com',
  'https://:canary@a.example.com',
  // Unencoded, a password may hold what ends a URL's host.
  'https://me:canary/1@a.example.com',
  'https://me:can@ary@a.example.com',
  'https://me:can,ary@a.example.com',
])('parseConfig() refuses base URLs that no space could name: %j', (text) => {
  expect(problemsOf([`--allowed-base-urls=${text}`])).toEqual([
    `--allowed-base-urls (MOORING_ALLOWED_BASE_URLS) must be http or https URLs such as https://cloud.example.com, separated by commas, without user, ? or #, not "${text.replace(/\/\/.*@/, '//***@')}"`,
  ]);
});

test('parseConfig() refuses other values of --secrets', () => {
  expect(problemsOf(['--secrets=list']).join()).toMatch(
    /--secrets \(MOORING_SECRETS\) must be watch or get, not "list"/,
  );
});

test('parseConfig() lists variables that look like ours and are not, and ignores others', () => {
  const env = { MOORING_CONCURENCY: '5', PATH: '/bin', MOORINGS: 'x' };
  expect(parseConfig([], env).unknownVariables).toEqual(['MOORING_CONCURENCY']);
});

test('parseConfig() takes boolean flags as Kubernetes components do', () => {
  expect(parseConfig(['--leader-elect=true', '--allow-http=false'], { MOORING_ALLOW_HTTP: 'true' })).toMatchObject({
    leaderElect: true,
    allowHTTP: false,
  });
  expect(problemsOf(['--leader-elect=maybe'])).toEqual([
    '--leader-elect (MOORING_LEADER_ELECT) must be true or false, not "maybe"',
  ]);
  expect(parseConfig(['--leader-elect=true', '--no-leader-elect'], {}).leaderElect).toBe(false);
});

test.each(Object.keys(FLAGS).map(variableOf))('parseConfig() takes an empty %s for one that is not set', (name) => {
  expect(parseConfig([], { [name]: '' })).toEqual(parseConfig([], {}));
});

test('parseConfig() returns a value that nobody can change', () => {
  expect(Object.isFrozen(parseConfig([], {}))).toBe(true);
});

test.each([
  [
    ['--leader-elect-lease-duration=10s'],
    '--leader-elect-lease-duration=10s must be longer than --leader-elect-renew-deadline=10s, or two could lead at once',
  ],
  [
    ['--leader-elect-retry-period=9s'],
    '--leader-elect-renew-deadline=10s must be longer than 1.2 times --leader-elect-retry-period=9s',
  ],
  [['--leader-elect-retry-period=0s'], '--leader-elect-retry-period=0s must be longer than 0'],
  [
    ['--leader-elect-retry-period=soon'],
    '--leader-elect-retry-period (MOORING_LEADER_ELECT_RETRY_PERIOD) must be a duration',
  ],
])('parseConfig() refuses %j: %s', (argv, problem) => {
  expect(problemsOf(argv)).toEqual([expect.stringContaining(problem)]);
});
