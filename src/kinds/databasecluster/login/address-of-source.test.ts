import { describe, expect, it, vi } from 'vitest';
import { aCluster } from '../../../../test/support/builders.ts';
import { type KindBench, kindBench } from '../../../../test/support/kind-bench.ts';
import { clusterNamed } from '../../../../test/support/simulator.ts';
import type { KubeObject } from '../../../kube/object.ts';

const SOURCE = { storageSizeGB: 100, machineType: 'c2d-highcpu-4', version: '3.5.0' };

const addressOf = ({ simulator }: KindBench, id: string) => clusterNamed(simulator, id)?.servers[0]?.address ?? '';
const calls = (bench: KindBench) => bench.calls.filter((call) => call.startsWith('server '));

/** From the next List on the cloud shows the cluster there. Who answers at an address stays the same. */
function setAddress({ simulator }: KindBench, id: string, address: string): void {
  for (const cluster of simulator.clusters()) {
    if (cluster.id !== id) continue;
    for (const server of cluster.servers) Object.assign(server, { address });
    Object.assign(cluster, { rendered: undefined });
  }
}

async function show(bench: KindBench, id: string, address: string): Promise<void> {
  setAddress(bench, id, address);
  await bench.world().connections.get('shop/production')?.poller.refresh();
}

/** A clone that exists, and is shown at the address of its source. */
async function shownAtSource(cloneFrom: object): Promise<{ readonly bench: KindBench; readonly own: string }> {
  const bench = await kindBench({ spec: { cloneFrom } });
  bench.simulator.deployForeign({ id: 'source', ...SOURCE });
  const createdAt = new Date(clusterNamed(bench.simulator, 'source')?.createdAt ?? 0).toISOString();
  const source = aCluster().healthy().withStatus({ clusterID: 'source', createdAt }).subject;
  const world = bench.world();
  const { cluster } = world;
  vi.spyOn(world, 'cluster').mockImplementation((key) =>
    key === 'shop/source' ? (source as unknown as KubeObject) : cluster(key),
  );
  await world.connections.get('shop/production')?.poller.refresh();
  for (let pass = 0; pass < 10 && !bench.calls.includes('clone'); pass++) await bench.pass();
  const own = addressOf(bench, 'orders');
  await show(bench, 'orders', addressOf(bench, 'source'));
  bench.forgetCalls();
  return { bench, own };
}

describe.each([{ cloneFrom: { clusterID: 'source' } }, { cloneFrom: { clusterRef: { name: 'source' } } }])(
  'A clone by $cloneFrom that is shown at the address of its source',
  ({ cloneFrom }) => {
    it('tries no login there, and says what it waits for', async () => {
      const { bench } = await shownAtSource(cloneFrom);
      await bench.until('Unknown WaitingForServer');
      const { message = '' } = bench.status().conditions?.find(({ type }) => type === 'Ready') ?? {};
      for (const part of [
        `at ${addressOf(bench, 'source')}`,
        'cluster "source"',
        'an address of its own',
        "the cloud's console",
      ])
        expect(message).toContain(part);
      expect([calls(bench), bench.status().endpoint]).toEqual([[], undefined]);
      expect(bench.simulator.passwordIs('source', 'admin', 'password')).toBe(true);
    });

    it('is Ready soon after it has one of its own, and its source keeps its password', async () => {
      const { bench, own } = await shownAtSource(cloneFrom);
      await bench.until('Unknown WaitingForServer');
      setAddress(bench, 'orders', own);
      const sinceMs = bench.clock.monotonic();
      await bench.until('True Running');
      expect(bench.clock.monotonic() - sinceMs).toBeLessThan(20_000);
      const { password = '' } = bench.secret() ?? {};
      expect(bench.simulator.passwordIs('orders', 'admin', password)).toBe(true);
      expect(bench.simulator.passwordIs('source', 'admin', 'password')).toBe(true);
    });

    it('stays Ready if its source is shown at its address once its login was verified there', async () => {
      const { bench, own } = await shownAtSource(cloneFrom);
      await show(bench, 'orders', own);
      await bench.until('True Running');
      await show(bench, 'source', own);
      bench.forgetCalls();
      await bench.pass();
      expect([bench.ready(), bench.status().endpoint, calls(bench)]).toEqual(['True Running', `https://${own}`, []]);
    });
  },
);

it('A cluster that is no clone stays Ready if another one is shown at its address', async () => {
  const bench = await kindBench();
  await bench.until('True Running');
  bench.simulator.deployForeign({ id: 'clone', ...SOURCE });
  await show(bench, 'clone', addressOf(bench, 'orders'));
  bench.forgetCalls();
  await bench.pass();
  expect([bench.ready(), calls(bench)]).toEqual(['True Running', []]);
});
