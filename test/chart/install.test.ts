import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GROUP } from '../../src/base/group.ts';
import { definitions } from '../../src/kinds/definitions.ts';
import type { ControlPlane } from '../../tools/control-plane/control-plane.ts';
import { runKubectl } from '../../tools/control-plane/kubeconfig.ts';
import { run } from '../../tools/control-plane/run.ts';
import { startControlPlane } from '../../tools/control-plane/start.ts';
import { waitUntil } from '../support/control-plane.ts';
import { CHART, createHelm, HELM_BUILD_MS, type Helm, mustHelm } from '../support/helm.ts';
import { ROOT } from '../support/readme.ts';
import { FACTORY_LOGIN, type ServedCloud, startCloud } from '../support/served-cloud.ts';
import { startNode, type TestNode } from './node.ts';
import type { PodProcess } from './pod-process.ts';

/*
 * The chart's life with the real helm on a real control plane: install, samples, upgrade, uninstall, install again. Its pods
 * run as they stand in the API server: arguments, environment, the ServiceAccount's token, the image's user, and a root file
 * system that is read-only.
 */

/** Simulated cloud and servers are on loopback, where a pod sends nothing unless it is told to. */
const LOOPBACK = { allowHTTP: true, allowedNetworks: ['127.0.0.0/8'] };
const KINDS = definitions.map(({ plural }) => `${plural}.${GROUP}`);

let controlPlane: ControlPlane;
let helm: Helm;
let node: TestNode;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'chart-'));
  helm = await createHelm();
  // One of its own: the chart installs what the whole cluster has only once.
  const { MOORING_TEST_KUBECONFIG: _, ...env } = process.env;
  controlPlane = await startControlPlane({ controllerManager: true, env, log: (line) => console.log(line) });
  mkdirSync(join(folder, 'node'));
  node = await startNode(controlPlane, join(folder, 'node'));
}, HELM_BUILD_MS);

afterAll(async () => {
  await node?.stop();
  await controlPlane?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const kubectl = (...args: readonly string[]) => runKubectl(controlPlane, args);
const helmHere = (args: readonly string[], values?: unknown) =>
  mustHelm(helm, [...args, '--namespace=mooring-system'], { kubeconfig: controlPlane.kubeconfig, values });
const operators = () =>
  node.processes.filter(({ pod }) => pod.metadata.labels?.['app.kubernetes.io/component'] === 'operator');

async function applyText(text: string, namespace: string): Promise<void> {
  const { kubectl: command, kubeconfig } = controlPlane;
  const args = [`--kubeconfig=${kubeconfig}`, 'apply', `--namespace=${namespace}`, '--filename=-'];
  const { code, stderr } = await run(command, args, { input: text });
  if (code !== 0) throw new Error(stderr);
}

async function applySamples(cloud: ServedCloud, namespace: string): Promise<void> {
  const path = (name: string) => join(ROOT, 'deploy/samples', name);
  const names = globSync('*.yaml', { cwd: path('') });
  expect(names).toContain('cluster.yaml');
  for (const name of names) {
    const text = readFileSync(path(name), 'utf8')
      .replaceAll('http://127.0.0.1:7080', cloud.baseURL)
      .replace(/^ {2}password: password$/m, `  password: ${FACTORY_LOGIN.password}`);
    await applyText(text, namespace);
  }
}

interface Listed {
  readonly items: readonly {
    readonly kind: string;
    readonly metadata: { readonly name: string; readonly uid: string; readonly resourceVersion: string };
    readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
  }[];
}

async function list(namespace: string, ...kinds: readonly string[]): Promise<Listed['items']> {
  const text = await kubectl('get', kinds.join(','), `--namespace=${namespace}`, '--output=json');
  return (JSON.parse(text) as Listed).items;
}

async function allReady(namespace: string): Promise<void> {
  let waiting: readonly string[] = [];
  const isReady = async () => {
    const objects = await list(namespace, ...KINDS);
    waiting = objects
      .filter(
        ({ status }) => !status?.conditions?.some(({ type, status: word }) => type === 'Ready' && word === 'True'),
      )
      .map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    return waiting.length === 0;
  };
  await waitUntil(isReady, { what: 'all are Ready', timeoutMs: 60_000 }).catch((error: unknown) => {
    throw new Error(`${String(error)}: not ${waiting.join(', ')}\n${operators().at(-1)?.logs()}`);
  });
}

/** Every object of ours, and every Secret, in its version. */
async function versions(namespace: string): Promise<ReadonlyMap<string, string>> {
  const objects = await list(namespace, 'secrets', ...KINDS);
  return new Map(
    objects.map(({ kind, metadata: { name, uid, resourceVersion } }) => [
      `${kind}/${name}`,
      `${uid} ${resourceVersion}`,
    ]),
  );
}

/** What was asked of cloud and servers that changes something there. */
function changes(cloud: ServedCloud): Readonly<Record<string, number>> {
  const READS =
    /^(exchangeToken|get|list|listVersions|signIn|version|health|closeTransaction|openTransaction)$|^(list|get)[A-Z]/;
  const { byOperation } = cloud.simulator.inspect().counters;
  return Object.fromEntries(Object.entries(byOperation).filter(([operation]) => !READS.test(operation)));
}

/** Waits until a new operator has looked at everything and has nothing to do. */
async function lookedAtAll(operator: PodProcess | undefined, known: ReadonlyMap<string, string>): Promise<void> {
  const objects = [...known.keys()].filter((key) => !key.startsWith('Secret/')).length;
  const metrics = async () => {
    const address = operator?.targets().get('8080');
    return (await fetch(`http://${address}/metrics`)).text();
  };
  const sum = (text: string, name: string) =>
    [...text.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'gm'))].reduce(
      (total, [, value]) => total + Number(value),
      0,
    );
  const isDone = async () => {
    const text = await metrics();
    const passes = sum(text, 'controller_runtime_reconcile_total');
    return sum(text, 'mooring_leader') === 1 && passes >= objects && sum(text, 'workqueue_depth') === 0;
  };
  await waitUntil(isDone, { what: 'the operator has looked at everything' });
}

async function makeNamespace(name: string, labels: readonly string[] = []): Promise<string> {
  await kubectl('create', 'namespace', name);
  if (labels.length > 0) await kubectl('label', 'namespace', name, ...labels);
  return name;
}

/** The chart as it was before this version: another version, and one of its kinds with another short name. */
function previousChart(): string {
  const path = join(folder, 'previous');
  cpSync(CHART, path, { recursive: true });
  const edit = (file: string, from: RegExp, to: string) => {
    const text = readFileSync(join(path, file), 'utf8');
    expect(text).toMatch(from);
    writeFileSync(join(path, file), text.replaceAll(from, to));
  };
  edit('Chart.yaml', /^(version|appVersion): .*$/gm, '$1: 0.0.1');
  edit('templates/crds/databaseclusters.yaml', /- dbc$/gm, '- cluster');
  return path;
}

describe('installed for the whole cluster', () => {
  const namespace = 'orders';
  let cloud: ServedCloud;
  let before: ReadonlyMap<string, string>;

  beforeAll(async () => {
    cloud = await startCloud({ knobs: { provisionMs: [100, 100] } });
    await makeNamespace(
      'mooring-system',
      ['enforce', 'warn'].map((mode) => `pod-security.kubernetes.io/${mode}=restricted`),
    );
    await makeNamespace(namespace);
  });
  afterAll(() => cloud.close());

  test('helm install waits until the operator is ready', async () => {
    await helmHere(['install', 'mooring', previousChart(), '--wait', '--timeout=90s'], LOOPBACK);
    expect(operators()).toHaveLength(1);
    const status = readFileSync(`/proc/${operators()[0]?.pid}/status`, 'utf8');
    if (process.getuid?.() === 0) expect(status).toMatch(/^Uid:\t65532\t65532/m);
    expect(operators()[0]?.logs()).toMatch(/"inPod":true|"server":"https/);
  });

  test('what the samples declare becomes Ready with the rights that the chart gives', async () => {
    await applySamples(cloud, namespace);
    await allReady(namespace);
    expect(operators()[0]?.logs()).not.toMatch(/ 403|[Ff]orbidden|EROFS|EACCES/);
  });

  test('helm test asks whether it is ready', async () => {
    expect(await helmHere(['test', 'mooring', '--timeout=60s'])).toMatch(/Phase: +Succeeded/);
    expect(node.processes.at(-1)?.logs()).toBe('200 ok\n');
  });

  test('an upgrade brings new CustomResourceDefinitions and another pod, and changes nothing else', async () => {
    before = await versions(namespace);
    expect(before.size).toBeGreaterThan(5);
    const done = changes(cloud);
    await helmHere(['upgrade', 'mooring', CHART, '--wait', '--timeout=90s', '--reset-then-reuse-values']);
    await waitUntil(async () => operators().length === 2, { what: 'there is another pod' });
    await lookedAtAll(operators()[1], before);
    expect(await kubectl('get', 'dbc', `--namespace=${namespace}`, '--output=name')).toContain('orders');
    expect(await versions(namespace)).toEqual(before);
    expect(changes(cloud)).toEqual(done);
    expect(operators()[0]?.logs()).toContain('Mooring has stopped');
  });

  test('an uninstall leaves the CustomResourceDefinitions, the objects and the clusters, and nothing else', async () => {
    await helmHere(['uninstall', 'mooring', '--wait', '--timeout=90s']);
    expect(await versions(namespace)).toEqual(before);
    const left = await kubectl(
      ...['get', 'crd,clusterrole,clusterrolebinding,role,rolebinding,deployment,service,serviceaccount,pod'],
      ...['--all-namespaces', '--selector=app.kubernetes.io/instance=mooring', '--output=name'],
    );
    expect(left.trim().split('\n').toSorted()).toEqual(
      KINDS.map((name) => `customresourcedefinition.apiextensions.k8s.io/${name}`).toSorted(),
    );
    await waitUntil(() => operators()[1]?.logs().includes('Mooring has stopped'), { what: 'the operator has stopped' });
  });

  test('installed again, it finds everything as it was', async () => {
    const done = changes(cloud);
    await helmHere(['install', 'mooring', CHART, '--wait', '--timeout=90s'], LOOPBACK);
    await lookedAtAll(operators()[2], before);
    expect(await versions(namespace)).toEqual(before);
    expect(changes(cloud)).toEqual(done);
  });
});
