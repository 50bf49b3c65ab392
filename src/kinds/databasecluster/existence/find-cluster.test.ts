import { describe, expect, it, vi } from 'vitest';
import { aCloudCluster } from '../../../../test/support/builders.ts';
import { expectOneWorkingLogin, type KindBench, kindBench } from '../../../../test/support/kind-bench.ts';
import { clusterNamed, makeUnreadable } from '../../../../test/support/simulator.ts';
import { CLUSTER_SPEC } from '../../../../test/support/specs.ts';
import { DATABASE_CLUSTERS } from '../resource.ts';
import { isPrecise, maybeSame } from './same-cluster.ts';

const SPACE = 'shop/production';
const MINUTE_MS = 60_000;

/** A cluster that is Ready, created at a moment that no other cluster shares. */
const settled = (spec: Readonly<Record<string, unknown>> = {}) => withTwins([], true, spec);

const list = (bench: KindBench) => bench.world().connections.get(SPACE)?.poller.refresh();
const message = (bench: KindBench) => bench.status().conditions?.find(({ type }) => type === 'Ready')?.message;

type Foreign = Parameters<KindBench['simulator']['deployForeign']>[0];

/** A cluster that is Ready, and others that were created at the same moment, at a whole second or not. */
async function withTwins(twins: readonly Foreign[], precise: boolean, spec: Readonly<Record<string, unknown>> = {}) {
  const bench = await kindBench({ spec });
  if (precise) await bench.clock.advance(123);
  while (clusterNamed(bench.simulator, 'orders') === undefined) await bench.pass();
  const createdAt = clusterNamed(bench.simulator, 'orders')?.createdAt ?? 0;
  expect(createdAt % 1000).toBe(precise ? 123 : 0);
  for (const twin of twins) bench.simulator.deployForeign({ version: '3.5.0', ...twin });
  // The simulator gives each cluster a moment of its own; other clouds need not.
  for (const cluster of bench.simulator.clusters()) Object.assign(cluster, { createdAt, rendered: undefined });
  await bench.until('True Running');
  return bench;
}

it.each([{ adoptionPolicy: 'MustExist' }, { managementPolicy: 'Observe' }])(
  'A cluster that was created since the last List is asked for before a person is told that there is none (%j)',
  async (spec) => {
    const { spaceRef: _, ...same } = CLUSTER_SPEC;
    const bench = await kindBench({ spec });
    await list(bench);
    bench.simulator.deployForeign({ id: 'orders', ...same });
    await bench.pass();
    expect(bench.status().createdAt).toBeDefined();
  },
);

it('A cluster that was created since the last List is asked for, whatever else a person was told before', async () => {
  const { spaceRef: _, ...same } = CLUSTER_SPEC;
  const bench = await kindBench({ spec: { adoptionPolicy: 'MustExist' } });
  bench.simulator.faults.add({ match: { operation: 'get' }, effect: '5xx', times: 1 });
  await list(bench);
  await bench.pass();
  expect([bench.ready(), bench.status().observedGeneration]).toEqual(['Unknown CloudUnreachable', 1]);
  bench.simulator.deployForeign({ id: 'orders', ...same });
  await bench.pass();
  expect(bench.status().createdAt).toBeDefined();
});

it('A cluster that there is none of is not asked for any more once a person was told: Lists, which all share, show one that comes', async () => {
  const bench = await kindBench({ spec: { adoptionPolicy: 'MustExist' } });
  await bench.until('False ClusterNotFound');
  bench.forgetCalls();
  await bench.pass();
  expect(bench.calls).not.toContain('get');
  await bench.edit({ clusterID: 'orders-eu' });
  await bench.pass();
  expect(bench.calls.filter((call) => call === 'get')).toHaveLength(1);
});

describe('A cluster that somebody renames', () => {
  it('is reported, and renamed back with driftPolicy Revert', async () => {
    const bench = await settled();
    const { createdAt } = bench.status();
    bench.simulator.changeCluster('orders', { id: 'orders-x' });
    await list(bench);
    await bench.pass();
    expect(bench.ready()).toBe('Unknown RenamedElsewhere');
    expect(message(bench)).toMatch(
      /^Cluster "orders" was renamed to "orders-x", and not by Mooring\. .*from orders-x to orders/,
    );
    await bench.until('True Running');
    expect(clusterNamed(bench.simulator, 'orders-x')).toBeUndefined();
    expect(bench.status()).toMatchObject({ clusterID: 'orders', createdAt });
    expect(bench.corrected).toEqual(['clusterID']);
    expect(bench.simulator.count('deploy')).toBe(1);
    expectOneWorkingLogin(bench);
  });

  it('keeps its new id with driftPolicy Report', async () => {
    const bench = await settled({ driftPolicy: 'Report' });
    bench.simulator.changeCluster('orders', { id: 'orders-x' });
    await list(bench);
    await bench.until('False RenamedElsewhere');
    expect(message(bench)).toMatch(/"orders" was renamed to "orders-x".*driftPolicy: Report nothing is changed/);
    expect(bench.status()).toMatchObject({
      clusterID: 'orders-x',
      drift: [{ field: 'clusterID', desired: 'orders', observed: 'orders-x' }],
    });
    expect(bench.simulator.count('update')).toBe(0);

    await bench.edit({ clusterID: 'orders-x' });
    await bench.until('True Running');
    expectOneWorkingLogin(bench, 'orders-x');
  });

  it.each(['Never', 'Always'])(
    'is not created again with recreatePolicy %s, even if it is renamed between two Lists',
    async (recreatePolicy) => {
      const bench = await settled({ recreatePolicy });
      bench.simulator.changeCluster('orders', { id: 'orders-x' });
      // The List is old: the change finds that there is no such cluster any more.
      await bench.edit({ storageSizeGB: 200 });
      await bench.until('True Running');
      expect(clusterNamed(bench.simulator, 'orders')).toMatchObject({ storageSizeGB: 200 });
      expect(bench.simulator.count('deploy')).toBe(1);
    },
  );

  it.each(['its status does not', 'the cloud does not'])(
    'is found if %s say where it is, and how many servers it has',
    async (who) => {
      const bench = await settled({ recreatePolicy: 'Always' });
      const { client } = bench.world().connections.get(SPACE) ?? expect.unreachable();
      if (who === 'the cloud does not') {
        const { listAs } = client;
        const hidden = { provider: undefined, region: undefined, serverCount: undefined };
        vi.spyOn(client, 'listAs').mockImplementation((memo, keep, signal) =>
          listAs.call(client, memo, (cluster) => keep({ ...cluster, ...hidden }), signal),
        );
      } else {
        const patch = { status: { observed: { provider: null, region: null, serverCount: null } } };
        await bench.kube.patch(DATABASE_CLUSTERS, { namespace: 'shop', name: 'orders' }, patch, {
          subresource: 'status',
        });
      }
      bench.simulator.changeCluster('orders', { id: 'orders-x' });
      await list(bench);
      await bench.pass();
      expect(bench.ready()).toBe('Unknown RenamedElsewhere');
    },
  );

  it('is looked for in a whole List once the cloud has said that it is not under its id any more', async () => {
    const bench = await settled();
    const { poller } = bench.world().connections.get(SPACE) ?? expect.unreachable();
    bench.simulator.changeCluster('orders', { id: 'orders-x' });
    poller.learn('orders', undefined, bench.clock.monotonic() + 1);
    await bench.clock.advance(2);
    await bench.pass();
    expect(bench.ready()).toBe('Unknown RenamedElsewhere');
  });

  it('is found even if another cluster has taken its id, and that one is left alone', async () => {
    const bench = await settled();
    bench.simulator.changeCluster('orders', { id: 'orders-x' });
    await bench.clock.advance(7);
    bench.simulator.deployForeign({ id: 'orders' });
    const before = clusterNamed(bench.simulator, 'orders');
    await list(bench);
    await bench.until('False ClusterIDInUse');
    expect(message(bench)).toMatch(/"orders-x" cannot be renamed to "orders"/);
    expect(clusterNamed(bench.simulator, 'orders')).toEqual(before);
  });

  it('is not destroyed under an id that nobody has named, but once its object names it', async () => {
    const bench = await settled({ deletionPolicy: 'Delete' });
    bench.simulator.changeCluster('orders', { id: 'orders-x' });
    bench.kube.remove(DATABASE_CLUSTERS, { namespace: 'shop', name: 'orders' });
    await bench.pass();
    await bench.pass();
    expect(bench.ready()).toBe('False DeletionBlocked');
    expect(message(bench)).toMatch(
      /there is "orders-x", created at the same time.*set clusterID: orders-x.*abandon=true/,
    );
    expect(bench.secret()).toBeDefined();

    await bench.edit({ clusterID: 'orders-x' });
    await bench.pass();
    expect(clusterNamed(bench.simulator, 'orders-x')).toBeUndefined();
    expect(bench.simulator.count('destroy')).toBe(1);
  });
});

describe('A cluster that is said not to exist (404) while the List shows it', () => {
  const lie = (bench: KindBench) =>
    bench.simulator.faults.add({ match: { operation: 'get' }, effect: 'errorBefore', status: 404, times: 2 });

  it('is destroyed with its object all the same', async () => {
    const bench = await settled({ deletionPolicy: 'Delete' });
    lie(bench);
    bench.kube.remove(DATABASE_CLUSTERS, { namespace: 'shop', name: 'orders' });
    for (let n = 0; n < 20 && bench.kube.all(DATABASE_CLUSTERS).length > 0; n++) {
      await bench.pass();
      await bench.clock.advance(5_000);
    }
    expect(bench.kube.all(DATABASE_CLUSTERS)).toEqual([]);
    expect(bench.simulator.count('destroy')).toBe(1);
    expect(clusterNamed(bench.simulator, 'orders')).toBeUndefined();
  });

  it.each(['Never', 'Always'])('still belongs to its object with recreatePolicy %s', async (recreatePolicy) => {
    const bench = await settled({ recreatePolicy });
    const { createdAt } = bench.status();
    lie(bench);
    await bench.edit({ storageSizeGB: 200 });
    await bench.pass();
    await bench.until('True Running');
    expect(clusterNamed(bench.simulator, 'orders')).toMatchObject({ storageSizeGB: 200 });
    expect([bench.status().createdAt, bench.simulator.count('deploy')]).toEqual([createdAt, 1]);
  });
});

describe('A rename of ours that the cloud shows late', () => {
  it('is asked for once, and again only after a pause', async () => {
    const bench = await settled();
    const { client } = bench.world().connections.get(SPACE) ?? expect.unreachable();
    const cluster = (await client.get('orders')) ?? expect.unreachable();
    const update = vi.spyOn(client, 'update').mockResolvedValue({ ...cluster, id: 'orders-eu' });
    await bench.edit({ clusterID: 'orders-eu' });
    await bench.until('True Running');
    await list(bench);
    for (let second = 0; second < 25; second += 5) {
      await bench.pass();
      await bench.clock.advance(5_000);
    }
    expect(update).toHaveBeenCalledTimes(1);
    expect(bench.ready()).toBe('Unknown Updating');
    expect(message(bench)).toMatch(
      /accepted the renaming of cluster "orders" at 2.*Z, but still shows it under that id/,
    );
    await bench.clock.advance(5_000);
    await bench.pass();
    expect(update).toHaveBeenCalledTimes(2);
    // The second answer says what the first one said, and nobody else is blamed.
    await bench.pass();
    expect(bench.ready()).toBe('Unknown UpdateNotApplied');
    expect(bench.corrected).toEqual([]);
    await list(bench);
    await bench.pass();
    expect(bench.ready()).toBe('Unknown UpdateNotApplied');
    bench.simulator.changeCluster('orders', { id: 'orders-eu' });
    await list(bench);
    await bench.until('True Running');
    expect(update).toHaveBeenCalledTimes(2);
  });
});

describe('A rename of ours whose answer was lost', () => {
  it('is undone if the spec has the former id again', async () => {
    const bench = await settled();
    bench.simulator.faults.add({ match: { operation: 'update' }, effect: 'lostAnswer', times: 1 });
    await bench.edit({ clusterID: 'orders-eu' });
    await bench.pass();
    expect(clusterNamed(bench.simulator, 'orders-eu')).toBeDefined();
    await bench.edit({ clusterID: 'orders' });
    await list(bench);
    await bench.until('True Running');
    expect(clusterNamed(bench.simulator, 'orders')).toBeDefined();
    expect(bench.simulator.count('deploy')).toBe(1);
    expect(bench.corrected).toEqual([]);
  });
});

describe('A cluster that has vanished is not mistaken for', () => {
  async function vanished(bench: KindBench): Promise<KindBench> {
    bench.simulator.vanish('orders');
    await list(bench);
    return bench;
  }

  it('one that was created in the same second, which is reported', async () => {
    const bench = await withTwins([{ id: 'other' }], false, { recreatePolicy: 'Always', deletionPolicy: 'Delete' });
    const before = clusterNamed(bench.simulator, 'other');
    await vanished(bench);
    await bench.until('False ClusterMissing');
    expect(message(bench)).toMatch(/there is "other", created at the same time: .* set clusterID: other/);
    expect(bench.simulator.count('deploy')).toBe(1);

    bench.kube.remove(DATABASE_CLUSTERS, { namespace: 'shop', name: 'orders' });
    await bench.pass();
    expect(bench.ready()).toBe('False DeletionBlocked');
    expect(clusterNamed(bench.simulator, 'other')).toEqual(before);
  });

  it('one that does not show either a moment later: it is looked for before its object goes', async () => {
    const bench = await vanished(await withTwins([{ id: 'other' }], false, { deletionPolicy: 'Delete' }));
    await bench.until('False ClusterMissing');
    await bench.clock.advance(MINUTE_MS);
    bench.simulator.vanish('other');
    await list(bench);
    bench.kube.remove(DATABASE_CLUSTERS, { namespace: 'shop', name: 'orders' });
    const stillThere: boolean[] = [];
    for (let pass = 0; pass < 6; pass++) {
      await bench.pass();
      stillThere.push(bench.kube.all(DATABASE_CLUSTERS).length > 0);
      await bench.clock.advance(5_000);
    }
    expect(stillThere).toEqual([true, true, true, true, false, false]);
  });

  it('one that does not show either a moment later: it is looked for before another one is created', async () => {
    const bench = await vanished(await withTwins([{ id: 'other' }], false, { recreatePolicy: 'Always' }));
    await bench.until('False ClusterMissing');
    await bench.clock.advance(MINUTE_MS);
    bench.simulator.vanish('other');
    await list(bench);
    await bench.pass();
    await bench.pass();
    expect([bench.ready(), bench.simulator.count('deploy')]).toEqual(['False NotFound', 1]);
    await bench.until('True Running');
    expect(bench.simulator.count('deploy')).toBe(2);
  });

  it('one that Lists showed beside it, though it was created in the same millisecond', async () => {
    const bench = await withTwins([{ id: 'other' }], true, { deletionPolicy: 'Delete' });
    for (let count = 0; count < 3; count++) await list(bench);
    const before = clusterNamed(bench.simulator, 'other');
    await vanished(bench);
    await bench.until('False ClusterMissing');
    expect(message(bench)).not.toContain('other"');
    await bench.clock.advance(MINUTE_MS);
    bench.kube.remove(DATABASE_CLUSTERS, { namespace: 'shop', name: 'orders' });
    for (let pass = 0; pass < 3; pass++) await bench.pass();
    expect([bench.kube.all(DATABASE_CLUSTERS).length, bench.simulator.count('update')]).toEqual([0, 0]);
    expect(clusterNamed(bench.simulator, 'other')).toEqual(before);
  });

  it('one that a single List showed beside it, which is reported, as that may have shown one cluster under two ids', async () => {
    const bench = await settled({ deletionPolicy: 'Delete' });
    const { createdAt } = clusterNamed(bench.simulator, 'orders') ?? {};
    bench.simulator.deployForeign({ id: 'other', version: '3.5.0' });
    for (const cluster of bench.simulator.clusters()) Object.assign(cluster, { createdAt, rendered: undefined });
    await list(bench);
    const before = clusterNamed(bench.simulator, 'other');
    await vanished(bench);
    await bench.until('False ClusterMissing');
    expect(message(bench)).toMatch(/there is "other", created at the same time: .* set clusterID: other/);
    expect(clusterNamed(bench.simulator, 'other')).toEqual(before);
  });

  it('one of the same second that is first shown when it is gone, which is reported', async () => {
    const bench = await withTwins([], false, { deletionPolicy: 'Delete' });
    const { createdAt } = clusterNamed(bench.simulator, 'orders') ?? {};
    bench.simulator.deployForeign({ id: 'other', version: '3.5.0' });
    for (const cluster of bench.simulator.clusters()) Object.assign(cluster, { createdAt, rendered: undefined });
    const before = clusterNamed(bench.simulator, 'other');
    await vanished(bench);
    await bench.until('False ClusterMissing');
    expect(message(bench)).toMatch(/there is "other", created at the same time: .* set clusterID: other/);
    expect(clusterNamed(bench.simulator, 'other')).toEqual(before);
  });

  it.each([true, false])('one created at the same moment (in ms: %s) after its own was destroyed', async (precise) => {
    const bench = await withTwins([{ id: 'other' }], precise, { deletionPolicy: 'Delete' });
    const before = clusterNamed(bench.simulator, 'other');
    bench.kube.remove(DATABASE_CLUSTERS, { namespace: 'shop', name: 'orders' });
    for (let pass = 0; pass < 10 && bench.status().state !== 'destroying'; pass++) await bench.pass();
    while (clusterNamed(bench.simulator, 'orders') !== undefined) await bench.clock.advance(1_000);
    await bench.restart();
    await bench.pass();
    expect(bench.kube.all(DATABASE_CLUSTERS)).toEqual([]);
    expect(clusterNamed(bench.simulator, 'other')).toEqual(before);
  });

  it('several of the same moment, which is reported', async () => {
    const bench = await vanished(await withTwins([{ id: 'one' }, { id: 'two' }], true));
    await bench.until('False ClusterMissing');
    expect(message(bench)).toMatch(/there is "one", "two", created at the same time/);
    expect(bench.simulator.count('update')).toBe(0);
  });

  it('either of two that appear when it is gone, though one of them is it, renamed', async () => {
    const bench = await settled();
    const { createdAt } = clusterNamed(bench.simulator, 'orders') ?? {};
    bench.simulator.changeCluster('orders', { id: 'orders-x' });
    bench.simulator.deployForeign({ id: 'other', version: '3.5.0' });
    for (const cluster of bench.simulator.clusters()) Object.assign(cluster, { createdAt, rendered: undefined });
    await list(bench);
    await bench.until('False ClusterMissing');
    expect(message(bench)).toMatch(/there is "orders-x", "other", created at the same time/);
    expect(bench.status().clusterID).toBe('orders');
  });

  it.each<Foreign>([
    { id: 'one', region: 'us-east1' },
    { id: 'one', provider: 'aws' },
    { id: 'one', serverCount: 3 },
  ])('one that is another one beyond doubt: %j', async (other) => {
    const bench = await vanished(await withTwins([other], true));
    await bench.until('False ClusterMissing');
    expect(message(bench)).not.toContain('one"');
    await bench.pass();
    expect(bench.ready(), 'also at the next look').toBe('False ClusterMissing');
    expect(bench.simulator.count('update')).toBe(0);
  });

  it('one that was created at another moment, however alike', async () => {
    const bench = await settled();
    bench.simulator.vanish('orders');
    await bench.clock.advance(1_001);
    bench.simulator.deployForeign({ id: 'one', version: '3.5.0' });
    await list(bench);
    await bench.until('False ClusterMissing');
    expect(message(bench)).not.toContain('one"');
    expect(bench.status().clusterID).toBe('orders');
  });

  it.each([
    ['if it has that very one', {}, false],
    ['but may be if it only had one of that id before', { createdAt: '2020-01-01T00:00:00.000Z' }, true],
    ['but may be if it has one under another id', { clusterID: 'another' }, true],
  ])("another object's, %s", async (_, changes, isFound) => {
    const bench = await withTwins([{ id: 'other' }], true);
    const { createdAt } = bench.status();
    const world = bench.world();
    const other = {
      ...(world.cluster('shop/orders') ?? expect.unreachable()),
      metadata: { name: 'other', namespace: 'shop', uid: 'other', resourceVersion: '1' },
      status: { observedGeneration: 1, clusterID: 'other', createdAt, ...changes },
    };
    Object.assign(world, { cluster: () => other, claimants: () => ['shop/other'] });
    await vanished(bench);
    await bench.until('False ClusterMissing');
    expect(message(bench)?.includes('other"')).toBe(isFound);
  });
});

it('A List that is newer than everything known of a cluster is not requested again', async () => {
  const bench = await settled();
  bench.simulator.vanish('orders');
  await bench.clock.advance(2 * MINUTE_MS);
  await bench.until('False ClusterMissing');
  bench.forgetCalls();
  await bench.pass();
  expect(bench.calls).toEqual(['get']);
});

describe('When another cluster in the List makes no sense,', () => {
  /** Ours is Ready, and another one appears that cannot be read. */
  async function besideNonsense(spec: Readonly<Record<string, unknown>> = {}): Promise<KindBench> {
    const bench = await settled(spec);
    bench.simulator.deployForeign({ id: 'odd' });
    makeUnreadable(bench.simulator, 'odd');
    await list(bench);
    return bench;
  }
  const passes = async (bench: KindBench, count: number) => {
    for (let n = 0; n < count; n++) {
      await bench.pass();
      await bench.clock.advance(10_000);
    }
  };

  it.each(['the process goes on', 'it restarts'])('a cluster that does is managed, when %s', async (how) => {
    const bench = await besideNonsense();
    if (how === 'it begins anew') await bench.restart();
    expect(bench.world().connections.get(SPACE)?.poller.error).toMatchObject({ kind: 'badAnswer' });
    await bench.edit({ storageSizeGB: 200 });
    await bench.until('True Running');
    expect(clusterNamed(bench.simulator, 'orders')).toMatchObject({ storageSizeGB: 200 });
    expectOneWorkingLogin(bench);
  });

  it.each([false, true])(
    'no cluster that is not shown is treated as gone or created again, by a new process: %s',
    async (isNew) => {
      const bench = await besideNonsense({ recreatePolicy: 'Always' });
      bench.simulator.vanish('orders');
      await list(bench);
      if (isNew) await bench.restart();
      await passes(bench, 20);
      expect([bench.ready(), bench.simulator.count('deploy')]).toEqual(['True Running', 1]);
    },
  );

  it('none is gone, or created again, that was already missing from the List before', async () => {
    const bench = await settled({ recreatePolicy: 'Always' });
    bench.simulator.vanish('orders');
    await list(bench);
    await bench.pass();
    expect(bench.ready()).toBe('False NotFound');
    bench.simulator.deployForeign({ id: 'odd' });
    makeUnreadable(bench.simulator, 'odd');
    await list(bench);
    await passes(bench, 20);
    expect(bench.simulator.count('deploy')).toBe(1);
    bench.simulator.vanish('odd');
    await list(bench);
    await bench.until('True Running');
    expect(bench.simulator.count('deploy')).toBe(2);
  });

  it.each([false, true])('no object is released whose cluster is not shown, by a new process: %s', async (isNew) => {
    const bench = await besideNonsense({ deletionPolicy: 'Delete' });
    bench.simulator.vanish('orders');
    await list(bench);
    if (isNew) await bench.restart();
    bench.kube.remove(DATABASE_CLUSTERS, { namespace: 'shop', name: 'orders' });
    await passes(bench, 20);
    expect(bench.kube.all(DATABASE_CLUSTERS)).toHaveLength(1);
    expect(bench.secret()).toBeDefined();
    bench.simulator.vanish('odd');
    await list(bench);
    await passes(bench, 3);
    expect(bench.kube.all(DATABASE_CLUSTERS)).toEqual([]);
  });

  it('a cluster whose id now shows another one is not looked for among those that a new process was shown', async () => {
    const bench = await besideNonsense();
    bench.simulator.changeCluster('orders', { id: 'orders-x' });
    bench.simulator.deployForeign({ id: 'orders' });
    await bench.restart();
    await passes(bench, 3);
    expect(bench.ready()).toBe('Unknown CloudAnswerUnusable');
    expect(bench.status().clusterID).toBe('orders');
  });
});

describe('With a cloud that answers 400 when it is asked for a cluster that does not exist', () => {
  /** The simulator cannot tell what exists before it answers: all looks at one cluster fail. */
  async function besideSuchACloud(spec: Readonly<Record<string, unknown>> = {}): Promise<KindBench> {
    const bench = await settled(spec);
    bench.simulator.faults.add({ match: { operation: 'get' }, effect: 'errorBefore', status: 400 });
    return bench;
  }

  it('one that has vanished is missing, and its object can go', async () => {
    const bench = await besideSuchACloud({ deletionPolicy: 'Delete' });
    bench.simulator.vanish('orders');
    await list(bench);
    await bench.until('False ClusterMissing');
    bench.kube.remove(DATABASE_CLUSTERS, { namespace: 'shop', name: 'orders' });
    for (let pass = 0; pass < 8; pass++) {
      await bench.pass();
      await bench.clock.advance(5_000);
    }
    expect(bench.kube.all(DATABASE_CLUSTERS)).toEqual([]);
  });

  it('nothing is taken for missing while Lists fail, too', async () => {
    const bench = await besideSuchACloud();
    bench.simulator.vanish('orders');
    await list(bench);
    bench.simulator.faults.add({ match: { operation: 'list' }, effect: '5xx' });
    for (let pass = 0; pass < 20; pass++) {
      await bench.pass();
      await bench.clock.advance(5_000);
    }
    expect(bench.ready()).not.toBe('False ClusterMissing');
  });
});

describe('maybeSame() and isPrecise()', () => {
  it.each([
    ['created at another time', { createdAt: 1_000_000_000_124 }, 0, false],
    ['that no List showed beside it', {}, 0, true],
    ['that two Lists showed beside it', {}, 2, true],
    ['that three Lists showed beside it', {}, 3, false],
  ])('take a cluster for the one that was known under another id, or not: one %s', (_, changes, lists, isSame) => {
    const was = { clusterID: 'orders', createdAt: new Date(1_000_000_000_123).toISOString() };
    const cluster = aCloudCluster({ id: 'other', createdAt: 1_000_000_000_123, ...changes });
    expect(maybeSame({ listsBeside: () => lists }, was, cluster)).toBe(isSame);
  });

  it.each([
    [1_795_892_201_123, true],
    [1_795_892_201_000, false],
    [99_999_999_999, false],
    [undefined, false],
  ])('know a creation time that hardly two clusters have: %s', (createdAt, precise) => {
    expect(isPrecise(aCloudCluster({ createdAt }))).toBe(precise);
  });
});
