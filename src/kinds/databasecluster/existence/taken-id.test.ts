import { describe, expect, it } from 'vitest';
import { type KindBench, kindBench } from '../../../../test/support/kind-bench.ts';
import { CLUSTER_SPEC } from '../../../../test/support/specs.ts';

const connection = (bench: KindBench) => bench.world().connections.get('shop/production');
const list = (bench: KindBench) => connection(bench)?.poller.refresh();
const deploys = ({ calls }: KindBench) => calls.filter((call) => call === 'deploy').length;

describe('A DatabaseCluster whose id another cluster has', () => {
  it('gets the id when that one is gone', async () => {
    const bench = await kindBench();
    bench.simulator.deployForeign({ id: 'orders' });
    await list(bench);
    await bench.until('False ClusterIDInUse');
    bench.simulator.vanish('orders');
    await list(bench);
    await bench.until('True Running');
  });

  it.each([
    ['Never', 'True Running', 1],
    ['IfExists', 'True Running', 1],
    ['MustExist', 'False ClusterNotFound', 0],
  ])(
    'waits for the end of that one while it is being destroyed (adoptionPolicy %s)',
    async (adoptionPolicy, then, made) => {
      const bench = await kindBench({ spec: { adoptionPolicy }, knobs: { destroyMs: [20_000, 20_000] } });
      bench.simulator.deployForeign({ id: 'orders' });
      await connection(bench)?.client.destroy('orders');
      await list(bench);
      await bench.until('Unknown Destroying');
      expect(bench.status().createdAt).toBeUndefined();
      await bench.until(then);
      expect(deploys(bench)).toBe(made);
    },
  );

  it('does not treat that one as its own if its deploy ended while its token was exchanged', async () => {
    const bench = await kindBench();
    const fault = bench.simulator.faults.add({
      match: { operation: 'exchangeToken' },
      effect: 'errorBefore',
      status: 404,
    });
    for (let pass = 0; pass < 5; pass++) await bench.pass();
    expect(bench.ready()).toBe('Unknown CloudAnswerUnusable');
    const { spaceRef: _, ...same } = CLUSTER_SPEC;
    bench.simulator.deployForeign({ id: 'orders', ...same });
    bench.simulator.faults.remove(fault);
    await list(bench);
    await bench.until('False ClusterIDInUse');
  });

  it('does not treat that one as its own clone, even if the process ends right after it found the id taken', async () => {
    const bench = await kindBench({ spec: { cloneFrom: { clusterID: 'source' } } });
    bench.simulator.deployForeign({ id: 'source' });
    await list(bench);
    while (bench.status().operation === undefined) await bench.pass();
    bench.simulator.deployForeign({ id: 'orders' });
    await bench.pass();
    await bench.restart();
    await list(bench);
    await bench.until('False ClusterIDInUse');
    expect(bench.calls).not.toContain('clone');
  });

  it('is reported with the words of the cloud if there is none, as those may be about something else', async () => {
    const bench = await kindBench();
    bench.simulator.faults.add({ match: { operation: 'deploy' }, effect: 'errorBefore', status: 409 });
    for (let pass = 0; pass < 3; pass++) await bench.pass();
    expect(bench.ready()).toBe('Unknown ClusterIDInUse');
    const message = expect.stringContaining('Simulated failure');
    expect(bench.status().lastError).toMatchObject({ operation: 'deploy', httpStatus: 409, message });
    bench.simulator.faults.clear();
    await bench.until('True Running');
  });
});
