import { expect, it } from 'vitest';
import { aCloudCluster } from '../../../test/support/builders.ts';
import { runningBench } from '../../../test/support/kind-bench.ts';
import { clusterNamed } from '../../../test/support/simulator.ts';
import { unusableAddress } from './endpoint.ts';

it.each([
  ['if the first one goes down', 2, 1],
  ['if it moves back', 0, undefined],
])('A DatabaseCluster of several servers follows the primary twice within a minute %s', async (_, second, down) => {
  const bench = await runningBench({ dialect: 'field', spec: { serverCount: 3, version: '2.29.1' } });
  const addresses = clusterNamed(bench.simulator, 'orders')?.servers.map(({ address }) => address) ?? [];
  const beganMs = bench.clock.monotonic();
  const failOver = async (primary: number, down: number | undefined, rotation: string) => {
    const arranged = addresses.map((address, index) => ({
      address,
      isPrimary: index === primary,
      status: index === down ? ('pending' as const) : ('running' as const),
    }));
    bench.simulator.arrangeServers('orders', arranged);
    await bench.world().connections.get('shop/production')?.poller.refresh();
    await bench.annotate('mooring.dev/rotate-at', rotation);
    for (let passes = 0; bench.status().lastHandledRotateAt !== rotation && passes < 20; passes++) await bench.pass();
    await bench.until('True Running');
    return bench.status().endpoint;
  };
  expect(await failOver(1, undefined, 'first')).toBe(`https://${addresses[1]}`);
  await bench.clock.advance(5_000);
  expect(await failOver(second, down, 'second')).toBe(`https://${addresses[second]}`);
  expect(bench.status().lastHandledRotateAt).toBe('second');
  expect(bench.clock.monotonic() - beganMs).toBeLessThan(60_000);
});

it.each([
  ['none of them', ['no address', 'nor this'], 'no address'],
  ['one of them', ['no address', 'orders.test:443'], undefined],
  ['each of them', ['orders.test:443'], undefined],
  ['them, as there is none', [], undefined],
])('A DatabaseCluster says which address is no address only if it cannot use %s', (_, addresses, told) => {
  const servers = addresses.map((address) => ({ address, status: 'running' }));
  expect(unusableAddress({ ...aCloudCluster(), servers })).toBe(told);
});
