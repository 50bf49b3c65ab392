import { describe, expect, it } from 'vitest';
import { expectOneWorkingLogin, type KindBench, kindBench, runningBench } from '../../../test/support/kind-bench.ts';
import { addressOf } from '../../../test/support/simulator.ts';

const HOUR_MS = 3_600_000;

const passes = async (bench: KindBench, count: number) => {
  for (let pass = 0; pass < count; pass++) {
    await bench.pass();
    await bench.clock.advance(5_000);
  }
};
const refuseChanges = ({ simulator }: KindBench) =>
  simulator.faults.add({ match: { operation: 'update' }, effect: 'errorBefore', status: 400 });
const condition = (bench: KindBench, type: string) =>
  bench.status().conditions?.find((candidate) => candidate.type === type);
const list = (bench: KindBench) => bench.world().connections.get('shop/production')?.poller.refresh();

/** What can be signed in with is looked after, whatever else is in the way. */
describe('The login of a DatabaseCluster whose change the cloud refuses', () => {
  it('is found to work at the address that a resume has given the server', async () => {
    const bench = await runningBench({ knobs: { resumeChangesAddress: true } });
    await bench.edit({ state: 'Suspended' });
    await bench.until('True Suspended');
    refuseChanges(bench);
    await bench.edit({ state: 'Running', machineType: 'c2d-highcpu-8' });
    await passes(bench, 20);
    expect(bench.ready()).toBe('False RefusedByCloud');
    const endpoint = `https://${addressOf(bench.simulator, 'orders')}`;
    expect(bench.status()).toMatchObject({ endpoint, credentials: { endpoint } });
    expect(condition(bench, 'Available')).toMatchObject({ status: 'True', reason: 'LoginWorks' });
  });

  it('takes the place of the factory login of a cluster that was adopted', async () => {
    const bench = await kindBench({ spec: { adoptionPolicy: 'MustExist', backup: { frequency: 'hourly' } } });
    bench.simulator.deployForeign({ id: 'orders', storageSizeGB: 100, machineType: 'c2d-highcpu-4', version: '3.5.0' });
    await list(bench);
    refuseChanges(bench);
    await passes(bench, 20);
    expect(bench.ready()).toBe('False RefusedByCloud');
    expectOneWorkingLogin(bench);
    expect(condition(bench, 'CredentialsSecured')?.status).toBe('True');
  });

  it('is replaced when that is asked for', async () => {
    const bench = await runningBench();
    const before = bench.secret()?.['password'];
    refuseChanges(bench);
    await bench.edit({ storageSizeGB: 200 });
    await passes(bench, 3);
    expect(bench.ready()).toBe('False RefusedByCloud');
    await bench.annotate('mooring.dev/rotate-at', 'now');
    await passes(bench, 10);
    expect(bench.ready()).toBe('False RefusedByCloud');
    expect(bench.secret()?.['password']).not.toBe(before);
    expectOneWorkingLogin(bench);
  });
});

describe('The first sleep of a DatabaseCluster', () => {
  const isFactoryAlive = ({ simulator }: KindBench) => simulator.passwordIs('orders', 'admin', 'password');

  it.each([0, 30_000])('comes after its factory login, also where its server is up after %i ms', async (lagMs) => {
    const bench = await kindBench({ spec: { state: 'Suspended' }, knobs: { serverLagMs: [lagMs, lagMs] } });
    await bench.until('True Suspended');
    expect(isFactoryAlive(bench)).toBe(false);
  });

  it.each(['the same', 'a new'])(
    'leaves its login known to %s process, though its Secret is to have another name',
    async (process) => {
      const bench = await kindBench({ spec: { state: 'Suspended' } });
      await bench.until('True Suspended');
      await bench.edit({ adminCredentials: { secretName: 'renamed' } });
      await bench.until('True Suspended');
      if (process === 'a new') await bench.restart();
      await bench.edit({ state: 'Running' });
      await bench.until('True Running');
      const { username = '', password = '' } = bench.secret('renamed') ?? {};
      expect(bench.simulator.passwordIs('orders', username, password)).toBe(true);
      expect(bench.secret('orders-admin')).toBeUndefined();
    },
  );

  it('comes after an hour where no server is up', async () => {
    const bench = await kindBench({ spec: { state: 'Suspended' }, knobs: { serverLagMs: [2 * HOUR_MS, 2 * HOUR_MS] } });
    await bench.until('Unknown WaitingForServer');
    expect(bench.told.at(-1)).toContain('before it is suspended');
    expect(await bench.pass()).toEqual({ next: 'settled', requeueAfterMs: HOUR_MS });
    await bench.clock.advance(HOUR_MS);
    await bench.until('True Suspended');
    expect(isFactoryAlive(bench)).toBe(true);
  });
});
