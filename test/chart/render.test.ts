import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load, loadAll, YAML11_SCHEMA } from 'js-yaml';
import { beforeAll, describe, expect, test } from 'vitest';
import { GROUP } from '../../src/base/group.ts';
import { VERSION } from '../../src/version.ts';
import { applyYaml, kubectl, makeNamespace, mustKubectl } from '../support/control-plane.ts';
import { CHART, createHelm, HELM_BUILD_MS, type Helm, mustHelm } from '../support/helm.ts';
import { ROOT } from '../support/readme.ts';
import { COMPLETE } from './values.ts';

interface Rendered {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly [field: string]: unknown;
}

let helm: Helm;

beforeAll(async () => {
  helm = await createHelm();
}, HELM_BUILD_MS);

function template(values: unknown, ...args: readonly string[]) {
  return helm(['template', 'mooring', CHART, '--namespace=harbour', ...args], { values });
}

async function rendered(values: unknown, ...args: readonly string[]): Promise<string> {
  return mustHelm(helm, ['template', 'mooring', CHART, '--namespace=harbour', ...args], { values });
}

async function objects(values: unknown, ...args: readonly string[]): Promise<readonly Rendered[]> {
  return loadAll(await rendered(values, ...args)).filter((object) => object !== null) as Rendered[];
}

async function only(kind: string, values: unknown = {}): Promise<Rendered> {
  const found = (await objects(values)).filter((object) => object.kind === kind);
  expect(found.map(({ metadata }) => metadata.name)).toHaveLength(1);
  return found[0] as Rendered;
}

const kindsOf = (all: readonly Rendered[]) => all.map(({ kind, metadata }) => `${kind}/${metadata.name}`);

const WATCHED = { watchNamespaces: ['orders', 'billing'] };

describe('what is rendered', () => {
  const noCrds = { crds: { install: false } };
  test.each([
    ['defaults', noCrds],
    ['complete', { ...COMPLETE, crds: { install: false } }],
    ['watch-namespaces', { ...WATCHED, ...noCrds }],
  ])('%s is as reviewed', async (name, values) => {
    await expect(await rendered(values)).toMatchFileSnapshot(`snapshots/${name}.txt`);
  });

  test('The notes say how to make the Secrets without a secret on a command line', async () => {
    const notes = await mustHelm(helm, ['install', 'mooring', CHART, '--dry-run=client'], { values: WATCHED });
    const commands = notes.match(/kubectl create secret .*/g);
    expect(commands).toHaveLength(2);
    for (const command of commands ?? [])
      expect(command).toMatch(/^kubectl create secret generic (\S+) --namespace orders --from-env-file=\1\.env$/);
  });

  test('helm lint has no complaints, even with --strict', async () => {
    for (const values of [{}, COMPLETE, WATCHED]) {
      const { code, stdout } = await helm(['lint', '--strict', CHART], { values });
      expect(stdout).not.toMatch(/\[(WARNING|ERROR)\]/);
      expect(code).toBe(0);
    }
  });
});

describe('CustomResourceDefinitions', () => {
  // Argo CD heeds Helm's annotation only when a whole Application is deleted.
  const KEPT = { 'helm.sh/resource-policy': 'keep', 'argocd.argoproj.io/sync-options': 'Prune=false' };
  const crdsOf = async (values: unknown) =>
    (await objects(values)).filter(({ kind }) => kind === 'CustomResourceDefinition');

  test('are those of crds/, and stay when the chart is uninstalled', async () => {
    const found = await crdsOf({});
    const files = globSync(join(ROOT, 'crds/*.yaml')).map((path) => load(readFileSync(path, 'utf8')) as Rendered);
    const specs = (crds: readonly Rendered[]) => new Map(crds.map(({ metadata, spec }) => [metadata.name, spec]));
    expect(files.length).toBeGreaterThan(1);
    expect(specs(found)).toEqual(specs(files));
    for (const { metadata } of found) expect(metadata.annotations).toEqual(KEPT);
  });

  test.each([
    { crds: { annotations: { a: 'b', 'argocd.argoproj.io/sync-options': 'ServerSideApply=true' } } },
    {
      crds: { annotations: { a: 'b' } },
      commonAnnotations: { 'argocd.argoproj.io/sync-options': 'ServerSideApply=true' },
    },
  ])('are not pruned by Argo CD either, with other options of its: %j', async (values) => {
    const [first] = await crdsOf(values);
    const options = { 'argocd.argoproj.io/sync-options': 'Prune=false,ServerSideApply=true' };
    expect(first?.metadata.annotations).toEqual({ ...KEPT, a: 'b', ...options });
  });

  test('are left out if others install them', async () => {
    expect(await crdsOf({ crds: { install: false } })).toEqual([]);
  });

  test('are removed with the chart, if asked for', async () => {
    const [first] = await crdsOf({ crds: { keep: false, annotations: { a: 'b' } } });
    expect(first?.metadata.annotations).toEqual({ a: 'b' });
  });
});

describe('names, labels and annotations', () => {
  test('are the standard ones, on every object', async () => {
    const all = await objects({ commonLabels: { team: 'platform' }, commonAnnotations: { contact: 'us' } });
    for (const { kind, metadata } of all) {
      expect(metadata.labels, `${kind}/${metadata.name}`).toMatchObject({
        'app.kubernetes.io/name': 'mooring',
        'app.kubernetes.io/instance': 'mooring',
        team: 'platform',
      });
      expect(metadata.annotations, `${kind}/${metadata.name}`).toMatchObject({ contact: 'us' });
    }
  });

  test('no labels of users replace those that the chart selects by', async () => {
    const labels = { 'app.kubernetes.io/name': 'other', 'app.kubernetes.io/component': 'other' };
    const { spec } = await only('Deployment', { commonLabels: labels, podLabels: labels });
    const { selector, template } = spec as { selector: { matchLabels: unknown }; template: Rendered };
    expect(template.metadata.labels).toMatchObject(selector.matchLabels as object);
  });

  test('a long release name still gives names that the API server accepts', async () => {
    const args = ['template', `a${'-long'.repeat(10)}`, CHART];
    const all = loadAll(await mustHelm(helm, args)) as Rendered[];
    const names = all.filter(({ kind }) => kind !== 'CustomResourceDefinition').map(({ metadata }) => metadata.name);
    expect(names.every((name) => name.length <= 63 && /[a-z]$/.test(name))).toBe(true);
  });

  test('dots in the name of a release, which names of Services cannot have, become hyphens', async () => {
    const all = loadAll(await mustHelm(helm, ['template', 'eu.prod', CHART])) as Rendered[];
    expect(kindsOf(all)).toEqual(expect.arrayContaining(['Service/eu-prod-mooring', 'Deployment/eu-prod-mooring']));
  });

  test('names contain mooring only once', async () => {
    expect((await only('Deployment')).metadata.name).toBe('mooring');
    const other = loadAll(await mustHelm(helm, ['template', 'prod', CHART])) as Rendered[];
    expect(kindsOf(other)).toContain('Deployment/prod-mooring');
    expect((await only('Deployment', { nameOverride: 'dock' })).metadata.name).toBe('mooring-dock');
    expect((await only('Deployment', { fullnameOverride: 'pier' })).metadata.name).toBe('pier');
  });

  test('are strings even if they look like numbers, or like words of YAML', async () => {
    const known = { enabled: true, renderMode: 'alwaysRender' };
    const values = {
      nameOverride: '0x10',
      serviceAccount: { name: '1e3' },
      watchNamespaces: ['2026', 'on'],
      networkPolicy: { enabled: true },
      podDisruptionBudget: { enabled: true },
      metrics: { serviceMonitor: known, prometheusRule: known, dashboards: { enabled: true } },
      argocd: { healthChecks: { enabled: true, namespace: '7' } },
    };
    const text = await mustHelm(helm, ['template', '123', CHART, '--namespace=456'], { values });
    const all = loadAll(text, { schema: YAML11_SCHEMA }).filter((object) => object !== null) as Rendered[];
    for (const { kind, metadata } of all) {
      const texts = [metadata.name, metadata.namespace ?? '', ...Object.values(metadata.labels)];
      expect([kind, texts.filter((each) => typeof each !== 'string')]).toEqual([kind, []]);
    }
    const deployment = all.find(({ kind }) => kind === 'Deployment');
    expect(deployment?.['spec']).toMatchObject({
      selector: { matchLabels: { 'app.kubernetes.io/name': '0x10', 'app.kubernetes.io/instance': '123' } },
      template: { spec: { serviceAccountName: '1e3' } },
    });
    const monitor = all.find(({ kind }) => kind === 'ServiceMonitor');
    expect(monitor?.['spec']).toMatchObject({ namespaceSelector: { matchNames: ['456'] } });
  });

  test('another namespace applies to everything that has one, and to references', async () => {
    const text = await rendered({ namespaceOverride: 'elsewhere', networkPolicy: { enabled: true } });
    expect(text).not.toContain('harbour');
    expect(text).toContain('http://mooring.elsewhere.svc:8081/readyz');
  });
});

test('a NetworkPolicy allows DNS at the port of its Service, and at that of the pods behind it in OpenShift', async () => {
  const { spec } = await only('NetworkPolicy', { networkPolicy: { enabled: true } });
  const [dns] = (spec as { egress: readonly { ports: readonly { port: number; protocol: string }[] }[] }).egress;
  expect(dns?.ports.map(({ port, protocol }) => `${port}/${protocol}`)).toEqual(['53/UDP', '53/TCP', '5353/UDP']);
});

test('pods are spread by the given labels, or by those of the release', async () => {
  const zone = { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway' };
  const labelSelector = { matchLabels: { team: 'platform' } };
  const { spec } = await only('Deployment', { topologySpreadConstraints: [{ ...zone, labelSelector }, zone] });
  const { selector, template } = spec as { selector: unknown; template: { spec: Readonly<Record<string, unknown>> } };
  expect(template.spec['topologySpreadConstraints']).toEqual([
    { ...zone, labelSelector },
    { ...zone, labelSelector: selector },
  ]);
});

describe('the image', () => {
  const digest = `sha256:${'ab'.repeat(32)}`;
  test.each([
    [{}, `mooring:${VERSION}`],
    [{ tag: 'v9' }, 'mooring:v9'],
    [{ registry: 'registry.example.com', repository: 'a/b' }, `registry.example.com/a/b:${VERSION}`],
    [{ registry: 'registry.example.com', tag: 'v9', digest }, `registry.example.com/mooring@${digest}`],
  ])('of %j is %s', async (image, expected) => {
    const text = await rendered({ image });
    expect([...text.matchAll(/^ +image: (.*)$/gm)].map(([, name]) => name)).toEqual([expected, expected]);
  });
});

describe('rights', () => {
  test('are given only by Roles if namespaces are named: one in each, and one for the Lease', async () => {
    const values = { ...WATCHED, rbac: { aggregateToView: false, aggregateToEdit: false, aggregateToAdmin: false } };
    const all = (await objects(values)).filter(({ apiVersion }) => apiVersion.startsWith('rbac.'));
    expect(all.map(({ kind, metadata }) => `${kind} ${metadata.namespace}/${metadata.name}`).toSorted()).toEqual([
      'Role billing/mooring',
      'Role harbour/mooring-leader-election',
      'Role orders/mooring',
      'RoleBinding billing/mooring',
      'RoleBinding harbour/mooring-leader-election',
      'RoleBinding orders/mooring',
    ]);
  });

  test('are the same with a ClusterRole', async () => {
    const rulesOf = async (kind: string, values: object) =>
      (await objects(values)).find((object) => object.kind === kind && object.metadata.name === 'mooring')?.['rules'];
    expect(await rulesOf('ClusterRole', {})).toBeDefined();
    expect(await rulesOf('Role', WATCHED)).toEqual(await rulesOf('ClusterRole', {}));
  });

  test('to see other replicas’ Leases, and the flag, are there only if replicas share the spaces', async () => {
    for (const shardBySpace of [false, true]) {
      const text = await rendered({ leaderElection: { shardBySpace } });
      expect([text.includes('- --shard-by-space\n'), text.includes('verbs: [get, list, patch, delete]')]).toEqual([
        shardBySpace,
        shardBySpace,
      ]);
    }
  });

  test('for the whole cluster have other names with another release name', async () => {
    const tls = { metrics: { secure: { enabled: true, secretName: 'metrics-tls' } }, crds: { install: false } };
    const ofRelease = async (release: string, namespace: string) => {
      const args = ['template', release, CHART, `--namespace=${namespace}`];
      const all = loadAll(await mustHelm(helm, args, { values: { ...WATCHED, ...tls } })) as Rendered[];
      return kindsOf(all.filter(({ metadata }) => metadata.namespace === undefined));
    };
    const [one, two] = [await ofRelease('mooring', 'one'), await ofRelease('shop', 'two')];
    expect([one.length, one.filter((name) => two.includes(name))]).toEqual([5, []]);
  });

  test('are left to others, if asked for', async () => {
    const all = await objects({ rbac: { create: false } });
    expect(kindsOf(all).filter((name) => name.includes('Role'))).toEqual([
      'ClusterRole/mooring-view',
      'ClusterRole/mooring-edit',
    ]);
  });
});

describe('monitors', () => {
  const monitor = (renderMode?: string) => ({
    metrics: { podMonitor: { enabled: true, ...(renderMode === undefined ? {} : { renderMode }) } },
  });
  const known = '--api-versions=monitoring.coreos.com/v1/PodMonitor';

  test('are refused in a cluster that does not know them', async () => {
    expect((await template(monitor())).stderr).toContain(
      'The cluster does not know PodMonitors of monitoring.coreos.com/v1: install the Prometheus operator first',
    );
  });

  test('are left out there, or rendered all the same, if asked for', async () => {
    expect(kindsOf(await objects(monitor('skipIfMissing')))).not.toContain('PodMonitor/mooring');
    expect(kindsOf(await objects(monitor('alwaysRender')))).toContain('PodMonitor/mooring');
  });

  test.each([undefined, 'skipIfMissing'])('are rendered if they are known (%s)', async (mode) => {
    expect(kindsOf(await objects(monitor(mode), known))).toContain('PodMonitor/mooring');
  });
});

describe('the API server accepts it, and Pod Security restricted has no objection', () => {
  let namespace: string;

  beforeAll(async () => {
    namespace = await makeNamespace();
    const labels = ['enforce', 'warn'].map((mode) => `pod-security.kubernetes.io/${mode}=restricted`);
    await mustKubectl(['label', 'namespace', namespace, ...labels]);
    await applyYaml(['ServiceMonitor', 'PodMonitor'].map(monitoringCrd).join('---\n'));
    const crds = ['servicemonitors', 'podmonitors'].map((plural) => `crd/${plural}.monitoring.coreos.com`);
    await mustKubectl(['wait', '--for=condition=Established', ...crds]);
  });

  const { serviceMonitor: _, ...unmonitored } = COMPLETE.metrics;
  const authorization = { credentials: { name: 'scraper', key: 'token' } };
  test.each<readonly [string, Readonly<Record<string, unknown>>]>([
    ['defaults', { crds: {} }],
    ['everything', COMPLETE],
    [
      'everything, with a PodMonitor',
      { ...COMPLETE, metrics: { ...unmonitored, podMonitor: { ...COMPLETE.metrics.serviceMonitor, authorization } } },
    ],
    ['one pod without leader election', { leaderElection: { enabled: false } }],
    ['three pods with a budget', { replicaCount: 3, podDisruptionBudget: { enabled: true } }],
    ['a NetworkPolicy', { networkPolicy: { enabled: true } }],
    ['a NetworkPolicy for ingress alone', { networkPolicy: { enabled: true, egress: { enabled: false } } }],
    ['a ServiceAccount of others', { serviceAccount: { create: false, name: 'default' } }],
    ['nothing but the Deployment', { rbac: { create: false }, service: { enabled: false } }],
    ['no resources', { resources: null }],
    ['no pods', { replicaCount: 0 }],
  ])('%s', async (_name, values) => {
    const given = { crds: { install: false }, ...values };
    const text = await mustHelm(helm, ['template', 'mooring', CHART, `--namespace=${namespace}`], { values: given });
    await isTaken(text);
  });

  test('namespaces to watch', async () => {
    const watchNamespaces = [await makeNamespace(), await makeNamespace(), namespace];
    const args = ['template', 'mooring', CHART, `--namespace=${namespace}`];
    await isTaken(await mustHelm(helm, args, { values: { watchNamespaces, crds: { install: false } } }));
  });

  test.each([
    ['RollingUpdate alone', { type: 'RollingUpdate' }],
    ['one limit of RollingUpdate', { rollingUpdate: { maxSurge: 2 } }],
    ['the defaults', {}],
  ])('leader election can be turned off after a strategy of %s', async (name, strategy) => {
    const fullnameOverride = `mooring-${name.split(' ').at(-1)?.toLowerCase()}`;
    const args = ['template', 'mooring', CHART, `--namespace=${namespace}`, '--show-only=templates/deployment.yaml'];
    const shared = { fullnameOverride, replicaCount: 0 };
    for (const values of [
      { ...shared, strategy },
      { ...shared, leaderElection: { enabled: false } },
    ])
      await applyYaml(await mustHelm(helm, args, { values }));
  });

  test('it is a check that can fail', async () => {
    const values = { securityContext: { readOnlyRootFilesystem: false, allowPrivilegeEscalation: true } };
    const text = await mustHelm(helm, ['template', 'mooring', CHART, `--namespace=${namespace}`], { values });
    expect((await dryRun(text)).stderr).toMatch(/would violate PodSecurity "restricted/);
  });

  const dryRun = (text: string) =>
    kubectl(['apply', '--dry-run=server', '--server-side', '--force-conflicts', '--filename=-'], { input: text });

  async function isTaken(text: string): Promise<void> {
    const { stdout, stderr } = await dryRun(text);
    expect(stderr).toBe('');
    expect(stdout.trim().split('\n')).toHaveLength(loadAll(text).filter((object) => object !== null).length);
  }
});

/** The parts of it that a dry run needs. */
function monitoringCrd(kind: string): string {
  const plural = `${kind.toLowerCase()}s`;
  const schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const spec = {
    group: 'monitoring.coreos.com',
    scope: 'Namespaced',
    names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
  };
  const metadata = { name: `${plural}.monitoring.coreos.com` };
  return `${JSON.stringify({ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata, spec })}\n`;
}

test('notes name the next step, and what is doubtful', async () => {
  const notes = async (values: unknown) => {
    const args = ['install', 'mooring', CHART, '--namespace=harbour', '--dry-run=client', '--output=json'];
    return JSON.parse(await mustHelm(helm, args, { values })).info.notes as string;
  };
  expect(await notes({})).toContain('kubectl get mooring --all-namespaces');
  const watched = await notes({ watchNamespaces: ['orders', 'billing'] });
  expect(watched.match(/^ {2}kubectl (create|apply).* --namespace orders /gm)).toHaveLength(3);
  expect(watched).toContain('\n\n  helm test mooring --namespace harbour\n\n');
  for (const off of [{ tests: { enabled: false } }, { service: { enabled: false } }])
    expect(await notes(off)).toContain('\n\n  kubectl rollout status deployment/mooring --namespace harbour\n\n');
  const image = { registry: 'registry.example.com' };
  expect(await notes({ image })).not.toMatch(/WARNING|\bruns\b/);
  expect(await notes({ image: { repository: 'registry.example.com/mooring' } })).not.toContain('WARNING');
  expect(await notes({})).toContain('WARNING: image.registry is empty');
  expect(await notes({ image, allowHTTP: true })).toContain('WARNING: allowHTTP');
  expect(await notes({ crds: { install: false } })).toContain(`databaseclusters.${GROUP}`);
  expect(await notes({ crds: { keep: false } })).toMatch(
    /before you uninstall.*\n\n {2}kubectl delete crd --selector=/,
  );
});
