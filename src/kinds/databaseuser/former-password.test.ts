import { describe, expect, it } from 'vitest';
import { readyUserBench, userBench } from '../../../test/support/user-bench.ts';

const MINUTE_MS = 60_000;
const own = { passwordSecretRef: { name: 'mine' } };

describe("a person's own password that the spec names no more", () => {
  it.each([
    ['with another edit of the Secret', { connectionSecret: { labels: { team: 'shop' } } }],
    ['with another name of the Secret', { connectionSecret: { name: 'renamed' } }],
  ])('gives way to a generated one, %s', async (_, edit) => {
    const bench = await userBench({ user: own });
    await bench.putSecret('mine', { password: 'mine' });
    await bench.until('True LoginWorks');
    await bench.edit({ passwordSecretRef: null, ...edit });
    await bench.until('True LoginWorks');
    await bench.settle();
    const name = bench.status().binding?.name ?? '';
    const { password } = bench.secret(name) ?? {};
    expect([bench.works('mine'), bench.works(password)]).toEqual([false, true]);
    expect(bench.secretObject(name)?.metadata.annotations).not.toHaveProperty(['mooring.dev/own-password']);
    expect(bench.takeCalls().filter((call) => call === 'updateUser')).toHaveLength(1);
  });

  it('gives way to a generated one, though others write onto the Secret meanwhile', async () => {
    const bench = await userBench({ user: own });
    await bench.putSecret('mine', { password: 'mine' });
    await bench.until('True LoginWorks');
    await bench.edit({ passwordSecretRef: null });
    await bench.editSecret('app-connection', { metadata: { annotations: { backup: 'done' } } });
    await bench.restart();
    await bench.until('True LoginWorks');
    await bench.settle();
    expect(bench.works('mine')).toBe(false);
  });

  it('before it was ever in use gives way to a generated one', async () => {
    const bench = await readyUserBench();
    await bench.putSecret('mine', { password: 'mine' });
    await bench.edit(own);
    await bench.pass();
    expect(bench.secret()).toHaveProperty('nextPassword', 'mine');
    await bench.edit({ passwordSecretRef: null });
    await bench.settle();
    expect(bench.works('mine')).toBe(false);
    expect(bench.ready()).toBe('True LoginWorks');
  });

  it('gives way to a generated one, be it not the first that the server takes', async () => {
    const bench = await userBench({ user: own });
    await bench.putSecret('mine', { password: 'mine' });
    await bench.until('True LoginWorks');
    const { faults } = bench.cluster.simulator;
    faults.add({ match: { operation: 'updateUser' }, effect: 'errorBefore', status: 400, times: 1 });
    await bench.edit({ passwordSecretRef: null });
    for (let pass = 0; pass < 5; pass++) await bench.settle();
    expect(bench.ready()).toBe('False RefusedByServer');
    expect(bench.secret()).toMatchObject({ password: 'mine' });
    await bench.cluster.clock.advance(MINUTE_MS);
    await bench.settle();
    expect(bench.ready()).toBe('True LoginWorks');
    expect(bench.works('mine')).toBe(false);
  });
});
