import { describe, expect, it } from 'vitest';
import { aCluster } from '../../../../test/support/builders.ts';
import {
  Crashed,
  expectOneWorkingLogin,
  type KindBench,
  kindBench,
  runningBench,
} from '../../../../test/support/kind-bench.ts';
import { beginMove, passes, passUntilItEnds, rename } from '../../../../test/support/secret-moves.ts';
import { SECRETS } from '../../../kube/api.ts';
import { LANDED_MS } from '../../password-tries.ts';
import { DATABASE_CLUSTERS } from '../resource.ts';
import { otherThanWanted } from './former-secrets.ts';

describe('A Secret to which the login was once moving, without ever getting there', () => {
  /** The cluster is Ready with the Secret from before, which still names the other one. */
  async function withMoveTakenBack(): Promise<KindBench> {
    const bench = await runningBench();
    const before = bench.secret();
    await beginMove(bench, 'wrong');
    await rename(bench, 'orders-admin');
    await bench.until('True Running');
    await passes(bench, 3);
    expect(bench.secret()).toEqual(before);
    return bench;
  }

  /** On the server and in the Secret, as AdminLoginRefused tells a person to do. */
  async function changeByHand(bench: KindBench, inSecret = 'by hand'): Promise<void> {
    bench.simulator.setPassword('orders', 'admin', 'by hand');
    await bench.editSecret({ password: inSecret });
  }

  it.each(['the same', 'a new'])(
    'does not pass its dead password to the Secret with a password that a person has set since, by %s process',
    async (process) => {
      const bench = await withMoveTakenBack();
      if (process === 'a new') {
        await bench.restart();
        await bench.annotate('mooring.dev/reconcile-at', '1');
        await bench.until('True Running');
      }
      await changeByHand(bench);
      await passes(bench, 12);
      expect(bench.secret()).toEqual({ username: 'admin', password: 'by hand' });
      expect(bench.ready()).toBe('True Running');
    },
  );

  it('nor does it pass its dead password to one with a password that is mistyped', async () => {
    const bench = await withMoveTakenBack();
    await changeByHand(bench, 'by hnad');
    await passes(bench, 12);
    expect(bench.secret()).toMatchObject({ password: 'by hnad' });
    await changeByHand(bench);
    await bench.until('True Running');
    await passes(bench, 12);
    expect(bench.simulator.passwordIs('orders', 'admin', bench.secret()?.['password'] ?? '')).toBe(true);
  });

  it('does not prevent finding the login in the Secret that was verified last, when that gets another name', async () => {
    const bench = await withMoveTakenBack();
    await bench.restart();
    await changeByHand(bench);
    await bench.until('True Running');
    await bench.restart();
    await rename(bench, 'right');
    await bench.until('True Running');
    const { password = '' } = bench.secret('right') ?? {};
    expect(bench.simulator.passwordIs('orders', 'admin', password)).toBe(true);
  });

  it('does not prevent that either if it is gone by then', async () => {
    const bench = await runningBench();
    await beginMove(bench, 'wrong');
    bench.kube.remove(SECRETS, { namespace: 'shop', name: 'wrong' });
    await rename(bench, 'right');
    await bench.until('True Running');
    const { password = '' } = bench.secret('right') ?? {};
    expect(bench.simulator.passwordIs('orders', 'admin', password)).toBe(true);
  });
});

describe('A Secret to which the login is moving from one to which it was still moving', () => {
  it('does not prevent finding the one in between, which has the login', async () => {
    const bench = await runningBench();
    await beginMove(bench, 'last');
    await rename(bench, 'orders-admin');
    await bench.until('True Running');
    await bench.annotate('mooring.dev/rotate-at', '1');
    await bench.until('True Running');
    // The server accepts it, and nobody learns of that.
    bench.simulator.faults.add({ match: { operation: 'updateUser' }, effect: 'lostAnswer', times: 1 });
    bench.forgetCalls();
    await rename(bench, 'between');
    while (!bench.calls.includes('server updateUser')) await bench.pass();
    const { nextPassword = '' } = bench.secret('between') ?? {};
    expect(bench.simulator.passwordIs('orders', 'admin', nextPassword)).toBe(true);
    await beginMove(bench, 'last');
    await rename(bench, 'orders-admin');
    await bench.restart();
    await bench.until('True Running');
    expectOneWorkingLogin(bench);
  });
});

describe('The Secret of the first login', () => {
  /** Passes until the server was given a password. */
  async function untilPut(bench: KindBench): Promise<void> {
    bench.forgetCalls();
    for (let pass = 0; pass < 200 && !bench.calls.includes('server updateUser'); pass++) {
      const { next } = await bench.pass();
      if (next !== 'again') await bench.clock.advance(1_000);
    }
    expect(bench.simulator.passwordIs('orders', 'admin', 'password')).toBe(false);
  }

  /** A new process finds the login, though the Secret has another name, and leaves one Secret only. */
  async function expectFound(bench: KindBench): Promise<void> {
    await bench.restart();
    await rename(bench, 'right');
    await bench.until('True Running');
    const { password = '' } = bench.secret('right') ?? {};
    expect(bench.simulator.passwordIs('orders', 'admin', password)).toBe(true);
    expect(bench.status().credentials?.secretName).toBe('right');
    await bench.clock.advance(LANDED_MS);
    await bench.until('True Running');
    expect(bench.status().unverifiedSecretName).toBeUndefined();
  }

  it.each([
    ['a cluster that was created', async () => kindBench()],
    [
      'a cluster that was taken over',
      async () => {
        const bench = await kindBench({ spec: { adoptionPolicy: 'MustExist' } });
        bench.simulator.deployForeign({
          id: 'orders',
          storageSizeGB: 100,
          machineType: 'c2d-highcpu-4',
          version: '3.5.0',
        });
        await bench.world().connections.get('shop/production')?.poller.refresh();
        return bench;
      },
    ],
  ])(
    'of %s is known to a new process, even if it got another name when the server had just accepted the password',
    async (_, start) => {
      const bench = await start();
      await untilPut(bench);
      expect(bench.status().unverifiedSecretName).toBe('orders-admin');
      await expectFound(bench);
      expect(bench.secret()).toBeUndefined();
    },
  );

  it.each([
    [
      'the object was written by a version that did not record it',
      async ({ kube }: KindBench) => {
        const status = { unverifiedSecretName: null };
        await kube.patch(
          DATABASE_CLUSTERS,
          { namespace: 'shop', name: 'orders' },
          { status },
          { subresource: 'status' },
        );
      },
    ],
    ['it had another name when the cluster was created', (bench: KindBench) => rename(bench, 'second')],
    [
      'the name that it had first belongs to a Secret of others',
      async (bench: KindBench) => {
        await bench.putSecret('orders-admin', { key: 'value' });
        await bench.until('False SecretNotOurs');
        await rename(bench, 'second');
      },
    ],
  ])('is known also if %s', async (_, change) => {
    const bench = await kindBench();
    while (bench.status().createdAt === undefined) await bench.pass();
    await change(bench);
    await untilPut(bench);
    await expectFound(bench);
    expect(bench.secret('second')).toBeUndefined();
  });

  it('is known even if it is already the third, and the process ends with each', async () => {
    const bench = await kindBench();
    bench.simulator.faults.add({ match: { operation: 'updateUser' }, effect: 'lostAnswer' });
    await untilPut(bench);
    for (const name of ['second', 'third']) {
      await bench.restart();
      await rename(bench, name);
      await untilPut(bench);
    }
    bench.simulator.faults.clear();
    await expectFound(bench);
  });

  it.each(['before', 'after'] as const)('is known if the process ends %s its name is recorded', async (when) => {
    const bench = await kindBench();
    while (bench.status().createdAt === undefined) await bench.pass();
    await rename(bench, 'second');
    const patch = bench.kube.patch.bind(bench.kube);
    bench.kube.patch = async (resource, ref, body, options) => {
      const { status = {} } = body as { readonly status?: { readonly unverifiedSecretName?: string } };
      if (status.unverifiedSecretName !== 'second') return patch(resource, ref, body, options);
      if (when === 'after') await patch(resource, ref, body, options);
      throw new Crashed('The process ends here');
    };
    await passUntilItEnds(bench);
    bench.kube.patch = patch;
    expect(bench.secret('second')).toBeUndefined();
    expect(bench.simulator.passwordIs('orders', 'admin', 'password')).toBe(true);
    await bench.restart();
    await untilPut(bench);
    await expectFound(bench);
  });
});

it.each([
  ['the verified one, if the name changed', { credentials: 'before', unverifiedSecretName: 'orders-admin' }, 'before'],
  [
    'the one on the way to which the name changed back',
    { credentials: 'orders-admin', unverifiedSecretName: 'on' },
    'on',
  ],
  [
    'none, as long as neither is the one that is named',
    { credentials: 'before', unverifiedSecretName: 'on' },
    undefined,
  ],
  ['none, as long as no login was verified', { credentials: undefined, unverifiedSecretName: 'before' }, undefined],
])('The Secret that goes once no login can get there is %s', (_, { credentials: secretName, ...status }, other) => {
  const credentials = secretName === undefined ? undefined : { secretName, secretResourceVersion: '5', endpoint: '' };
  expect(otherThanWanted(aCluster().withStatus({ ...status, credentials }).subject)).toBe(other);
});

describe('A former Secret', () => {
  /** Passes until the process ends between the deletion of the former Secret and the write of the status. */
  async function endAfterRetiring(bench: KindBench, former: string): Promise<void> {
    const remove = bench.kube.delete.bind(bench.kube);
    bench.kube.delete = async (...args) => {
      const answer = await remove(...args);
      bench.crashAt({ verb: 'patch', plural: 'databaseclusters', when: 'before' });
      return answer;
    };
    await passUntilItEnds(bench);
    bench.kube.delete = remove;
    expect(bench.secret(former)).toBeUndefined();
    await bench.restart();
  }

  async function expectWorking(bench: KindBench, name: string): Promise<void> {
    await bench.until('True Running');
    const { password = '' } = bench.secret(name) ?? {};
    expect(bench.simulator.passwordIs('orders', 'admin', password)).toBe(true);
    expect(bench.status().credentials?.secretName).toBe(name);
  }

  it.each([
    ['the login', runningBench, 'orders-admin'],
    ['the login', runningBench, 'third'],
    [
      'the first login',
      async () => {
        const bench = await kindBench();
        while (bench.secret()?.['nextPassword'] === undefined) {
          await bench.pass();
          await bench.clock.advance(1_000);
        }
        await bench.pass();
        expect(bench.calls).toContain('server updateUser');
        return bench;
      },
      'orders-admin',
    ],
  ] as const)(
    'of %s does not cut off the way to the login if the process ends right after its deletion, and the name becomes %s',
    async (_, start, name) => {
      const bench = await start();
      await rename(bench, 'second');
      await endAfterRetiring(bench, 'orders-admin');
      await rename(bench, name);
      await expectWorking(bench, name);
    },
  );

  it('that a person deletes, in between, does not keep a new process from finding the login in the next one', async () => {
    const bench = await runningBench();
    await beginMove(bench, 'wrong');
    bench.simulator.faults.add({ match: { operation: 'updateUser' }, effect: 'lostAnswer', times: 1 });
    await rename(bench, 'right');
    bench.forgetCalls();
    while (!bench.calls.includes('server updateUser')) await bench.pass();
    const { nextPassword = '' } = bench.secret('right') ?? {};
    expect(bench.simulator.passwordIs('orders', 'admin', nextPassword)).toBe(true);
    bench.kube.remove(SECRETS, { namespace: 'shop', name: 'wrong' });
    await bench.restart();
    await rename(bench, 'orders-admin');
    await expectWorking(bench, 'orders-admin');
  });

  it.each(['the same', 'a new'])(
    'whose password the server accepts half a minute after the name was taken back is found soon, by %s process',
    async (process) => {
      const bench = await runningBench();
      await beginMove(bench, 'wrong');
      const { nextPassword = '' } = bench.secret('wrong') ?? {};
      await rename(bench, 'orders-admin');
      if (process === 'a new') await bench.restart();
      await bench.until('True Running');
      await passes(bench, 6);
      expect(bench.ready()).toBe('True Running');
      bench.simulator.setPassword('orders', 'admin', nextPassword);
      await passes(bench, 12);
      expect(bench.ready()).toBe('True Running');
      expectOneWorkingLogin(bench);
    },
  );

  it('is looked at only now and then as long as the login may get there, and goes after that, each time', async () => {
    const bench = await runningBench();
    for (const name of ['wrong', 'wrong-too']) {
      await beginMove(bench, name);
      await rename(bench, 'orders-admin');
      await bench.until('True Running');
      bench.forgetCalls();
      const beganMs = bench.clock.now();
      while (bench.secret(name) !== undefined) {
        const { next, ...rest } = await bench.pass();
        if (next === 'again') continue;
        expect(rest).toHaveProperty('requeueAfterMs', expect.any(Number));
        if ('requeueAfterMs' in rest) expect(rest.requeueAfterMs).toBeLessThanOrEqual(30_000);
        await bench.clock.advance(5_000);
      }
      expect(bench.clock.now() - beganMs).toBeGreaterThan(LANDED_MS - 60_000);
      expect(bench.clock.now() - beganMs).toBeLessThan(LANDED_MS + 60_000);
      // Two at each look: the login works, and the one that new clusters come with does not.
      expect(bench.calls.filter((call) => call === 'server signIn').length).toBeLessThan(2 * 22);
      await bench.until('True Running');
      expect(bench.status().unverifiedSecretName).toBeUndefined();
      expectOneWorkingLogin(bench);
    }
  });
});
