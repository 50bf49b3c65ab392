import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { waitUntil } from '../../support/control-plane.ts';
import { type Application, NAMESPACE, startWorld, type World } from './world.ts';

/*
 * Argo CD itself, with Mooring's chart and databases from Git, as docs/gitops.md says. The tests follow each other: each goes
 * on from where the one before it ended. Only `npm run integration -- argocd` runs them, as building Argo CD takes minutes.
 */

let world: World;

beforeAll(async () => {
  world = await startWorld();
  await world.begin();
});

afterAll(() => world?.stop());

const isWell = (application: Application | undefined) =>
  application?.sync === 'Synced' && application.health === 'Healthy' && application.phase === 'Succeeded';
const isAt = (revision: string) => (application: Application | undefined) =>
  isWell(application) && application?.synced === revision;

async function field(object: string, path: string): Promise<string> {
  return world.kubectl('get', object, `--namespace=${NAMESPACE}`, `--output=jsonpath={${path}}`);
}
const state = () => field('databasecluster/orders', '.status.state');
const patchApplication = (name: string, spec: object) =>
  world.kubectl(
    'patch',
    'application',
    name,
    '--namespace=argocd',
    '--type=merge',
    `--patch=${JSON.stringify({ spec })}`,
  );
const action = (name: string, kind = 'DatabaseCluster', object = 'orders') =>
  world.argocd('app', 'actions', 'run', 'databases', name, `--kind=${kind}`, `--resource-name=${object}`);

const LATE = `---
apiVersion: mooring.dev/v1alpha1
kind: DatabaseUser
metadata:
  name: late
  annotations:
    argocd.argoproj.io/sync-wave: "2"
spec:
  clusterRef:
    name: orders
`;

describe('Mooring below Argo CD', () => {
  test('The chart is in sync and healthy, with its CustomResourceDefinitions', async () => {
    await world.until('mooring', 'the chart is installed', isWell);
    const tree = await world.argocd('app', 'get', 'mooring', '--output=tree');
    expect(tree.match(/CustomResourceDefinition\/\S+ +Synced/g)).toHaveLength(4);
  });

  test('Waves wait: users are created when their cluster is Ready', async () => {
    await world.until('databases', 'all objects are there', isWell);
    const readySince = await field(
      'databasecluster/orders',
      '.status.conditions[?(@.type=="Ready")].lastTransitionTime',
    );
    const created = await field('databaseuser/orders-app', '.metadata.creationTimestamp');
    expect(Date.parse(created)).toBeGreaterThanOrEqual(Date.parse(readySince));
    const tree = await world.argocd('app', 'get', 'databases', '--output=tree');
    expect(tree).toMatch(/DatabaseUser\/orders-app +Synced +Healthy.*\n└─Secret\/orders-app-connection/);
  });

  test('Nothing is written while nothing changes, whichever way Argo CD compares', async () => {
    const before = await world.versions();
    for (const serverSide of ['true', 'false']) {
      const options = `argocd.argoproj.io/compare-options=ServerSideDiff=${serverSide}`;
      await world.kubectl('annotate', 'application/databases', '--namespace=argocd', '--overwrite', options);
      await world.refresh('databases', 'hard');
      const taken = () =>
        world.kubectl(
          'get',
          'application/databases',
          '--namespace=argocd',
          '--output=jsonpath={.metadata.annotations}',
        );
      await waitUntil(async () => !(await taken()).includes('refresh'), { what: 'Argo CD has compared' });
      await world.until('databases', 'all is in sync', isWell);
    }
    expect(await world.versions()).toEqual(before);
  });

  test('A commit suspends the cluster, others are applied meanwhile, and one resumes it', async () => {
    const suspended = await world.edit('orders.yaml', (text) => text.replace('spec:\n', 'spec:\n  state: Suspended\n'));
    await world.until('databases', 'the operation ends while the cluster is suspended', isAt(suspended));
    expect(await state()).toBe('suspended');
    const added = await world.edit('orders.yaml', (text) => `${text}${LATE}`);
    await world.until('databases', 'the operation does not wait for what is new on the cluster', isAt(added));
    const resumed = await world.edit('orders.yaml', (text) => text.replace('state: Suspended', 'state: Running'));
    await world.until('databases', 'the cluster is resumed', isAt(resumed));
    expect(await state()).toBe('running');
    const reason = () => field('databaseuser/late', '.status.conditions[?(@.type=="Ready")].reason');
    await waitUntil(async () => (await reason()) === 'LoginWorks', { what: 'the new user is created' });
  });

  test('Actions suspend and resume the cluster, and selfHeal does not undo that', async () => {
    await patchApplication('databases', {
      ignoreDifferences: [{ group: 'mooring.dev', kind: 'DatabaseCluster', jsonPointers: ['/spec/state'] }],
      syncPolicy: {
        syncOptions: [
          'CreateNamespace=true',
          'ServerSideApply=true',
          'PruneLast=true',
          'RespectIgnoreDifferences=true',
        ],
      },
    });
    await action('suspend');
    await waitUntil(async () => (await state()) === 'suspended', { what: 'the cluster is suspended' });
    const other = await world.edit('orders.yaml', (text) => text.replace('storageSizeGB: 100', 'storageSizeGB: 120'));
    await world.until('databases', 'another commit is applied', isAt(other));
    expect([await state(), await field('databasecluster/orders', '.spec.state')]).toEqual(['suspended', 'Suspended']);
    await action('resume');
    await waitUntil(async () => (await state()) === 'running', { what: 'the cluster runs' });
  });

  test('Actions replace a password', async () => {
    const before = await field('databaseuser/orders-app', '.status.lastRotation');
    await action('rotate', 'DatabaseUser', 'orders-app');
    const isReplaced = async () => (await field('databaseuser/orders-app', '.status.lastRotation')) !== before;
    await waitUntil(isReplaced, { what: 'the password is replaced' });
    await world.until('databases', 'all is in sync', isWell);
  });

  test('An object that is replaced keeps its finalizer and its cluster', async () => {
    await patchApplication('databases', { syncPolicy: { syncOptions: ['Replace=true'] } });
    const revision = await world.edit('orders.yaml', (text) =>
      text.replace('storageSizeGB: 120', 'storageSizeGB: 130'),
    );
    await world.until('databases', 'the objects are replaced', isAt(revision));
    const finalizers = () => field('databasecluster/orders', '.metadata.finalizers');
    await waitUntil(async () => (await finalizers()).includes('mooring.dev/cluster'), {
      what: 'the finalizer is back',
    });
    expect([world.cloud.tookEffect('deploy'), world.cloud.tookEffect('destroy')]).toEqual([1, 0]);
  });

  test('A cluster that Git no longer has is pruned when somebody confirms that, and stays in the cloud', async () => {
    const removed = await world.edit('orders.yaml', () => '');
    const waits = 'waiting for pruning confirmation of mooring.dev/DatabaseCluster/orders';
    await world.until('databases', waits, (application) => application?.message === waits);
    expect(await state()).toBe('running');
    await world.argocd('app', 'confirm-deletion', 'databases');
    await world.until('databases', 'its protection is in the way', (application) => application?.health === 'Degraded');
    await world.kubectl(
      'patch',
      'databasecluster/orders',
      `--namespace=${NAMESPACE}`,
      '--type=merge',
      '--patch={"spec":{"deletionProtection":false}}',
    );
    await world.until('databases', 'the objects are pruned', isAt(removed));
    expect(world.cloud.tookEffect('destroy')).toBe(0);
  });

  test('CustomResourceDefinitions stay if the chart leaves them out, and if the Application is deleted', async () => {
    const crds = async () => (await world.kubectl('get', 'crds', '--output=name')).match(/mooring\.dev/g)?.length;
    await patchApplication('mooring', { source: { helm: { valuesObject: { crds: { install: false } } } } });
    const isLeftOut = (application: Application | undefined) =>
      isWell(application) && !application?.resources.some(({ kind }) => kind === 'CustomResourceDefinition');
    await world.until('mooring', 'the chart has no definitions', isLeftOut);
    expect(await crds()).toBe(4);
    for (const name of ['databases', 'mooring']) {
      await world.argocd('app', 'delete', name, '--yes');
      await world.until(name, `${name} is gone`, (application) => application === undefined);
    }
    expect(await crds()).toBe(4);
    const left = (await world.versions()).filter((name) => !name.startsWith('Secret/'));
    expect(left).toEqual([]);
  });
});
