import { describe, expect, it } from 'vitest';
import { readyUserBench, settleRefused } from '../../../test/support/user-bench.ts';
import type { Dialect } from '../../simulator/dialect.ts';

describe('A user of a cluster with several servers', () => {
  /** One that runs, with a user; and a way to have its servers listed differently. */
  async function several(dialect: Dialect) {
    const bench = await readyUserBench({ dialect, spec: { serverCount: 3, version: '2.29.1' } });
    const { cluster } = bench;
    const connection = () => cluster.world().connections.get('shop/production') ?? expect.unreachable();
    const { poller } = connection();
    const { servers } = poller.get('orders') ?? expect.unreachable();
    const [a = '', b = '', c = ''] = servers.map(({ address }) => address);
    return {
      bench,
      addresses: [a, b, c] as const,
      endpoint: () => bench.cluster.status().endpoint,
      /** The cloud shows these as running, in that order, and the others as pending. */
      async show(...running: string[]) {
        const known = poller.get('orders') ?? expect.unreachable();
        const others = [a, b, c].filter((address) => !running.includes(address));
        const shown = [
          ...running.map((address) => ({ address, status: 'running' })),
          ...others.map((address) => ({ address, status: 'pending' })),
        ];
        poller.learn('orders', { ...known, servers: shown }, cluster.clock.monotonic() + 1);
        await cluster.until('True Running');
      },
    };
  }

  it('leaves logins and Secrets alone when the cloud lists the servers in another order', async () => {
    const { bench, addresses, show } = await several('document');
    const [a, b, c] = addresses;
    const version = () => bench.secretObject()?.metadata.resourceVersion;
    const before = version();
    await show(c, b, a);
    await bench.settle();
    expect([version(), bench.takeCalls()]).toEqual([before, []]);
    await bench.annotate('mooring.dev/reconcile-at', '1');
    await bench.settle();
    expect([version(), bench.takeCalls()]).toEqual([before, ['signIn']]);
  });

  it('moves once when its server pauses, and not back', async () => {
    const { bench, addresses, endpoint, show } = await several('document');
    const [a, b, c] = addresses;
    await show(b, c);
    await bench.settle();
    await show(a, b, c);
    await bench.settle();
    expect(endpoint()).toBe(`https://${b}`);
    expect(bench.secret()).toMatchObject({ uri: `https://${b}`, host: b.split(':')[0] });
  });

  it('waits for a password that its server accepted right before another had to take over, and does not set it again', async () => {
    const { bench, addresses, endpoint, show } = await several('document');
    const [, b, c] = addresses;
    const { simulator, clock } = bench.cluster;
    await bench.annotate('mooring.dev/rotate-at', '1');
    await bench.until('True LoginWorks');
    expect(bench.status().lastHandledRotateAt).toBe('1');
    await show(b, c);
    expect(endpoint()).toBe(`https://${b}`);
    bench.takeCalls();
    const match = { operation: 'signIn', username: 'app' };
    const fault = simulator.faults.add({ match, effect: 'errorBefore', status: 401 });
    await bench.until('Unknown SettingPassword');
    simulator.faults.remove(fault);
    await bench.until('True LoginWorks');
    expect(bench.secret()).toMatchObject({ uri: `https://${b}` });
    expect([bench.takeCalls().includes('updateUser'), bench.told]).toEqual([false, []]);
    // There it was seen to work: now somebody else has changed it.
    await clock.advance(5_000);
    simulator.setPassword('orders', 'app', 'changed elsewhere');
    await bench.annotate('mooring.dev/reconcile-at', '1');
    await settleRefused(bench);
    expect(bench.takeCalls()).toContain('updateUser');
    expect(bench.ready()).toBe('True LoginWorks');
  });

  it('moves to the primary named by a server that accepts no changes', async () => {
    const { bench, addresses, endpoint, show } = await several('field');
    const [a, b, c] = addresses;
    await show(b, c);
    await bench.create('shop/second');
    await bench.settle('shop/second');
    // The primary does not run.
    expect(bench.ready('shop/second')).toBe('Unknown ServerUnreachable');
    await bench.cluster.until('True Running');
    expect(endpoint()).toBe(`https://${b}`);
    await bench.cluster.clock.advance(120_000);
    await show(b, c, a);
    await bench.settle('shop/second');
    await bench.cluster.until('True Running');
    await bench.until('True LoginWorks', 'shop/second');
    expect(endpoint()).toBe(`https://${a}`);
    await bench.until('True LoginWorks');
    expect(bench.secret()).toMatchObject({ uri: `https://${a}` });
    // A new process knows it from the status.
    await bench.restart();
    await bench.cluster.until('True Running');
    expect(endpoint()).toBe(`https://${a}`);
  });
});
