import { describe, expect, it, vi } from 'vitest';
import { aCloudCluster, aCluster } from '../../../test/support/builders.ts';
import { type KindBench, kindBench, runningBench } from '../../../test/support/kind-bench.ts';
import { clusterNamed } from '../../../test/support/simulator.ts';
import type { Cluster } from '../../cloud/schema.ts';
import { SECRETS } from '../../kube/api.ts';
import { lookAgain } from './act-guard.ts';
import { DATABASE_CLUSTERS } from './resource.ts';
import type { Work } from './work.ts';

const count = (bench: KindBench, call: string) => bench.calls.filter((other) => other === call).length;

describe('Right before a cluster is changed, the cloud', () => {
  it.each([
    ['updated', { storageSizeGB: 200 }],
    ['renamed', { clusterID: 'orders-eu' }],
    ['suspended', { state: 'Suspended' }],
  ])('is asked whose it is: a cluster that took its place is not %s', async (_what, spec) => {
    const bench = await runningBench();
    bench.simulator.replaceCluster('orders');
    await bench.edit(spec);
    await bench.until('False IdentityChanged');
    expect([count(bench, 'update'), count(bench, 'suspend')]).toEqual([0, 0]);
  });

  it('is asked whose it is: a cluster that took its place is not resumed', async () => {
    const bench = await runningBench({ spec: { deletionPolicy: 'Delete' } });
    await bench.edit({ state: 'Suspended' });
    await bench.until('True Suspended');
    bench.simulator.replaceCluster('orders');
    await bench.edit({ state: 'Running' });
    await bench.until('False IdentityChanged');
    expect(count(bench, 'resume')).toBe(0);
  });

  it('is asked what it is like: storage that was enlarged meanwhile is not shrunk', async () => {
    const bench = await runningBench();
    bench.simulator.changeCluster('orders', { storageSizeGB: 300 });
    await bench.edit({ storageSizeGB: 200 });
    await bench.until('False StorageCannotShrink');
    expect(count(bench, 'update')).toBe(0);
  });

  it('is asked whether the new id is free', async () => {
    const bench = await runningBench();
    bench.simulator.deployForeign({ id: 'orders-eu' });
    await bench.edit({ clusterID: 'orders-eu' });
    await bench.until('False ClusterIDInUse');
    expect(count(bench, 'update')).toBe(0);
    expect(clusterNamed(bench.simulator, 'orders')).toBeDefined();
  });

  it('is asked once for each change', async () => {
    const bench = await runningBench();
    await bench.edit({ storageSizeGB: 200 });
    await bench.until('True Running');
    expect([count(bench, 'get'), count(bench, 'update')]).toEqual([1, 1]);
  });
});

describe('While the object is read once more, a List may show that another cluster has the id, which', () => {
  /** From now on, whoever reads the object hears only after a List that the cluster of this id is another one. */
  function replacedWhileRead(bench: KindBench, id: string): void {
    const get = bench.kube.get.bind(bench.kube);
    vi.spyOn(bench.kube, 'get').mockImplementation(async (resource, ...args) => {
      const answer = await get(resource, ...args);
      if (resource !== DATABASE_CLUSTERS) return answer;
      bench.simulator.replaceCluster(id);
      await bench.world().connections.get('shop/production')?.poller.refresh();
      return answer;
    });
  }

  it.each(['destroy', 'suspend', 'update'])('does not get the call: %s', async (call) => {
    const bench = await runningBench({ spec: { deletionPolicy: 'Delete' } });
    if (call === 'destroy') bench.kube.remove(DATABASE_CLUSTERS, { namespace: 'shop', name: 'orders' });
    else await bench.edit(call === 'suspend' ? { state: 'Suspended' } : { storageSizeGB: 200 });
    replacedWhileRead(bench, 'orders');
    await bench.pass();
    expect([count(bench, call), clusterNamed(bench.simulator, 'orders')?.status]).toEqual([0, 'running']);
  });

  it('gets no password', async () => {
    const bench = await runningBench();
    await bench.annotate('mooring.dev/rotate-at', '1');
    while (bench.secret()?.['nextPassword'] === undefined) await bench.pass();
    replacedWhileRead(bench, 'orders');
    await bench.pass();
    expect([bench.calls.includes('server updateUser'), bench.ready()]).toEqual([false, 'Unknown ClusterChanged']);
  });

  it('is not cloned', async () => {
    const bench = await kindBench({ spec: { cloneFrom: { clusterID: 'source' } } });
    bench.simulator.deployForeign({ id: 'source' });
    await bench.world().connections.get('shop/production')?.poller.refresh();
    await bench.pass();
    replacedWhileRead(bench, 'source');
    await bench.pass();
    expect([bench.ready(), count(bench, 'clone')]).toEqual(['Unknown WaitingForSource', 0]);
  });
});

describe('Right before a cluster is changed, the object', () => {
  const REF = { namespace: 'shop', name: 'orders' };
  const changes = (bench: KindBench) =>
    bench.calls.filter((call) => ['update', 'suspend', 'resume', 'destroy'].includes(call));

  it.each(['Delete', 'Suspend'])(
    'is asked whether it was paused meanwhile: nothing is ended then (deletionPolicy %s)',
    async (policy) => {
      const bench = await runningBench({ spec: { deletionPolicy: policy } });
      bench.kube.remove(DATABASE_CLUSTERS, REF);
      bench.showAsNow();
      await bench.annotate('mooring.dev/paused', 'true');
      expect((await bench.pass()).next).toBe('conflict');
      expect(changes(bench)).toEqual([]);
    },
  );

  it.each([
    ['update', { storageSizeGB: 200 }, { storageSizeGB: 300 }],
    ['rename', { clusterID: 'orders-eu' }, { clusterID: 'orders-us' }],
    ['suspend', { state: 'Suspended' }, { state: 'Running' }],
  ])('is asked for: a cache that shows an older spec leads to no %s', async (_what, before, now) => {
    const bench = await runningBench();
    await bench.edit(before);
    bench.showAsNow();
    await bench.edit(now);
    expect((await bench.pass()).next).toBe('conflict');
    expect(changes(bench)).toEqual([]);
    bench.showAsIs();
    await bench.until('True Running');
    expect(changes(bench).length).toBe('state' in now ? 0 : 1);
  });

  it.each([
    ['is paused', (bench: KindBench) => bench.annotate('mooring.dev/paused', 'true')],
    ['wants another id', (bench: KindBench) => bench.edit({ clusterID: 'orders-eu' })],
    ['is to go', async ({ kube }: KindBench) => kube.remove(DATABASE_CLUSTERS, REF)],
  ])('is asked for before a cluster is created, which costs money: not if it %s by now', async (_, change) => {
    const bench = await kindBench();
    await bench.pass();
    expect(bench.status().operation).toBeDefined();
    bench.showAsNow();
    await change(bench);
    expect((await bench.pass()).next).toBe('conflict');
    expect(bench.calls).not.toContain('deploy');
  });

  it('is asked whether its finalizer is there: otherwise it may be gone the next moment, and everything made for it left behind', async () => {
    const bench = await runningBench();
    await bench.edit({ storageSizeGB: 200 });
    bench.showAsNow();
    await bench.kube.patch(DATABASE_CLUSTERS, REF, { metadata: { finalizers: null } });
    await bench.pass();
    expect(changes(bench)).toEqual([]);
    bench.showAsIs();
    await bench.until('True Running');
    expect(changes(bench)).toEqual(['update']);
  });

  it('is asked whether it exists before a lost Secret is written again, which nobody would delete', async () => {
    const bench = await runningBench();
    bench.showAsNow();
    bench.kube.remove(SECRETS, { namespace: 'shop', name: 'orders-admin' });
    await bench.kube.patch(DATABASE_CLUSTERS, REF, { metadata: { finalizers: null } });
    bench.kube.remove(DATABASE_CLUSTERS, REF);
    for (let passes = 0; passes < 5; passes++) await bench.pass();
    expect(bench.kube.all(SECRETS).map(({ metadata: { name } }) => name)).not.toContain('orders-admin');
  });

  it("is asked for a person's word on whose the cluster is, too: nothing is ended once that was taken back", async () => {
    const bench = await runningBench({ spec: { deletionPolicy: 'Delete' } });
    await bench.annotate('mooring.dev/accept-identity', bench.status().createdAt ?? '');
    bench.kube.remove(DATABASE_CLUSTERS, REF);
    bench.showAsNow();
    await bench.annotate('mooring.dev/accept-identity', 'none');
    expect((await bench.pass()).next).toBe('conflict');
    expect(changes(bench)).toEqual([]);
  });

  it('is asked for: a cache that shows an older spec leads to no resume', async () => {
    const bench = await runningBench();
    await bench.edit({ state: 'Suspended' });
    await bench.until('True Suspended');
    await bench.edit({ state: 'Running' });
    bench.showAsNow();
    await bench.edit({ state: 'Suspended' });
    bench.forgetCalls();
    expect((await bench.pass()).next).toBe('conflict');
    expect(changes(bench)).toEqual([]);
  });
});

describe('What the cloud answers when asked for a cluster alone', () => {
  const [RUNNING, SUSPENDED] = [aCloudCluster(), aCloudCluster({ status: 'suspended' })];
  const FAILS = new Error('The last List failed');
  const CHANGED = { reason: 'ClusterChanged' };
  const GONE = { reason: 'NotFound' };
  type Seen = Cluster | undefined;

  /** `known`: what was known before. `listed`: what the next List shows, or why it fails. `said`: the reason of Ready. */
  async function look(known: Seen, answer: Seen, listed: Seen | Error, before?: Error, said = 'Running') {
    const poller = {
      error: before,
      shown: known,
      lists: 0,
      learned: [] as Seen[],
      get: () => poller.shown,
      learn: (_id: string, cluster: Seen) => poller.learned.push(cluster),
      refresh: async () => {
        poller.lists++;
        if (listed instanceof Error) poller.error = listed;
        else poller.shown = listed;
      },
    };
    const ready = { type: 'Ready', status: 'Unknown', reason: said, message: '', lastTransitionTime: '' } as const;
    const work = {
      world: { clock: { monotonic: () => 0 } },
      subject: aCluster().withStatus({ conditions: [ready] }).subject,
      connection: { poller, client: { get: async () => answer } },
    } as unknown as Work;
    const agree = (one: Cluster, other: Cluster) => one.status === other.status;
    const found = await lookAgain(work, 'orders', agree).catch((error: unknown) => error);
    return { found, learned: poller.learned, lists: poller.lists };
  }

  it.each<[string, Parameters<typeof look>, object]>([
    ['is taken in if nothing was known', [undefined, RUNNING, FAILS], { found: RUNNING, learned: [RUNNING], lists: 0 }],
    [
      'is taken in if none was known',
      [undefined, undefined, FAILS],
      { found: undefined, learned: [undefined], lists: 0 },
    ],
    ['is taken in if it agrees', [RUNNING, RUNNING, FAILS], { found: RUNNING, learned: [RUNNING], lists: 0 }],
    ['counts if a List agrees by now', [RUNNING, SUSPENDED, SUSPENDED], { found: SUSPENDED, learned: [], lists: 1 }],
    [
      'counts if a List has none by now, either',
      [RUNNING, undefined, undefined],
      { found: undefined, learned: [], lists: 1 },
    ],
    ['counts if a List has none by now', [RUNNING, SUSPENDED, undefined], { found: SUSPENDED, learned: [], lists: 1 }],
    [
      'is not believed if a List contradicts it',
      [RUNNING, SUSPENDED, RUNNING],
      { found: CHANGED, learned: [], lists: 1 },
    ],
    ['is not believed if a List still has it', [RUNNING, undefined, RUNNING], { found: GONE, learned: [], lists: 1 }],
    ['is not believed, however a List has it', [RUNNING, undefined, SUSPENDED], { found: GONE, learned: [], lists: 1 }],
    [
      'is the newest that is known while no List succeeds',
      [RUNNING, SUSPENDED, FAILS, FAILS],
      { found: SUSPENDED, learned: [SUSPENDED], lists: 0 },
    ],
    [
      'is not believed while no List succeeds if there is none',
      [RUNNING, undefined, FAILS, FAILS],
      { found: FAILS, learned: [], lists: 1 },
    ],
    ['is not believed if the List for it fails', [RUNNING, SUSPENDED, FAILS], { found: FAILS, learned: [], lists: 1 }],
    [
      'asks for no more Lists once Ready reports that it contradicts them',
      [RUNNING, SUSPENDED, RUNNING, undefined, 'ClusterChanged'],
      { found: CHANGED, learned: [], lists: 0 },
    ],
    [
      'asks for no more Lists once Ready reports that there is none',
      [RUNNING, undefined, RUNNING, undefined, 'NotFound'],
      { found: GONE, learned: [], lists: 0 },
    ],
  ])('%s', async (_what, seen, expected) => {
    expect(await look(...seen)).toMatchObject(expected);
  });
});
