import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { waitUntil } from '../support/control-plane.ts';
import { cluster, factorySecret, space, tokenSecret, wholeSpace } from '../support/manifests.ts';
import { type OperatorBench, startBench, type TestContext } from '../support/operator-bench.ts';
import { clustersIn } from '../support/simulator.ts';
import type { Site } from '../support/site.ts';

/* Deleting the object does to the cluster what its owner said, and never more. */

let bench: OperatorBench;

beforeAll(async () => {
  bench = await startBench(10);
});

afterAll(() => bench?.close());

async function settled(context: TestContext, spec: Record<string, unknown>): Promise<Site> {
  const site = await bench.site(context);
  await site.apply(...wholeSpace(site.cloud), cluster(spec));
  await site.ready();
  return site;
}

function clusters({ cloud }: Site) {
  return clustersIn(cloud.simulator);
}

describe.concurrent('deleting the object', () => {
  test('with Retain leaves the cluster and its Secret', async (context) => {
    const site = await settled(context, {});
    const before = await site.secret();
    await site.remove('DatabaseCluster', 'orders');
    await site.gone('DatabaseCluster');
    expect(clusters(site)).toMatchObject([{ id: 'orders', status: 'running' }]);
    expect(await site.secret()).toEqual(before);
    expect(site.cloud.simulator.count('destroy')).toBe(0);
  });

  test('with Suspend suspends the cluster, and leaves the Secret', async (context) => {
    const site = await settled(context, { deletionPolicy: 'Suspend' });
    await site.remove('DatabaseCluster', 'orders');
    await site.gone('DatabaseCluster');
    expect(clusters(site)).toMatchObject([{ id: 'orders', status: 'suspended' }]);
    expect(await site.secret()).toBeDefined();
  });

  test('with Delete destroys the cluster, and its Secret goes with it', async (context) => {
    const site = await settled(context, { deletionPolicy: 'Delete' });
    site.cloud.simulator.setKnobs({ destroyMs: [700, 700] });
    await site.remove('DatabaseCluster', 'orders');
    await site.until('DatabaseCluster', { status: 'Unknown', reason: 'Destroying' });
    await site.gone('DatabaseCluster');
    expect(clusters(site)).toEqual([]);
    expect(await site.secret()).toBeUndefined();
    expect(site.cloud.simulator.count('destroy')).toBe(1);
  });

  test('with Delete and no token of level admin is blocked visibly until there is one', async (context) => {
    const site = await bench.site(context);
    const apiTokens = [{ level: 'write', secretRef: { name: 'cloud-write' } }];
    await site.apply(
      tokenSecret('write'),
      factorySecret(site.cloud),
      space(site.cloud, { apiTokens }),
      cluster({ deletionPolicy: 'Delete' }),
    );
    await site.ready();
    await site.remove('DatabaseCluster', 'orders');
    await site.until('DatabaseCluster', {
      status: 'False',
      reason: 'DeletionBlocked',
      message: /level admin.*mooring.dev\/abandon=true/,
    });
    expect(clusters(site)).toMatchObject([{ id: 'orders', status: 'running' }]);

    await site.apply(tokenSecret('admin'), space(site.cloud));
    await site.gone('DatabaseCluster');
    expect(clusters(site)).toEqual([]);
  });

  test('waits while deletionProtection is true', async (context) => {
    const site = await settled(context, { deletionPolicy: 'Delete', deletionProtection: true });
    await site.remove('DatabaseCluster', 'orders');
    await site.until('DatabaseCluster', { status: 'False', reason: 'DeletionProtected', message: /set it to false/ });
    expect(clusters(site)).toMatchObject([{ id: 'orders', status: 'running' }]);
    await site.apply(cluster({ deletionPolicy: 'Delete', deletionProtection: false }));
    await site.gone('DatabaseCluster');
    expect(clusters(site)).toEqual([]);
  });

  test('waits while it is paused', async (context) => {
    const site = await settled(context, { deletionPolicy: 'Delete' });
    await site.annotate('orders', { 'mooring.dev/paused': 'true' });
    await site.remove('DatabaseCluster', 'orders');
    await site.until('DatabaseCluster', { status: 'Unknown', reason: 'Paused', message: /destroy cluster "orders"/ });
    expect(site.cloud.simulator.count('destroy')).toBe(0);
    await site.annotate('orders', {});
    await site.gone('DatabaseCluster');
    expect(clusters(site)).toEqual([]);
  });

  test('with the annotation to abandon it leaves the cluster as it is', async (context) => {
    const site = await settled(context, { deletionPolicy: 'Delete', deletionProtection: true });
    await site.remove('DatabaseCluster', 'orders');
    await site.until('DatabaseCluster', { reason: 'DeletionProtected' });
    await site.annotate('orders', { 'mooring.dev/abandon': 'true' });
    await site.gone('DatabaseCluster');
    expect(clusters(site)).toMatchObject([{ id: 'orders', status: 'running' }]);
    expect(await site.secret()).toBeDefined();
  });

  test('with Delete during a deploy destroys what was deployed', async (context) => {
    const site = await bench.site(context, { knobs: { provisionMs: [1_500, 1_500] } });
    await site.apply(...wholeSpace(site.cloud), cluster({ deletionPolicy: 'Delete' }));
    await waitUntil(() => site.cloud.tookEffect('deploy') === 1, { what: 'it is deployed' });
    await site.remove('DatabaseCluster', 'orders');
    await site.gone('DatabaseCluster');
    expect(clusters(site)).toEqual([]);
    expect(await site.secret()).toBeUndefined();
  });

  test('with Delete leaves a cluster alone that replaced ours', async (context) => {
    const site = await settled(context, { deletionPolicy: 'Delete' });
    site.cloud.simulator.replaceCluster('orders');
    await site.until('DatabaseCluster', { status: 'False', reason: 'IdentityChanged' });
    await site.remove('DatabaseCluster', 'orders');
    await site.gone('DatabaseCluster');
    expect(clusters(site)).toMatchObject([{ id: 'orders', status: 'running' }]);
    expect(site.cloud.simulator.count('destroy')).toBe(0);
  });
});
