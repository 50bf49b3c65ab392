import { describe, expect, it } from 'vitest';
import {
  APP,
  readyUserBench,
  settleRefused,
  settleWatched,
  type UserBench,
  userBench,
} from '../../../../test/support/user-bench.ts';
import type { Outcome } from '../../../runtime/reconcile.ts';

const MINUTE_MS = 60_000;

describe('verification', () => {
  it('that is held back, because the server asked for a pause, changes nothing about a user that is Ready', async () => {
    const bench = await readyUserBench();
    const { simulator, clock } = bench.cluster;
    const before = bench.status().conditions;
    const fault = simulator.faults.add({ match: { operation: 'signIn' }, effect: '429', retryAfterSeconds: 120 });
    await clock.advance(11 * MINUTE_MS);
    expect(await bench.pass()).toEqual({ next: 'settled', requeueAfterMs: 120_000 });
    expect(bench.status().conditions).toEqual(before);
    simulator.faults.remove(fault);
    await clock.advance(3 * MINUTE_MS);
    bench.takeCalls();
    await bench.settle();
    expect(bench.takeCalls()).toContain('signIn');
    expect(bench.status().conditions).toEqual(before);
  });
});

describe('rotation', () => {
  it('on demand: after each pass one of the two passwords works, and the user stays Ready', async () => {
    const bench = await readyUserBench();
    const { password: before = '' } = bench.secret() ?? {};
    await bench.annotate('mooring.dev/rotate-at', '1');
    await settleWatched(bench);
    const { password, nextPassword } = bench.secret() ?? {};
    expect(password).not.toBe(before);
    expect(nextPassword).toBeUndefined();
    expect(bench.works(password)).toBe(true);
    expect(bench.works(before)).toBe(false);
    expect(bench.ready()).toBe('True LoginWorks');
    expect(bench.status()).toMatchObject({ lastHandledRotateAt: '1' });
    expect(bench.takeCalls().filter((call) => call === 'updateUser')).toHaveLength(1);
    await bench.settle();
    expect(bench.secret()?.['password']).toBe(password);
  });

  it('on schedule, and the checksum for rollouts changes with it', async () => {
    const bench = await readyUserBench({ user: { rotateEvery: '1h' } });
    const before = bench.secret()?.['password'];
    const checksum = () => bench.secretObject()?.metadata.annotations?.['mooring.dev/checksum'];
    const checksumBefore = checksum();
    const { lastRotation: first } = bench.status();
    await bench.cluster.clock.advance(59 * MINUTE_MS);
    await bench.settle();
    expect(bench.secret()?.['password']).toBe(before);
    await bench.cluster.clock.advance(MINUTE_MS);
    await settleWatched(bench);
    expect(bench.secret()?.['password']).not.toBe(before);
    expect(checksum()).not.toBe(checksumBefore);
    expect(Date.parse(bench.status().lastRotation ?? '')).toBeGreaterThan(Date.parse(first ?? ''));
  });

  it('waits for a minute if an earlier call may still set the password that it would replace', async () => {
    const bench = await readyUserBench();
    await bench.annotate('mooring.dev/rotate-at', '1');
    while (bench.secret()?.['nextPassword'] === undefined) await bench.pass();
    bench.cluster.simulator.faults.add({ match: { operation: 'updateUser' }, effect: 'reset', times: 1 });
    await bench.pass();
    await bench.restart();
    await bench.until('True LoginWorks');
    await bench.settle();
    const { password = '' } = bench.secret() ?? {};
    await bench.annotate('mooring.dev/rotate-at', '2');
    await bench.settle();
    expect(bench.ready()).toBe('True LoginWorks');
    // What was sent first arrives.
    bench.cluster.simulator.setPassword('orders', 'app', password);
    expect(bench.works(bench.secret()?.['password'])).toBe(true);
    const outcome = await bench.pass();
    expect(comesBackInMs(outcome)).toBeLessThanOrEqual(MINUTE_MS);
    await bench.cluster.clock.advance(MINUTE_MS);
    await settleWatched(bench);
    expect(bench.secret()?.['password']).not.toBe(password);
    expect(bench.status()).toMatchObject({ lastHandledRotateAt: '2' });
  });

  it('of a user that was just created, whose Secret was deleted, even if the first attempt is not answered', async () => {
    const bench = await userBench({ user: {} });
    while (!bench.users().includes('app')) await bench.pass();
    bench.removeSecret('app-connection');
    bench.cluster.simulator.faults.add({ match: { operation: 'updateUser' }, effect: 'reset', times: 1 });
    await bench.settle();
    await bench.until('True LoginWorks');
    expect(bench.works(bench.secret()?.['password'])).toBe(true);
  });

  it('after the Secret was deleted, with a new password', async () => {
    const bench = await readyUserBench({ user: { rotateEvery: '1h' } });
    const before = bench.secret()?.['password'];
    bench.removeSecret('app-connection');
    await bench.settle();
    const { password } = bench.secret() ?? {};
    expect(password).not.toBe(before);
    expect(bench.works(password)).toBe(true);
    expect(bench.ready()).toBe('True LoginWorks');
    expect(bench.takeCalls().filter((call) => call === 'updateUser')).toHaveLength(1);
  });
});

function comesBackInMs(outcome: Outcome): number | undefined {
  return outcome.next === 'settled' ? outcome.requeueAfterMs : undefined;
}

describe('a rotation that the server refuses', () => {
  it('is not done, says so until it is, and is tried with another password now and then', async () => {
    const bench = await readyUserBench();
    const { faults } = bench.cluster.simulator;
    const { password } = bench.secret() ?? {};
    const { lastRotation } = bench.status();
    const refuse = () => faults.add({ match: { operation: 'updateUser' }, effect: 'errorBefore', status: 400 });
    refuse();
    await bench.cluster.clock.advance(MINUTE_MS);
    await bench.annotate('mooring.dev/rotate-at', '1');
    for (let turn = 0; turn < 3; turn++) {
      for (let pass = 0; pass < 5; pass++) await bench.settle();
      expect(bench.ready()).toBe('False RefusedByServer');
      expect(bench.condition()?.message).toMatch(/The previous password stays: another one is tried now and then$/);
      expect(bench.secret()).toMatchObject({ password });
      expect(bench.works(password)).toBe(true);
      expect(bench.status()).toMatchObject({ lastRotation, binding: { name: 'app-connection' } });
      expect(bench.status().lastHandledRotateAt).toBeUndefined();
      expect(bench.takeCalls().filter((call) => call === 'updateUser')).toHaveLength(1);
      // In a minute, then after twice as long each time; until then only that needs a pass, and no pass does anything.
      await bench.cluster.clock.advance((2 ** turn - 0.5) * MINUTE_MS);
      expect(comesBackInMs(await bench.pass())).toBeLessThanOrEqual(MINUTE_MS / 2);
      await bench.cluster.clock.advance(MINUTE_MS / 2);
    }
    // A person asks for it once more.
    await bench.settle();
    bench.takeCalls();
    await bench.annotate('mooring.dev/rotate-at', '2');
    await bench.settle();
    expect(bench.takeCalls()).toContain('updateUser');
    faults.clear();
    await bench.cluster.clock.advance(MINUTE_MS);
    await settleWatched(bench);
    expect(bench.ready()).toBe('True LoginWorks');
    expect(bench.status()).toMatchObject({
      lastRotation: new Date(bench.cluster.clock.now()).toISOString(),
      lastHandledRotateAt: '2',
    });
    expect(bench.secret()?.['password']).not.toBe(password);
  });

  it.each([400, 409, 422])(
    'is done if the new password works after all, whatever the answer says (%d)',
    async (status) => {
      const bench = await readyUserBench();
      const { password } = bench.secret() ?? {};
      bench.cluster.simulator.faults.add({
        match: { operation: 'updateUser' },
        effect: 'errorAfter',
        status,
        times: 1,
      });
      await bench.annotate('mooring.dev/rotate-at', '1');
      await bench.until('True LoginWorks');
      const { password: after } = bench.secret() ?? {};
      expect([after === password, bench.works(after)]).toEqual([false, true]);
      expect(bench.takeCalls().filter((call) => call === 'updateUser')).toHaveLength(1);
    },
  );

  it.each([
    ['a creation', 'createUser', 'Unknown CreatingUser', (bench: UserBench) => bench],
    [
      'a rotation',
      'updateUser',
      'False RefusedByServer',
      (bench: UserBench) => bench.until('True LoginWorks').then(() => bench),
    ],
  ])('keeps the password of %s that may be on its way from an earlier attempt', async (_, operation, ready, begin) => {
    const bench = await begin(await userBench({ user: {} }));
    const { faults } = bench.cluster.simulator;
    await bench.annotate('mooring.dev/rotate-at', '1');
    faults.add({ match: { operation }, effect: 'reset', times: 1 });
    faults.add({ match: { operation }, effect: 'errorBefore', status: 400, times: 1 });
    bench.takeCalls();
    for (let calls = 0; calls < 2; calls += bench.takeCalls().filter((call) => call === operation).length)
      await bench.pass();
    expect(bench.ready()).toBe(ready);
    const { nextPassword = '' } = bench.secret() ?? {};
    // What was sent first takes effect only now.
    bench.cluster.simulator.setPassword('orders', 'app', nextPassword);
    await bench.cluster.clock.advance(5_000);
    await bench.until('True LoginWorks');
    expect(bench.secret()).toMatchObject({ password: nextPassword });
    expect(bench.works(nextPassword)).toBe(true);
  });

  it('goes after ten minutes in which the server refused the password that an earlier process was about to give it', async () => {
    const bench = await readyUserBench();
    await bench.annotate('mooring.dev/rotate-at', '1');
    await bench.pass();
    const { nextPassword } = bench.secret() ?? {};
    await bench.restart();
    bench.cluster.simulator.faults.add({ match: { operation: 'updateUser' }, effect: 'errorBefore', status: 400 });
    await bench.settle();
    expect(bench.secret()).toMatchObject({ nextPassword });
    await bench.cluster.clock.advance(10 * MINUTE_MS);
    await bench.settle();
    expect(bench.secret()).not.toHaveProperty('nextPassword');
  });

  it('says nothing of a previous password if what is refused is to put back the one in the Secret', async () => {
    const bench = await readyUserBench();
    const { password } = bench.secret() ?? {};
    bench.cluster.simulator.setPassword('orders', 'app', 'changed on the server');
    bench.cluster.simulator.faults.add({ match: { operation: 'updateUser' }, effect: 'errorBefore', status: 400 });
    await bench.cluster.clock.advance(11 * MINUTE_MS);
    await settleRefused(bench);
    expect(bench.ready()).toBe('False RefusedByServer');
    expect(bench.condition()?.message).not.toContain('previous password');
    expect(bench.secret()).toMatchObject({ password });
  });

  it('counts for what was requested before its password was written', async () => {
    const bench = await readyUserBench();
    await bench.annotate('mooring.dev/rotate-at', '1');
    await bench.pass();
    await bench.annotate('mooring.dev/rotate-at', '2');
    while (bench.status().lastHandledRotateAt === undefined) await bench.pass();
    expect(bench.status().lastHandledRotateAt).toBe('1');
    await bench.settle();
    expect(bench.status().lastHandledRotateAt).toBe('2');
    expect(bench.takeCalls().filter((call) => call === 'updateUser')).toHaveLength(2);
  });
});

describe('a password that the server cannot be given, as something in front of it answers that there is no such user', () => {
  it.each([
    ['that rotates', async (bench: UserBench) => bench.annotate('mooring.dev/rotate-at', '1')],
    [
      'that was changed on the server',
      async (bench: UserBench) => {
        bench.cluster.simulator.setPassword('orders', 'app', 'set-behind-our-back');
        await bench.cluster.clock.advance(11 * MINUTE_MS);
        await bench.settle();
        await bench.cluster.clock.advance(3_000);
      },
    ],
  ])('%s, is reported, and nothing is created', async (_, begin) => {
    const bench = await readyUserBench();
    const { faults } = bench.cluster.simulator;
    await begin(bench);
    faults.add({ match: { operation: 'updateUser' }, effect: 'html', status: 404 });
    await bench.settle();
    expect(bench.ready()).toBe('Unknown NotFound');
    expect(bench.condition()?.message).toMatch(/^Cannot update user "app": .*the server shows it/);
    const calls = bench.takeCalls();
    expect(calls.filter((call) => call === 'updateUser')).toHaveLength(1);
    expect(calls).not.toContain('createUser');
    faults.clear();
    await bench.until('True LoginWorks');
    expect(bench.works(bench.secret()?.['password'])).toBe(true);
  });
});

describe('a password that takes effect later', () => {
  const late = async (bench: UserBench) => {
    const { simulator } = bench.cluster;
    const { password = '' } = bench.secret() ?? {};
    await bench.annotate('mooring.dev/rotate-at', '1');
    while (!bench.takeCalls().includes('updateUser')) await bench.pass();
    const { nextPassword = '' } = bench.secret() ?? {};
    simulator.setPassword('orders', 'app', password);
    return () => simulator.setPassword('orders', 'app', nextPassword);
  };

  it('is waited for, and not set once more', async () => {
    const bench = await readyUserBench();
    const takeEffect = await late(bench);
    for (let second = 0; second < 30; second++) {
      expect(await bench.settle()).toMatchObject({ next: 'retry', pace: 'soon' });
      await bench.cluster.clock.advance(1_000);
    }
    expect(bench.ready()).toBe('True LoginWorks');
    const { conditions = [] } = bench.status();
    expect(conditions.find(({ type }) => type === 'Reconciling')?.message).toContain('does not sign in yet');
    takeEffect();
    await settleWatched(bench);
    expect(bench.takeCalls()).not.toContain('updateUser');
    expect(bench.status().conditions).toHaveLength(1);
    expect(bench.status()).toMatchObject({ lastHandledRotateAt: '1' });
  });

  it('is set again if it does not work within a minute', async () => {
    const bench = await readyUserBench();
    await late(bench);
    await bench.cluster.clock.advance(MINUTE_MS);
    await settleWatched(bench);
    expect(bench.takeCalls().filter((call) => call === 'updateUser')).toHaveLength(1);
    expect(bench.status()).toMatchObject({ lastHandledRotateAt: '1' });
  });
});

describe('a step that comes late', () => {
  it('leaves a coming password that is on its way alone', async () => {
    const bench = await readyUserBench();
    await bench.annotate('mooring.dev/rotate-at', '1');
    await bench.pass();
    const { nextPassword } = bench.secret() ?? {};
    await bench.act({ do: 'PrepareNext' });
    expect(bench.secret()).toMatchObject({ nextPassword });
  });

  it("leaves a coming password alone that the server may have taken, though a person's own is to follow", async () => {
    const bench = await readyUserBench();
    await bench.putSecret('mine', { password: 'my own' });
    await bench.annotate('mooring.dev/rotate-at', '1');
    await bench.pass();
    const { nextPassword } = bench.secret() ?? {};
    bench.cluster.simulator.faults.add({ match: { operation: 'updateUser' }, effect: 'lostAnswer', times: 1 });
    await bench.pass();
    expect(bench.works(nextPassword)).toBe(true);
    await bench.edit({ passwordSecretRef: { name: 'mine' } });
    await bench.act({ do: 'PrepareNext' });
    expect(bench.secret()).toMatchObject({ nextPassword });
  });

  it('does nothing to a cluster other than the one that the decision was about', async () => {
    const bench = await readyUserBench();
    const on = { username: 'app', identity: 'another' };
    const put = bench.act({ do: 'PutPassword', ...on, password: 'current', drifted: false });
    await expect(put).rejects.toMatchObject({ reason: 'ClusterChanged' });
    await expect(bench.act({ do: 'DeleteUser', ...on })).rejects.toMatchObject({ reason: 'ClusterChanged' });
    expect(bench.takeCalls()).toEqual([]);
  });

  it('writes nothing if the cluster can no longer be worked with', async () => {
    const bench = await readyUserBench();
    await bench.cluster.edit({ state: 'Suspended' });
    await bench.cluster.until('True Suspended');
    const before = bench.secret();
    await expect(bench.act({ do: 'PrepareNext' })).rejects.toMatchObject({ reason: 'ClusterChanged' });
    expect(bench.secret()).toEqual(before);
  });

  it.each(['PutPassword', 'CreateUser'] as const)(
    'gives no user the password that new clusters come with, which somebody has just written: %s',
    async (what) => {
      const bench = await readyUserBench();
      const on = { username: 'app', identity: bench.status().connection?.cluster ?? '', password: 'current' } as const;
      await bench.editSecret('app-connection', { data: { password: 'password' } });
      const step = { do: what, ...on, drifted: true, returns: true } as const;
      await expect(bench.act(step)).rejects.toMatchObject({ reason: 'SecretChanged' });
      expect(bench.works('password')).toBe(false);
    },
  );

  it('finds the user gone, and it is created then', async () => {
    const bench = await readyUserBench();
    await bench.annotate('mooring.dev/rotate-at', '1');
    await bench.pass();
    bench.cluster.simulator.deleteUser('orders', 'app');
    await bench.settle();
    expect(bench.works(bench.secret()?.['password'])).toBe(true);
    expect(bench.takeCalls().filter((call) => call === 'updateUser')).toHaveLength(1);
  });
});

describe('drift on the server', () => {
  const verifyOnce = async (bench: UserBench) => {
    await bench.cluster.clock.advance(11 * MINUTE_MS);
    await settleRefused(bench);
  };

  it('of the password is found by signing in, and repaired by exactly one update, which counts', async () => {
    const bench = await readyUserBench();
    const before = bench.secret();
    bench.cluster.simulator.setPassword('orders', 'app', 'set-behind-our-back');
    await verifyOnce(bench);
    expect(bench.secret()).toEqual(before);
    expect(bench.works(before?.['password'])).toBe(true);
    expect(bench.told).toEqual(['corrected password']);
    expect(bench.takeCalls()).toEqual(['signIn', 'listUsers', 'signIn', 'listUsers', 'updateUser', 'signIn']);
    expect(bench.ready()).toBe('True LoginWorks');
  });

  it('is not believed at once, each time, as setting a password that is right ends sessions: Ready is Unknown until it is tried again', async () => {
    const bench = await readyUserBench();
    const { faults } = bench.cluster.simulator;
    for (let time = 0; time < 3; time++) {
      faults.add({ match: { operation: 'signIn' }, effect: 'errorBefore', status: 401, times: 1 });
      await bench.cluster.clock.advance(11 * MINUTE_MS);
      expect(await bench.settle()).toEqual({ next: 'settled', requeueAfterMs: 3_000 });
      expect(bench.ready()).toBe('Unknown SettingPassword');
      await bench.cluster.clock.advance(3_000);
      await bench.settle();
      expect(bench.ready()).toBe('True LoginWorks');
      expect(bench.takeCalls()).toEqual(['signIn', 'listUsers', 'signIn']);
    }
  });

  it('is found by another sign-in, though the password signed in a moment before', async () => {
    const bench = await readyUserBench();
    bench.cluster.simulator.setPassword('orders', 'app', 'set-behind-our-back');
    await bench.annotate('mooring.dev/reconcile-at', '1');
    await bench.settle();
    expect(bench.ready()).toBe('Unknown SettingPassword');
    await bench.until('True LoginWorks');
    expect(bench.works(bench.secret()?.['password'])).toBe(true);
  });

  it('is verified again after the update, however recently the password worked', async () => {
    const bench = await readyUserBench({ space: { verifyInterval: '30s' } });
    bench.cluster.simulator.setPassword('orders', 'app', 'set-behind-our-back');
    await bench.cluster.clock.advance(31_000);
    await settleRefused(bench);
    expect(bench.takeCalls()).toEqual(['signIn', 'listUsers', 'signIn', 'listUsers', 'updateUser', 'signIn']);
  });

  it('of a user that was deleted brings it back with the same password', async () => {
    const bench = await readyUserBench();
    const before = bench.secret();
    bench.cluster.simulator.deleteUser('orders', 'app');
    await verifyOnce(bench);
    expect(bench.secret()).toEqual(before);
    expect(bench.works(before?.['password'])).toBe(true);
    expect(bench.told).toEqual(['corrected username']);
    expect(bench.takeCalls()).not.toContain('updateUser');
  });

  it('is distinguished from a password that was edited in the Secret', async () => {
    const bench = await readyUserBench();
    await bench.editSecret('app-connection', { data: { password: 'edited by somebody' } });
    await bench.settle();
    const { password } = bench.secret() ?? {};
    expect(password).not.toBe('edited by somebody');
    expect(bench.works(password)).toBe(true);
    expect(bench.told).toEqual([]);
  });

  it('is repaired with the bytes that clients have even if a label of the Secret changed too', async () => {
    const bench = await readyUserBench();
    const { password } = bench.secret() ?? {};
    bench.cluster.simulator.setPassword('orders', 'app', 'set-behind-our-back');
    await bench.editSecret('app-connection', { metadata: { labels: { team: 'shop' } } });
    await verifyOnce(bench);
    expect(bench.secret()).toMatchObject({ password });
    expect(bench.works(password)).toBe(true);
  });
});

describe('quiet', () => {
  it('nothing is called, read or written while nothing changes, except one sign-in each interval', async () => {
    const bench = await readyUserBench();
    for (let minute = 0; minute < 60; minute++) {
      await bench.cluster.clock.advance(MINUTE_MS);
      await bench.settle();
    }
    expect(bench.takeCalls().filter((call) => call !== 'signIn')).toEqual([]);
    expect(bench.takeRequests().filter((request) => !request.startsWith('get secrets/'))).toEqual([]);
  });

  it('a restart with everything Ready makes no call, no read and no write', async () => {
    const bench = await readyUserBench();
    await bench.restart();
    await bench.settle();
    expect(bench.takeCalls()).toEqual([]);
    expect(bench.takeRequests()).toEqual([]);
  });

  it('with verifyInterval 0s nothing is tried except after changes', async () => {
    const bench = await readyUserBench({ space: { verifyInterval: '0s' } });
    await bench.cluster.clock.advance(600 * MINUTE_MS);
    expect(await bench.settle()).toEqual({ next: 'settled', requeueAfterMs: undefined });
    expect(bench.takeCalls()).toEqual([]);
  });

  it('a person who asks for a look gets one', async () => {
    const bench = await readyUserBench();
    await bench.annotate('mooring.dev/reconcile-at', 'now');
    await bench.settle();
    expect(bench.takeCalls()).toEqual(['signIn']);
    expect(bench.status().lastHandledReconcileAt).toBe('now');
  });

  it('a paused object says what it would do, and does nothing', async () => {
    const bench = await userBench();
    await bench.create(APP, {}, { 'mooring.dev/paused': 'true' });
    await bench.settle();
    expect(bench.ready()).toBe('Unknown Paused');
    expect(bench.condition()?.message).toContain('would write a new password to the connection Secret');
    expect(bench.secret()).toBeUndefined();
  });

  it('a paused object whose password was changed elsewhere is looked at again, and Ready once it works', async () => {
    const bench = await readyUserBench({ space: { verifyInterval: '1m' } });
    const { clock, simulator } = bench.cluster;
    const password = bench.secret()?.['password'] ?? '';
    await bench.annotate('mooring.dev/paused', 'true');
    simulator.setPassword('orders', 'app', 'changed-in-the-console');
    await clock.advance(61_000);
    await settleRefused(bench);
    expect(bench.ready()).toBe('Unknown Paused');
    expect(await bench.settle()).toEqual({ next: 'retry', pace: 'slowly', fails: false });
    simulator.setPassword('orders', 'app', password);
    await clock.advance(61_000);
    await bench.settle();
    expect(bench.ready()).toBe('True LoginWorks');
  });
});
