import { describe, expect, it } from 'vitest';
import { expectOneWorks, readyUserBench, settleRefused, type UserBench } from '../../../../test/support/user-bench.ts';
import type { UserStep } from '../observation.ts';

describe('what somebody wrote into the connection Secret as the coming password', () => {
  const putByHand = (bench: UserBench) =>
    bench.editSecret('app-connection', { data: { nextPassword: 'put by somebody' } });

  it('a password that somebody entered as the next one is accepted only if it works already', async () => {
    const bench = await readyUserBench();
    bench.cluster.simulator.setPassword('orders', 'app', 'put by somebody');
    await putByHand(bench);
    await bench.settle();
    expect(bench.secret()).toMatchObject({ password: 'put by somebody' });
    expect(bench.takeCalls()).not.toContain('updateUser');
  });

  it('a password that somebody entered as the next one is not given to the server if none works', async () => {
    const bench = await readyUserBench();
    const { password } = bench.secret() ?? {};
    bench.cluster.simulator.setPassword('orders', 'app', 'changed on the server');
    await putByHand(bench);
    await bench.cluster.clock.advance(61_000);
    await settleRefused(bench);
    expect(bench.secret()).toMatchObject({ password });
    expect(bench.secret()).not.toHaveProperty('nextPassword');
    expect(bench.works(password)).toBe(true);
  });

  it('a password that somebody entered in place of the coming one gives way to another one', async () => {
    const bench = await readyUserBench();
    await bench.annotate('mooring.dev/rotate-at', '1');
    await bench.pass();
    await putByHand(bench);
    await bench.restart();
    for (let pass = 0; pass < 10; pass++) {
      await bench.pass();
      expect(bench.works('put by somebody')).toBe(false);
    }
    expect(bench.ready()).toBe('True LoginWorks');
    expect(bench.status().lastHandledRotateAt).toBe('1');
  });

  it.each([
    ['which the spec still names', (_: UserBench) => Promise.resolve()],
    ['which the spec no longer names', (bench: UserBench) => bench.edit({ passwordSecretRef: null })],
    ['which the person changed meanwhile', (bench: UserBench) => bench.putSecret('mine', { password: 'another' })],
    ['which is no longer in any Secret', async (bench: UserBench) => bench.removeSecret('mine')],
    ['and the operator restarts', (bench: UserBench) => bench.restart()],
  ])(
    "a password that somebody entered in place of a person's own, %s, is never given to the server",
    async (_, say) => {
      const bench = await readyUserBench();
      await bench.putSecret('mine', { password: 'mine' });
      await bench.edit({ passwordSecretRef: { name: 'mine' } });
      await bench.pass();
      expect(bench.secret()).toHaveProperty('nextPassword', 'mine');
      await say(bench);
      await putByHand(bench);
      for (let pass = 0; pass < 10; pass++) {
        await bench.pass();
        expect(bench.works('put by somebody')).toBe(false);
      }
      expect(bench.secret()).not.toHaveProperty('nextPassword');
      expectOneWorks(bench);
    },
  );

  it.each([
    ['', async (_: UserBench) => {}],
    [
      ' after a new process has seen it',
      async (bench: UserBench) => {
        await bench.restart();
        await bench.pass();
      },
    ],
  ])("the person's own that was on its way is finished, even if it has given way to another one%s", async (_, goOn) => {
    const bench = await readyUserBench();
    const { faults } = bench.cluster.simulator;
    await bench.putSecret('mine', { password: 'first of mine' });
    await bench.edit({ passwordSecretRef: { name: 'mine' } });
    await bench.pass();
    const reset = faults.add({ match: { operation: 'updateUser' }, effect: 'reset' });
    await bench.pass();
    await goOn(bench);
    await bench.putSecret('mine', { password: 'second of mine' });
    faults.remove(reset);
    await bench.pass();
    expect(bench.works('first of mine')).toBe(true);
    await bench.settle();
    expect(bench.secret()).toMatchObject({ password: 'second of mine' });
  });

  it('a password that somebody enters after the server refused the coming one is not given to the server', async () => {
    const bench = await readyUserBench();
    const refuses = { match: { operation: 'updateUser' }, effect: 'errorBefore', status: 400 } as const;
    bench.cluster.simulator.faults.add({ ...refuses, times: 1 });
    await bench.annotate('mooring.dev/rotate-at', '1');
    await bench.settle();
    expect(bench.ready()).toBe('False RefusedByServer');
    await putByHand(bench);
    for (let pass = 0; pass < 10; pass++) {
      await bench.pass();
      expect(bench.works('put by somebody')).toBe(false);
    }
    expect(bench.secret()).not.toHaveProperty('nextPassword');
  });

  it.each([
    ['generated', {}],
    ["a person's own", { passwordSecretRef: { name: 'mine' } }],
  ])('the only one, in place of %s one, is not copied to a Secret of another name for ever', async (_, spec) => {
    const bench = await readyUserBench();
    await bench.putSecret('mine', { password: 'mine' });
    await bench.edit(spec);
    bench.removeSecret('app-connection');
    await bench.pass();
    await putByHand(bench);
    await bench.edit({ passwordSecretRef: null, connectionSecret: { name: 'renamed' } });
    for (let pass = 0; pass < 10; pass++) {
      await bench.pass();
      expect(bench.works('put by somebody')).toBe(false);
    }
    expect(bench.ready()).toBe('True LoginWorks');
    expect([bench.secret(), bench.works(bench.secret('renamed')?.['password'])]).toEqual([undefined, true]);
  });

  it("the person's own that is on its way moves to a Secret of another name, even if the spec no longer names it", async () => {
    const bench = await readyUserBench();
    await bench.putSecret('mine', { password: 'mine' });
    await bench.edit({ passwordSecretRef: { name: 'mine' } });
    bench.removeSecret('app-connection');
    await bench.pass();
    bench.cluster.simulator.faults.add({ match: { operation: 'updateUser' }, effect: 'reset', times: 1 });
    await bench.pass();
    await bench.edit({ passwordSecretRef: null, connectionSecret: { name: 'renamed' } });
    await bench.pass();
    expect(bench.secret('renamed')).toMatchObject({ nextPassword: 'mine' });
    await bench.pass();
    expect(bench.works('mine')).toBe(true);
    await bench.settle();
    expect([bench.ready(), bench.works('mine'), bench.secret()]).toEqual(['True LoginWorks', false, undefined]);
  });

  it.each(['PutPassword', 'PromotePassword'] as const)(
    'a password that somebody enters right before step %s is neither set nor treated as one that works',
    async (what) => {
      const bench = await readyUserBench();
      await bench.annotate('mooring.dev/rotate-at', '1');
      await bench.pass();
      if (what === 'PromotePassword') await bench.pass();
      await putByHand(bench);
      const on = { username: 'app', identity: bench.status().connection?.cluster ?? '' };
      const step: UserStep =
        what === 'PutPassword' ? { do: what, ...on, password: 'next', drifted: false } : { do: what };
      await expect(bench.act(step)).rejects.toMatchObject({ reason: 'SecretChanged' });
      expect(bench.works('put by somebody')).toBe(false);
      expect(bench.secret()?.['password']).not.toBe('put by somebody');
    },
  );

  it('a coming password that an earlier version wrote is set, as it may be on its way', async () => {
    const bench = await readyUserBench();
    await putByHand(bench);
    await bench.editSecret('app-connection', { metadata: { annotations: { 'mooring.dev/next-password-mark': null } } });
    await bench.settle();
    expect(bench.secret()).toMatchObject({ password: 'put by somebody' });
    expect(bench.works('put by somebody')).toBe(true);
  });

  it('the factory password is not set either if another one is on its way, or none works', async () => {
    const bench = await readyUserBench();
    await bench.annotate('mooring.dev/rotate-at', '1');
    await bench.pass();
    await bench.editSecret('app-connection', { data: { nextPassword: 'password' } });
    for (const password of [undefined, 'changed on the server']) {
      if (password !== undefined) bench.cluster.simulator.setPassword('orders', 'app', password);
      for (let pass = 0; pass < 10; pass++) {
        await bench.pass();
        expect(bench.works('password')).toBe(false);
      }
      expect(bench.ready()).toBe('True LoginWorks');
      expect(bench.works(bench.secret()?.['password'])).toBe(true);
      await bench.editSecret('app-connection', { data: { password: 'password', nextPassword: 'password' } });
    }
  });
});

describe('the coming password while the server signs in with any', () => {
  /** A password that should replace the one that works is in the Secret, and the server has not seen it. */
  async function prepared(): Promise<UserBench> {
    const bench = await readyUserBench();
    await bench.annotate('mooring.dev/rotate-at', '1');
    await bench.pass();
    expect(bench.secret()).toHaveProperty('nextPassword');
    return bench;
  }
  const acceptAny = ({ cluster }: UserBench, acceptsAnyPassword: boolean) =>
    cluster.simulator.setKnobs({ acceptsAnyPassword });

  it.each([
    ['this process goes on', async (_: UserBench) => {}],
    ['a new process goes on', (bench: UserBench) => bench.restart()],
    ['a person asks for a look', (bench: UserBench) => bench.annotate('mooring.dev/reconcile-at', '1')],
  ])('does not replace the one that the server has, when %s', async (_, begin) => {
    const bench = await prepared();
    const before = bench.secret();
    acceptAny(bench, true);
    await begin(bench);
    bench.takeCalls();
    await bench.settle();
    await bench.settle();
    expect(bench.ready()).toBe('False AnyPasswordAccepted');
    expect(bench.secret()).toEqual(before);
    expect(bench.works(before?.['password'])).toBe(true);
    expect(bench.takeCalls()).not.toContain('updateUser');

    acceptAny(bench, false);
    await bench.settle();
    expect(bench.ready()).toBe('True LoginWorks');
    expect(bench.status().lastHandledRotateAt).toBe('1');
    const now = bench.secret();
    expect([now?.['password'], now?.['nextPassword']]).toEqual([before?.['nextPassword'], undefined]);
    expect(bench.works(now?.['password'])).toBe(true);
  });

  it('is not treated as the one that works if the outcome of the change is unknown', async () => {
    const bench = await prepared();
    const before = bench.secret();
    bench.cluster.simulator.faults.add({
      match: { operation: 'updateUser' },
      effect: 'errorBefore',
      status: 500,
      times: 1,
    });
    await bench.pass();
    acceptAny(bench, true);
    await bench.settle();
    expect(bench.ready()).toBe('False AnyPasswordAccepted');
    expect(bench.secret()).toEqual(before);
    acceptAny(bench, false);
    await bench.settle();
    expect(bench.works(bench.secret()?.['password'])).toBe(true);
  });

  it('is treated as such if the server has just said that it accepted it, which costs no other sign-in', async () => {
    const bench = await prepared();
    await bench.pass();
    bench.takeCalls();
    await bench.settle();
    expect(bench.ready()).toBe('True LoginWorks');
    expect(bench.takeCalls().filter((call) => call === 'signIn')).toHaveLength(1);
  });
});
