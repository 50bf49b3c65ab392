import { describe, expect, it, vi } from 'vitest';
import { hideClusters as hide } from '../../../../test/support/hidden.ts';
import { expectOneWorkingLogin, type KindBench, kindBench, runningBench } from '../../../../test/support/kind-bench.ts';
import { clusterNamed } from '../../../../test/support/simulator.ts';
import { DATABASE_CLUSTERS } from '../resource.ts';

const SPACE = 'shop/production';
const ALWAYS = { spec: { recreatePolicy: 'Always' } };

const list = (bench: KindBench) => bench.world().connections.get(SPACE)?.poller.refresh();
const message = (bench: KindBench) => bench.status().conditions?.find(({ type }) => type === 'Ready')?.message;
const deploys = (bench: KindBench) => bench.calls.filter((call) => call === 'deploy').length;
const created = (bench: KindBench) => bench.status().createdAt;

async function passes(bench: KindBench, seconds: number): Promise<void> {
  for (let n = 0; n < seconds; n += 5) {
    await bench.pass();
    await bench.clock.advance(5_000);
  }
}

/** Its end has been waited for, another one was requested in its place, and the cloud said that the id is in use. */
async function refused(): Promise<{ readonly bench: KindBench; readonly show: () => Promise<void> }> {
  const bench = await runningBench(ALWAYS);
  const show = await hide(bench);
  for (let n = 0; n < 40 && deploys(bench) === 0; n++) await passes(bench, 5);
  expect(deploys(bench)).toBe(1);
  return { bench, show };
}

describe('A cluster that does not show, with recreatePolicy Always', () => {
  it('is not requested again if its deploy was answered a short time ago', async () => {
    const bench = await kindBench(ALWAYS);
    while (created(bench) === undefined) await bench.pass();
    const before = created(bench);
    const show = await hide(bench);
    await passes(bench, 15);
    expect(bench.ready()).toBe('Unknown Deploying');
    expect(message(bench)).toMatch(/^Cluster "orders" has not been seen in .* since 2.*Z.*by 2.*Z, an empty one is/);
    await show();
    await bench.until('True Running');
    expect([deploys(bench), created(bench)]).toEqual([1, before]);
  });

  it('is waited for: what comes back within twenty seconds is its own as before, and nothing was requested', async () => {
    const bench = await runningBench(ALWAYS);
    const { createdAt, credentials } = bench.status();
    const show = await hide(bench);
    await passes(bench, 15);
    expect(bench.ready()).toBe('False NotFound');
    expect(message(bench)).toMatch(
      /^Cluster "orders" has not been seen in .* since 2.*Z.*by 2.*Z, an empty one is created.*recreatePolicy: Always/,
    );
    await show();
    await bench.until('True Running');
    expect(deploys(bench)).toBe(0);
    expect(bench.status()).toMatchObject({ createdAt, credentials });
  });

  it.each(['was refused', 'was only written down'])(
    'is not created again once a person says Never, where its creation %s',
    async (how) => {
      const bench = await runningBench(ALWAYS);
      bench.simulator.vanish('orders');
      await list(bench);
      bench.simulator.faults.add({ match: { operation: 'deploy' }, effect: 'errorBefore', status: 400, times: 1 });
      const isReached = () => (how === 'was refused' ? deploys(bench) === 1 : bench.status().operation !== undefined);
      while (!isReached()) await passes(bench, 5);
      await bench.edit({ recreatePolicy: 'Never' });
      await passes(bench, 60);
      expect(bench.ready()).toBe('False ClusterMissing');
      expect(bench.status().operation).toBeUndefined();
      expect(deploys(bench)).toBe(how === 'was refused' ? 1 : 0);
      bench.simulator.faults.clear();
      await bench.edit({ recreatePolicy: 'Always' });
      await bench.until('True Running');
      expectOneWorkingLogin(bench);
    },
  );

  it('is not created again where the vanished one is back under another id', async () => {
    const { bench, show } = await refused();
    const { former } = bench.status();
    bench.simulator.changeCluster('orders', { id: 'orders-eu' });
    await show();
    await bench.until('False ClusterMissing');
    expect(message(bench)).toContain('set clusterID: orders-eu');
    await bench.edit({ clusterID: 'orders-eu' });
    await bench.until('True Running');
    expect(deploys(bench)).toBe(1);
    expect(bench.status()).toMatchObject({ clusterID: 'orders-eu', createdAt: former?.createdAt });
    expectOneWorkingLogin(bench, 'orders-eu');
  });

  it('is not created under a new id while the vanished one is back under its own, however often Lists show it', async () => {
    const { bench, show } = await refused();
    await bench.edit({ clusterID: 'orders-eu' });
    await show();
    for (let looks = 0; looks < 6; looks++) {
      await bench.world().connections.get('shop/production')?.poller.refresh();
      await bench.pass();
    }
    expect([deploys(bench), bench.ready()]).toEqual([1, 'False ClusterMissing']);
    expect(message(bench)).toMatch(/there is "orders".* set clusterID: orders(?!-)/);
  });

  it('is requested less and less often from a cloud that accepts each deploy and shows none', async () => {
    const bench = await runningBench(ALWAYS);
    const { client, poller } = bench.world().connections.get(SPACE) ?? expect.unreachable();
    vi.spyOn(client, 'get').mockResolvedValue(undefined);
    vi.spyOn(client, 'listAs').mockImplementation(async () => {
      bench.simulator.vanish('orders');
      return { clusters: [], problem: undefined };
    });
    const counts: number[] = [];
    for (let hours = 0; hours < 2; hours++) {
      const before = deploys(bench);
      for (let n = 0; n < 720; n++) {
        await poller.refresh();
        await passes(bench, 5);
      }
      counts.push(deploys(bench) - before);
    }
    expect(counts).toEqual([7, 3]);
  });

  it('says the same at each look', async () => {
    const bench = await runningBench(ALWAYS);
    await hide(bench);
    await bench.pass();
    const first = message(bench);
    await passes(bench, 15);
    expect(message(bench)).toBe(first);
  });

  it('is waited for from the start again each time it was seen in between, and by a new process', async () => {
    const bench = await runningBench(ALWAYS);
    for (const between of ['seen', 'restarted']) {
      const show = await hide(bench);
      await passes(bench, 15);
      await show();
      if (between === 'seen') await bench.pass();
      else await bench.restart();
    }
    await hide(bench);
    await passes(bench, 15);
    expect(deploys(bench)).toBe(0);
  });

  it('is waited for from the start again if nobody could look in between', async () => {
    const bench = await runningBench(ALWAYS);
    const show = await hide(bench);
    await bench.pass();
    await show();
    bench.simulator.faults.add({ effect: 'outage' });
    await bench.clock.advance(130_000);
    bench.simulator.faults.clear();
    await hide(bench);
    await bench.pass();
    await bench.pass();
    expect([bench.ready(), deploys(bench)]).toEqual(['False NotFound', 0]);
  });

  it('is created again after twenty seconds', async () => {
    const bench = await runningBench(ALWAYS);
    const before = created(bench);
    bench.simulator.vanish('orders');
    await list(bench);
    await passes(bench, 15);
    expect(deploys(bench)).toBe(0);
    await bench.until('True Running');
    expect(deploys(bench)).toBe(1);
    expect(created(bench)).not.toBe(before);
    expect(bench.status().former).toBeUndefined();
    expectOneWorkingLogin(bench);
  });
});

describe('A cluster that does not show, with recreatePolicy Never', () => {
  it('is waited for after its deploy, and nobody is alarmed', async () => {
    const bench = await kindBench();
    while (created(bench) === undefined) await bench.pass();
    const show = await hide(bench);
    await passes(bench, 15);
    await show();
    await bench.until('True Running');
    expect(bench.told.filter((line) => line.startsWith('ClusterMissing'))).toEqual([]);
    expect(deploys(bench)).toBe(1);
  });

  it('is treated as gone after twenty seconds, and that stays so whoever looks', async () => {
    const bench = await runningBench();
    await hide(bench);
    await passes(bench, 15);
    expect(bench.ready()).toBe('False NotFound');
    await bench.until('False ClusterMissing');
    bench.forgetCalls();
    await bench.restart();
    await hide(bench);
    await bench.pass();
    await bench.clock.advance(600_000);
    await bench.pass();
    expect([bench.ready(), bench.told]).toEqual(['False ClusterMissing', []]);
  });
});

describe('A cluster that existed all the same when another was requested in its place', () => {
  it.each(['the same process', 'a new one'])('belongs to its object again once %s sees it', async (who) => {
    const { bench, show } = await refused();
    await show();
    if (who === 'a new one') await bench.restart();
    await bench.until('True Running');
    expect(created(bench)).toBe(new Date(clusterNamed(bench.simulator, 'orders')?.createdAt ?? 0).toISOString());
    expect(bench.status().former).toBeUndefined();
    expect(deploys(bench)).toBe(1);
    expectOneWorkingLogin(bench);
  });

  it('still has its login, even if the Secret got another name meanwhile', async () => {
    const { bench, show } = await refused();
    await bench.edit({ adminCredentials: { secretName: 'elsewhere' } });
    await show();
    await bench.restart();
    await bench.until('True Running');
    const { password = '' } = bench.secret('elsewhere') ?? {};
    expect(bench.simulator.passwordIs('orders', 'admin', password)).toBe(true);
    expect(bench.secret()).toBeUndefined();
  });

  it('is destroyed with its object', async () => {
    const { bench, show } = await refused();
    await bench.edit({ deletionPolicy: 'Delete' });
    await show();
    bench.kube.remove(DATABASE_CLUSTERS, { namespace: 'shop', name: 'orders' });
    for (let n = 0; n < 10 && bench.kube.all(DATABASE_CLUSTERS).length > 0; n++) await passes(bench, 5);
    expect(bench.simulator.count('destroy')).toBe(1);
  });

  it('is destroyed with its object even if no List shows it yet', async () => {
    const { bench } = await refused();
    await bench.edit({ deletionPolicy: 'Delete' });
    const { client } = bench.world().connections.get(SPACE) ?? expect.unreachable();
    vi.mocked(client.get).mockRestore();
    expect([bench.status().operation, bench.status().former?.clusterID]).toEqual([undefined, 'orders']);
    bench.kube.remove(DATABASE_CLUSTERS, { namespace: 'shop', name: 'orders' });
    for (let n = 0; n < 10 && bench.kube.all(DATABASE_CLUSTERS).length > 0; n++) await passes(bench, 5);
    expect(bench.simulator.count('destroy')).toBe(1);
  });

  it('belongs to somebody else if another one has its id by then', async () => {
    const { bench, show } = await refused();
    bench.simulator.replaceCluster('orders');
    await show();
    await bench.until('False ClusterIDInUse');
    expect(deploys(bench)).toBe(1);
  });
});
