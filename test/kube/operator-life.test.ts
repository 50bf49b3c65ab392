import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { waitUntil } from '../support/control-plane.ts';
import { cluster, secret, space, wholeSpace } from '../support/manifests.ts';
import { type OperatorBench, startBench, type TestContext } from '../support/operator-bench.ts';
import { clusterNamed } from '../support/simulator.ts';
import { conditionOf, type Site } from '../support/site.ts';

/* Changes of a Ready cluster, by its owner and by others. */

let bench: OperatorBench;

beforeAll(async () => {
  bench = await startBench(21);
});

afterAll(() => bench?.close());

/** A site with a Ready cluster. */
async function settled(context: TestContext, spec: Record<string, unknown> = {}): Promise<Site> {
  const site = await bench.site(context);
  await site.apply(...wholeSpace(site.cloud), cluster(spec));
  await site.ready();
  return site;
}

/** The cluster in the cloud. */
function inCloud({ cloud }: Site, id = 'orders') {
  return clusterNamed(cloud.simulator, id);
}

/** Waits for a List that begins after this call. */
async function lookedAgain({ cloud }: Site): Promise<void> {
  const before = cloud.simulator.count('list');
  await waitUntil(() => cloud.simulator.count('list') >= before + 2, { what: 'two more Lists' });
}

describe.concurrent('changes of the spec', () => {
  test('of storage are one update, of that field', async (context) => {
    const site = await settled(context);
    await site.apply(cluster({ storageSizeGB: 200 }));
    const { status } = await site.until('DatabaseCluster', { status: 'True' });
    expect(status?.observed).toMatchObject({ storageSizeGB: 200, machineType: 'c2d-highcpu-4' });
    expect(site.cloud.sent('PATCH /clusters/orders')).toEqual([{ storageSizeGB: 200 }]);
    expect(inCloud(site)).toMatchObject({ storageSizeGB: 200, backup: { frequency: 'daily', retentionDays: 7 } });
  });

  test('to Suspended and back lose neither the cluster nor its password', async (context) => {
    const site = await settled(context);
    site.cloud.simulator.setKnobs({ suspendMs: [300, 300], resumeMs: [300, 300], resumeChangesAddress: true });
    const before = await site.secret();
    await site.apply(cluster({ state: 'Suspended' }));
    const { status } = await site.until('DatabaseCluster', { status: 'True', reason: 'Suspended' });
    expect(conditionOf(status, 'Available')).toMatchObject({ status: 'False', reason: 'Suspended' });
    expect(status?.endpoint).toBeUndefined();

    await site.apply(cluster());
    const resumed = await site.until('DatabaseCluster', { status: 'True', reason: 'Running' });
    expect(conditionOf(resumed.status, 'Available')).toMatchObject({ status: 'True' });
    expect(resumed.status?.endpoint).toBe(`http://${inCloud(site)?.servers[0]?.address}`);
    expect((await site.secret())?.data).toEqual(before?.data);
    expect(site.cloud.simulator.count('suspend')).toBe(1);
    expect(site.cloud.simulator.count('resume')).toBe(1);
  });

  test('of clusterID rename the cluster', async (context) => {
    const site = await settled(context);
    const before = inCloud(site);
    await site.apply(cluster({ clusterID: 'orders-eu' }));
    const { status } = await site.until('DatabaseCluster', { status: 'True' });
    expect(status).toMatchObject({ clusterID: 'orders-eu', createdAt: new Date(before?.createdAt ?? 0).toISOString() });
    expect(inCloud(site)).toBeUndefined();
    expect(inCloud(site, 'orders-eu')?.createdAt).toBe(before?.createdAt);
    expect(site.cloud.tookEffect('deploy')).toBe(1);
  });

  test('to less storage are stalled with the remedy, and the cloud is not asked', async (context) => {
    const site = await settled(context);
    await site.apply(cluster({ storageSizeGB: 50 }));
    const message = /Set storageSizeGB: 100/;
    await site.until('DatabaseCluster', { status: 'False', reason: 'StorageCannotShrink', message });
    expect(site.cloud.simulator.count('update')).toBe(0);
  });
});

describe.concurrent('annotations', () => {
  test('paused: nothing is changed, and the status says what would be', async (context) => {
    const site = await settled(context);
    await site.annotate('orders', { 'mooring.dev/paused': 'true' });
    await site.apply(cluster({ storageSizeGB: 200 }));
    await site.until('DatabaseCluster', {
      status: 'Unknown',
      reason: 'Paused',
      message: /would update cluster "orders"/,
    });
    await lookedAgain(site);
    expect(site.cloud.simulator.count('update')).toBe(0);

    await site.annotate('orders', {});
    await site.ready();
    expect(inCloud(site)?.storageSizeGB).toBe(200);
  });

  test('reconcile-at: the login is tried again, and the value echoed', async (context) => {
    const site = await settled(context);
    const signIns = site.cloud.simulator.count('signIn');
    await site.annotate('orders', { 'mooring.dev/reconcile-at': 'now' });
    await waitUntil(async () => (await site.get('DatabaseCluster'))?.status?.lastHandledReconcileAt === 'now', {
      what: 'the value is echoed',
    });
    expect(site.cloud.simulator.count('signIn') - signIns).toBe(2);
    await site.ready();
  });

  test('rotate-at: a value as long as annotations may be replaces the password once', async (context) => {
    const site = await settled(context);
    const handled = async () => (await site.get('DatabaseCluster'))?.status?.lastHandledRotateAt;
    for (const letter of ['a', 'b']) {
      const before = await handled();
      await site.annotate('orders', { 'mooring.dev/rotate-at': letter.repeat(240_000) });
      await waitUntil(async () => (await handled()) !== before, { what: 'the password is replaced' });
      expect(await handled()).toMatch(/^sha256:/);
    }
    await site.ready();
    await lookedAgain(site);
    // One for the first password.
    expect(site.cloud.simulator.count('updateUser')).toBe(3);
  });

  test('accept-identity: a cluster that was replaced is left alone until its owner accepts it', async (context) => {
    const site = await settled(context);
    site.cloud.simulator.replaceCluster('orders');
    const createdAt = new Date(inCloud(site)?.createdAt ?? 0).toISOString();
    await site.until('DatabaseCluster', {
      status: 'False',
      reason: 'IdentityChanged',
      message: new RegExp(`annotate mooring.dev/accept-identity=${createdAt}`),
    });
    expect(inCloud(site)?.users).toEqual([{ username: 'admin', hasFactoryPassword: true }]);

    await site.annotate('orders', { 'mooring.dev/accept-identity': createdAt });
    const { status } = await site.ready();
    expect(status?.createdAt).toBe(createdAt);
    expect(inCloud(site)?.users).toEqual([{ username: 'admin', hasFactoryPassword: false }]);
    const password = (await site.secret())?.data['password'] ?? '';
    expect(site.cloud.simulator.passwordIs('orders', 'admin', password)).toBe(true);
  });
});

describe.concurrent('a cluster that already exists', () => {
  const foreign = { id: 'orders', storageSizeGB: 100, machineType: 'c2d-highcpu-4' } as const;

  test.for(['IfExists', 'MustExist'])(
    'is adopted with %s, and its login made its own',
    async (adoptionPolicy, context) => {
      const site = await bench.site(context);
      site.cloud.simulator.deployForeign(foreign);
      await site.apply(...wholeSpace(site.cloud), cluster({ adoptionPolicy }));
      await site.ready();
      expect(site.cloud.simulator.count('deploy')).toBe(0);
      expect(inCloud(site)?.users).toEqual([{ username: 'admin', hasFactoryPassword: false }]);
    },
  );

  test('is waited for with MustExist', async (context) => {
    const site = await bench.site(context);
    await site.apply(...wholeSpace(site.cloud), cluster({ adoptionPolicy: 'MustExist' }));
    await site.until('DatabaseCluster', { status: 'False', reason: 'ClusterNotFound', message: /create it there/ });
    await lookedAgain(site);
    expect(site.cloud.simulator.count('deploy')).toBe(0);
    site.cloud.simulator.deployForeign(foreign);
    await site.ready();
  });

  test('is only observed with Observe', async (context) => {
    const site = await bench.site(context);
    site.cloud.simulator.deployForeign({ ...foreign, storageSizeGB: 50 });
    const before = inCloud(site);
    await site.apply(...wholeSpace(site.cloud), cluster({ managementPolicy: 'Observe' }));
    const { status } = await site.until('DatabaseCluster', { status: 'False', reason: 'Drifted' });
    expect(status?.drift).toEqual([{ field: 'storageSizeGB', desired: '100', observed: '50' }]);
    expect(status?.observed).toMatchObject({ storageSizeGB: 50 });
    await lookedAgain(site);
    expect(inCloud(site)).toEqual(before);
    expect(site.cloud.simulator.count('signIn')).toBe(0);
  });
});

describe.concurrent('behind our back', () => {
  test('a change is undone with driftPolicy Revert', async (context) => {
    const site = await settled(context);
    site.cloud.simulator.changeCluster('orders', { machineType: 'c2d-highcpu-2' });
    await waitUntil(() => inCloud(site)?.machineType === 'c2d-highcpu-4', { what: 'it is set back' });
    await site.ready();
    expect(site.cloud.simulator.count('update')).toBe(1);
    expect(await bench.operator.metric('mooring_drift_corrected_total', { field: 'machineType' })).toBe(1);
  });

  test('a change is shown with driftPolicy Report', async (context) => {
    const site = await settled(context, { driftPolicy: 'Report' });
    site.cloud.simulator.changeCluster('orders', { storageSizeGB: 150 });
    const { status } = await site.until('DatabaseCluster', {
      status: 'False',
      reason: 'Drifted',
      message: /driftPolicy: Report/,
    });
    expect(status?.drift).toEqual([{ field: 'storageSizeGB', desired: '100', observed: '150' }]);
    await lookedAgain(site);
    expect(inCloud(site)?.storageSizeGB).toBe(150);

    // A person has changed the spec after the drift.
    await site.apply(cluster({ driftPolicy: 'Report', storageSizeGB: 150 }));
    const { status: after } = await site.ready();
    expect(after?.drift).toBeUndefined();
  });

  test('the cluster vanishes: another is created only with recreatePolicy Always', async (context) => {
    const site = await settled(context);
    site.cloud.simulator.vanish('orders');
    const message = /has not been seen .* If it does not appear by 2.*, it is treated as gone/;
    await site.until('DatabaseCluster', { status: 'False', reason: 'NotFound', message });
    await site.until('DatabaseCluster', {
      status: 'False',
      reason: 'ClusterMissing',
      message: /recreatePolicy: Always/,
    });
    await lookedAgain(site);
    expect(site.cloud.simulator.count('deploy')).toBe(1);

    await site.apply(cluster({ recreatePolicy: 'Always' }));
    await site.ready();
    expect(site.cloud.simulator.count('deploy')).toBe(2);
    expect(inCloud(site)?.users).toEqual([{ username: 'admin', hasFactoryPassword: false }]);
  });

  test('the password is changed: that is reported, and mended by naming the new one', async (context) => {
    const site = await settled(context);
    site.cloud.simulator.setPassword('orders', 'admin', 'changed-in-the-console');
    // verifyInterval is 0s: only after changes, or on request.
    await site.annotate('orders', { 'mooring.dev/reconcile-at': '1' });
    await site.until('DatabaseCluster', { status: 'False', reason: 'AdminLoginRefused', message: /existingSecretRef/ });
    await site.apply(
      secret('console-login', { username: 'admin', password: 'changed-in-the-console' }),
      cluster({ adminCredentials: { existingSecretRef: { name: 'console-login' } } }),
    );
    await site.ready();
    const password = (await site.secret())?.data['password'] ?? '';
    expect(password).not.toBe('changed-in-the-console');
    expect(site.cloud.simulator.passwordIs('orders', 'admin', password)).toBe(true);
  });

  test('a wrong password is noticed without asking if verifyInterval is set', async (context) => {
    const site = await settled(context);
    await site.apply(space(site.cloud, { verifyInterval: '1s' }));
    site.cloud.simulator.setPassword('orders', 'admin', 'changed-in-the-console');
    await site.until('DatabaseCluster', { status: 'False', reason: 'AdminLoginRefused' });
  });

  test('the Secret is deleted: the open session sets a new password', async (context) => {
    const site = await settled(context);
    const before = await site.secret();
    await site.remove('Secret', 'orders-admin');
    const after = await waitUntil(
      async () => {
        const now = await site.secret();
        return now?.data['nextPassword'] === undefined ? now : undefined;
      },
      { what: 'the Secret is back' },
    );
    await site.ready();
    const password = after.data['password'] ?? '';
    expect(password).not.toBe(before?.data['password']);
    expect(site.cloud.simulator.passwordIs('orders', 'admin', password)).toBe(true);
  });

  test('the Secret is deleted and the password changed: that is reported, and mended by naming the login', async (context) => {
    const site = await settled(context);
    site.cloud.simulator.setPassword('orders', 'admin', 'changed-in-the-console');
    await site.remove('Secret', 'orders-admin');
    await site.until('DatabaseCluster', { status: 'False', message: /existingSecretRef/ });
    await site.apply(
      secret('console-login', { username: 'admin', password: 'changed-in-the-console' }),
      cluster({ adminCredentials: { existingSecretRef: { name: 'console-login' } } }),
    );
    await site.ready();
    const password = (await site.secret())?.data['password'] ?? '';
    expect(site.cloud.simulator.passwordIs('orders', 'admin', password)).toBe(true);
    expect(password).not.toBe('changed-in-the-console');
  });
});
