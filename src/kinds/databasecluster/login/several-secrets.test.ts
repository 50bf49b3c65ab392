import { describe, expect, it, vi } from 'vitest';
import { Crashed, type KindBench, runningBench } from '../../../../test/support/kind-bench.ts';
import { beginMove, passes, passUntilItEnds, rename } from '../../../../test/support/secret-moves.ts';
import { SECRETS } from '../../../kube/api.ts';
import { LANDED_MS } from '../../password-tries.ts';
import { DATABASE_CLUSTERS } from '../resource.ts';

/** A Secret with an admin's password that nothing names any more stays for ever, and if that password comes to work, nobody finds it. */
describe('Of several Secrets that the login was moving to', () => {
  const NAMES = ['orders-admin', 'second', 'third', 'fourth'];
  const left = (bench: KindBench) => NAMES.filter((name) => bench.secret(name) !== undefined);

  /** Until no call can take effect any more that gives the login to another one. */
  const landed = (bench: KindBench) => passes(bench, LANDED_MS / 5_000 + 20);

  async function expectOnly(bench: KindBench, name: string): Promise<void> {
    expect(left(bench)).toEqual([name]);
    expect(bench.ready()).toBe('True Running');
    expect(bench.status().credentials?.secretName).toBe(name);
    expect(bench.status().unverifiedSecretName).toBeUndefined();
    const { password = '' } = bench.secret(name) ?? {};
    expect(bench.simulator.passwordIs('orders', 'admin', password)).toBe(true);
  }

  /** Ready with the third name; the call for the second one got no answer. */
  async function movedTwice(): Promise<KindBench> {
    const bench = await runningBench();
    await beginMove(bench, 'second');
    await rename(bench, 'third');
    await bench.until('True Running');
    return bench;
  }

  /** Ready with the second name, while the first Secret has a coming password whose call got no answer. */
  async function movedWhileReplaced(): Promise<KindBench> {
    const bench = await runningBench();
    const fault = bench.simulator.faults.add({
      match: { operation: 'updateUser' },
      effect: 'errorBefore',
      status: 500,
    });
    await bench.annotate('mooring.dev/rotate-at', '1');
    while (!bench.calls.includes('server updateUser')) await bench.pass();
    bench.simulator.faults.remove(fault);
    await rename(bench, 'second');
    await bench.until('True Running');
    expect(bench.secret()).toHaveProperty('nextPassword');
    return bench;
  }

  /** Such a version recorded neither in the status nor in a Secret where else the login may be. */
  async function writtenByEarlierVersion({ kube }: KindBench): Promise<void> {
    const status = { unverifiedSecretName: null };
    await kube.patch(DATABASE_CLUSTERS, { namespace: 'shop', name: 'orders' }, { status }, { subresource: 'status' });
    const metadata = { annotations: { 'mooring.dev/moved-to': null } };
    await kube.patch(SECRETS, { namespace: 'shop', name: 'orders-admin' }, { metadata });
  }

  it.each(['the same', 'a new'])(
    'the one in between stays as long as it may get the login, and goes then: %s process',
    async (process) => {
      const bench = await movedTwice();
      if (process === 'a new') await bench.restart();
      await passes(bench, 10);
      expect(left(bench)).toContain('second');
      await landed(bench);
      await expectOnly(bench, 'third');
    },
  );

  it.each(['the same', 'a new'])(
    'the one in between is found soon if it gets the login late: %s process',
    async (process) => {
      const bench = await movedTwice();
      if (process === 'a new') await bench.restart();
      await passes(bench, 6);
      bench.simulator.setPassword('orders', 'admin', bench.secret('second')?.['nextPassword'] ?? '');
      await passes(bench, 12);
      expect(bench.ready()).toBe('True Running');
      await landed(bench);
      await expectOnly(bench, 'third');
    },
  );

  it.each(['before', 'after'] as const)('all go, even if the process ends %s the first of them does', async (when) => {
    const bench = await movedTwice();
    const remove = bench.kube.delete.bind(bench.kube);
    bench.kube.delete = async (...args) => {
      if (when === 'after') await remove(...args);
      bench.crashAt({ verb: 'patch', plural: 'databaseclusters', when: 'before' });
      throw new Crashed('The process ends here');
    };
    await passUntilItEnds(bench);
    bench.kube.delete = remove;
    await bench.restart();
    await landed(bench);
    await expectOnly(bench, 'third');
  });

  it('the first one goes, even if the name changes again while a call for it may still take effect', async () => {
    const bench = await movedWhileReplaced();
    await rename(bench, 'third');
    await bench.until('True Running');
    await landed(bench);
    await expectOnly(bench, 'third');
  });

  it('the first one is found if it gets the login after the name has changed again', async () => {
    const bench = await movedWhileReplaced();
    const { nextPassword = '' } = bench.secret() ?? {};
    await rename(bench, 'third');
    await bench.until('True Running');
    await bench.restart();
    bench.simulator.setPassword('orders', 'admin', nextPassword);
    await bench.until('True Running');
    await passes(bench, 12);
    await landed(bench);
    await expectOnly(bench, 'third');
  });

  it('all go if the name is taken back to the first of four, and its password is replaced before that', async () => {
    const bench = await runningBench();
    for (const name of ['second', 'third', 'fourth']) await beginMove(bench, name);
    await rename(bench, 'orders-admin');
    await bench.until('True Running');
    await bench.annotate('mooring.dev/rotate-at', '1');
    await bench.until('True Running');
    expect(left(bench)).toEqual(NAMES);
    await landed(bench);
    await expectOnly(bench, 'orders-admin');
  });

  it('one that was only named is forgotten each time that its name is taken back', async () => {
    const bench = await runningBench();
    for (let time = 0; time < 4; time++) {
      await rename(bench, 'second');
      while (bench.status().unverifiedSecretName === undefined) await bench.pass();
      expect(bench.status().unverifiedSecretName).toBe('second');
      expect(bench.ready()).toBe('Unknown SecuringCredentials');
      await rename(bench, 'orders-admin');
      await bench.until('True Running');
      await bench.pass();
      await expectOnly(bench, 'orders-admin');
    }
  });

  it('one that was only written goes at once if the name is taken back', async () => {
    const bench = await runningBench();
    await rename(bench, 'second');
    while (bench.secret('second') === undefined) await bench.pass();
    expect(bench.calls).not.toContain('server updateUser');
    await rename(bench, 'orders-admin');
    await bench.until('True Running');
    await passes(bench, 2);
    await expectOnly(bench, 'orders-admin');
  });

  it.each(['orders-admin', 'third'])(
    'one that was only written goes in time if the name becomes %s in a new process',
    async (name) => {
      const bench = await runningBench();
      await rename(bench, 'second');
      while (bench.secret('second') === undefined) await bench.pass();
      expect(bench.calls).not.toContain('server updateUser');
      await rename(bench, name);
      await bench.restart();
      await bench.until('True Running');
      await landed(bench);
      await expectOnly(bench, name);
    },
  );

  it('one that an earlier version gave the login, without recording it, is found if the name is changed once more', async () => {
    const bench = await runningBench();
    await rename(bench, 'second');
    while (!bench.calls.includes('server updateUser')) await bench.pass();
    await writtenByEarlierVersion(bench);
    await bench.restart();
    while (bench.secret('second')?.['nextPassword'] !== undefined) await bench.pass();
    expect(bench.status().credentials?.secretName).toBe('orders-admin');
    await rename(bench, 'third');
    await bench.restart();
    await bench.until('True Running');
    await landed(bench);
    await expectOnly(bench, 'third');
  });

  it('all go with the cluster', async () => {
    const bench = await runningBench({ spec: { deletionPolicy: 'Delete' } });
    for (const name of ['second', 'third']) await beginMove(bench, name);
    bench.kube.remove(DATABASE_CLUSTERS, { namespace: 'shop', name: 'orders' });
    for (let pass = 0; pass < 50 && bench.kube.all(DATABASE_CLUSTERS).length > 0; pass++) await passes(bench, 1);
    expect(bench.simulator.count('destroy')).toBe(1);
    expect(left(bench)).toEqual([]);
  });

  it('none is read except when the login is tried', async () => {
    const bench = await runningBench();
    await beginMove(bench, 'second');
    await rename(bench, 'orders-admin');
    await bench.until('True Running');
    await passes(bench, 2);
    expect(left(bench)).toEqual(['orders-admin', 'second']);
    const get = vi.spyOn(bench.kube, 'get');
    bench.forgetCalls();
    await bench.pass();
    expect(get.mock.calls.filter(([resource]) => resource === SECRETS)).toEqual([]);
    expect(bench.calls).toEqual([]);
  });
});

describe('While the login moves to another Secret', () => {
  it('the cluster is not Ready from before the server is called until the status names that Secret', async () => {
    const bench = await runningBench();
    await rename(bench, 'second');
    while (bench.secret('second') === undefined) await bench.pass();
    expect(bench.calls).not.toContain('server updateUser');
    expect(bench.ready()).toBe('Unknown SecuringCredentials');
    await bench.pass();
    expect(bench.calls).toContain('server updateUser');
    expect(bench.ready()).toBe('Unknown SecuringCredentials');
    await bench.until('True Running');
    expect(bench.status().credentials?.secretName).toBe('second');
    expect(bench.told).toEqual([expect.stringMatching(/^SecuringCredentials: /), expect.stringMatching(/^Running: /)]);
  });

  it('the cluster is not Ready either if it moves back to one that the status still names', async () => {
    const bench = await runningBench();
    await beginMove(bench, 'second');
    await rename(bench, 'third');
    await bench.until('True Running');
    expect(bench.status().unverifiedSecretName).toBe('orders-admin');
    await rename(bench, 'orders-admin');
    bench.forgetCalls();
    for (let pass = 0; pass < 20 && !bench.calls.includes('server updateUser'); pass++) await bench.pass();
    const { password = '' } = bench.secret('third') ?? {};
    expect(bench.simulator.passwordIs('orders', 'admin', password)).toBe(false);
    expect(bench.ready()).toBe('Unknown SecuringCredentials');
    await bench.until('True Running');
    expect(bench.status().credentials?.secretName).toBe('orders-admin');
  });
});
