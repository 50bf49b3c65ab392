import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { kubectl, mustKubectl, waitUntil } from '../support/control-plane.ts';
import { type Desk, type KubectlBench, startKubectlBench } from '../support/kubectl-bench.ts';

/* The real namespace controller deletes whole namespaces: that always ends, and does to clusters what their policies say. */

// The namespace controller is slow.
vi.setConfig({ testTimeout: 120_000 });

let bench: KubectlBench;

beforeAll(async () => {
  bench = await startKubectlBench(9, 3);
});

afterAll(() => bench?.close());

type Context = Parameters<KubectlBench['desk']>[0];

const POLICIES = ['Retain', 'Suspend', 'Delete'] as const;

/** Creates a cluster for each policy, all Ready. */
async function threeClusters(desk: Desk, spaceRef: object = { name: 'production' }): Promise<void> {
  const name = (policy: string) => `${desk.id}-${policy.toLowerCase()}`;
  await desk.apply(
    ...POLICIES.map((deletionPolicy) => desk.cluster({ deletionPolicy, spaceRef }, name(deletionPolicy))),
  );
  for (const policy of POLICIES) await desk.ready(name(policy));
}

async function deleted(...namespaces: readonly string[]): Promise<void> {
  await mustKubectl(['delete', 'namespace', ...namespaces, '--wait=false']);
  for (const namespace of namespaces) await isGone(namespace);
}

async function isGone(namespace: string): Promise<void> {
  const gone = async () => (await kubectl(['get', 'namespace', namespace, '--output=name'])).code !== 0;
  await waitUntil(gone, { what: `namespace ${namespace} is gone`, timeoutMs: 80_000 }).catch(async (error: unknown) => {
    const left = await kubectl(['get', 'mooring,secrets', `--namespace=${namespace}`, '--output=yaml']);
    throw new Error(`${String(error)}\n${left.stdout.slice(0, 6_000)}`);
  });
}

/** Expects that each policy was carried out. */
async function clustersAre(desk: Desk): Promise<void> {
  expect(await desk.cloud.cluster(`${desk.id}-retain`)).toMatchObject({ status: 'running' });
  expect(await desk.cloud.cluster(`${desk.id}-suspend`)).toMatchObject({ status: 'suspended' });
  expect(await desk.cloud.cluster(`${desk.id}-delete`)).toBeUndefined();
}

async function begin(context: Context): Promise<Desk> {
  const desk = await bench.desk(context);
  await desk.apply(...desk.cloud.manifests(desk.spaceID));
  await threeClusters(desk);
  return desk;
}

describe.concurrent('a namespace is deleted', () => {
  test('with space, Secrets and clusters of every policy', async (context) => {
    const desk = await begin(context);
    await deleted(desk.namespace);
    await clustersAre(desk);
  });

  test('after its Secrets: they stay as long as they are needed', async (context) => {
    const desk = await begin(context);
    await desk.kubectl('delete', 'secret', '--all', '--wait=false');
    await deleted(desk.namespace);
    await clustersAre(desk);
  });

  test('after its space: it stays as long as it is needed', async (context) => {
    const desk = await begin(context);
    await desk.kubectl('delete', 'databasespace', 'production', '--wait=false');
    await desk.until('DatabaseSpace', { status: 'Unknown', reason: 'InUse', message: new RegExp(`${desk.id}-delete`) });
    await deleted(desk.namespace);
    await clustersAre(desk);
  });

  test('while one of its clusters is being deployed', async (context) => {
    const desk = await bench.desk(context, ['--provision-time=1500ms']);
    await desk.begin({ deletionPolicy: 'Delete' });
    await waitUntil(async () => (await desk.cloud.cluster(desk.id)) !== undefined, { what: 'it is being deployed' });
    await deleted(desk.namespace);
    expect(await desk.cloud.cluster(desk.id)).toBeUndefined();
  });

  test('whose space has no token that could destroy: that is reported, and the owner abandons the clusters', async (context) => {
    const desk = await bench.desk(context);
    const apiTokens = [{ level: 'write', secretRef: { name: 'cloud-write' } }];
    await desk.begin({ deletionPolicy: 'Delete' }, { apiTokens });
    await desk.ready();
    const { status } = await desk.until('DatabaseSpace', { status: 'True' });
    // Before anybody tries.
    expect(status?.conditions?.find(({ type }) => type === 'CredentialsValid')?.message).toMatch(/none of level admin/);
    await mustKubectl(['delete', 'namespace', desk.namespace, '--wait=false']);
    await desk.until('DatabaseCluster', {
      status: 'False',
      reason: 'DeletionBlocked',
      message: /level admin.*abandon=true/,
    });
    await desk.annotate(desk.id, { 'mooring.dev/abandon': 'true' });
    await isGone(desk.namespace);
    expect(await desk.cloud.cluster(desk.id)).toMatchObject({ status: 'running' });
  });

  test('whose space never worked, and whose clusters were never created', async (context) => {
    const desk = await bench.desk(context);
    await desk.apply(desk.cluster({ deletionPolicy: 'Delete' }), ...desk.cloud.manifests('no-such-space').slice(-1));
    await desk.until('DatabaseSpace', { reason: 'SecretNotFound' });
    await deleted(desk.namespace);
  });

  const both = [
    'the one with the space goes first',
    'the one with the clusters goes first',
    'both go at once',
  ] as const;

  test.for(both)('and a second one: the space is in one, the clusters are in the other; %s', async (which, context) => {
    const desk = await bench.desk(context);
    const platform = await bench.platform();
    const items = desk.cloud.manifests(desk.spaceID, { allowedNamespaces: { from: 'All' } });
    const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
    await mustKubectl(['apply', `--namespace=${platform}`, '--filename=-'], { input: list });
    await threeClusters(desk, { name: 'production', namespace: platform });

    const [first = '', second = ''] = which.includes('space') ? [platform, desk.namespace] : [desk.namespace, platform];
    if (which === 'both go at once') await deleted(desk.namespace, platform);
    else if (first === platform) {
      await mustKubectl(['delete', 'namespace', platform, '--wait=false']);
      const inUse = async () =>
        (await mustKubectl(['get', 'dbs', `--namespace=${platform}`, '--output=jsonpath={..reason}'])).includes(
          'InUse',
        );
      await waitUntil(inUse, { what: 'the space waits for the clusters' });
      await deleted(second);
      await isGone(platform);
    } else {
      await deleted(first);
      await deleted(second);
    }
    await clustersAre(desk);
  });
});
