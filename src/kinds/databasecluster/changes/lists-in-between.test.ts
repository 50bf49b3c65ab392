import { expect, it } from 'vitest';
import { type KindBench, kindBench, runningBench } from '../../../../test/support/kind-bench.ts';
import { DATABASE_CLUSTERS } from '../resource.ts';

interface Case {
  readonly operation: string;
  readonly what: string;
  /** The next pass of its object makes the change. */
  readonly prepare: () => Promise<KindBench>;
  /** What is known of each cluster after the change. */
  readonly known: Readonly<Record<string, object | undefined>>;
}

const ORDERS = { namespace: 'shop', name: 'orders' };

async function edited(spec: Readonly<Record<string, unknown>>): Promise<KindBench> {
  const bench = await runningBench({ spec: { driftPolicy: 'Report' }, knobs: { suspendMs: [60_000, 60_000] } });
  await bench.edit(spec);
  return bench;
}

const cases: readonly Case[] = [
  {
    operation: 'deploy',
    what: 'creation',
    prepare: async () => {
      const bench = await kindBench();
      while (bench.status().operation === undefined) await bench.pass();
      return bench;
    },
    known: { orders: { status: 'starting' } },
  },
  {
    operation: 'update',
    what: 'change',
    prepare: () => edited({ storageSizeGB: 200 }),
    known: { orders: { storageSizeGB: 200 } },
  },
  {
    operation: 'update',
    what: 'new name',
    prepare: () => edited({ clusterID: 'orders-eu' }),
    known: { 'orders-eu': { id: 'orders-eu' }, orders: undefined },
  },
  {
    operation: 'suspend',
    what: 'suspension',
    prepare: () => edited({ state: 'Suspended' }),
    known: { orders: { status: 'suspending' } },
  },
  {
    operation: 'destroy',
    what: 'end',
    prepare: async () => {
      const bench = await runningBench({ spec: { deletionPolicy: 'Delete' } });
      const uid = bench.kube.all(DATABASE_CLUSTERS)[0]?.metadata.uid ?? '';
      await bench.kube.delete(DATABASE_CLUSTERS, ORDERS, { uid });
      return bench;
    },
    known: { orders: { status: 'destroying' } },
  },
];

it.each(cases)(
  'a List does not undo the $what of a cluster that was answered since it was requested',
  async ({ operation, prepare, known }) => {
    const bench = await prepare();
    const { simulator, clock } = bench;
    const poller = bench.world().connections.get('shop/production')?.poller;
    simulator.faults.add({ match: { operation }, effect: 'delay', delayMs: 2_000, times: 1 });
    simulator.faults.add({ match: { operation: 'list' }, effect: 'lateAnswer', delayMs: 3_000, times: 1 });
    bench.forgetCalls();
    const pass = bench.pass();
    await clock.advance(1_000);
    const listing = poller?.refresh();
    await clock.advance(1_500);
    await pass;
    await clock.advance(2_000);
    await listing;
    expect(bench.calls.filter((call) => [operation, 'list'].includes(call))).toEqual([operation, 'list']);
    for (const [id, cluster] of Object.entries(known))
      expect(poller?.get(id)).toEqual(cluster && expect.objectContaining(cluster));
  },
);
