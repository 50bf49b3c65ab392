import { describe, expect, it } from 'vitest';
import { FACTORY, type KindBench, runningBench } from '../../../test/support/kind-bench.ts';

const SPACE = 'shop/production';
const INTERVAL_MS = 10 * 60_000;

/** A cluster that is Ready, and a space that is not listed: of its tokens none is there, or nothing is. */
async function unobserved(connected = true): Promise<KindBench> {
  const bench = await runningBench();
  const { connections, space } = bench.world();
  connections.disconnect(SPACE);
  if (connected) connections.connect(SPACE, space(SPACE)?.spec ?? expect.unreachable(), [], FACTORY, '1');
  return bench;
}

/** It is time to verify the login, and that is done. */
async function verify({ clock, pass }: KindBench) {
  await clock.advance(INTERVAL_MS);
  return pass();
}

const conditionOf = ({ status }: KindBench, type: string) =>
  status().conditions?.find((condition) => condition.type === type);

describe('A cluster whose space is not observed', () => {
  it('stays Ready while its login works, and has it verified without a call of the cloud', async () => {
    const bench = await unobserved();
    const outcome = await bench.pass();
    expect(outcome).toMatchObject({ next: 'settled', requeueAfterMs: expect.any(Number) });
    expect(bench.calls).toEqual([]);
    expect(await verify(bench)).toMatchObject({ next: 'settled', requeueAfterMs: expect.any(Number) });
    expect(bench.calls).toEqual(['server signIn', 'server signIn']);
    expect([bench.ready(), bench.told]).toEqual(['True Running', []]);
  });

  it('is not Ready any more once its login does not work, and nothing is mended before the space is observed', async () => {
    const bench = await unobserved();
    bench.simulator.setPassword('orders', 'admin', 'set in the console');
    await verify(bench);
    expect(bench.ready()).toBe('Unknown WaitingForSpace');
    expect(conditionOf(bench, 'Ready')?.message).toMatch(
      /^Waiting for .*\. The server at .* refuses the login in Secret "orders-admin"$/,
    );
    expect(conditionOf(bench, 'Available')).toMatchObject({ status: 'False', reason: 'NotVerified' });
    expect(new Set(bench.calls)).toEqual(new Set(['server signIn']));
    const told = bench.status();
    await verify(bench);
    expect(bench.status()).toEqual(told);
    // What is on its server goes on as soon as it works again.
    bench.simulator.setPassword('orders', 'admin', bench.secret()?.['password'] ?? '');
    await verify(bench);
    expect(conditionOf(bench, 'Available')).toMatchObject({ status: 'True', reason: 'LoginWorks' });
    expect(bench.ready()).toBe('Unknown WaitingForSpace');
  });

  it('is not Ready any more once the login that new clusters come with works', async () => {
    const bench = await unobserved();
    bench.simulator.setPassword('orders', 'admin', FACTORY.password);
    await bench.putSecret(
      'orders-admin',
      { ...bench.secret(), password: FACTORY.password },
      { 'app.kubernetes.io/managed-by': 'mooring', 'mooring.dev/cluster': 'orders' },
    );
    await verify(bench);
    expect(bench.ready()).toBe('Unknown WaitingForSpace');
    expect(conditionOf(bench, 'CredentialsSecured')?.status).toBe('False');
    expect(conditionOf(bench, 'Available')?.status).toBe('False');
  });

  it('is not Ready any more while its server cannot be used', async () => {
    const bench = await unobserved();
    const fault = bench.simulator.faults.add({ match: { api: 'server' }, effect: 'outage' });
    expect(await verify(bench)).toMatchObject({ next: 'retry', pace: 'soon' });
    expect(bench.ready()).toBe('Unknown WaitingForSpace');
    expect(conditionOf(bench, 'Available')?.message).toMatch(/^The server at .* cannot be used: /);
    bench.simulator.faults.remove(fault);
    await verify(bench);
    expect(conditionOf(bench, 'Available')?.status).toBe('True');
  });

  it('stays Ready until its login should have been verified where there is no way to', async () => {
    const bench = await unobserved(false);
    const outcome = await bench.pass();
    expect(bench.ready()).toBe('True Running');
    expect(outcome).toMatchObject({ next: 'settled', requeueAfterMs: expect.any(Number) });
    await verify(bench);
    expect(bench.ready()).toBe('Unknown WaitingForSpace');
    expect(conditionOf(bench, 'Ready')?.message).toMatch(/cannot be tried at .* while the space is not connected$/);
    expect(conditionOf(bench, 'Available')).toMatchObject({ status: 'Unknown', reason: 'NotVerified' });
  });

  it('is Ready again once the space is observed', async () => {
    const bench = await unobserved(false);
    await verify(bench);
    await bench.restart();
    await bench.until('True Running');
  });

  it('has no login verified that it never had, or that is to rest', async () => {
    const bench = await unobserved();
    await bench.edit({ state: 'Suspended' });
    await verify(bench);
    expect(bench.calls).toEqual([]);
    expect(bench.ready()).toBe('Unknown WaitingForSpace');
  });
});
