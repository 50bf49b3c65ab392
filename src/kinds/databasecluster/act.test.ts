import { describe, expect, it } from 'vitest';
import { type KindBench, kindBench } from '../../../test/support/kind-bench.ts';
import { addressOf, clusterNamed } from '../../../test/support/simulator.ts';
import { SECRETS } from '../../kube/api.ts';
import type { Dialect } from '../../simulator/dialect.ts';
import { DATABASE_CLUSTERS } from './resource.ts';

const PROVISION = { provisionMs: [20_000, 20_000] } as const;

async function running(options: Parameters<typeof kindBench>[0] = {}): Promise<KindBench> {
  const bench = await kindBench(options);
  await bench.until('True Running');
  bench.forgetCalls();
  return bench;
}

/** Ready's promise, asked of the server itself. */
function expectOneWorkingLogin({ simulator, secret, status }: KindBench, id = 'orders') {
  const { username = '', password = '', nextPassword } = secret() ?? {};
  expect(nextPassword).toBeUndefined();
  expect(username).toBe('admin');
  expect(simulator.passwordIs(id, username, password)).toBe(true);
  expect(simulator.passwordIs(id, 'admin', 'password')).toBe(false);
  expect(JSON.stringify(status())).not.toContain(password);
}

const isServerCall = (call: string) => call.startsWith('server ');
const count = (bench: KindBench, call: string) => bench.calls.filter((other) => other === call).length;

describe('A DatabaseCluster', () => {
  it.each<Dialect>(['document', 'field'])('is deployed and secured with the least of calls (%s)', async (dialect) => {
    const bench = await kindBench({ dialect, knobs: PROVISION });
    await bench.until('True Running');
    expect(count(bench, 'deploy')).toBe(1);
    expect(bench.calls.filter(isServerCall)).toEqual([
      'server signIn',
      'server updateUser',
      'server signIn',
      'server signIn',
    ]);
    expectOneWorkingLogin(bench);
    expect(bench.status()).toMatchObject({
      state: 'running',
      endpoint: `https://${addressOf(bench.simulator, 'orders')}`,
    });
    expect(bench.status().operation).toBeUndefined();
  });

  it('costs no call while nothing changes', async () => {
    const bench = await running();
    for (let pass = 0; pass < 5; pass++) expect((await bench.pass()).next).toBe('settled');
    expect(bench.calls).toEqual([]);
  });

  it.each(['lostAnswer', 'reset', 'truncated'] as const)('is deployed once though the answer is %s', async (effect) => {
    const bench = await kindBench({ knobs: PROVISION });
    bench.simulator.faults.add({ match: { operation: 'deploy' }, effect, times: 1 });
    await bench.until('True Running');
    expectOneWorkingLogin(bench);
  });

  it.each(['lostAnswer', 'reset'] as const)(
    'is deployed once though the process ends with the answer %s',
    async (effect) => {
      const bench = await kindBench({ knobs: PROVISION });
      bench.simulator.faults.add({ match: { operation: 'deploy' }, effect, times: 1 });
      await bench.pass();
      await bench.pass();
      await bench.restart();
      await bench.until('True Running');
      expectOneWorkingLogin(bench);
    },
  );

  it('is deployed once though the answer was not written down', async () => {
    const bench = await kindBench({ knobs: PROVISION });
    await bench.pass();
    bench.crashAt({ verb: 'patch', plural: 'databaseclusters', when: 'before' });
    await expect(bench.pass()).rejects.toThrow('ends here');
    await bench.restart();
    await bench.until('True Running');
    expect(count(bench, 'deploy')).toBe(1);
  });

  it('takes no cluster for its own that came between the look and the call', async () => {
    const bench = await kindBench();
    await bench.pass();
    bench.simulator.deployForeign({ id: 'orders', storageSizeGB: 100, machineType: 'c2d-highcpu-4', version: '3.5.0' });
    await bench.until('False ClusterIDInUse');
    expect(bench.status().createdAt).toBeUndefined();
    expect(bench.secret()).toBeUndefined();
  });

  it('takes no older cluster for its own after a lost answer', async () => {
    const bench = await kindBench();
    await bench.pass();
    bench.simulator.faults.add({ match: { operation: 'deploy' }, effect: 'reset', times: 1 });
    await bench.pass();
    await bench.clock.advance(1000);
    bench.simulator.deployForeign({ id: 'orders', region: 'us-east1' });
    await bench.until('False ClusterIDInUse');
  });

  it('knows its cluster again when the id is in use after a lost answer', async () => {
    const bench = await kindBench();
    await bench.pass();
    const { faults } = bench.simulator;
    faults.add({ match: { operation: 'deploy' }, effect: 'lostAnswer', times: 1 });
    faults.add({ match: { operation: 'get' }, effect: 'errorBefore', status: 404, times: 1 });
    await bench.until('True Running');
    expect(count(bench, 'deploy')).toBe(2);
    expectOneWorkingLogin(bench);
  });

  it('gets its id when the cluster that had it is gone', async () => {
    const bench = await kindBench();
    bench.simulator.deployForeign({ id: 'orders' });
    await bench.world().connections.get('shop/production')?.poller.refresh();
    await bench.until('False ClusterIDInUse');
    bench.simulator.vanish('orders');
    await bench.world().connections.get('shop/production')?.poller.refresh();
    await bench.until('True Running');
  });

  it('is cloned, and gets the backup settings that a clone is not asked for with', async () => {
    const bench = await kindBench({ spec: { cloneFrom: { clusterID: 'source' }, backup: { frequency: 'hourly' } } });
    bench.simulator.deployForeign({
      id: 'source',
      storageSizeGB: 100,
      machineType: 'c2d-highcpu-4',
      version: '3.5.0',
      provider: 'gcp',
      region: 'europe-west2',
    });
    await bench.until('True Running');
    expect([count(bench, 'clone'), count(bench, 'deploy'), count(bench, 'update')]).toEqual([1, 0, 1]);
    expect(bench.status().backup).toEqual({ frequency: 'hourly', retentionDays: 7 });
  });
});

describe('The password of a DatabaseCluster', () => {
  const moments = [
    { name: 'before the Secret is written', crash: { verb: 'create', plural: 'secrets', when: 'before' } },
    { name: 'after the Secret was written', crash: { verb: 'create', plural: 'secrets', when: 'after' } },
    { name: 'before the new password is promoted', crash: { verb: 'patch', plural: 'secrets', when: 'before' } },
    { name: 'after the new password was promoted', crash: { verb: 'patch', plural: 'secrets', when: 'after' } },
  ] as const;

  it.each(moments)('is replaced though the process ends $name', async ({ crash }) => {
    const bench = await kindBench();
    bench.crashAt(crash);
    for (let pass = 0; pass < 12; pass++) await bench.pass().catch(() => bench.restart());
    await bench.until('True Running');
    expectOneWorkingLogin(bench);
  });

  it.each(['lostAnswer', 'reset', 'errorBefore', 'truncated', 'expiredToken'] as const)(
    'is replaced though setting it ends with %s',
    async (effect) => {
      for (const restarts of [false, true]) {
        const bench = await kindBench();
        bench.simulator.faults.add({ match: { operation: 'updateUser' }, effect, times: 1 });
        for (let pass = 0; pass < 6; pass++) await bench.pass();
        if (restarts) await bench.restart();
        await bench.until('True Running');
        expectOneWorkingLogin(bench);
      }
    },
  );

  it('is put anew by the session that is held, when the Secret is deleted', async () => {
    const bench = await running();
    bench.kube.remove(SECRETS, { namespace: 'shop', name: 'orders-admin' });
    await bench.until('True Running');
    expectOneWorkingLogin(bench);
  });

  it('is lost with the Secret, when no session is held', async () => {
    const bench = await running();
    bench.kube.remove(SECRETS, { namespace: 'shop', name: 'orders-admin' });
    await bench.restart();
    await bench.until('False AdminLoginLost');
  });

  it('is never guessed when it was changed elsewhere', async () => {
    const bench = await running();
    bench.simulator.setPassword('orders', 'admin', 'set in the console');
    await bench.clock.advance(700_000);
    await bench.until('False AdminLoginRefused');
    expect(bench.simulator.passwordIs('orders', 'admin', 'set in the console')).toBe(true);
  });

  it('is replaced once more when somebody sets the factory one again', async () => {
    const bench = await running();
    bench.simulator.setPassword('orders', 'admin', 'password');
    await bench.clock.advance(700_000);
    await bench.until('True Running');
    expectOneWorkingLogin(bench);
  });

  it('is read from existingSecretRef where the factory login does not work', async () => {
    const bench = await kindBench({
      spec: { adoptionPolicy: 'MustExist', adminCredentials: { existingSecretRef: { name: 'given' } } },
    });
    bench.simulator.deployForeign({
      id: 'orders',
      provider: 'gcp',
      region: 'europe-west2',
      machineType: 'c2d-highcpu-4',
      storageSizeGB: 100,
      version: '3.5.0',
    });
    bench.simulator.setPassword('orders', 'admin', 'given by a person');
    await bench.putSecret('given', { username: 'admin', password: 'given by a person' });
    await bench.world().connections.get('shop/production')?.poller.refresh();
    await bench.until('True Running');
    expectOneWorkingLogin(bench);
    expect(bench.secret('given')?.['password']).toBe('given by a person');
  });

  it('overwrites no Secret of others', async () => {
    const bench = await kindBench();
    await bench.putSecret('orders-admin', { key: 'value' });
    await bench.until('False SecretNotOurs');
    expect(bench.secret()).toEqual({ key: 'value' });
    expect(bench.simulator.passwordIs('orders', 'admin', 'password')).toBe(true);
    bench.kube.remove(SECRETS, { namespace: 'shop', name: 'orders-admin' });
    await bench.until('True Running');
  });
});

describe('A change of a DatabaseCluster', () => {
  const updates = (bench: KindBench) =>
    bench.simulator.inspect().requests.filter(({ operation }) => operation === 'update').length;

  it('sends what differs, once', async () => {
    const bench = await running();
    await bench.edit({ storageSizeGB: 200 });
    await bench.until('True Running');
    expect(updates(bench)).toBe(1);
    expect(clusterNamed(bench.simulator, 'orders')).toMatchObject({ storageSizeGB: 200 });
    expect(bench.corrected).toEqual([]);
    expect(bench.status().drift).toBeUndefined();
  });

  it('undoes drift, and counts it', async () => {
    const bench = await running();
    bench.simulator.changeCluster('orders', { machineType: 'c2d-highcpu-8' });
    await bench.world().connections.get('shop/production')?.poller.refresh();
    await bench.until('True Running');
    expect(bench.corrected).toEqual(['machineType']);
    expect(clusterNamed(bench.simulator, 'orders')).toMatchObject({ machineType: 'c2d-highcpu-4' });
  });

  it('reports drift, and looks after the login all the same', async () => {
    const bench = await running({ spec: { driftPolicy: 'Report' } });
    bench.simulator.changeCluster('orders', { storageSizeGB: 200 });
    await bench.world().connections.get('shop/production')?.poller.refresh();
    await bench.until('False Drifted');
    expect(bench.status().drift).toEqual([{ field: 'storageSizeGB', desired: '100', observed: '200' }]);
    expect(updates(bench)).toBe(0);
    await bench.edit({ storageSizeGB: 300 });
    await bench.until('True Running');
    expect(bench.status().drift).toBeUndefined();
    expect(clusterNamed(bench.simulator, 'orders')).toMatchObject({ storageSizeGB: 300 });
  });

  it.each(['none', 'lostAnswer'] as const)('renames (%s)', async (effect) => {
    const bench = await running();
    if (effect !== 'none') bench.simulator.faults.add({ match: { operation: 'update' }, effect, times: 1 });
    await bench.edit({ clusterID: 'orders-eu' });
    await bench.until('True Running');
    expect(bench.status()).toMatchObject({ clusterID: 'orders-eu' });
    expect(clusterNamed(bench.simulator, 'orders')).toBeUndefined();
    expectOneWorkingLogin(bench, 'orders-eu');
  });

  it('suspends and resumes', async () => {
    const bench = await running({ knobs: { suspendMs: [5_000, 5_000], resumeMs: [5_000, 5_000] } });
    await bench.edit({ state: 'Suspended' });
    await bench.until('True Suspended');
    await bench.edit({ state: 'Running' });
    await bench.until('True Running');
    expect(bench.corrected).toEqual([]);
    expectOneWorkingLogin(bench);
  });

  it('retires the factory login before the first sleep', async () => {
    const bench = await kindBench({ spec: { state: 'Suspended' } });
    await bench.until('True Suspended');
    expect(bench.simulator.passwordIs('orders', 'admin', 'password')).toBe(false);
  });
});

describe('Deleting a DatabaseCluster', () => {
  const remove = (bench: KindBench) => bench.kube.remove(DATABASE_CLUSTERS, { namespace: 'shop', name: 'orders' });
  const isGone = (bench: KindBench) => bench.kube.all(DATABASE_CLUSTERS).length === 0;
  const goOn = async (bench: KindBench) => {
    for (let pass = 0; pass < 20 && !isGone(bench); pass++) {
      await bench.pass();
      await bench.clock.advance(5_000);
    }
  };

  it('destroys it, and its Secret with it', async () => {
    const bench = await running({ spec: { deletionPolicy: 'Delete' }, knobs: { destroyMs: [10_000, 10_000] } });
    remove(bench);
    await goOn(bench);
    expect(isGone(bench)).toBe(true);
    expect(count(bench, 'destroy')).toBe(1);
    expect(clusterNamed(bench.simulator, 'orders')).toBeUndefined();
    expect(bench.secret()).toBeUndefined();
  });

  it('destroys no cluster that took its place since the last look', async () => {
    const bench = await running({ spec: { deletionPolicy: 'Delete' } });
    bench.simulator.replaceCluster('orders');
    remove(bench);
    await goOn(bench);
    expect(isGone(bench)).toBe(true);
    expect(count(bench, 'destroy')).toBe(0);
    expect(clusterNamed(bench.simulator, 'orders')).toBeDefined();
  });

  it('deletes no Secret that is not its own', async () => {
    const bench = await running({ spec: { deletionPolicy: 'Delete' } });
    await bench.putSecret('orders-admin', { key: 'value' });
    remove(bench);
    await goOn(bench);
    expect(isGone(bench)).toBe(true);
    expect(bench.secret()).toEqual({ key: 'value' });
  });

  it('destroys nothing when the object changed meanwhile', async () => {
    const bench = await running({ spec: { deletionPolicy: 'Delete' } });
    remove(bench);
    bench.showAsNow();
    await bench.edit({ deletionProtection: true });
    expect((await bench.pass()).next).toBe('conflict');
    bench.showAsIs();
    await bench.pass();
    expect(bench.ready()).toBe('False DeletionProtected');
    expect(count(bench, 'destroy')).toBe(0);
  });
});
