import { describe, expect, it } from 'vitest';
import {
  expectOneWorkingLogin,
  FACTORY,
  type KindBench,
  kindBench,
  runningBench,
} from '../../../../test/support/kind-bench.ts';
import { addressOf, clusterNamed } from '../../../../test/support/simulator.ts';
import { SECRETS } from '../../../kube/api.ts';
import { OWNER_LABEL } from '../../secrets.ts';

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

describe('The login of a DatabaseCluster whose server signs in with any password', () => {
  it('is left as it is, and works when the server is fixed', async () => {
    const bench = await runningBench();
    const before = bench.secret();
    bench.simulator.setKnobs({ acceptsAnyPassword: true });
    await bench.annotate('mooring.dev/reconcile-at', '1');
    await passes(bench, 10);
    expect(bench.ready()).toBe('False AnyPasswordAccepted');
    expect(condition(bench, 'CredentialsSecured')).toMatchObject({ status: 'False', reason: 'AnyPasswordAccepted' });
    expect(bench.secret()).toEqual(before);
    bench.simulator.setKnobs({ acceptsAnyPassword: false });
    await passes(bench, 2);
    expect(bench.ready()).toBe('True Running');
    expect(bench.secret()).toEqual(before);
    expectOneWorkingLogin(bench);
  });

  it('is never Ready from the start, and is replaced when the server is fixed', async () => {
    const bench = await kindBench({ knobs: { acceptsAnyPassword: true } });
    await passes(bench, 20);
    expect(bench.ready()).toBe('False AnyPasswordAccepted');
    const written = bench.secret();
    await passes(bench, 20);
    expect(bench.secret()).toEqual(written);
    // What the alert about a factory login that still works advises.
    await bench.edit({ state: 'Suspended' });
    await bench.until('True Suspended');
    await bench.edit({ state: 'Running' });
    await bench.until('False AnyPasswordAccepted');
    bench.simulator.setKnobs({ acceptsAnyPassword: false });
    await bench.until('True Running');
    expectOneWorkingLogin(bench);
  });
});

describe('The login of a DatabaseCluster whose space names the login of an application as the factory login', () => {
  it('is left as it is, and so is that of the application', async () => {
    const bench = await runningBench();
    const before = bench.secret();
    bench.simulator.setPassword('orders', 'app', 'application-password');
    bench.replaceFactory({ username: 'app', password: 'application-password' });
    await passes(bench, 10);
    expect(bench.ready()).toBe('False DefaultLoginMistaken');
    expect(bench.secret()).toEqual(before);
    expect(condition(bench, 'Available')).toMatchObject({ status: 'True', reason: 'LoginWorks' });
    await bench.edit({ storageSizeGB: 200 });
    await passes(bench, 10);
    expect(clusterNamed(bench.simulator, 'orders')?.storageSizeGB).toBe(200);
    expect(bench.simulator.passwordIs('orders', 'app', 'application-password')).toBe(true);
    bench.replaceFactory(FACTORY);
    await passes(bench, 5);
    expect(bench.ready()).toBe('True Running');
    expect(bench.secret()).toEqual(before);
  });

  it('is reported at each look, even if its own login works as when it was verified', async () => {
    const bench = await runningBench();
    bench.replaceFactory({ username: 'app', password: 'application-password' });
    await bench.until('True Running');
    bench.simulator.setPassword('orders', 'app', 'application-password');
    await bench.annotate('mooring.dev/reconcile-at', '1');
    for (let look = 0; look < 3; look++) {
      await bench.pass();
      expect(bench.ready()).toBe('False DefaultLoginMistaken');
    }
  });
});

describe('The login of a DatabaseCluster whose space names one with white space around it', () => {
  it.each([
    { ...FACTORY, password: `${FACTORY.password}\n` },
    { ...FACTORY, password: ` ${FACTORY.password}` },
    { ...FACTORY, username: `${FACTORY.username} ` },
  ])('is refused, and the reason is given: %j', async (factory) => {
    const bench = await kindBench();
    bench.replaceFactory(factory);
    await bench.until('False DefaultLoginRefused');
    expect(condition(bench, 'Ready')?.message).toContain('begins or ends with a space or a line break');
    bench.replaceFactory(FACTORY);
    await bench.until('True Running');
    expectOneWorkingLogin(bench);
  });
});

/** Whatever else is in the way, the login is taken care of. */
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

  it('replaces the factory login of a cluster that was adopted', async () => {
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

  it('is tried as soon as without the change if its server is not up, and the change is requested now and then', async () => {
    const bench = await runningBench();
    const outage = bench.simulator.faults.add({ match: { api: 'server' }, effect: 'outage' });
    refuseChanges(bench);
    await bench.edit({ storageSizeGB: 200 });
    await bench.annotate('mooring.dev/reconcile-at', '1');
    await bench.pass();
    expect(bench.ready()).toBe('False RefusedByCloud');
    const told = bench.status();
    const asked: number[] = [];
    for (let second = 0; second < 1_200; second += 10) {
      bench.forgetCalls();
      expect(await bench.pass()).toMatchObject({ next: 'failed', soon: true });
      if (bench.calls.includes('update')) asked.push(second);
      await bench.clock.advance(10_000);
    }
    expect(asked).toEqual([60, 180, 420, 900]);
    expect(bench.status()).toEqual(told);
    bench.simulator.faults.remove(outage);
    // Calls are held back, except one every half minute, and then go on one after the other.
    for (let pass = 0; pass < 8; pass++) await Promise.all([bench.pass(), bench.clock.advance(5_000)]);
    expect(condition(bench, 'Available')).toMatchObject({ status: 'True', reason: 'LoginWorks' });
    expect(bench.ready()).toBe('False RefusedByCloud');
  });

  it.each(['the spec', 'the cluster', 'a person', 'the process'])(
    'does not hold up a change that may be accepted by now, if its server is not up: %s is another',
    async (what) => {
      const bench = await runningBench();
      bench.simulator.faults.add({ match: { api: 'server' }, effect: 'outage' });
      refuseChanges(bench);
      await bench.edit({ storageSizeGB: 200 });
      await bench.annotate('mooring.dev/reconcile-at', '1');
      await passes(bench, 2);
      bench.simulator.faults.clear();
      bench.simulator.faults.add({ match: { api: 'server' }, effect: 'outage' });
      if (what === 'the spec') await bench.edit({ storageSizeGB: 300 });
      if (what === 'the cluster') bench.simulator.changeCluster('orders', { machineType: 'c2d-highcpu-2' });
      if (what === 'a person') await bench.annotate('mooring.dev/reconcile-at', '2');
      if (what === 'the process') await bench.restart();
      await list(bench);
      bench.forgetCalls();
      await bench.pass();
      expect(bench.calls).toContain('update');
    },
  );

  it('is replaced without a pause half-way, and without news of the change', async () => {
    const bench = await runningBench();
    refuseChanges(bench);
    await bench.edit({ storageSizeGB: 200 });
    await passes(bench, 3);
    const before = bench.secret()?.['password'];
    const { conditions, lastError } = bench.status();
    bench.forgetCalls();
    await bench.annotate('mooring.dev/rotate-at', 'now');
    while ((await bench.pass()).next === 'again');
    expect(bench.secret()?.['password']).not.toBe(before);
    expectOneWorkingLogin(bench);
    expect(bench.status()).toMatchObject({ conditions, lastError });
    expect(bench.told).toEqual([]);
  });
});

describe('The first suspension of a DatabaseCluster', () => {
  const isFactoryAlive = ({ simulator }: KindBench) => simulator.passwordIs('orders', 'admin', 'password');

  it.each([0, 30_000])(
    'comes after its factory login is retired, even if its server is up after %i ms',
    async (lagMs) => {
      const bench = await kindBench({ spec: { state: 'Suspended' }, knobs: { serverLagMs: [lagMs, lagMs] } });
      await bench.until('True Suspended');
      expect(isFactoryAlive(bench)).toBe(false);
    },
  );

  it.each(['the same', 'a new'])(
    'leaves its login known to %s process, even if its Secret should get another name',
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

  it('does not come while the password that the server accepted does not sign in yet, unless that stays so', async () => {
    const sleeping = async () => {
      const bench = await kindBench({ spec: { state: 'Suspended' } });
      for (let pass = 0; pass < 200 && !bench.calls.includes('server updateUser'); pass++) {
        const { next } = await bench.pass();
        if (next !== 'again') await bench.clock.advance(1_000);
      }
      // Not all of several machines know of the change at once, so neither password signs in.
      bench.simulator.setPassword('orders', 'admin', 'as another machine has it');
      await passes(bench, 4);
      expect(bench.calls).not.toContain('suspend');
      return bench;
    };
    const bench = await sleeping();
    bench.simulator.setPassword('orders', 'admin', bench.secret()?.['nextPassword'] ?? '');
    await bench.until('True Suspended');
    expect(bench.status().credentials).toMatchObject({ secretName: 'orders-admin' });
    const refused = await sleeping();
    await refused.until('True Suspended');
  });

  it('comes after an hour if no server is up', async () => {
    const bench = await kindBench({ spec: { state: 'Suspended' }, knobs: { serverLagMs: [2 * HOUR_MS, 2 * HOUR_MS] } });
    await bench.until('Unknown WaitingForServer');
    expect(bench.told.at(-1)).toContain('before the cluster is suspended');
    expect(await bench.pass()).toEqual({ next: 'settled', requeueAfterMs: HOUR_MS });
    await bench.clock.advance(HOUR_MS);
    await bench.until('True Suspended');
    expect(isFactoryAlive(bench)).toBe(true);
  });
});

describe('A DatabaseCluster whose only working login may not manage users', () => {
  const powerless = async (spec: Readonly<Record<string, unknown>>) => {
    const existingSecretRef = { name: 'given' };
    const bench = await kindBench({
      spec: { adoptionPolicy: 'MustExist', adminCredentials: { existingSecretRef }, ...spec },
    });
    bench.simulator.deployForeign({ id: 'orders', storageSizeGB: 100, machineType: 'c2d-highcpu-4', version: '3.5.0' });
    bench.simulator.setPassword('orders', 'admin', 'unknown');
    bench.simulator.setPassword('orders', 'reader', 'of the reader');
    await bench.putSecret('given', { username: 'reader', password: 'of the reader' });
    await list(bench);
    return bench;
  };

  it('is suspended if that is asked for', async () => {
    const bench = await powerless({ state: 'Suspended' });
    await bench.until('True Suspended');
    expect(bench.calls).not.toContain('server updateUser');
  });

  it('is changed, and its login is reported then', async () => {
    const bench = await powerless({ storageSizeGB: 200 });
    await bench.until('False AccessDenied');
    expect(bench.status().observed?.storageSizeGB).toBe(200);
    expect(condition(bench, 'Available')?.reason).toBe('AccessDenied');
  });
});

describe('A password that somebody wrote into the admin Secret as the coming one', () => {
  const write = (bench: KindBench, nextPassword: string) => bench.editSecret({ nextPassword });
  const expectDead = ({ simulator }: KindBench) =>
    expect(simulator.passwordIs('orders', 'admin', 'password')).toBe(false);

  it.each([
    ['a process that knows the login', false],
    ['a new process', true],
  ])(
    'is never given to the server, and at once gives way to a generated one if it is the factory password, by %s',
    async (_, isNew) => {
      const bench = await runningBench();
      const before = bench.secret()?.['password'];
      await write(bench, 'password');
      if (isNew) await bench.restart();
      for (let pass = 0; pass < 10; pass++) {
        await bench.pass();
        expectDead(bench);
        expect(bench.ready()).toBe('True Running');
      }
      expect(bench.secret()?.['password']).not.toBe(before);
      expectOneWorkingLogin(bench);
      expect(bench.calls.filter((call) => call === 'server updateUser')).toHaveLength(1);
    },
  );

  it.each([
    ['a process that knows the login', false],
    ['a new process', true],
  ])(
    'is never given to the server, and gives way to a generated one when no call with it can land any more, by %s',
    async (_, isNew) => {
      const bench = await runningBench();
      const before = bench.secret();
      await write(bench, 'by hand');
      if (isNew) await bench.restart();
      const pass = async () => {
        expectDead(bench);
        expect(bench.simulator.passwordIs('orders', 'admin', 'by hand')).toBe(false);
        const outcome = await bench.pass();
        expect(bench.ready()).toBe('True Running');
        return outcome;
      };
      for (let second = 0; second < 590; second += 10) {
        expect(await pass()).toMatchObject({ next: 'settled', requeueAfterMs: expect.any(Number) });
        await bench.clock.advance(10_000);
      }
      expect(bench.secret()).toEqual({ ...before, nextPassword: 'by hand' });
      expect(condition(bench, 'Reconciling')?.message).toContain('somebody else wrote');
      await bench.clock.advance(10_000);
      while ((await pass()).next === 'again');
      expect(bench.secret()?.['password']).not.toBe(before?.['password']);
      expectOneWorkingLogin(bench);
      expect(bench.calls.filter((call) => call === 'server updateUser')).toHaveLength(1);
    },
  );

  it('is accepted if it comes to work, as a version that did not mark its own may have given it to the server', async () => {
    const bench = await runningBench();
    await write(bench, 'of an earlier version');
    await bench.restart();
    await bench.annotate('mooring.dev/rotate-at', '1');
    await passes(bench, 100);
    bench.simulator.setPassword('orders', 'admin', 'of an earlier version');
    await bench.pass();
    expect(bench.secret()).toEqual({ username: 'admin', password: 'of an earlier version' });
    expect(bench.calls).not.toContain('server updateUser');
    await bench.until('True Running');
    expectOneWorkingLogin(bench);
  });

  it('holds up no change of the cluster', async () => {
    const bench = await runningBench();
    await write(bench, 'by hand');
    await bench.edit({ storageSizeGB: 200 });
    await passes(bench, 20);
    expect(bench.calls).toContain('update');
    expect(bench.secret()).toMatchObject({ nextPassword: 'by hand' });
  });

  it('is not waited for if only the factory login works', async () => {
    const bench = await runningBench();
    await write(bench, 'by hand');
    bench.simulator.setPassword('orders', 'admin', 'password');
    await passes(bench, 9);
    expect(bench.ready()).toBe('True Running');
    expectOneWorkingLogin(bench);
  });

  it('is accepted if it works already', async () => {
    const bench = await runningBench();
    bench.simulator.setPassword('orders', 'admin', 'by hand');
    await write(bench, 'by hand');
    await bench.until('True Running');
    expect(bench.secret()).toMatchObject({ password: 'by hand' });
    expectOneWorkingLogin(bench);
  });

  it('is given to the server if an earlier version may have written it, as it may be on its way', async () => {
    const bench = await runningBench();
    const annotations = { 'mooring.dev/next-password-mark': null };
    await bench.kube.patch(SECRETS, { namespace: 'shop', name: 'orders-admin' }, { metadata: { annotations } });
    await write(bench, 'by hand');
    await passes(bench, 5);
    expect(bench.secret()).toMatchObject({ password: 'by hand' });
    expectOneWorkingLogin(bench);
  });

  it('nor is it given to the server in place of one that is on its way', async () => {
    const bench = await runningBench();
    await bench.annotate('mooring.dev/rotate-at', '1');
    await bench.pass();
    expect(bench.secret()).toHaveProperty('nextPassword');
    await write(bench, 'password');
    for (let pass = 0; pass < 10; pass++) {
      await bench.pass();
      expectDead(bench);
    }
    expectOneWorkingLogin(bench);
    expect(bench.status().lastHandledRotateAt).toBe('1');
  });
});

describe('The first Secret of a DatabaseCluster that something takes the labels of', () => {
  it('is known by the cluster whose login it says it holds', async () => {
    const bench = await kindBench();
    for (let pass = 0; pass < 100 && bench.secret() === undefined; pass++) await passes(bench, 1);
    expect(bench.secret()?.['nextPassword']).toBeDefined();
    expect(bench.status().credentials).toBeUndefined();
    await bench.kube.patch(
      SECRETS,
      { namespace: 'shop', name: 'orders-admin' },
      { metadata: { labels: { [OWNER_LABEL]: null, 'app.kubernetes.io/managed-by': null } } },
    );
    await bench.until('True Running');
    expectOneWorkingLogin(bench);
  });
});
