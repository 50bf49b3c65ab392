import { describe, expect, it } from 'vitest';
import { aCluster, type ClusterBuilder } from '../../../test/support/builders.ts';
import { kindBench, runningBench } from '../../../test/support/kind-bench.ts';
import { FOREIGN, listAgain, observe } from '../../../test/support/observed-cluster.ts';
import { TransientError } from '../../base/errors.ts';
import { KubeError } from '../../kube/api.ts';
import type { KubeObject } from '../../kube/object.ts';
import { orProtected } from './observe.ts';
import { ClusterMemory } from './world.ts';

describe('observeCluster() looks for the cluster and', () => {
  it('believes the List if nothing was asked for', async () => {
    const bench = await kindBench();
    bench.simulator.deployForeign({ id: 'orders', ...FOREIGN });
    bench.forgetCalls();
    expect(await observe(bench, aCluster())).toMatchObject({ cluster: undefined, mayLandUntilMs: undefined });
    expect(bench.calls).toEqual([]);
  });

  it('asks if a call may have been made', async () => {
    const bench = await kindBench();
    bench.simulator.deployForeign({ id: 'orders', ...FOREIGN });
    bench.forgetCalls();
    const seen = await observe(bench, aCluster().announced());
    expect(seen).toMatchObject({ cluster: { id: 'orders' }, mayLandUntilMs: expect.any(Number) });
    expect(bench.calls).toEqual(['get']);
  });

  it('asks before it reports that a cluster has vanished', async () => {
    const bench = await kindBench();
    bench.forgetCalls();
    expect(await observe(bench, aCluster().owned())).toMatchObject({ cluster: undefined });
    expect(bench.calls).toEqual(['get']);
  });

  it('finds it under the id that it was renamed to, if it is the very same', async () => {
    const bench = await kindBench();
    bench.simulator.deployForeign({ id: 'orders-eu', ...FOREIGN });
    await listAgain(bench);
    const createdAt = new Date(bench.clock.now()).toISOString();
    const renamed = aCluster().owned().with({ clusterID: 'orders-eu' });
    expect(await observe(bench, renamed.withStatus({ createdAt }))).toMatchObject({ id: 'orders-eu' });
    expect(await observe(bench, renamed)).toMatchObject({ id: 'orders', cluster: undefined });
  });

  it('says what can be done with it', async () => {
    const bench = await kindBench();
    expect(await observe(bench, aCluster())).toMatchObject({ canDestroy: true, cloneSource: undefined });
  });
});

it.each([
  ['that very cluster, in a List that shows it under both', 0, false],
  ['another cluster', 1, true],
  ['a cluster of unknown age', undefined, true],
])(
  'observeCluster() tells whether the id that a cluster should get is taken: by %s',
  async (_, laterMs, renameTaken) => {
    const bench = await runningBench();
    const { poller } = bench.world().connections.get('shop/production') ?? expect.unreachable();
    const cluster = poller.get('orders') ?? expect.unreachable();
    const createdAt = laterMs === undefined ? undefined : (cluster.createdAt ?? 0) + laterMs;
    poller.learn('orders-eu', { ...cluster, id: 'orders-eu', createdAt }, bench.clock.monotonic());
    const { subject } = aCluster().with({ clusterID: 'orders-eu' });
    const seen = await observe(bench, { subject: { ...subject, status: bench.status() } });
    expect(seen).toMatchObject({ id: 'orders', renameTaken });
  },
);

it.each([
  ['anything fails', new TransientError('CloudUnreachable', 'No answer'), true],
  ['it has changed, as another look tells more', new KubeError('Changed', { status: 409, reason: 'Conflict' }), false],
])(
  'orProtected() tells, or not, that a cluster is protected whose object is being deleted: %s',
  async (_, error, tells) => {
    const protectedOne = aCluster().with({ deletionProtection: true });
    const look = ({ subject }: ClusterBuilder) => orProtected(subject, Promise.reject(error));
    const looked = look(protectedOne.deleting());
    if (tells) expect(await looked).toMatchObject({ space: 'protected', lasting: 'transient' });
    else await expect(looked).rejects.toBe(error);
    await expect(look(protectedOne)).rejects.toBe(error);
    await expect(look(aCluster().deleting())).rejects.toBe(error);
  },
);

it('observeCluster() sends no login to a cluster that another object has, and comes first with', async () => {
  const bench = await runningBench();
  const subject = { ...aCluster().subject, status: bench.status(), lookNow: true };
  const { metadata, ...first } = aCluster().subject;
  const older = { uid: 'first', name: 'first', creationTimestamp: '2020-01-01T00:00:00Z' };
  const object = { apiVersion: '', kind: '', ...first, metadata: { ...metadata, ...older }, status: bench.status() };
  const seen = await observe(
    bench,
    { subject },
    { claimants: () => ['shop/first'], cluster: () => object as unknown as KubeObject },
  );
  expect(seen).toMatchObject({ claimedBy: 'shop/first', login: { login: 'notTried' } });
  expect(bench.calls.filter((call) => call.startsWith('server '))).toEqual([]);
});

describe('observeCluster() of an object that is being deleted', () => {
  it('reads nothing if nothing should be done to the cluster', async () => {
    const bench = await kindBench();
    bench.forgetCalls();
    const given = aCluster().with({ deletionPolicy: 'Retain' }).owned().deleting();
    const broken = { space: () => expect.unreachable('The space does not matter') };
    expect(await observe(bench, given, broken)).toEqual({ space: 'notNeeded' });
    expect(bench.calls).toEqual([]);
  });

  describe('while users and databases on it are going too', () => {
    const leaving = ['DatabaseUser shop/app', 'DatabaseUser shop/b', 'Database shop/c', 'Database shop/d'];
    const dependents = () => ({ leaving, mayFollow: false });
    /** The time since it was first seen that it goes. */
    const afterwards = (ms: number) => {
      const clock = { now: () => Number.NaN, monotonic: () => 5_000_000 + ms, after: () => () => {} };
      return { dependents, clock };
    };
    const kept = aCluster().with({ deletionPolicy: 'Retain' }).healthy().deleting();

    it('is needed for two minutes at most, whatever the clocks say, and says by whom', async () => {
      const bench = await kindBench();
      expect(await observe(bench, kept, afterwards(0))).toMatchObject({ space: 'needed', forMs: 120_000 });
      const needed = { space: 'needed', forMs: 60_000, message: expect.stringContaining('Database shop/c and 1 more') };
      expect(await observe(bench, kept, afterwards(60_000))).toMatchObject(needed);
      expect(await observe(bench, kept, afterwards(120_000))).toEqual({ space: 'notNeeded' });
    });

    it('is needed again when another object has replaced it and goes too', async () => {
      const bench = await kindBench();
      await observe(bench, kept, afterwards(0));
      expect(await observe(bench, kept.another(), afterwards(120_000))).toMatchObject({
        space: 'needed',
        forMs: 120_000,
      });
    });

    it('is needed for some seconds while others on it may follow', async () => {
      const bench = await kindBench();
      const alone = (ms: number) => ({ ...afterwards(ms), dependents: () => ({ leaving: [], mayFollow: true }) });
      expect(await observe(bench, kept, alone(0))).toMatchObject({ space: 'needed', forMs: 5_000 });
      expect(await observe(bench, kept, alone(1_000))).toMatchObject({ space: 'needed', forMs: 4_000 });
      expect(await observe(bench, kept, alone(5_000))).toEqual({ space: 'notNeeded' });
      expect(
        await observe(bench, kept, { ...alone(1_000), dependents: () => ({ leaving: [], mayFollow: false }) }),
      ).toEqual({ space: 'notNeeded' });
    });

    it('is not needed if it is destroyed with them, or no server answers', async () => {
      const bench = await kindBench();
      const destroyed = kept.with({ deletionPolicy: 'Delete' });
      expect(await observe(bench, destroyed, { dependents })).toMatchObject({ space: 'seen' });
      const asleep = aCluster().with({ deletionPolicy: 'Retain' }).owned().deleting();
      expect(await observe(bench, asleep, afterwards(1_000))).not.toMatchObject({ space: 'needed' });
    });
  });

  it('does not mind a server URL that is not allowed', async () => {
    const bench = await kindBench({ space: { serverURL: 'http://{host}:{port}' } });
    bench.simulator.deployForeign({ id: 'orders', ...FOREIGN });
    await listAgain(bench);
    await expect(observe(bench, aCluster())).rejects.toThrow('serverURL');
    const given = aCluster().with({ deletionPolicy: 'Delete' }).deleting();
    expect(await observe(bench, given)).toMatchObject({ cluster: { id: 'orders' } });
  });
});

describe('observeCluster() of a call without an answer', () => {
  it.each([
    ['counts from when it was made', '2026-11-20T12:00:00.000Z', [120_000, 60_000, 0]],
    ['counts from now if the clock was ahead then', '2038-01-01T00:00:00.000Z', [120_000, 60_000, 0]],
    ['counts from now again, once', '2026-11-20T12:00:01.000Z', [120_000, 61_000, 1_000]],
  ])('%s', async (_what, startedAt, expected) => {
    const bench = await kindBench();
    const memory = new ClusterMemory('another', () => 0);
    const given = aCluster().withStatus({ operation: { type: 'Deploy', target: 'orders', startedAt } });
    const beganMs = Date.parse('2026-11-20T12:00:00.000Z');
    const left: number[] = [];
    for (const ms of [0, 60_000, 120_000]) {
      const clock = { now: () => beganMs + ms, monotonic: () => ms, after: () => () => {} };
      const seen = await observe(bench, given, { clock, memory });
      left.push(seen.space === 'seen' ? (seen.mayLandUntilMs ?? 0) - clock.now() : Number.NaN);
    }
    expect(left).toEqual(expected);
  });
});

describe('observeCluster() leaves the login alone', () => {
  async function loginOf(change: (given: ClusterBuilder) => ClusterBuilder) {
    const bench = await kindBench();
    bench.simulator.deployForeign({ id: 'orders', ...FOREIGN });
    await listAgain(bench);
    const given = aCluster()
      .owned()
      .withStatus({ createdAt: new Date(bench.clock.now()).toISOString() });
    const seen = await observe(bench, change(given));
    return seen.space === 'seen' ? seen.login.login : undefined;
  }

  it.each<[string, (given: ClusterBuilder) => ClusterBuilder, string]>([
    ['not of a cluster of ours that runs', (given) => given, 'tried'],
    ['with managementPolicy Observe', (given) => given.with({ managementPolicy: 'Observe' }), 'notTried'],
    ['while the object is being deleted', (given) => given.with({ deletionPolicy: 'Delete' }).deleting(), 'notTried'],
    ['of a cluster that is not ours yet', (given) => given.withStatus({ createdAt: undefined }), 'notTried'],
    ['of one that was only observed', (given) => given.observedBefore(), 'notTried'],
    ['of another cluster', (given) => given.withStatus({ createdAt: '2020-01-01T00:00:00.000Z' }), 'notTried'],
    ['not before the first suspension', (given) => given.with({ state: 'Suspended' }), 'tried'],
    ['of one that should be suspended again', (given) => given.healthy().with({ state: 'Suspended' }), 'notTried'],
  ])('%s', async (_when, change, login) => {
    expect(await loginOf(change)).toBe(login);
  });
});
