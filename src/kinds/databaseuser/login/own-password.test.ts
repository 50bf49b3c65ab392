import { describe, expect, it } from 'vitest';
import {
  expectOneWorks,
  readyUserBench,
  settleRefused,
  settleWatched,
  userBench,
} from '../../../../test/support/user-bench.ts';

const MINUTE_MS = 60_000;
const own = { passwordSecretRef: { name: 'mine' } };

describe("a person's own password", () => {
  it('is applied as it is, and so is a change of it', async () => {
    const bench = await userBench({ user: own });
    await bench.settle();
    expect(bench.ready()).toBe('Unknown SecretNotFound');
    await bench.putSecret('mine', { password: 'first of mine' });
    await bench.settle();
    expect(bench.secret()?.['password']).toBe('first of mine');
    await bench.putSecret('mine', { password: 'second of mine' });
    await settleWatched(bench);
    expect(bench.secret()).toMatchObject({ password: 'second of mine' });
    expect(bench.works('second of mine')).toBe(true);
    expect(bench.ready()).toBe('True LoginWorks');
  });

  it('stays if its Secret is taken away, and is verified, until there is another one', async () => {
    const bench = await userBench({ user: own });
    await bench.putSecret('mine', { password: 'first of mine' });
    await bench.until('True LoginWorks');
    bench.removeSecret('mine');
    await bench.settle();
    expect(bench.ready()).toBe('Unknown SecretNotFound');
    expect(bench.condition()?.message).toMatch(/with key "password"\. The previous password stays$/);
    bench.cluster.simulator.setPassword('orders', 'app', 'set-behind-our-back');
    await bench.cluster.clock.advance(11 * MINUTE_MS);
    await settleRefused(bench);
    expect(bench.works('first of mine')).toBe(true);
    await bench.putSecret('mine', { password: 'second of mine' });
    await bench.until('True LoginWorks');
    expect(bench.works('second of mine')).toBe(true);
  });

  it.each(['with a line break\n', ' \t ', 'ü'.repeat(36), '\ufeffmark', '{"$schema": "\u0000"}'])(
    'is taken byte for byte: %j',
    async (password) => {
      const bench = await userBench({ user: { ...own, connectionSecret: { template: { URL: '{{ password }}' } } } });
      await bench.putSecret('mine', { password });
      await bench.until('True LoginWorks');
      expect(bench.secret()).toMatchObject({ password, URL: password });
      expect(bench.works(password)).toBe(true);
    },
  );

  it('that is changed while the one before is on its way follows it', async () => {
    const bench = await readyUserBench({ user: {} });
    await bench.putSecret('mine', { password: 'first of mine' });
    await bench.edit(own);
    await bench.pass();
    expect(bench.secret()).toHaveProperty('nextPassword', 'first of mine');
    await bench.putSecret('mine', { password: 'second of mine' });
    await settleWatched(bench);
    expect(bench.works('second of mine')).toBe(true);
    expect(bench.secret()).not.toHaveProperty('nextPassword');
  });

  it.each([
    ['is empty', 'InvalidPassword', { password: '' }, /under key "password" is empty/],
    ['has more bytes than a server looks at', 'InvalidPassword', { password: 'ü'.repeat(37) }, /has 74 bytes/],
    ['is not text', 'InvalidPassword', { password: Uint8Array.from([0x70, 0xff]) }, /is not text/],
    ['is the factory password', 'InvalidPassword', { password: 'password' }, /that new clusters come with/],
    ['is under another key', 'SecretKeyMissing', { other: 'something' }, /no value under key "password"/],
  ] as const)(
    'that %s is refused with the reason, and the one that works stays',
    async (_what, reason, data, message) => {
      const bench = await readyUserBench();
      const before = bench.secret()?.['password'];
      await bench.putSecret('mine', data);
      await bench.edit(own);
      await bench.settle();
      expect(bench.ready()).toBe(`False ${reason}`);
      expect(bench.condition()?.message).toMatch(message);
      expect(bench.condition()?.message).toContain('Secret "mine"');
      expect(bench.condition()?.message).toMatch(/\. The previous password stays$/);
      expect(bench.secret()?.['password']).toBe(before);
      expect(bench.works(before)).toBe(true);
      await bench.putSecret('mine', { password: 'x'.repeat(72) });
      await bench.settle();
      expect(bench.works('x'.repeat(72))).toBe(true);
    },
  );

  it.each([
    ['another user', { 'mooring.dev/user': 'reporting' }],
    ['a cluster', { 'mooring.dev/cluster': 'orders' }],
  ])(
    'is not one that Mooring wrote for %s: two users that follow each other would swap theirs for ever',
    async (_, of) => {
      const bench = await readyUserBench();
      const before = bench.secret()?.['password'];
      const labels = { ...of, 'app.kubernetes.io/managed-by': 'mooring' };
      await bench.putSecret('mine', { password: 'of somebody else' }, { labels });
      await bench.edit(own);
      await bench.settle();
      expect(bench.ready()).toBe('False InvalidPassword');
      // A person may have copied a Secret of ours with its labels.
      expect(bench.condition()?.message).toContain('as its labels say: put your own into a Secret without them');
      expect(bench.secret()?.['password']).toBe(before);
      expect(bench.works(before)).toBe(true);
      await bench.putSecret('mine', { password: 'my own' });
      await bench.until('True LoginWorks');
      expect(bench.works('my own')).toBe(true);
    },
  );

  it.each([
    ['when nothing goes wrong', undefined],
    ['though the server does not answer', { match: { operation: 'updateUser' }, effect: 'reset', times: 1 } as const],
    ['though its answer is lost', { match: { operation: 'updateUser' }, effect: 'lostAnswer', times: 1 } as const],
  ])('that the spec no longer names gives way to a generated one, once, %s', async (_, fault) => {
    const bench = await userBench({ user: own });
    await bench.putSecret('mine', { password: 'mine' });
    await bench.until('True LoginWorks');
    if (fault !== undefined) bench.cluster.simulator.faults.add(fault);
    await bench.edit({ passwordSecretRef: null });
    await bench.until('True LoginWorks');
    await bench.settle();
    const { password, nextPassword } = bench.secret() ?? {};
    expect(password).toHaveLength(32);
    expect(nextPassword).toBeUndefined();
    expect([bench.works('mine'), bench.works(password)]).toEqual([false, true]);
    expect(bench.status().connection?.sourceResourceVersion).toBeUndefined();
    bench.takeCalls();
    await bench.annotate('mooring.dev/reconcile-at', '1');
    await bench.settle();
    expect(bench.secret()).toMatchObject({ password });
    expect(bench.takeCalls()).not.toContain('updateUser');
  });

  it.each([
    ['at once', undefined],
    ['though a process ends on the way', { verb: 'patch', plural: 'secrets', when: 'after' }],
  ] as const)('goes too if the Secret is renamed by the same edit, once, %s', async (_, crash) => {
    const bench = await userBench({ user: own });
    await bench.putSecret('mine', { password: 'mine' });
    await bench.settle();
    await bench.edit({ passwordSecretRef: null, connectionSecret: { name: 'renamed' } });
    bench.takeCalls();
    if (crash !== undefined) {
      bench.cluster.crashAt(crash);
      expect(await bench.settle()).toMatchObject({ next: 'failed' });
      await bench.restart();
    }
    await bench.until('True LoginWorks');
    expect(bench.works('mine')).toBe(false);
    expect(bench.works(bench.secret('renamed')?.['password'])).toBe(true);
    expect(bench.secret()).toBeUndefined();
    expect(bench.takeCalls().filter((call) => call === 'updateUser')).toHaveLength(1);
  });

  it('that the spec no longer names stays while the object is paused, and goes then', async () => {
    const bench = await userBench({ user: own });
    await bench.putSecret('mine', { password: 'mine' });
    await bench.until('True LoginWorks');
    await bench.annotate('mooring.dev/paused', 'true');
    await bench.edit({ passwordSecretRef: null });
    await bench.settle();
    expect(bench.works('mine')).toBe(true);
    await bench.annotate('mooring.dev/paused', '');
    await bench.restart();
    await bench.until('True LoginWorks');
    expect(bench.works('mine')).toBe(false);
  });

  it('under a key of its own name is found there', async () => {
    const bench = await userBench({ user: { passwordSecretRef: { name: 'mine', key: 'pw' } } });
    await bench.putSecret('mine', { pw: 'in another place' });
    await bench.settle();
    expect(bench.works('in another place')).toBe(true);
  });

  it('that the server refuses does not stand in the way of a better one', async () => {
    const bench = await readyUserBench();
    await bench.putSecret('mine', { password: 'refused by a rule of the server' });
    bench.cluster.simulator.faults.add({ match: { operation: 'updateUser' }, effect: 'errorBefore', status: 400 });
    await bench.edit(own);
    await bench.settle();
    expect(bench.ready()).toBe('False RefusedByServer');
    expect(bench.secret()).not.toHaveProperty('nextPassword');
    expectOneWorks(bench);
    // Events of its own write of the Secret cause no other try.
    bench.takeCalls();
    bench.takeRequests();
    await bench.settle();
    await bench.settle();
    expect(bench.takeCalls()).not.toContain('updateUser');
    expect(bench.takeRequests().filter((request) => !request.startsWith('get'))).toEqual([]);
    expect(bench.ready()).toBe('False RefusedByServer');
    bench.cluster.simulator.faults.clear();
    await bench.putSecret('mine', { password: 'better' });
    await bench.settle();
    expect(bench.works('better')).toBe(true);
  });

  it('that was set and set again while the server was down is set once, to the last value', async () => {
    const bench = await userBench({ user: own });
    await bench.putSecret('mine', { password: 'first of mine' });
    await bench.settle();
    bench.takeCalls();
    bench.cluster.simulator.faults.add({ match: { operation: 'updateUser' }, effect: 'outage' });
    await bench.putSecret('mine', { password: 'second of mine' });
    await bench.settle();
    expect(bench.secret()).toMatchObject({ password: 'first of mine', nextPassword: 'second of mine' });
    await bench.putSecret('mine', { password: 'third of mine' });
    bench.cluster.simulator.faults.clear();
    bench.takeCalls();
    await bench.cluster.clock.advance(MINUTE_MS);
    await settleWatched(bench);
    expect(bench.secret()).toMatchObject({ password: 'third of mine' });
    expect(bench.takeCalls().filter((call) => call === 'updateUser')).toHaveLength(1);
  });

  it('is not rotated on demand: the condition says what to do, and that it was asked', async () => {
    const bench = await userBench({ user: own });
    await bench.putSecret('mine', { password: 'first of mine' });
    await bench.settle();
    bench.takeCalls();
    await bench.annotate('mooring.dev/rotate-at', '1');
    await bench.settle();
    expect(bench.status()).toMatchObject({ lastHandledRotateAt: '1' });
    expect(bench.condition()).toMatchObject({
      status: 'True',
      message: expect.stringContaining('change Secret "mine"'),
    });
    expect(bench.takeCalls()).toEqual([]);
  });
});

describe('the factory password', () => {
  const factory = { password: 'password' };

  it('is never the first of a user', async () => {
    const bench = await userBench({ user: own });
    await bench.putSecret('mine', factory);
    await bench.settle();
    expect(bench.ready()).toBe('False InvalidPassword');
    expect(bench.users()).not.toContain('app');
    await bench.putSecret('mine', { password: 'better' });
    await bench.settle();
    expect(bench.works('better')).toBe(true);
  });

  it('stays if a user has it already until a person chooses another one, and is reported', async () => {
    const bench = await readyUserBench();
    await bench.putSecret('mine', factory);
    bench.cluster.simulator.setPassword('orders', 'app', factory.password);
    await bench.editSecret('app-connection', { data: factory });
    await bench.edit(own);
    await bench.settle();
    expect(bench.ready()).toBe('False InvalidPassword');
    expect(bench.secret()).toMatchObject(factory);
    expect(bench.works(factory.password)).toBe(true);
    // It is not set back, nor is the user created again with it.
    bench.cluster.simulator.setPassword('orders', 'app', 'changed on the server');
    await bench.annotate('mooring.dev/reconcile-at', '1');
    await bench.settle();
    bench.cluster.simulator.deleteUser('orders', 'app');
    await bench.annotate('mooring.dev/reconcile-at', '2');
    await bench.settle();
    expect(bench.users()).not.toContain('app');
    expect(bench.takeCalls()).not.toContain('updateUser');
    await bench.putSecret('mine', { password: 'better' });
    await bench.until('True LoginWorks');
    expect(bench.works('better')).toBe(true);
  });

  it('gives way to a generated one if a user has it and no own password is requested', async () => {
    const bench = await readyUserBench();
    bench.cluster.simulator.setPassword('orders', 'app', factory.password);
    await bench.editSecret('app-connection', { data: factory });
    await settleWatched(bench);
    expect(bench.secret()?.['password']).toHaveLength(32);
    expect(bench.works(factory.password)).toBe(false);
    expect(bench.ready()).toBe('True LoginWorks');
  });
});

describe("a person's own password that the server refuses", () => {
  it('is named as what to change, even if the user is still to be created', async () => {
    const bench = await userBench({ user: own });
    const { faults } = bench.cluster.simulator;
    await bench.putSecret('mine', { password: 'refused by a rule of the server' });
    faults.add({ match: { operation: 'createUser' }, effect: 'errorBefore', status: 400 });
    await bench.settle();
    expect(bench.ready()).toBe('False RefusedByServer');
    expect(bench.condition()?.message).toMatch(/If the password is .*refuses: change the one in Secret "mine"$/);
    faults.clear();
    await bench.putSecret('mine', { password: 'better' });
    await bench.settle();
    expect(bench.works('better')).toBe(true);
    faults.add({ match: { operation: 'updateUser' }, effect: 'errorBefore', status: 400 });
    await bench.putSecret('mine', { password: 'refused again' });
    await bench.settle();
    expect(bench.ready()).toBe('False RefusedByServer');
    expect(bench.condition()?.message).toMatch(/The previous password stays: change the one in Secret "mine"$/);
  });
});

describe("a person's own password that the server accepts, and that never signs in", () => {
  it('gives way to the next one that the person chooses', async () => {
    const bench = await readyUserBench();
    const { simulator, clock } = bench.cluster;
    const takesOtherwise = async () => {
      await bench.pass();
      // As with a server that takes a password for something other than these bytes.
      if (bench.secret()?.['nextPassword'] === 'first' && bench.takeCalls().includes('updateUser'))
        simulator.setPassword('orders', 'app', 'something else');
      await clock.advance(5_000);
    };
    await bench.putSecret('mine', { password: 'first' });
    await bench.edit(own);
    for (let pass = 0; pass < 100; pass++) await takesOtherwise();
    expect(bench.ready()).toBe('Unknown SettingPassword');
    await bench.putSecret('mine', { password: 'second' });
    for (let pass = 0; pass < 100; pass++) await takesOtherwise();
    expect(bench.ready()).toBe('True LoginWorks');
    expect(bench.secret()).toMatchObject({ password: 'second' });
    expect(bench.works('second')).toBe(true);
  });
});
