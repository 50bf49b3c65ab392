import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { dump, load, loadAll } from 'js-yaml';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { definitions } from '../../../src/kinds/definitions.ts';
import { waitUntil } from '../../support/control-plane.ts';
import { CHART } from '../../support/helm.ts';
import { cluster, configMap, database, type Manifest, space, user, wholeSpace } from '../../support/manifests.ts';
import { mooringHere } from '../../support/plugin.ts';
import { ROOT, readDocument } from '../../support/readme.ts';
import { type ServedCloud, startCloud } from '../../support/served-cloud.ts';
import { type Flux, MANAGER, NAMESPACE, startFlux } from './flux.ts';

/*
 * What docs/gitops.md says of Flux, with Flux itself, the files in deploy/flux, the chart, and a simulated cloud. Each test goes on
 * where the one before it ended. Started by `npm run integration -- flux`.
 */

const BUILD_MS = 3_600_000;
const OURS = definitions.map(({ plural }) => plural).join();
/** The operator's pod is a process on this machine, and so is the cloud. */
const VALUES = {
  allowHTTP: true,
  allowedNetworks: ['127.0.0.0/8'],
  leaderElection: { leaseDuration: '5s', renewDeadline: '4s', retryPeriod: '1s' },
};
const SHOP = '--namespace=shop';

let cloud: ServedCloud;
let flux: Flux;

beforeAll(async () => {
  cloud = await startCloud({ knobs: { provisionMs: [300, 300], suspendMs: [200, 200], destroyMs: [200, 200] } });
  flux = await startFlux();
}, BUILD_MS);

afterAll(async () => {
  await flux?.stop();
  await cloud?.close();
});

type Files = Readonly<Record<string, string | undefined>>;

const text = (...manifests: readonly object[]) => manifests.map((manifest) => `---\n${dump(manifest)}`).join('');
const inNamespace = (namespace: string, manifest: Manifest) => ({
  ...manifest,
  metadata: { ...manifest.metadata, namespace },
});

/** A file of deploy/flux, with repositories that exist, and other values. */
function fromDeploy(name: string, values: object = {}): string {
  const known = readDocument(`deploy/flux/${name}`).replaceAll(
    /https:\/\/git\.example\.com\/\w+\/(\w+)\.git/g,
    (_, repository: string) => flux.git.url(repository),
  );
  const documents = loadAll(known) as { kind: string; spec: { values?: object } }[];
  for (const { kind, spec } of documents)
    if (kind === 'HelmRelease') spec.values = { ...spec.values, ...VALUES, ...values };
  return text(...documents);
}

function kustomization(name: string, repository: string, spec: object = {}): object {
  const sourceRef = { kind: 'GitRepository', name: repository };
  return {
    apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
    kind: 'Kustomization',
    metadata: { name, namespace: NAMESPACE },
    spec: { interval: '10m', timeout: '2m', path: `./${name}`, prune: true, wait: true, sourceRef, ...spec },
  };
}

const SCHEMA = 'define\nentity order, owns customer;\nattribute customer, value string;\n';
const GENERATOR = `resources: [objects.yaml]
components: [kustomize]
configMapGenerator:
  - name: schema
    files: [base.tql]
`;
const DATABASE = database({ schema: [{ configMapKeyRef: { name: 'schema', key: 'base.tql' } }] });

const commit = (files: Files) => flux.git.commit('databases', files);
const put = (...manifests: readonly object[]) => commit({ 'databases/objects.yaml': text(...manifests) });
const applied = async (hash: string) => flux.synced('databases', 'databases', hash);

/** Of each object and Secret there, what changes with each write. */
async function versions(): Promise<readonly string[]> {
  const shown = await flux.kubectl('get', `${OURS},secrets,configmaps`, SHOP, '--output=json');
  const { items } = JSON.parse(shown) as { items: { kind: string; metadata: Record<string, string> }[] };
  return items.map(
    ({ kind, metadata }) => `${kind}/${metadata['name']} ${metadata['uid']} ${metadata['resourceVersion']}`,
  );
}

const get = (what: string, path: string, ...flags: readonly string[]) =>
  flux.kubectl('get', ...what.split(' '), SHOP, `--output=jsonpath={${path}}`, ...flags);

const READY = '.status.conditions[?(@.type=="Ready")]';
const found = (id: string) => [...cloud.simulator.clusters()].find((each) => each.id === id && !each.gone);
const inCloud = (id: string) => found(id)?.status;
const createdAt = (id: string) => found(id)?.createdAt;

test('The chart and the databases that depend on it are applied from Git, and all is Ready', async () => {
  cpSync(CHART, join(flux.git.tree('mooring'), 'charts/mooring'), { recursive: true });
  await flux.git.commit('mooring', {});
  const fleet = await flux.git.commit('fleet', { 'mooring/mooring.yaml': fromDeploy('mooring.yaml') });
  const component = ['kustomization.yaml', 'references.yaml'].map((name) => [
    `databases/kustomize/${name}`,
    readFileSync(join(ROOT, 'deploy/kustomize', name), 'utf8'),
  ]);
  await commit({
    ...Object.fromEntries(component),
    'databases/kustomization.yaml': GENERATOR,
    'databases/base.tql': SCHEMA,
  });
  const databases = await put(space(cloud), cluster(), user(), DATABASE);

  await flux.kubectl('create', 'namespace', 'shop');
  const secrets = wholeSpace(cloud).filter(({ kind }) => kind === 'Secret');
  await flux.apply(text(...secrets.map((secret) => inNamespace('shop', secret))));
  const source = { interval: '1m', url: flux.git.url('fleet'), ref: { branch: 'main' } };
  const metadata = { name: 'fleet', namespace: NAMESPACE };
  await flux.apply(
    text({ apiVersion: 'source.toolkit.fluxcd.io/v1', kind: 'GitRepository', metadata, spec: source }) +
      text(kustomization('mooring', 'fleet')) +
      fromDeploy('databases.yaml'),
  );
  await flux.synced('mooring', 'fleet', fleet);
  await applied(databases);
  expect(inCloud('orders')).toBe('running');
  expect(await get('databases orders', `${READY}.reason`)).toBe('DatabaseReady');
});

test('Nothing differs from Git or from the chart, and nothing is written when Flux looks again', async () => {
  const before = await versions();
  for (let time = 0; time < 2; time++) await flux.reconcile('kustomization', 'databases');
  await flux.reconcile('helmrelease', 'mooring');
  expect(await versions()).toEqual(before);
  const drifted = '.status.conditions[?(@.type=="Drifted")].status';
  expect(await get('helmrelease mooring', drifted, `--namespace=${NAMESPACE}`)).toBe('False');
  const shown = await flux.kubectl('get', 'databaseclusters', 'orders', SHOP, '--show-managed-fields', '--output=json');
  const { metadata } = JSON.parse(shown) as {
    metadata: { finalizers: string[]; managedFields: { manager: string; fieldsV1: object }[] };
  };
  expect(metadata.finalizers).toEqual(['mooring.dev/cluster']);
  const ofFlux = metadata.managedFields.filter(({ manager }) => manager === 'kustomize-controller');
  expect(ofFlux.map(({ fieldsV1 }) => Object.keys(fieldsV1))).toEqual([['f:metadata', 'f:spec']]);
  expect(JSON.stringify(ofFlux)).not.toContain('finalizers');
});

test('Changes in Git are made, and new objects on a cluster that is suspended hold nothing up', async () => {
  await applied(await put(space(cloud), cluster({ storageSizeGB: 200, state: 'Suspended' }), user(), DATABASE));
  expect(await get('databaseclusters orders', '.status.observed.storageSizeGB')).toBe('200');
  expect(inCloud('orders')).toBe('suspended');
  await applied(
    await put(
      space(cloud),
      cluster({ state: 'Suspended', storageSizeGB: 200 }),
      user(),
      user({}, {}, 'late'),
      DATABASE,
    ),
  );
  expect(await get('databaseusers late', `${READY}.status`)).toBe('Unknown');
  await applied(await put(space(cloud), cluster({ storageSizeGB: 200 }), user(), user({}, {}, 'late'), DATABASE));
  expect(await get('databaseusers late', `${READY}.reason`)).toBe('LoginWorks');
});

test('Flux fails at once if a schema in a generated ConfigMap is refused, and is ready once it is applied', async () => {
  const broken = await commit({ 'databases/base.tql': `${SCHEMA}attribute total, value nonsense;\n` });
  expect(await flux.refused('databases', 'databases', broken)).toContain('stalled resources: [Database/shop/orders');
  await applied(await commit({ 'databases/base.tql': `${SCHEMA}attribute total, value double;\n` }));
  expect(await get('databases orders', `${READY}.reason`)).toBe('DatabaseReady');
});

describe('What a person sets', () => {
  const paused = () => get('databaseclusters orders', String.raw`.metadata.annotations.mooring\.dev/paused`);
  const plugin = async (...args: readonly string[]) => {
    const { code, stderr } = await mooringHere('shop', args, flux.controlPlane.kubeconfig);
    expect([code, stderr]).toEqual([0, expect.any(String)]);
  };

  test('with kubectl is undone', async () => {
    await flux.kubectl('annotate', 'databaseclusters', 'orders', SHOP, 'mooring.dev/paused=true');
    const suspended = JSON.stringify({ spec: { state: 'Suspended' } });
    await flux.kubectl('patch', 'databaseclusters', 'orders', SHOP, '--type=merge', `--patch=${suspended}`);
    await flux.reconcile('kustomization', 'databases');
    expect([await paused(), await get('databaseclusters orders', '.spec.state')]).toEqual(['', 'Running']);
  });

  test(`with kubectl --field-manager=${MANAGER} stays`, async () => {
    const annotation = ['mooring.dev/paused=true', `--field-manager=${MANAGER}`];
    await flux.kubectl('annotate', 'databaseclusters', 'orders', SHOP, ...annotation);
    await flux.reconcile('kustomization', 'databases');
    expect(await paused()).toBe('true');
  });

  test('with kubectl mooring stays, whatever else changes in Git', async () => {
    await plugin('unpause', 'databasecluster/orders');
    await plugin('suspend', 'databasecluster/orders');
    await applied(await put(space(cloud), cluster({ storageSizeGB: 300 }), user(), DATABASE));
    expect(inCloud('orders')).toBe('suspended');
    expect(await get('databaseclusters orders', '.status.observed.storageSizeGB')).toBe('300');
    await plugin('resume', 'databasecluster/orders');
  });

  test('stays in spite of Git in the field that the example tells Flux to ignore', async () => {
    const [, example = ''] = /^## Flux$[\s\S]*?```yaml\n([\s\S]*?)```/m.exec(readDocument('docs/gitops.md')) ?? [];
    const inFlux = [`--namespace=${NAMESPACE}`, '--type=merge', `--patch=${JSON.stringify(load(example))}`];
    await applied(await put(space(cloud), cluster({ storageSizeGB: 300, state: 'Running' }), user(), DATABASE));
    await flux.kubectl('patch', 'kustomization', 'databases', ...inFlux);
    await plugin('suspend', 'databasecluster/orders');
    await applied(await put(space(cloud), cluster({ storageSizeGB: 400, state: 'Running' }), user(), DATABASE));
    expect(inCloud('orders')).toBe('suspended');
    await plugin('resume', 'databasecluster/orders');
  });
});

describe('The chart', () => {
  const replicas = () => get('deployments mooring', '.spec.replicas', '--namespace=mooring-system');

  test('Flux puts back what kubectl has changed', async () => {
    await flux.kubectl('scale', 'deployment', 'mooring', '--replicas=0', '--namespace=mooring-system');
    await flux.reconcile('helmrelease', 'mooring');
    await waitUntil(async () => (await replicas()) === '1', { what: 'Flux has scaled it up again' });
  });

  test('is uninstalled and installed again, and every object stays as it was', async () => {
    const before = await versions();
    const removed = await flux.git.commit('fleet', {
      'mooring/mooring.yaml': text({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'none', namespace: NAMESPACE },
      }),
    });
    await flux.synced('mooring', 'fleet', removed);
    const isGone = async () =>
      (await flux.kubectl('get', 'pods', '--namespace=mooring-system', '--output=name')) === '';
    await waitUntil(isGone, { what: 'the operator is gone', timeoutMs: 60_000 });
    const again = await flux.git.commit('fleet', { 'mooring/mooring.yaml': fromDeploy('mooring.yaml') });
    await flux.synced('mooring', 'fleet', again);
    await flux.reconcile('kustomization', 'databases');
    expect(await versions()).toEqual(before);
  });
});

test('An object that Flux may not prune keeps its cluster when it moves to another Kustomization', async () => {
  const stays = { 'kustomize.toolkit.fluxcd.io/prune': 'disabled' };
  const moving = text(cluster({}, stays, 'moving'));
  const none = text(configMap('none', {}));
  const first = await commit({ 'left/objects.yaml': moving, 'right/objects.yaml': none });
  for (const name of ['left', 'right'])
    await flux.apply(text(kustomization(name, 'databases', { targetNamespace: 'shop' })));
  await flux.synced('left', 'databases', first);
  const uid = await get('databaseclusters moving', '.metadata.uid');
  const second = await commit({ 'left/objects.yaml': none, 'right/objects.yaml': moving });
  for (const name of ['left', 'right']) await flux.synced(name, 'databases', second);
  expect(await get('databaseclusters moving', '.metadata.uid')).toBe(uid);
  expect(await get('databaseclusters moving', `${READY}.reason`)).toBe('Running');
});

describe('force: true', () => {
  const wrong = { region: 'europ-west2' };
  const forced = (spec: Readonly<Record<string, unknown>>) =>
    commit({ 'forced/cluster.yaml': text(cluster(spec, {}, 'forced')) });

  test('removes an object that the API server refuses, and its cluster stays and can be taken over', async () => {
    const first = await forced({});
    await flux.apply(text(kustomization('forced', 'databases', { force: true, targetNamespace: 'shop' })));
    await flux.synced('forced', 'databases', first);
    const uid = await get('databaseclusters forced', '.metadata.uid');
    const created = createdAt('forced');
    expect(await flux.refused('forced', 'databases', await forced(wrong))).toContain('is not offered');
    expect(await get('databaseclusters forced --ignore-not-found', '.metadata.uid')).toBe('');
    expect(await flux.refused('forced', 'databases', await forced({}))).toContain('stalled resources');
    expect(await get('databaseclusters forced', `${READY}.reason`)).toBe('ClusterIDInUse');
    await flux.synced('forced', 'databases', await forced({ adoptionPolicy: 'IfExists' }));
    expect(await get('databaseclusters forced', '.metadata.uid')).not.toBe(uid);
    expect(createdAt('forced')).toBe(created);
  });

  test('destroys a cluster with deletionPolicy Delete because of a misspelling', async () => {
    await flux.synced('forced', 'databases', await forced({ adoptionPolicy: 'IfExists', deletionPolicy: 'Delete' }));
    expect(await flux.refused('forced', 'databases', await forced({ ...wrong, deletionPolicy: 'Delete' }))).toContain(
      'is not offered',
    );
    expect(inCloud('forced')).toBeUndefined();
  });

  test('does not get past deletionProtection', async () => {
    await flux.synced('forced', 'databases', await forced({ deletionPolicy: 'Delete', deletionProtection: true }));
    await forced({ ...wrong, deletionPolicy: 'Delete', deletionProtection: true });
    await flux.reconcile('gitrepository', 'databases');
    const reason = async () => (await get('databaseclusters forced', `${READY}.reason`)) === 'DeletionProtected';
    await waitUntil(reason, { what: 'deletion waits', timeoutMs: 60_000 });
    const abandon = ['mooring.dev/abandon=true', `--field-manager=${MANAGER}`];
    await flux.kubectl('annotate', 'databaseclusters', 'forced', SHOP, ...abandon);
    await flux.synced('forced', 'databases', await forced({ adoptionPolicy: 'IfExists' }));
    expect(inCloud('forced')).toBe('running');
  });
});

test('Everything is pruned at once, Secrets too, and each cluster is treated as its deletionPolicy says', async () => {
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } };
  const objects = [
    ...wholeSpace(cloud),
    cluster({ deletionPolicy: 'Delete' }, {}, 'gone'),
    cluster({}, {}, 'kept'),
    user({ clusterRef: { name: 'gone' } }),
    user({ clusterRef: { name: 'kept' } }, {}, 'other'),
    database({ clusterRef: { name: 'kept' }, deletionPolicy: 'Delete' }),
  ].map((manifest) => inNamespace('team', manifest));
  const all = await commit({ 'all/objects.yaml': text(namespace, ...objects) });
  await flux.apply(text(kustomization('all', 'databases')));
  await flux.synced('all', 'databases', all);
  await flux.synced('all', 'databases', await commit({ 'all/objects.yaml': text(namespace) }));
  const left = () => flux.kubectl('get', `${OURS},secrets`, '--namespace=team', '--output=name');
  const isOver = async () => (await left()) === 'secret/kept-admin\n';
  await waitUntil(isOver, { what: 'only the login of the cluster that stays is left', timeoutMs: 60_000 });
  expect([inCloud('gone'), inCloud('kept')]).toEqual([undefined, 'running']);
});
