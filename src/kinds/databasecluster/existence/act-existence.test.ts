import { afterEach, describe, expect, it, test, vi } from 'vitest';
import { aCluster } from '../../../../test/support/builders.ts';
import { type KindBench, kindBench } from '../../../../test/support/kind-bench.ts';
import { CloudClient } from '../../../cloud/client.ts';
import type { Simulator } from '../../../simulator/interface.ts';
import { observeCluster } from '../observe.ts';

test('A process remembers what the cloud created for an object until the status records it', async () => {
  const bench = await kindBench();
  const createdByCall = async () => {
    const { subject } = aCluster().withStatus(bench.status());
    return await observeCluster(bench.world(), subject, new AbortController().signal);
  };
  while (bench.status().operation === undefined) await bench.pass();
  expect(await createdByCall()).toMatchObject({ createdByCall: undefined });

  bench.crashAt({ verb: 'patch', plural: 'databaseclusters', when: 'before' });
  await expect(bench.pass()).rejects.toThrow();
  expect(bench.status().operation).toBeDefined();
  const createdAt = new Date(bench.clock.now()).toISOString();
  expect(await createdByCall()).toMatchObject({ createdByCall: createdAt });

  await bench.pass();
  expect(bench.status()).toMatchObject({ createdAt });
  expect(await createdByCall()).toMatchObject({ createdByCall: undefined });
});

describe('A cloud that answers a deploy at once with a running cluster, and without its creation time,', () => {
  afterEach(() => void vi.restoreAllMocks());

  async function deployed(...faults: readonly Parameters<Simulator['faults']['add']>[0][]): Promise<KindBench> {
    const { deploy } = CloudClient.prototype;
    vi.spyOn(CloudClient.prototype, 'deploy').mockImplementation(async function (this: CloudClient, ...args) {
      return { ...(await deploy.apply(this, args)), createdAt: undefined, status: 'running' };
    });
    const bench = await kindBench({ knobs: { provisionMs: [0, 0] } });
    for (const fault of faults) bench.simulator.faults.add(fault);
    while (bench.status().createdAt === undefined) await bench.pass();
    return bench;
  }

  it('is asked for it once, so that the cluster is known again', async () => {
    const bench = await deployed();
    const [cluster] = bench.simulator.clusters();
    expect(bench.status().createdAt).toBe(new Date(cluster?.createdAt ?? 0).toISOString());
    expect(bench.calls.filter((call) => call === 'get')).toHaveLength(1);
    await bench.until('True Running');
    await bench.world().connections.get('shop/production')?.poller.refresh();
    await bench.pass();
    expect(bench.ready()).toBe('True Running');
  });

  it('need not answer that: the cluster is ours all the same', async () => {
    const bench = await deployed({ match: { operation: 'get' }, effect: 'errorBefore', status: 503, times: 1 });
    expect([bench.status().createdAt, bench.simulator.count('deploy')]).toEqual(['unknown', 1]);
  });
});
