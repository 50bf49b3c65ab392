import { describe, expect, it, onTestFinished } from 'vitest';
import { hideUsers } from '../../../test/support/hidden.ts';
import { readyUserBench, type UserBench, userBench } from '../../../test/support/user-bench.ts';

/** The server neither shows users nor lets `app` sign in, as right after a start. Returns how that ends. */
function hide({ cluster }: UserBench): () => void {
  const { faults } = cluster.simulator;
  const match = { operation: 'signIn', username: 'app' };
  faults.add({ match, effect: 'errorBefore', status: 401, times: 1_000 });
  const show = hideUsers();
  onTestFinished(show);
  return () => {
    show();
    faults.clear();
  };
}

/** Looks every two seconds, for that long. Returns each Ready in turn. */
async function looks(bench: UserBench, forMs: number): Promise<readonly string[]> {
  const said: string[] = [];
  for (let ms = 0; ms < forMs; ms += 2_000) {
    await bench.settle();
    if (said.at(-1) !== bench.ready()) said.push(bench.ready());
    await bench.cluster.clock.advance(2_000);
  }
  return said;
}

describe('a user that the server has, and does not show', () => {
  it('is not the fault of its spec, and is Ready with its password when it shows', async () => {
    const bench = await readyUserBench({ dialect: 'document' });
    const before = bench.secret()?.['password'];
    for (const time of ['first', 'second']) {
      await bench.cluster.clock.advance(61_000);
      await bench.annotate('mooring.dev/reconcile-at', time);
      const show = hide(bench);
      expect(await looks(bench, 16_000)).toEqual(['Unknown CreatingUser']);
      expect(bench.condition()?.message).toContain('refuses to create it, perhaps because it is there');
      show();
      await bench.settle();
      expect(bench.ready()).toBe('True LoginWorks');
      expect(bench.secret()?.['password']).toBe(before);
    }
    expect(bench.told).toEqual([]);
  });

  it('is not given its password again if it shows a moment before it can sign in', async () => {
    const bench = await readyUserBench({ dialect: 'document' });
    await bench.cluster.clock.advance(61_000);
    await bench.annotate('mooring.dev/reconcile-at', 'now');
    const show = hide(bench);
    await looks(bench, 16_000);
    show();
    const match = { operation: 'signIn', username: 'app' };
    bench.cluster.simulator.faults.add({ match, effect: 'errorBefore', status: 401, times: 1 });
    await bench.settle();
    expect(bench.ready()).toBe('Unknown SettingPassword');
    await bench.until('True LoginWorks');
    expect(bench.told).toEqual([]);
  });

  it('is not the fault of a password that the server was never given, as the Secret with the one that it has is gone', async () => {
    const bench = await readyUserBench({ dialect: 'document' });
    await bench.cluster.clock.advance(61_000);
    bench.removeSecret('app-connection');
    const show = hide(bench);
    expect((await looks(bench, 16_000)).at(-1)).toBe('Unknown CreatingUser');
    expect(bench.condition()?.message).toContain('refuses to create it, perhaps because it is there');
    const { nextPassword } = bench.secret() ?? {};
    show();
    await bench.until('True LoginWorks');
    expect(bench.secret()?.['password']).toBe(nextPassword);
  });

  it('may have been created by a call that was not answered', async () => {
    const bench = await userBench({ dialect: 'document', user: {} });
    const show = hide(bench);
    bench.cluster.simulator.faults.add({ match: { operation: 'createUser' }, effect: 'lostAnswer', times: 1 });
    expect((await looks(bench, 16_000)).at(-1)).toBe('Unknown CreatingUser');
    show();
    await bench.until('True LoginWorks');
  });

  it('is reported as refused if that lasts', async () => {
    const bench = await readyUserBench({ dialect: 'document' });
    await bench.cluster.clock.advance(61_000);
    await bench.annotate('mooring.dev/reconcile-at', 'now');
    const show = hide(bench);
    expect(await looks(bench, 30_000)).toEqual(['Unknown CreatingUser', 'False RefusedByServer']);
    show();
    await bench.until('True LoginWorks');
  });
});
