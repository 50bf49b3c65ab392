import { describe, expect, it, vi } from 'vitest';
import { type KindBench, kindBench, runningBench } from '../../../../test/support/kind-bench.ts';
import { clusterNamed } from '../../../../test/support/simulator.ts';
import type { SpacePoller } from '../../../cloud/space-poller.ts';
import { DATABASE_CLUSTERS } from '../resource.ts';

/** What Ready says in the passes that follow, one each second, until it says this, and at least in two. */
async function wordsUntil(ready: string, bench: KindBench, poller: SpacePoller): Promise<readonly string[]> {
  const words: string[] = [];
  while (words.length < 10 && (words.length < 2 || bench.ready() !== ready)) {
    await bench.clock.advance(1_000);
    await poller.refresh();
    await bench.pass();
    words.push(bench.ready());
  }
  return words;
}

describe('A change of a DatabaseCluster that the cloud accepts and does not show yet', () => {
  const CHANGED = { storageSizeGB: 200, machineType: 'c2d-highcpu-8' };
  const BACKUP = { frequency: 'hourly', retentionDays: 30 } as const;

  async function accepting() {
    const bench = await runningBench();
    const { client } = bench.world().connections.get('shop/production') ?? expect.unreachable();
    const cluster = (await client.get('orders')) ?? expect.unreachable();
    const update = vi.spyOn(client, 'update').mockResolvedValue(cluster);
    await bench.edit({ ...CHANGED, backup: BACKUP });
    await bench.pass();
    expect(bench.ready()).toBe('Unknown UpdateNotApplied');
    return { bench, update };
  }

  it('is asked for once, and looked at soon', async () => {
    const { bench, update } = await accepting();
    expect(bench.status().backup).toEqual(BACKUP);
    await bench.pass();
    await bench.clock.advance(8_000);
    await bench.pass();
    expect(bench.ready()).toBe('Unknown UpdateNotApplied');
    bench.simulator.changeCluster('orders', CHANGED);
    await bench.until('True Running');
    expect(update.mock.calls.map(([, changes]) => changes)).toEqual([{ ...CHANGED, backupConfiguration: BACKUP }]);
  });

  it('is asked for again after a minute, then after two, without what was accepted for good', async () => {
    const { bench, update } = await accepting();
    const times = async (ms: number) => {
      await bench.clock.advance(ms);
      await bench.pass();
      return update.mock.calls.length;
    };
    expect([await times(59_000), await times(1_000), await times(119_000), await times(1_000)]).toEqual([1, 2, 2, 3]);
    expect(update.mock.lastCall?.[1]).toEqual(CHANGED);
  });

  it.each(['accepted', 'without an answer'])(
    'is changed back if it shows only after the spec was, also with driftPolicy: Report (%s)',
    async (answer) => {
      const bench = await runningBench({ spec: { driftPolicy: 'Report' } });
      const { client, poller } = bench.world().connections.get('shop/production') ?? expect.unreachable();
      const cluster = (await client.get('orders')) ?? expect.unreachable();
      if (answer === 'accepted') vi.spyOn(client, 'update').mockResolvedValueOnce(cluster);
      else bench.simulator.faults.add({ match: { operation: 'update' }, effect: 'reset', times: 1 });
      await bench.edit({ machineType: 'c2d-highcpu-8' });
      await bench.pass();
      await bench.edit({ machineType: 'c2d-highcpu-4' });
      await bench.pass();
      expect(bench.ready()).toBe('True Running');
      await bench.clock.advance(40_000);
      bench.simulator.changeCluster('orders', { machineType: 'c2d-highcpu-8' });
      await poller.refresh();
      await bench.pass();
      expect(clusterNamed(bench.simulator, 'orders')).toMatchObject({ machineType: 'c2d-highcpu-4' });
      await bench.until('True Running');
      expect(bench.corrected).toEqual([]);
      bench.simulator.changeCluster('orders', { machineType: 'c2d-highcpu-16' });
      await poller.refresh();
      await bench.until('False Drifted');
    },
  );

  it("is somebody else's, who made it after the cloud had refused it and the spec was changed back", async () => {
    const bench = await runningBench({ spec: { driftPolicy: 'Report' } });
    const { poller } = bench.world().connections.get('shop/production') ?? expect.unreachable();
    bench.simulator.faults.add({ match: { operation: 'update' }, effect: 'errorBefore', status: 400, times: 1 });
    await bench.edit({ machineType: 'c2d-highcpu-8' });
    await bench.pass();
    expect(bench.ready()).toBe('False RefusedByCloud');
    await bench.edit({ machineType: 'c2d-highcpu-4' });
    await bench.until('True Running');
    bench.simulator.changeCluster('orders', { machineType: 'c2d-highcpu-8' });
    await poller.refresh();
    await bench.until('False Drifted');
  });

  it.each([
    ['suspend', { state: 'Suspended' }, { state: 'Running' }],
    ['update', { clusterID: 'orders-eu' }, { clusterID: 'orders' }],
  ] as const)('is undone if it shows only after the spec was changed back (%s)', async (operation, to, back) => {
    const bench = await kindBench({ spec: { driftPolicy: 'Report' } });
    // A creation time in whole seconds would not tell the renamed cluster from others.
    await bench.clock.advance(123);
    await bench.until('True Running');
    const { client, poller } = bench.world().connections.get('shop/production') ?? expect.unreachable();
    bench.simulator.faults.add({ match: { operation }, effect: 'reset', times: 1 });
    await bench.edit(to);
    await bench.pass();
    await bench.edit(back);
    await bench.until('True Running');
    if (operation === 'suspend') await client.suspend('orders');
    else await client.update('orders', { id: 'orders-eu' });
    await poller.refresh();
    await bench.pass();
    expect(bench.ready()).not.toMatch(/^False|Elsewhere/);
    await bench.clock.advance(10_000);
    await poller.refresh();
    await bench.until('True Running');
    expect(clusterNamed(bench.simulator, 'orders')).toMatchObject({ status: 'running' });
    expect(bench.corrected).toEqual([]);
  });

  it('is drift if a List showed the new state, and it is undone elsewhere later, however often', async () => {
    const bench = await runningBench();
    const { client, poller } = bench.world().connections.get('shop/production') ?? expect.unreachable();
    await bench.edit({ state: 'Suspended' });
    await bench.until('True Suspended');
    for (const pauseMs of [10_000, 60_000, 60_000]) {
      // A List that shows nothing new: no pass follows.
      await bench.clock.advance(pauseMs);
      await poller.refresh();
      await client.resume('orders');
      const words = await wordsUntil('True Suspended', bench, poller);
      expect(words.at(-1)).toBe('True Suspended');
      expect(words).not.toContain('Unknown UpdateNotApplied');
    }
    expect(bench.corrected).toEqual(['state', 'state', 'state']);
  });

  it('counts as renamed elsewhere if a List showed the new id, and the renaming is undone elsewhere later, however often', async () => {
    const bench = await kindBench();
    // A creation time in whole seconds would not tell the renamed cluster from others.
    await bench.clock.advance(123);
    await bench.until('True Running');
    const { client, poller } = bench.world().connections.get('shop/production') ?? expect.unreachable();
    await bench.edit({ clusterID: 'orders-eu' });
    await bench.until('True Running');
    for (const pauseMs of [10_000, 60_000, 60_000]) {
      // A List that shows nothing new: no pass follows.
      await bench.clock.advance(pauseMs);
      await poller.refresh();
      await client.update('orders-eu', { id: 'orders' });
      const words = await wordsUntil('True Running', bench, poller);
      expect(words).toContain('Unknown RenamedElsewhere');
      expect(words.at(-1)).toBe('True Running');
    }
    expect(bench.corrected).toEqual(['clusterID', 'clusterID', 'clusterID']);
  });

  it.each([
    ['suspend', 'Running', { state: 'Suspended' }, 'Suspending'],
    ['resume', 'Suspended', { state: 'Running' }, 'Resuming'],
    ['destroy', 'Running', undefined, 'Destroying'],
  ] as const)(
    'is asked for once in half a minute, and that is no news at first (%s)',
    async (what, state, to, reason) => {
      const bench = await runningBench({ spec: { deletionPolicy: 'Delete' } });
      await bench.edit({ state });
      await bench.until(`True ${state}`);
      const { client } = bench.world().connections.get('shop/production') ?? expect.unreachable();
      const cluster = (await client.get('orders')) ?? expect.unreachable();
      const call = vi.spyOn(client, what).mockResolvedValue(cluster);
      if (to === undefined) bench.kube.remove(DATABASE_CLUSTERS, { namespace: 'shop', name: 'orders' });
      else await bench.edit(to);
      for (let pass = 0; pass < 28; pass++) {
        await bench.pass();
        await bench.clock.advance(1_000);
        expect(bench.ready()).not.toBe('Unknown UpdateNotApplied');
      }
      expect(call).toHaveBeenCalledTimes(1);
      expect(bench.ready()).toBe(`Unknown ${reason}`);
      for (let pass = 0; pass < 5; pass++) {
        await bench.pass();
        await bench.clock.advance(1_000);
      }
      expect(call).toHaveBeenCalledTimes(2);
      const message = bench.status().conditions?.find(({ type }) => type === 'Ready')?.message ?? '';
      expect([bench.ready(), message.includes('mooring.dev/abandon')]).toEqual([
        'Unknown UpdateNotApplied',
        what === 'destroy',
      ]);
    },
  );

  it('counts anew once the cloud accepts it, if it answered 404 to a deletion before', async () => {
    const bench = await runningBench({ spec: { deletionPolicy: 'Delete' }, knobs: { destroyMs: [60_000, 60_000] } });
    const { client } = bench.world().connections.get('shop/production') ?? expect.unreachable();
    const destroy = vi.spyOn(client, 'destroy').mockResolvedValueOnce(undefined);
    bench.kube.remove(DATABASE_CLUSTERS, { namespace: 'shop', name: 'orders' });
    const words = new Set<string>();
    for (let pass = 0; pass < 50 && clusterNamed(bench.simulator, 'orders')?.status !== 'destroying'; pass++) {
      await bench.clock.advance(1_000);
      await bench.pass();
      words.add(bench.ready());
    }
    await bench.pass();
    expect(destroy).toHaveBeenCalledTimes(2);
    expect([...words.add(bench.ready())]).not.toContain('Unknown UpdateNotApplied');
  });

  it('is asked for again if only the answer showed it, also with driftPolicy: Report', async () => {
    const bench = await runningBench({ spec: { driftPolicy: 'Report' } });
    const { client, poller } = bench.world().connections.get('shop/production') ?? expect.unreachable();
    const cluster = (await client.get('orders')) ?? expect.unreachable();
    vi.spyOn(client, 'update').mockResolvedValueOnce({ ...cluster, ...CHANGED });
    await bench.edit(CHANGED);
    await bench.pass();
    await bench.until('True Running');
    await bench.clock.advance(1_000);
    await poller.refresh();
    await bench.pass();
    expect(bench.ready()).toBe('Unknown Updating');
    await bench.until('True Running');
    expect(clusterNamed(bench.simulator, 'orders')).toMatchObject(CHANGED);
    expect(bench.corrected).toEqual([]);
  });

  it('is asked for in part if a part of it differs again', async () => {
    const { bench, update } = await accepting();
    bench.simulator.changeCluster('orders', { ...CHANGED, storageSizeGB: 150 });
    await bench.pass();
    await bench.pass();
    expect(update.mock.lastCall?.[1]).toEqual({ storageSizeGB: 200 });
    expect(update).toHaveBeenCalledTimes(2);
  });

  it.each(['running', 'updating'])(
    'is asked for ever less often if only the answer shows it, with status %s',
    async (status) => {
      const bench = await runningBench();
      const { client, poller } = bench.world().connections.get('shop/production') ?? expect.unreachable();
      const cluster = (await client.get('orders')) ?? expect.unreachable();
      const update = vi.spyOn(client, 'update').mockResolvedValue({ ...cluster, ...CHANGED, status });
      await bench.edit(CHANGED);
      await bench.pass();
      await bench.pass();
      const times = async (ms: number) => {
        await bench.clock.advance(ms);
        await poller.refresh();
        await bench.pass();
        return update.mock.calls.length;
      };
      // Somebody may have undone it, so it is asked for once more at once.
      expect(await times(1_000)).toBe(2);
      expect([await times(1_000), await times(118_000), await times(1_000)]).toEqual([2, 2, 3]);
      expect(bench.ready()).toBe('Unknown Updating');
      await times(1_000);
      expect(bench.ready()).toBe('Unknown UpdateNotApplied');
    },
  );

  it('is asked for at once if a List showed it, and it was then changed back elsewhere', async () => {
    const { bench, update } = await accepting();
    const show = async (what: typeof CHANGED) => {
      bench.simulator.changeCluster('orders', what);
      await bench.world().connections.get('shop/production')?.poller.refresh();
      await bench.pass();
    };
    await bench.clock.advance(1_000);
    await show(CHANGED);
    expect(bench.ready()).toBe('True Running');
    await show({ storageSizeGB: 100, machineType: 'c2d-highcpu-4' });
    expect(update).toHaveBeenCalledTimes(2);
    expect(update.mock.lastCall?.[1]).toEqual(CHANGED);
  });

  it.each([true, false])('is drift if it is changed back elsewhere, a List in between: %s', async (isListed) => {
    const bench = await runningBench();
    const { poller } = bench.world().connections.get('shop/production') ?? expect.unreachable();
    const { machineType: before } = clusterNamed(bench.simulator, 'orders') ?? expect.unreachable();
    await bench.edit({ machineType: CHANGED.machineType });
    await bench.until('True Running');
    await bench.clock.advance(1_000);
    // It shows nothing that the answer did not say, so no pass follows.
    if (isListed) await poller.refresh();
    bench.simulator.changeCluster('orders', { machineType: before });
    await poller.refresh();
    await bench.until('True Running');
    expect(clusterNamed(bench.simulator, 'orders')?.machineType).toBe(CHANGED.machineType);
    expect(bench.corrected).toEqual(['machineType']);
  });

  it('is not asked for at once if only a part of it was shown', async () => {
    const { bench, update } = await accepting();
    const { poller } = bench.world().connections.get('shop/production') ?? expect.unreachable();
    for (const storageSizeGB of [200, 100]) {
      bench.simulator.changeCluster('orders', { storageSizeGB });
      await poller.refresh();
      await bench.pass();
    }
    expect(update).toHaveBeenCalledTimes(1);
  });

  it('is asked for at once if a person wants a look, or changes it', async () => {
    const { bench, update } = await accepting();
    await bench.annotate('mooring.dev/reconcile-at', '1');
    await bench.pass();
    expect(update).toHaveBeenCalledTimes(2);
    await bench.edit({ backup: { frequency: 'disabled' } });
    await bench.pass();
    expect(update).toHaveBeenCalledTimes(3);
  });
});
