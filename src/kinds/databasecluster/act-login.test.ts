import { describe, expect, it } from 'vitest';
import { expectOneWorkingLogin, kindBench, runningBench } from '../../../test/support/kind-bench.ts';
import { SECRETS } from '../../kube/api.ts';

describe('The password of a DatabaseCluster', () => {
  const moments = [
    { name: 'before the Secret is written', crash: { verb: 'create', plural: 'secrets', when: 'before' } },
    { name: 'after the Secret was written', crash: { verb: 'create', plural: 'secrets', when: 'after' } },
    { name: 'before the new password is promoted', crash: { verb: 'patch', plural: 'secrets', when: 'before' } },
    { name: 'after the new password was promoted', crash: { verb: 'patch', plural: 'secrets', when: 'after' } },
  ] as const;

  it.each(moments)('is replaced though the process ends $name', async ({ crash }) => {
    const bench = await kindBench({ dialect: 'field' });
    bench.crashAt(crash);
    for (let pass = 0; pass < 12; pass++) await bench.pass().catch(() => bench.restart());
    await bench.until('True Running');
    expectOneWorkingLogin(bench);
  });

  it.each(['lostAnswer', 'reset', 'errorBefore', 'truncated', 'expiredToken'] as const)(
    'is replaced though setting it ends with %s',
    async (effect) => {
      for (const restarts of [false, true]) {
        const bench = await kindBench({ dialect: restarts ? 'field' : 'document' });
        bench.simulator.faults.add({ match: { operation: 'updateUser' }, effect, times: 1 });
        for (let pass = 0; pass < 6; pass++) await bench.pass();
        if (restarts) await bench.restart();
        await bench.until('True Running');
        expectOneWorkingLogin(bench);
      }
    },
  );

  it('is put anew by the session that is held, when the Secret is deleted', async () => {
    const bench = await runningBench();
    bench.kube.remove(SECRETS, { namespace: 'shop', name: 'orders-admin' });
    await bench.until('True Running');
    expectOneWorkingLogin(bench);
  });

  it('is put anew when the Secret is spoilt, also after the server has restarted', async () => {
    const bench = await runningBench();
    bench.simulator.restartServers('orders');
    await bench.putSecret(
      'orders-admin',
      { username: 'admin', password: 'spoilt' },
      { 'mooring.dev/cluster': 'orders' },
    );
    await bench.until('True Running');
    expectOneWorkingLogin(bench);
  });

  it('is lost with the Secret, when no session is held', async () => {
    const bench = await runningBench();
    bench.kube.remove(SECRETS, { namespace: 'shop', name: 'orders-admin' });
    await bench.restart();
    await bench.until('False AdminLoginLost');
  });

  it('is never guessed when it was changed elsewhere', async () => {
    const bench = await runningBench();
    bench.simulator.setPassword('orders', 'admin', 'set in the console');
    await bench.clock.advance(700_000);
    await bench.until('False AdminLoginRefused');
    expect(bench.simulator.passwordIs('orders', 'admin', 'set in the console')).toBe(true);
  });

  it('is replaced once more when somebody sets the factory one again', async () => {
    const bench = await runningBench();
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
