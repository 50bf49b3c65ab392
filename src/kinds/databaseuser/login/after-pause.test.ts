import { describe, expect, it } from 'vitest';
import { readyUserBench, type UserBench } from '../../../../test/support/user-bench.ts';

const suspended = async (bench: UserBench, meanwhile: () => unknown) => {
  await bench.cluster.edit({ state: 'Suspended' });
  await bench.cluster.until('True Suspended');
  await bench.settle();
  expect(bench.ready()).toContain('ClusterSuspended');
  meanwhile();
  await bench.cluster.edit({ state: 'Running' });
  await bench.cluster.until('True Running');
};

/** The look that finds the outage is a person's: none comes by itself. */
const down = async (bench: UserBench, meanwhile: () => unknown) => {
  const outage = bench.cluster.simulator.faults.add({ match: { operation: 'signIn' }, effect: 'reset' });
  await bench.annotate('mooring.dev/reconcile-at', '1');
  await bench.settle();
  expect(bench.ready()).toBe('Unknown ServerUnreachable');
  bench.cluster.simulator.faults.remove(outage);
  meanwhile();
};

describe.each([
  ['its cluster was suspended', suspended],
  ['its server was down', down],
])('After %s, a DatabaseUser', (_what, pause) => {
  const ready = () => readyUserBench({ space: { verifyInterval: '0s' } });

  it('is given its password again if that was changed meanwhile, however lately it signed in', async () => {
    const bench = await ready();
    await pause(bench, () => bench.cluster.simulator.setPassword('orders', 'app', 'changed-in-the-console'));
    await bench.settle();
    await bench.until('True LoginWorks');
    expect([bench.works(bench.secret()?.['password']), bench.told]).toEqual([true, ['corrected password']]);
  });

  it('is tried twice before its password is set, even if that was refused once before', async () => {
    const bench = await ready();
    const refuseOnce = {
      match: { operation: 'signIn', username: 'app' },
      effect: 'errorBefore',
      status: 401,
      times: 1,
    } as const;
    const { faults } = bench.cluster.simulator;
    const before = faults.add(refuseOnce);
    await bench.annotate('mooring.dev/reconcile-at', '0');
    await bench.settle();
    expect(bench.ready()).toBe('Unknown SettingPassword');
    faults.remove(before);
    await pause(bench, () => {});
    await bench.cluster.clock.advance(5_000);
    faults.add(refuseOnce);
    await bench.settle();
    expect(bench.ready()).toBe('Unknown SettingPassword');
    await bench.until('True LoginWorks');
    expect(bench.told).toEqual([]);
  });

  it('is Ready after one sign-in of its own', async () => {
    const bench = await ready();
    await pause(bench, () => {});
    bench.takeCalls();
    await bench.until('True LoginWorks');
    expect(bench.takeCalls()).toEqual(['signIn']);
  });
});
