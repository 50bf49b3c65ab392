import { describe, expect, it, vi } from 'vitest';
import { aCluster } from '../../../../test/support/builders.ts';
import { expectOneWorkingLogin, type KindBench, runningBench } from '../../../../test/support/kind-bench.ts';
import { clusterNamed } from '../../../../test/support/simulator.ts';
import type { Dialect } from '../../../simulator/dialect.ts';
import { actOnCluster } from '../act.ts';
import { DATABASE_CLUSTERS } from '../resource.ts';

it('A DatabaseCluster costs no call while nothing changes', async () => {
  const bench = await runningBench();
  for (let pass = 0; pass < 5; pass++) expect((await bench.pass()).next).toBe('settled');
  expect(bench.calls).toEqual([]);
});

describe('A change of a DatabaseCluster', () => {
  const updates = (bench: KindBench) =>
    bench.simulator.inspect().requests.filter(({ operation }) => operation === 'update').length;

  it('sends what differs, once', async () => {
    const bench = await runningBench();
    await bench.edit({ storageSizeGB: 200 });
    await bench.until('True Running');
    expect(updates(bench)).toBe(1);
    expect(clusterNamed(bench.simulator, 'orders')).toMatchObject({ storageSizeGB: 200 });
    expect(bench.corrected).toEqual([]);
    expect(bench.status().drift).toBeUndefined();
  });

  it.each(['lostAnswer', 'errorAfter'] as const)(
    'of its backups is asked for even if it is taken back, once nobody knows which settings hold (%s)',
    async (effect) => {
      const daily = { frequency: 'daily', retentionDays: 7 };
      const bench = await runningBench({ spec: { backup: daily, driftPolicy: 'Report' } });
      bench.simulator.faults.add({ match: { operation: 'update' }, effect, times: 1 });
      await bench.edit({ backup: { frequency: 'hourly', retentionDays: 30 } });
      await bench.pass();
      expect(bench.status().backup).toBeUndefined();
      expect(clusterNamed(bench.simulator, 'orders')?.backup).toMatchObject({ frequency: 'hourly' });
      await bench.edit({ backup: daily });
      await bench.until('True Running');
      expect(clusterNamed(bench.simulator, 'orders')?.backup).toEqual(daily);
      expect(bench.status().backup).toEqual(daily);
    },
  );

  it('that failed is not asked for again by a pass that comes for something else, unless something about it is different', async () => {
    const bench = await runningBench();
    bench.simulator.faults.add({ match: { operation: 'update' }, effect: 'errorBefore', status: 400 });
    const change = async (
      generation: number,
      lookNow = false,
      patient: { readonly patient?: true } = { patient: true },
    ) => {
      const { subject } = aCluster().with({ storageSizeGB: 200, machineType: 'c2d-highcpu-16' });
      const { metadata = subject.metadata } = bench.kube.all(DATABASE_CLUSTERS)[0] ?? {};
      const given = { ...subject, metadata: { ...metadata, generation }, status: bench.status(), lookNow };
      const step = { do: 'Update', id: 'orders', changes: { storageSizeGB: 200 }, ...patient } as const;
      vi.spyOn(bench.kube, 'get').mockResolvedValueOnce({ apiVersion: '', kind: '', metadata: given.metadata });
      const before = updates(bench);
      await expect(actOnCluster(bench.world(), given, step, new AbortController().signal, () => {})).rejects.toThrow();
      vi.restoreAllMocks();
      return updates(bench) - before;
    };
    expect([await change(1), await change(1), await change(1, true), await change(1, false, {})]).toEqual([1, 0, 1, 1]);
    expect([await change(2), await change(2)]).toEqual([1, 0]);
    bench.simulator.changeCluster('orders', { machineType: 'c2d-highcpu-8' });
    await bench.world().connections.get('shop/production')?.poller.refresh();
    expect([await change(2), await change(2)]).toEqual([1, 0]);
  });

  it.each([
    ['whose outcome nobody knows', 'lostAnswer', { storageSizeGB: 200 }],
    ['that the cloud refused', 'errorBefore', { backup: { frequency: 'hourly', retentionDays: 30 } }],
  ] as const)('%s leaves what is known of the backups', async (_, effect, spec) => {
    const backup = { frequency: 'daily', retentionDays: 7 };
    const bench = await runningBench({ spec: { backup } });
    bench.simulator.faults.add({ match: { operation: 'update' }, effect, status: 400, times: 1 });
    await bench.edit(spec);
    await bench.pass();
    expect(bench.status().backup).toEqual(backup);
  });

  it('writes no status for a spec that was changed again while the change was requested', async () => {
    const bench = await runningBench();
    const { client } = bench.world().connections.get('shop/production') ?? expect.unreachable();
    const { update } = client;
    vi.spyOn(client, 'update').mockImplementationOnce(async (...args) => {
      const answer = await update.apply(client, args);
      await bench.edit({ storageSizeGB: 300 });
      return answer;
    });
    await bench.edit({ storageSizeGB: 200 });
    const writes = vi.spyOn(bench.kube, 'patch');
    await bench.pass();
    // It was refused, as the object had changed.
    expect(writes.mock.calls.filter(([, , , options]) => options?.subresource === 'status')).toHaveLength(1);
    await bench.until('True Running');
    expect(bench.status().observed).toMatchObject({ storageSizeGB: 300 });
    expect(updates(bench)).toBe(2);
  });

  it('is not asked for if the cluster shows it since the pass has looked at it', async () => {
    const bench = await runningBench();
    const { poller } = bench.world().connections.get('shop/production') ?? expect.unreachable();
    const cluster = poller.get('orders') ?? expect.unreachable();
    vi.spyOn(poller, 'follow').mockImplementationOnce(() => {
      bench.simulator.changeCluster('orders', { storageSizeGB: 200 });
      poller.learn('orders', { ...cluster, storageSizeGB: 200 }, bench.clock.monotonic());
    });
    await bench.edit({ storageSizeGB: 200 });
    await bench.until('True Running');
    expect(updates(bench)).toBe(0);
  });

  it('undoes drift, and counts it', async () => {
    const bench = await runningBench();
    bench.simulator.changeCluster('orders', { machineType: 'c2d-highcpu-8' });
    await bench.world().connections.get('shop/production')?.poller.refresh();
    await bench.until('True Running');
    expect(bench.corrected).toEqual(['machineType']);
    expect(clusterNamed(bench.simulator, 'orders')).toMatchObject({ machineType: 'c2d-highcpu-4' });
  });

  it('reports drift, and takes care of the login all the same', async () => {
    const bench = await runningBench({ spec: { driftPolicy: 'Report' } });
    bench.simulator.changeCluster('orders', { storageSizeGB: 200 });
    await bench.world().connections.get('shop/production')?.poller.refresh();
    await bench.until('False Drifted');
    expect(bench.status().drift).toEqual([{ field: 'storageSizeGB', desired: '100', observed: '200' }]);
    expect(updates(bench)).toBe(0);
    await bench.edit({ storageSizeGB: 300 });
    await bench.until('True Running');
    expect(bench.status().drift).toBeUndefined();
    expect(clusterNamed(bench.simulator, 'orders')).toMatchObject({ storageSizeGB: 300 });
  });

  it.each(['none', 'lostAnswer'] as const)('renames (%s)', async (effect) => {
    const bench = await runningBench();
    if (effect !== 'none') bench.simulator.faults.add({ match: { operation: 'update' }, effect, times: 1 });
    await bench.edit({ clusterID: 'orders-eu' });
    await bench.until('True Running');
    expect(bench.status()).toMatchObject({ clusterID: 'orders-eu' });
    expect(clusterNamed(bench.simulator, 'orders')).toBeUndefined();
    expectOneWorkingLogin(bench, 'orders-eu');
  });

  it.each<Dialect>(['document', 'field'])('suspends and resumes (%s)', async (dialect) => {
    const bench = await runningBench({ dialect, knobs: { suspendMs: [5_000, 5_000], resumeMs: [5_000, 5_000] } });
    await bench.edit({ state: 'Suspended' });
    await bench.until('True Suspended');
    await bench.edit({ state: 'Running' });
    await bench.until('True Running');
    expect(bench.corrected).toEqual([]);
    expectOneWorkingLogin(bench);
  });

  it.each([
    ['storage', { storageSizeGB: 200 }, 'Updating: Cluster "orders" is being changed: storageSizeGB from 100 to 200'],
    [
      'machine type',
      { machineType: 'c2d-highcpu-8' },
      'Updating: Cluster "orders" is being changed: machineType from c2d-highcpu-4 to c2d-highcpu-8',
    ],
    [
      'backup',
      { backup: { frequency: 'hourly', retentionDays: 30 } },
      'Updating: Cluster "orders" is being changed: backup from daily, kept 7 days to hourly, kept 30 days',
    ],
    [
      'id',
      { clusterID: 'orders-eu' },
      'Updating: Cluster "orders" is being changed: clusterID from orders to orders-eu',
    ],
    [
      'several fields',
      { storageSizeGB: 200, machineType: 'c2d-highcpu-8' },
      'Updating: Cluster "orders" is being changed: machineType from c2d-highcpu-4 to c2d-highcpu-8, storageSizeGB from 100 to 200',
    ],
  ])('reports a change of %s once, with its old and its new value', async (_what, spec, event) => {
    const bench = await runningBench();
    await bench.edit(spec);
    await bench.until('True Running');
    expect(bench.told).toEqual([event, expect.stringMatching(/^Running: /)]);
  });

  it('reports a change of state once, with its old and its new value', async () => {
    const bench = await runningBench({ knobs: { suspendMs: [5_000, 5_000], resumeMs: [5_000, 5_000] } });
    await bench.edit({ state: 'Suspended' });
    await bench.until('True Suspended');
    await bench.edit({ state: 'Running' });
    await bench.until('True Running');
    expect(bench.told.map((event) => event.split(': ', 1)[0])).toEqual([
      'Suspending',
      'Suspended',
      'Resuming',
      'Running',
    ]);
    expect(bench.told[0]).toContain('state from Running to Suspended');
    expect(bench.told[2]).toContain('state from Suspended to Running');
  });

  it('reports what drifted with driftPolicy Report, with both values', async () => {
    const bench = await runningBench({ spec: { driftPolicy: 'Report' } });
    bench.simulator.changeCluster('orders', { storageSizeGB: 150 });
    await bench.world().connections.get('shop/production')?.poller.refresh();
    await bench.until('False Drifted');
    expect(bench.told).toEqual([expect.stringContaining('storageSizeGB is 150, should be 100')]);
  });

  it('asks for its backup settings again once it takes over another cluster', async () => {
    const backup = { frequency: 'hourly', retentionDays: 30 };
    const bench = await runningBench({ spec: { backup } });
    bench.simulator.replaceCluster('orders');
    const { poller } = bench.world().connections.get('shop/production') ?? {};
    await poller?.refresh();
    await bench.until('False IdentityChanged');
    const createdAt = poller?.get('orders')?.createdAt ?? 0;
    await bench.annotate('mooring.dev/accept-identity', new Date(createdAt).toISOString());
    await bench.until('True Running');
    expect(updates(bench)).toBe(1);
    expect(bench.status()).toMatchObject({ backup });
  });
});
