import { describe, expect, it } from 'vitest';
import { readyUserBench, type UserBench } from '../../../test/support/user-bench.ts';

describe('what somebody wrote into the connection Secret as the coming password', () => {
  const putByHand = (bench: UserBench) =>
    bench.editSecret('app-connection', { data: { nextPassword: 'put by somebody' } });

  it('a password that somebody put as the next one is taken only where it works already', async () => {
    const bench = await readyUserBench();
    bench.cluster.simulator.setPassword('orders', 'app', 'put by somebody');
    await putByHand(bench);
    await bench.settle();
    expect(bench.secret()).toMatchObject({ password: 'put by somebody' });
    expect(bench.takeCalls()).not.toContain('updateUser');
  });

  it('a password that somebody put as the next one is not given to the server where none works', async () => {
    const bench = await readyUserBench();
    const { password } = bench.secret() ?? {};
    bench.cluster.simulator.setPassword('orders', 'app', 'changed on the server');
    await putByHand(bench);
    await bench.cluster.clock.advance(61_000);
    await bench.settle();
    expect(bench.secret()).toMatchObject({ password });
    expect(bench.secret()).not.toHaveProperty('nextPassword');
    expect(bench.works(password)).toBe(true);
  });

  it('a password that somebody put in the place of the coming one gives way to another one', async () => {
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

  it('a coming password that an earlier version wrote is put, as it may be on its way', async () => {
    const bench = await readyUserBench();
    await putByHand(bench);
    await bench.editSecret('app-connection', { metadata: { annotations: { 'mooring.dev/next-password-mark': null } } });
    await bench.settle();
    expect(bench.secret()).toMatchObject({ password: 'put by somebody' });
    expect(bench.works('put by somebody')).toBe(true);
  });

  it('the password that new clusters come with is not put either where another one is on its way, or none works', async () => {
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
