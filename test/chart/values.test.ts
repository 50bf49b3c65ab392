import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadAll } from 'js-yaml';
import { beforeAll, describe, expect, test } from 'vitest';
import { FLAGS, parseConfig } from '../../src/config.ts';
import { VERSION } from '../../src/version.ts';
import type { RunResult } from '../../tools/control-plane/run.ts';
import { leaves, readValues } from '../../tools/helm/values.ts';
import { CHART, createHelm, HELM_BUILD_MS, type Helm } from '../support/helm.ts';
import { readDocument } from '../support/readme.ts';
import { COMPLETE } from './values.ts';

let helm: Helm;

beforeAll(async () => {
  helm = await createHelm();
}, HELM_BUILD_MS);

async function refusal(values: unknown): Promise<string> {
  return mustRefuse(await helm(['template', 'mooring', CHART], { values }));
}

function mustRefuse({ code, stderr }: RunResult): string {
  expect(code).not.toBe(0);
  return stderr;
}

describe('a typing error is refused, and named', () => {
  const cases: readonly (readonly [Readonly<Record<string, unknown>>, string])[] = [
    [{ replicaCoun: 2 }, "at '': additional properties 'replicaCoun' not allowed"],
    [{ image: { tga: 'v1' } }, "at '/image': additional properties 'tga' not allowed"],
    [{ metrics: { serviceMonitor: { enabeld: true } } }, "'enabeld' not allowed"],
    [{ networkPolicy: { egress: { rule: [] } } }, "'rule' not allowed"],
    [{ securityContext: { readOnlyRootFileSystem: true } }, "'readOnlyRootFileSystem' not allowed"],
    [{ podSecurityContext: { runAsNonroot: true } }, "'runAsNonroot' not allowed"],
    [{ resources: { limit: {} } }, "'limit' not allowed"],
    [{ resources: { limits: { memory: '512MB' } } }, "at '/resources/limits/memory': '512MB' does not match pattern"],
    [{ tolerations: [{ operater: 'Exists' }] }, "at '/tolerations/0': additional properties 'operater' not allowed"],
    [{ affinity: { podAffinty: {} } }, "'podAffinty' not allowed"],
    [{ extraEnv: [{ name: 'A', valeu: 'b' }] }, "'valeu' not allowed"],
    [{ extraVolumes: [{ name: 'a', configmap: {} }] }, "'configmap' not allowed"],
    [{ livenessProbe: { periodSecond: 1 } }, "'periodSecond' not allowed"],
    [{ image: { digest: 'sha256:abc' } }, "at '/image/digest'"],
    [
      { image: { pullPolicy: 'always' } },
      "at '/image/pullPolicy': value must be one of 'Always', 'IfNotPresent', 'Never'",
    ],
    [{ concurrency: 101 }, "at '/concurrency': maximum: got 101, want 100"],
    [{ replicaCount: '2' }, "at '/replicaCount': got string, want integer"],
    [{ watchNamespaces: ['Orders'] }, "at '/watchNamespaces/0'"],
    [{ watchNamespaces: 'orders' }, "at '/watchNamespaces': got string, want array"],
    [{ allowedBaseURLs: ['cloud.example.com'] }, "at '/allowedBaseURLs/0'"],
    [{ allowedBaseURLs: ['https://cloud.example.com', 'https://'] }, "at '/allowedBaseURLs/1'"],
    [{ leaderElection: { leaseDuration: '15min' } }, "at '/leaderElection/leaseDuration'"],
    [{ crds: { keep: 'yes' } }, "at '/crds/keep': got string, want boolean"],
    [{ commonLabels: { a: 1 } }, "at '/commonLabels/a': got number, want string"],
    [{ nameOverride: 'Dock' }, "at '/nameOverride'"],
    [{ fullnameOverride: 'pier.dock' }, "at '/fullnameOverride'"],
    [{ namespaceOverride: 'a_b' }, "at '/namespaceOverride'"],
    [{ serviceAccount: { name: 'Harbour' } }, "at '/serviceAccount/name'"],
    [{ image: { registry: 'https://registry.example.com' } }, "at '/image/registry'"],
    [{ image: { registry: 'registry.example.com/' } }, "at '/image/registry'"],
    [{ image: { repository: 'platform/Mooring' } }, "at '/image/repository'"],
    [{ image: { repository: 'mooring:v1' } }, "at '/image/repository'"],
    [{ image: { tag: 'v1 ' } }, "at '/image/tag'"],
    [{ terminationGracePeriodSeconds: 5 }, "at '/terminationGracePeriodSeconds': minimum: got 5, want 30"],
  ];
  /** Helm reports all errors at once, so one call covers cases of different values. */
  const groups: Record<string, unknown>[] = [];
  const groupOf = cases.map(([values]) => {
    const [name = ''] = Object.keys(values);
    const group = groups.find((each) => !Object.hasOwn(each, name)) ?? {};
    if (!groups.includes(group)) groups.push(group);
    Object.assign(group, values);
    return group;
  });
  const refusals = new Map<unknown, string>();
  beforeAll(async () => {
    for (const group of groups) refusals.set(group, await refusal(group));
  });

  test.each(cases.map(([values, message], index) => [values, message, groupOf[index]] as const))(
    '%j: %s',
    (_values, message, group) => expect(refusals.get(group)).toContain(message),
  );
});

describe('contradictions are refused, with what to do', () => {
  test.each<readonly [unknown, string]>([
    [
      { rbac: { aggregateToAdmin: false } },
      'rbac.aggregateToAdmin false has no effect with rbac.aggregateToEdit, as the ClusterRole admin includes everything in edit: set aggregateToEdit to false, or aggregateToAdmin to true',
    ],
    [
      { replicaCount: 2, leaderElection: { enabled: false } },
      'set leaderElection.enabled to true, or replicaCount to 1',
    ],
    [
      { strategy: { type: 'RollingUpdate' }, leaderElection: { enabled: false } },
      'set leaderElection.enabled to true, or strategy.type to Recreate',
    ],
    [
      { strategy: { rollingUpdate: { maxUnavailable: 1 } }, leaderElection: { enabled: false } },
      'strategy.type RollingUpdate lets two pods run at once',
    ],
    [{ strategy: { type: 'Recreate', rollingUpdate: { maxSurge: 1 } } }, 'strategy.rollingUpdate has no meaning'],
    [{ podDisruptionBudget: { enabled: true, minAvailable: 1, maxUnavailable: 1 } }, 'not both: remove one of them'],
    [{ podDisruptionBudget: { enabled: true, minAvailable: 1 } }, 'keeps every node from being drained'],
    [{ podDisruptionBudget: { enabled: true, minAvailable: '100%' }, replicaCount: 3 }, 'minAvailable 100% with'],
    [
      { podDisruptionBudget: { enabled: true, minAvailable: '50%' } },
      'minAvailable 50% with replicaCount 1 keeps every',
    ],
    [{ podDisruptionBudget: { enabled: true, minAvailable: '51%' }, replicaCount: 2 }, 'keeps every node from being'],
    [{ podDisruptionBudget: { enabled: true, maxUnavailable: 0 } }, 'maxUnavailable 0 keeps every node from being'],
    [
      { podDisruptionBudget: { enabled: true, maxUnavailable: 'half' } },
      'podDisruptionBudget.maxUnavailable "half" is neither a number nor a percentage: write it like 1 or 50%',
    ],
    [{ podDisruptionBudget: { enabled: true, minAvailable: '1' }, replicaCount: 2 }, 'minAvailable "1" is neither'],
    [{ serviceAccount: { create: false } }, 'name an existing ServiceAccount'],
    [{ metrics: { serviceMonitor: { enabled: true } }, service: { enabled: false } }, 'needs the Service'],
    [
      { metrics: { serviceMonitor: { enabled: true }, podMonitor: { enabled: true } } },
      'would both scrape the same pods: enable one of them',
    ],
    [
      { metrics: { secure: { enabled: true } } },
      'name a Secret of type kubernetes.io/tls in metrics.secure.secretName',
    ],
    [{ health: { port: 8080 } }, 'metrics.port and health.port are the same'],
    [
      { leaderElection: { renewDeadline: '20s' } },
      'leaderElection.renewDeadline 20s is not shorter than leaseDuration 15s, so two could lead at once: make it shorter',
    ],
    [{ leaderElection: { renewDeadline: '900s', leaseDuration: '15m' } }, 'renewDeadline 900s is not shorter than'],
    [
      { leaderElection: { retryPeriod: '9s' } },
      'leaderElection.renewDeadline 10s is not longer than 1.2 times retryPeriod 9s, so there is no time for a second attempt',
    ],
    [{ leaderElection: { retryPeriod: '0s' } }, 'leaderElection.retryPeriod 0s is zero: set 1s or more'],
    [
      { allowedNetworks: ['10.0.0.0/8', '10.20'] },
      'allowedNetworks has "10.20", which is not a network: write it like 10.20.0.0/16 or fd00::/8',
    ],
    [{ allowedNetworks: ['10.20.0.0/33'] }, 'allowedNetworks has "10.20.0.0/33"'],
    [{ allowedNetworks: ['300.0.0.0/8'] }, 'allowedNetworks has "300.0.0.0/8"'],
    [{ allowedNetworks: ['fd00::1::2/8'] }, 'allowedNetworks has "fd00::1::2/8"'],
    [
      { allowedBaseURLs: ['https://cloud.example.com', 'https://a.example.com/x?y'] },
      'allowedBaseURLs has "https://a.example.com/x?y", which is not a base URL: write it like https://cloud.example.com, without user, ? or #',
    ],
    [
      { watchNamespaces: ['orders', 'billing', 'orders'] },
      'watchNamespaces has orders more than once, and each gets one Role: name it once',
    ],
    [
      { extraArgs: ['--no-leader-elect'] },
      'extraArgs has --no-leader-elect, which the chart sets itself: set leaderElection',
    ],
    [
      { extraArgs: ['--log-level=debug'] },
      'extraArgs has --log-level=debug, which the chart sets itself: set log.level',
    ],
    [
      { extraArgs: ['--log-levl=debug'] },
      'extraArgs has --log-levl=debug, which the operator does not know, so it would not start: see its flags in docs/operator.md',
    ],
    [{ extraArgs: ['-v'] }, 'extraArgs has -v, which the operator does not know'],
    [{ extraArgs: ['--kubeconfig=a', 'b'] }, 'extraArgs has b, which the operator does not know'],
    [
      { extraEnv: [{ name: 'MOORING_NAMESPACES', value: 'orders' }] },
      'extraEnv has MOORING_NAMESPACES, which the chart sets itself: set watchNamespaces instead',
    ],
    [
      { extraEnv: [{ name: 'MOORING_SHARD_BY_SPACE', value: 'true' }] },
      'extraEnv has MOORING_SHARD_BY_SPACE, which the chart sets itself: set leaderElection.shardBySpace instead',
    ],
    [
      { leaderElection: { enabled: false, shardBySpace: true } },
      'leaderElection.shardBySpace has no effect without leaderElection.enabled: set leaderElection.enabled to true, or leaderElection.shardBySpace to false',
    ],
    [
      { metrics: { secure: { enabled: true, secretName: 'metrics-tls' }, podMonitor: { enabled: true } } },
      'metrics.podMonitor would scrape without a token, which metrics.secure refuses: set metrics.podMonitor.authorization, or use metrics.serviceMonitor',
    ],
  ])('%j', async (values, message) => {
    expect(await refusal(values)).toContain(message);
  });

  // Helm reads a number from a file as float64, and from its command line as int64.
  test.each([
    ['podDisruptionBudget.enabled=true,podDisruptionBudget.minAvailable=1', 'keeps every node from being drained'],
    ['podDisruptionBudget.enabled=true,podDisruptionBudget.maxUnavailable=0', 'keeps every node from being drained'],
    ['replicaCount=2,leaderElection.enabled=false', 'set leaderElection.enabled to true, or replicaCount to 1'],
    ['health.port=8080', 'metrics.port and health.port are the same'],
  ])('--set=%s', async (set, message) => {
    expect(mustRefuse(await helm(['template', 'mooring', CHART, `--set=${set}`]))).toContain(message);
  });
});

test.each([
  { extraArgs: ['--kubeconfig=/etc/kubeconfig'] },
  { resources: { requests: { cpu: '.5', memory: '1e8' }, limits: { cpu: '1500m', memory: '0.5Gi', a: '1E', b: 2 } } },
  { extraEnv: [{ name: 'MOORING_ALLOWED_NETWORKS', value: '10.0.0.0/8' }] },
  { image: { registry: 'ghcr.io/owner', repository: 'localhost:5000/a/moor-ing', tag: 'v1.0_x' } },
  { extraArgs: ['--kubeconfig', '/etc/kubeconfig'] },
  { podDisruptionBudget: { enabled: true, minAvailable: 1 }, replicaCount: 2 },
  { podDisruptionBudget: { enabled: true, minAvailable: '50%' }, replicaCount: 2 },
  { podDisruptionBudget: { enabled: true, minAvailable: 0 }, replicaCount: 0 },
  { strategy: { type: 'Recreate' }, leaderElection: { enabled: false } },
])('%j is accepted', async (values) => {
  expect(await helm(['template', 'mooring', CHART], { values })).toMatchObject({ code: 0, stderr: '' });
});

describe('null', () => {
  const values = readValues(readFileSync(join(CHART, 'values.yaml'), 'utf8'));
  const isEmpty = ({ about, preset }: (typeof values)[number]) =>
    about !== undefined && (preset === null || typeof preset === 'object' || preset === '');
  /** Helm treats null as absent. */
  const nested = (paths: readonly (readonly string[])[], value: (path: readonly string[]) => unknown) => {
    const root: Record<string, unknown> = {};
    for (const path of paths) {
      let inner = root;
      for (const key of path.slice(0, -1)) {
        inner[key] ??= {};
        inner = inner[key] as Record<string, unknown>;
      }
      inner[path.at(-1) ?? ''] = value(path);
    }
    return root;
  };

  test('counts as empty if a value may be empty, as for a key whose lines are commented out', async () => {
    const empty = values.filter(isEmpty).map(({ path }) => path);
    const enabled = [
      ...['serviceMonitor', 'prometheusRule'].map((each) => `--set=metrics.${each}.enabled=true`),
      ...['serviceMonitor', 'prometheusRule'].map((each) => `--set=metrics.${each}.renderMode=alwaysRender`),
      '--set=metrics.dashboards.enabled=true',
      '--set=argocd.healthChecks.enabled=true',
      '--set=networkPolicy.enabled=true',
      '--set=podDisruptionBudget.enabled=true',
    ];
    const rendered = (given: unknown) => helm(['template', 'mooring', CHART, ...enabled], { values: given });
    const presets = new Map(values.map(({ path, preset }) => [path, preset]));
    const nothing = (path: readonly string[]) => {
      const preset = presets.get(path);
      return Array.isArray(preset) ? [] : typeof preset === 'string' ? '' : null;
    };
    const [ofNull, ofEmpty] = [await rendered(nested(empty, () => null)), await rendered(nested(empty, nothing))];
    expect(ofNull).toMatchObject({ code: 0, stderr: '' });
    expect(ofNull.stdout).toBe(ofEmpty.stdout);
  });

  test('is refused by name everywhere else', async () => {
    const others = values.filter((value) => !isEmpty(value));
    const [groups, leavesOf] = [true, false].map((is) => others.filter(({ about }) => (about === undefined) === is));
    const top = groups?.filter(({ path }) => path.length === 1) ?? [];
    for (const some of [top, leavesOf ?? []]) {
      const text = await refusal(
        nested(
          some.map(({ path }) => path),
          () => null,
        ),
      );
      expect(some.length).toBeGreaterThan(8);
      for (const { path } of some) expect(text).toMatch(new RegExp(`missing propert.*'${path.at(-1)}'`));
    }
  });
});

test('values that the operator can start with are accepted', async () => {
  const leaderElection = { leaseDuration: '1m', renewDeadline: '0m59s500ms', retryPeriod: '49s' };
  const allowedNetworks = ['10.20.0.0/16', '192.0.2.1', 'fd00::/8', '::1', '2001:db8::a:b/64', '1:2:3:4:5:6:7:8/128'];
  const values = { leaderElection, allowedNetworks: [...allowedNetworks, '::ffff:10.0.0.1/128'] };
  expect(await helm(['template', 'mooring', CHART], { values })).toMatchObject({ code: 0, stderr: '' });
  const flags = ['lease-duration=1m', 'renew-deadline=0m59s500ms', 'retry-period=49s'];
  const argv = [`--allowed-networks=${values.allowedNetworks}`, ...flags.map((flag) => `--leader-elect-${flag}`)];
  expect(parseConfig(argv, {})).toMatchObject({ allowedNetworks: values.allowedNetworks });
});

describe('a base URL is judged as the operator judges it', () => {
  const judgedByOperator = (url: string) => () => parseConfig([`--allowed-base-urls=${url}`], {});

  test.each([
    ['https://a.example.com/#top', 'https://a.example.com/#top'],
    ['https://me:pa/ss@a.example.com', 'https://***@a.example.com'],
    ['https://a.example.com:99999', 'https://a.example.com:99999'],
    ['https://a.example.com:port', 'https://a.example.com:port'],
    ['https://10.1.2.355', 'https://10.1.2.355'],
    ['https://[fd00::1::2]', 'https://[fd00::1::2]'],
    ['https://a b.example.com', 'https://a b.example.com'],
    ['https://a.example.com/x,y', 'y'],
    ['https://a.example.com,', ''],
  ])('%s is refused', async (url, shown) => {
    expect(judgedByOperator(url)).toThrow('--allowed-base-urls');
    const told = await refusal({ allowedBaseURLs: [url] });
    expect(told).toContain(`allowedBaseURLs has "${shown}", which is not a base URL`);
    expect(told).not.toContain('pa/ss');
  });

  test('and all that it takes are accepted', async () => {
    const allowedBaseURLs = [
      'https://cloud.example.com/',
      'https://cloud.example.com:8443/v1/@team',
      'http://localhost:8080',
      'https://my_cloud',
      'https://10.0.0.5:65535',
      'https://[fd00::1]:443/api',
      'https://a.example.com, https://b.example.com',
    ];
    expect(judgedByOperator(allowedBaseURLs.join())).not.toThrow();
    const rendered = await helm(['template', 'mooring', CHART], { values: { allowedBaseURLs } });
    expect(rendered).toMatchObject({ code: 0, stderr: '' });
  });
});

test.each([
  ['deploy/argocd/applications.yaml', ['source', 'helm', 'valuesObject']],
  ['deploy/flux/mooring.yaml', ['values']],
])('%s names a registry for the image', async (path, place) => {
  const specs = loadAll(readDocument(path)).map((manifest) => at(manifest, ['spec', ...place]));
  const [values] = specs.filter((found) => found !== undefined);
  const { code, stdout } = await helm(['template', 'mooring', CHART], { values });
  expect(code).toBe(0);
  expect(stdout).toContain(` registry.example.com/mooring:${VERSION}\n`);
});

/** Returns the value under these keys, the outermost first. */
function at(object: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, key) => (value as Readonly<Record<string, unknown>> | undefined)?.[key], object);
}

test('a chart that contains this one may pass what Helm passes by itself', async () => {
  const values = { global: { imageRegistry: 'registry.example.com' }, enabled: true };
  expect((await helm(['template', 'mooring', CHART], { values })).code).toBe(0);
});

describe('the values', () => {
  const values = leaves(readValues(readFileSync(join(CHART, 'values.yaml'), 'utf8')));
  const templates = globSync(join(CHART, 'templates/**/*')).flatMap((path) =>
    /\.(yaml|tpl|txt)$/.test(path) ? [readFileSync(path, 'utf8')] : [],
  );

  test('are each used by a template', () => {
    const all = templates.join('\n');
    const unused = values.filter(({ path }) => !all.includes(`.${path.at(-1)}`) && !all.includes(`"${path.at(-1)}"`));
    expect(unused.map(({ path }) => path.join('.'))).toEqual([]);
  });

  test('reach each flag of the operator except those for a person at a terminal', () => {
    const args = templates.join('\n');
    const flags = Object.keys(FLAGS).filter((flag) => flag !== 'kubeconfig');
    expect(flags.filter((flag) => !args.includes(`- --${flag}`))).toEqual([]);
    // Setting one of them as an extra argument is refused with the name of the right value.
    expect(flags.filter((flag) => !args.includes(`"${flag}" "`))).toEqual([]);
  });

  test('of the complete example all differ from the defaults', () => {
    const same = values.filter(({ path, preset }) => JSON.stringify(at(COMPLETE, path)) === JSON.stringify(preset));
    expect(same.map(({ path }) => path.join('.'))).toEqual([]);
  });
});
