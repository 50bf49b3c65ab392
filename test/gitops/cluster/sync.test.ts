import { dump, loadAll } from 'js-yaml';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSeededRandom } from '../../../src/simulator/seeded-random.ts';
import { judge } from '../../../tools/kstatus/kstatus.ts';
import { runLua } from '../../../tools/lua/lua.ts';
import { kubectl, mustKubectl, waitUntil } from '../../support/control-plane.ts';
import { cluster, database, type Manifest, space, user, wholeSpace } from '../../support/manifests.ts';
import { type OperatorBench, startBench, type TestContext } from '../../support/operator-bench.ts';
import { readDocument } from '../../support/readme.ts';
import type { ServedCloud } from '../../support/served-cloud.ts';
import type { Site } from '../../support/site.ts';
import { CUSTOMIZATIONS } from '../argocd-files.ts';

/* Objects from Git stay in sync after the operator has run, as Argo CD, Flux and kubectl compare them. */

const BUILD_MS = 10 * 60_000;

let bench: OperatorBench;

beforeAll(async () => {
  await Promise.all([runLua([], { log: console.log }), judge([], { log: console.log })]);
  bench = await startBench(14);
}, BUILD_MS);

afterAll(() => bench?.close());

type Text = (cloud: ServedCloud) => string;

const QUICK = {
  provisionMs: [300, 300],
  serverLagMs: [100, 100],
  suspendMs: [200, 200],
  destroyMs: [200, 200],
} as const;

const OURS = 'dbs,dbc,dbu,dbd';

/** Documents of deploy/, which name clouds elsewhere. */
const files =
  (...paths: readonly string[]): Text =>
  (cloud) => {
    const given = paths.flatMap((path) => loadAll(readDocument(path)) as Manifest[]);
    return asText(given.map((manifest) => (manifest.kind === 'DatabaseSpace' ? inCloud(manifest, cloud) : manifest)));
  };

function inCloud(manifest: Manifest, { baseURL }: ServedCloud): Manifest {
  const spec = manifest['spec'] as object;
  return { ...manifest, spec: { ...spec, baseURL, serverURL: 'http://{host}:{port}' } };
}

const asText = (manifests: readonly object[]) => manifests.map((manifest) => `---\n${dump(manifest)}`).join('');

const samples = (...names: readonly string[]) => files(...names.map((name) => `deploy/samples/${name}.yaml`));

/** With values that the simulator accepts; the sample's Secrets are those of its command. */
const secretsOf: Text = (cloud) => asText(wholeSpace(cloud).filter(({ kind }) => kind === 'Secret'));

const MANIFESTS: readonly (readonly [string, Text])[] = [
  ['the minimum that each kind accepts', (cloud) => asText([space(cloud), cluster(), user(), database()])],
  ['the sample of a cluster', samples('space', 'cluster')],
  ['the sample of all fields of a cluster', samples('space', 'cluster-complete')],
  ['the example for Argo CD', files('deploy/argocd/databases/space.yaml', 'deploy/argocd/databases/orders.yaml')],
];

const WAYS: readonly (readonly [string, readonly string[]])[] = [
  ['client-side apply', []],
  ['server-side apply', ['--server-side', '--field-manager=argocd-controller']],
];

async function settled(context: TestContext, text: Text, flags: readonly string[]): Promise<[Site, string]> {
  const site = await bench.site(context, { knobs: QUICK });
  const inNamespace = `--namespace=${site.namespace}`;
  await mustKubectl(['apply', inNamespace, '--filename=-'], { input: secretsOf(site.cloud) });
  const input = text(site.cloud);
  await mustKubectl(['apply', inNamespace, '--filename=-', ...flags], { input });
  await mustKubectl(['wait', inNamespace, '--for=condition=Ready', '--timeout=40s', '--all', OURS]);
  return [site, input];
}

interface Live {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly labels?: object;
    readonly annotations?: object;
    readonly managedFields: readonly {
      readonly manager: string;
      readonly fieldsV1: Readonly<Record<string, object>>;
    }[];
  };
  readonly spec: object;
}

async function items(args: readonly string[], input?: string): Promise<readonly Live[]> {
  const shown = JSON.parse(await mustKubectl([...args, '--output=json'], input === undefined ? {} : { input }));
  return (shown as { items?: Live[] }).items ?? [shown as Live];
}

/** How Argo CD and Flux judge each object. */
async function judged(live: readonly Live[]): Promise<readonly (readonly [unknown, string])[]> {
  const script = (kind: string) => readDocument(`${CUSTOMIZATIONS}/${kind}/health.lua`);
  const healths = await runLua(live.map((object) => ({ script: script(object.kind), object })));
  const statuses = await judge(live);
  return healths.map((answer, index) => {
    const health = 'result' in answer ? (answer.result as { status: string }).status : answer.error;
    return [health, statuses[index]?.status ?? ''];
  });
}

describe.concurrent.each(MANIFESTS)('%s', (_, text) => {
  test.for(WAYS)('shows no difference after %s', async ([, flags], context) => {
    const [{ namespace }, input] = await settled(context, text, flags);
    const inNamespace = `--namespace=${namespace}`;
    const diff = await kubectl(['diff', inNamespace, '--filename=-', ...flags], { input });
    expect(diff).toEqual({ code: 0, stdout: '', stderr: '' });

    const again = await items(
      [
        'apply',
        inNamespace,
        '--server-side',
        '--dry-run=server',
        '--filename=-',
        ...flags.slice(1),
        '--force-conflicts',
      ],
      input,
    );
    const told = ({ kind, metadata: { name, labels }, spec }: Live) => ({ kind, name, labels, spec });
    const byName = (all: readonly Live[]) =>
      Object.fromEntries(all.map((each) => [`${each.kind}/${each.metadata.name}`, told(each)]));
    const live = await items(['get', inNamespace, OURS, '--show-managed-fields']);
    expect(byName(again)).toEqual(byName(live));

    expect(await judged(live)).toEqual(live.map(() => ['Healthy', 'Current']));
    for (const { kind, metadata } of live) {
      const others = metadata.managedFields.filter(({ manager }) => !/^(kubectl|argocd)/.test(manager));
      expect([kind, others.length > 0]).toEqual([kind, true]);
      for (const { fieldsV1 } of others) {
        expect(fieldsV1).not.toHaveProperty(['f:spec']);
        expect(Object.keys(fieldsV1['f:metadata'] ?? {})).toEqual(fieldsV1['f:metadata'] ? ['f:finalizers'] : []);
      }
    }
  });
});

test('Nobody waits for a suspended cluster', async (context) => {
  const [site] = await settled(context, (cloud) => asText([space(cloud), cluster({ state: 'Suspended' })]), []);
  const live = await items(['get', `--namespace=${site.namespace}`, 'dbc']);
  expect(await judged(live)).toEqual([['Healthy', 'Current']]);
});

test('Secrets that Mooring writes carry nothing that would make Argo CD prune them', async (context) => {
  const tracked = (manifest: Manifest) => ({
    ...manifest,
    metadata: {
      ...manifest.metadata,
      labels: { 'app.kubernetes.io/instance': 'databases' },
      annotations: { 'argocd.argoproj.io/tracking-id': `databases:${manifest.kind}/${manifest.metadata.name}` },
    },
  });
  const [{ namespace }] = await settled(context, (cloud) => asText([space(cloud), cluster(), user()].map(tracked)), []);
  const selector = '--selector=app.kubernetes.io/managed-by=mooring';
  const secrets = await items(['get', 'secrets', `--namespace=${namespace}`, selector]);
  expect(secrets.map(({ metadata }) => metadata.name).toSorted()).toEqual(['app-connection', 'orders-admin']);
  for (const { metadata } of secrets) {
    expect(Object.keys({ ...metadata.labels, ...metadata.annotations }).join()).not.toMatch(/argocd|instance/);
  }
});

/** Everything at once, with clusters that go, stay and are suspended, and what is on them. */
const WHOLE: Text = (cloud) =>
  asText([
    ...wholeSpace(cloud),
    cluster({ deletionPolicy: 'Delete' }),
    cluster({}, {}, 'kept'),
    cluster({ deletionPolicy: 'Suspend' }, {}, 'asleep'),
    user(),
    database({ deletionPolicy: 'Delete' }),
    user({ clusterRef: { name: 'kept' } }, {}, 'kept-app'),
    database({ clusterRef: { name: 'kept' } }, {}, 'kept-data'),
  ]);

const shuffled =
  (seed: number) =>
  <T>(all: readonly T[]): readonly T[] => {
    const random = createSeededRandom(seed);
    return all
      .map((each) => ({ each, key: random.float() }))
      .toSorted((a, b) => a.key - b.key)
      .map(({ each }) => each);
  };

type Order = (all: readonly string[]) => readonly string[];

const ORDERS: readonly (readonly [string, Order])[] = [
  ['in the order in which it was applied', (all) => all],
  ['in reverse order', (all) => all.toReversed()],
  ['in some order', shuffled(1)],
  ['in some other order', shuffled(2)],
];

describe.concurrent('everything is pruned at once', () => {
  test.for(ORDERS)('%s, and all ends as it should', async ([, order], context) => {
    const [site, text] = await settled(context, WHOLE, []);
    const inNamespace = `--namespace=${site.namespace}`;
    const input = order(text.split('---\n').filter((each) => each !== '')).join('---\n');
    await mustKubectl(['delete', inNamespace, '--wait=false', '--filename=-'], { input });

    const left = async () => (await mustKubectl(['get', inNamespace, `${OURS},secrets`, '--output=name'])).split('\n');
    const ends = async () => (await left()).filter((name) => name !== '' && !name.startsWith('secret/')).length === 0;
    await waitUntil(ends, { what: 'every object is gone' }).catch(async () => expect(await left()).toEqual([]));
    const { simulator } = site.cloud;
    const status = (id: string) => [...simulator.clusters()].find((each) => each.id === id && !each.gone)?.status;
    expect(['orders', 'kept', 'asleep'].map((id) => status(id) ?? 'gone')).toEqual(['gone', 'running', 'suspended']);
    // Logins of clusters that still exist.
    await waitUntil(async () => (await left()).length === 3, { what: 'Secrets that nobody needs are gone' });
    expect((await left()).toSorted()).toEqual(['', 'secret/asleep-admin', 'secret/kept-admin']);
  });
});
