import { afterEach, describe, expect, it, test, vi } from 'vitest';
import { aCluster, aSpace } from '../../../../test/support/builders.ts';
import { expectOneWorkingLogin, type KindBench, kindBench } from '../../../../test/support/kind-bench.ts';
import { staysRefused } from '../../../../test/support/refused-creation.ts';
import { addressOf, clusterNamed } from '../../../../test/support/simulator.ts';
import { CloudClient } from '../../../cloud/client.ts';
import type { Dialect } from '../../../simulator/dialect.ts';
import type { Simulator } from '../../../simulator/interface.ts';
import { actOnCluster } from '../act.ts';
import { observeCluster } from '../observe.ts';
import type { ClusterWorld } from '../world.ts';

const PROVISION = { provisionMs: [20_000, 20_000] } as const;

const { signal } = new AbortController();
const isServerCall = (call: string) => call.startsWith('server ');
const count = (bench: KindBench, call: string) => bench.calls.filter((other) => other === call).length;

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

/** With the properties that the spec of the bench says. */
const SOURCE = {
  id: 'source',
  storageSizeGB: 100,
  machineType: 'c2d-highcpu-4',
  version: '3.5.0',
  provider: 'gcp',
  region: 'europe-west2',
} as const;

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

describe('A DatabaseCluster', () => {
  it.each<Dialect>(['document', 'field'])(
    'is deployed and secured with as few calls as possible (%s)',
    async (dialect) => {
      const bench = await kindBench({ dialect, knobs: PROVISION });
      await bench.until('True Running');
      expect(count(bench, 'deploy')).toBe(1);
      expect(bench.calls.filter(isServerCall)).toEqual([
        'server signIn',
        'server updateUser',
        'server signIn',
        'server signIn',
      ]);
      expectOneWorkingLogin(bench);
      expect(bench.status()).toMatchObject({
        state: 'running',
        endpoint: `https://${addressOf(bench.simulator, 'orders')}`,
      });
      expect(bench.status().operation).toBeUndefined();
    },
  );

  it.each(['lostAnswer', 'reset', 'truncated'] as const)(
    'is deployed once even if the answer is %s',
    async (effect) => {
      const bench = await kindBench({ knobs: PROVISION });
      bench.simulator.faults.add({ match: { operation: 'deploy' }, effect, times: 1 });
      await bench.until('True Running');
      expectOneWorkingLogin(bench);
    },
  );

  it.each(['lostAnswer', 'reset'] as const)(
    'is deployed once even if the process ends with the answer %s',
    async (effect) => {
      const bench = await kindBench({ knobs: PROVISION });
      bench.simulator.faults.add({ match: { operation: 'deploy' }, effect, times: 1 });
      await bench.pass();
      await bench.pass();
      await bench.restart();
      await bench.until('True Running');
      expectOneWorkingLogin(bench);
    },
  );

  it('is deployed once even if the answer was not recorded', async () => {
    const bench = await kindBench({ knobs: PROVISION });
    await bench.pass();
    bench.crashAt({ verb: 'patch', plural: 'databaseclusters', when: 'before' });
    await expect(bench.pass()).rejects.toThrow('ends here');
    await bench.restart();
    await bench.until('True Running');
    expect(count(bench, 'deploy')).toBe(1);
  });

  it('does not treat a cluster as its own that appeared between the look and the call', async () => {
    const bench = await kindBench();
    await bench.pass();
    bench.simulator.deployForeign({ id: 'orders', storageSizeGB: 100, machineType: 'c2d-highcpu-4', version: '3.5.0' });
    await bench.until('False ClusterIDInUse');
    expect(bench.status().createdAt).toBeUndefined();
    expect(bench.secret()).toBeUndefined();
  });

  it('is not cloned if a cluster appeared between the look and the call', async () => {
    const bench = await kindBench({ spec: { cloneFrom: { clusterID: 'source' } } });
    const properties = { storageSizeGB: 100, machineType: 'c2d-highcpu-4', version: '3.5.0' };
    bench.simulator.deployForeign({ id: 'source', ...properties });
    await bench.world().connections.get('shop/production')?.poller.refresh();
    await bench.pass();
    bench.simulator.deployForeign({ id: 'orders', ...properties });
    await bench.until('False ClusterIDInUse');
    expect(count(bench, 'clone')).toBe(0);
  });

  it('is not cloned from another cluster that has taken the id of its source since the look', async () => {
    const bench = await kindBench({ spec: { cloneFrom: { clusterID: 'source' } } });
    bench.simulator.deployForeign({ id: 'source' });
    const { poller } = bench.world().connections.get('shop/production') ?? {};
    await poller?.refresh();
    await bench.pass();
    bench.simulator.replaceCluster('source');
    await bench.pass();
    expect([bench.ready(), count(bench, 'clone')]).toEqual(['Unknown WaitingForSource', 0]);
  });

  it('is not deployed if the space does not admit its namespace any more, as a turn may take minutes', async () => {
    const bench = await kindBench();
    await bench.pass();
    const world = bench.world();
    const { connections, space } = world;
    const { subject } = aCluster().with({ spaceRef: { name: 'production', namespace: 'infra' } });
    const elsewhere = { get: () => connections.get('shop/production'), all: () => connections.all() };
    const act = (from: 'All' | 'Same') => {
      const spec = { ...aSpace().subject.spec, allowedNamespaces: { from } };
      const seen = { ...world, connections: elsewhere, space: () => ({ ...space('shop/production'), spec }) };
      const given = { ...subject, status: bench.status() };
      return actOnCluster(seen as unknown as ClusterWorld, given, { do: 'Deploy', id: 'orders' }, signal, () => {});
    };
    await expect(act('Same')).rejects.toEqual(expect.objectContaining({ reason: 'SpaceNotAllowed' }));
    // The object itself says another space, and would be asked next.
    await expect(act('All')).rejects.toEqual(expect.objectContaining({ reason: 'ObjectChanged' }));
    expect(count(bench, 'deploy')).toBe(0);
  });

  it('is not cloned if whoever has its source does not admit its namespace any more', async () => {
    const bench = await kindBench({ spec: { cloneFrom: { clusterID: 'source' } } });
    bench.simulator.deployForeign(SOURCE);
    await bench.world().connections.get('shop/production')?.poller.refresh();
    await bench.pass();
    const { createdAt = 0 } = clusterNamed(bench.simulator, 'source') ?? {};
    const status = { clusterID: 'source', createdAt: new Date(createdAt).toISOString() };
    const { metadata, spec } = aCluster().with({ spaceRef: { name: 'production', namespace: 'shop' } }).subject;
    const theirs = { ...metadata, namespace: 'bank', name: 'vault', uid: 'other' };
    const keeper = { apiVersion: '', kind: 'DatabaseCluster', metadata: theirs, spec, status };
    const world = { ...bench.world(), cluster: () => keeper, claimants: () => ['bank/vault'] };
    const { subject } = aCluster().with({ cloneFrom: { clusterID: 'source' } });
    const step = { do: 'Clone', id: 'orders', source: 'source', createdAt: status.createdAt } as const;
    const late = actOnCluster(
      world as unknown as ClusterWorld,
      { ...subject, status: bench.status() },
      step,
      signal,
      () => {},
    );
    await expect(late).rejects.toEqual(expect.objectContaining({ reason: 'WaitingForSource' }));
  });

  it.each([400, 403])(
    'does not treat a cluster as its own after its deploy was refused with %i and a restart',
    async (status) => {
      const bench = await kindBench();
      bench.simulator.faults.add({ match: { operation: 'deploy' }, effect: 'errorBefore', status });
      await bench.pass();
      await bench.pass();
      const once = count(bench, 'deploy');
      await staysRefused(bench);
      expect(count(bench, 'deploy')).toBe(3 * once);
      bench.simulator.faults.clear();
      bench.simulator.deployForeign({
        id: 'orders',
        storageSizeGB: 100,
        machineType: 'c2d-highcpu-4',
        version: '3.5.0',
      });
      await bench.restart();
      await bench.until('False ClusterIDInUse');
      expect(bench.status().createdAt).toBeUndefined();
    },
  );

  it('does not treat an older cluster as its own after a lost answer', async () => {
    const bench = await kindBench();
    await bench.pass();
    bench.simulator.faults.add({ match: { operation: 'deploy' }, effect: 'reset', times: 1 });
    await bench.pass();
    await bench.clock.advance(1000);
    bench.simulator.deployForeign({ id: 'orders', region: 'us-east1' });
    await bench.until('False ClusterIDInUse');
  });

  it('recognizes its cluster when the id is in use after a lost answer', async () => {
    const bench = await kindBench();
    await bench.pass();
    const { faults } = bench.simulator;
    faults.add({ match: { operation: 'deploy' }, effect: 'lostAnswer', times: 1 });
    faults.add({ match: { operation: 'get' }, effect: 'errorBefore', status: 404, times: 1 });
    await bench.until('True Running');
    expect(count(bench, 'deploy')).toBe(2);
    expectOneWorkingLogin(bench);
  });

  it('is looked for when a clone whose answer was lost is refused the second time', async () => {
    const bench = await kindBench({ spec: { cloneFrom: { clusterID: 'source' } } });
    bench.simulator.deployForeign(SOURCE);
    const { faults } = bench.simulator;
    const told: string[] = [];
    const go = async (isDone: () => boolean) => {
      for (let step = 0; step < 100 && !isDone(); step++) {
        await bench.pass();
        told.push(bench.ready());
        await bench.clock.advance(1_000);
      }
    };
    faults.add({ match: { operation: 'clone' }, effect: 'lostAnswer', times: 1 });
    await go(() => count(bench, 'clone') === 1);
    const hidden = faults.add({ match: { operation: 'get', clusterID: 'orders' }, effect: 'errorBefore', status: 404 });
    faults.add({ match: { operation: 'list' }, effect: 'errorBefore', status: 503, times: 2 });
    faults.add({ match: { operation: 'clone' }, effect: 'errorBefore', status: 400, times: 1 });
    await go(() => count(bench, 'clone') === 2);
    faults.remove(hidden);
    await go(() => bench.ready() === 'True Running');
    expect([count(bench, 'clone'), bench.ready()]).toEqual([2, 'True Running']);
    expect(told).not.toContain('False RefusedByCloud');
  });

  it('goes to the new id when the cloud refused the old one', async () => {
    const bench = await kindBench();
    bench.simulator.faults.add({ match: { operation: 'deploy' }, effect: 'errorBefore', status: 400, times: 1 });
    await bench.pass();
    await bench.pass();
    expect(bench.ready()).toBe('False RefusedByCloud');
    await bench.edit({ clusterID: 'orders-eu' });
    await bench.until('True Running');
    expect(bench.simulator.count('deploy', 'orders'), 'the refused one').toBe(1);
    expect(bench.status().clusterID).toBe('orders-eu');
  });

  it('is cloned, and gets the backup settings that cannot be part of the request for a clone', async () => {
    const bench = await kindBench({ spec: { cloneFrom: { clusterID: 'source' }, backup: { frequency: 'hourly' } } });
    bench.simulator.deployForeign(SOURCE);
    await bench.until('True Running');
    expect([count(bench, 'clone'), count(bench, 'deploy'), count(bench, 'update')]).toEqual([1, 0, 1]);
    expect(bench.status().backup).toEqual({ frequency: 'hourly', retentionDays: 7 });
  });
});
