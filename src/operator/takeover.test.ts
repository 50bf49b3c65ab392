import { expect, test, vi } from 'vitest';
import { aWorldOfOperators } from '../../test/support/operators.ts';
import { HttpError } from '../base/transport.ts';
import { DATABASE_CLUSTERS } from '../kinds/databasecluster/resource.ts';

/* Work that one process has begun and another one goes on with. */

// The time of several operators, in hours.
vi.setConfig({ testTimeout: 60_000 });

const lost = () => new HttpError('lost', 'No answer', { isUnanswered: true });
const isDeploy = ({ method, url }: { readonly method: string; readonly url: string }) =>
  method === 'POST' && url.includes('deploy');

test('A replica that gets back a space recognizes the clusters whose deploys were never answered as its own', async () => {
  const count = 8;
  const world = await aWorldOfOperators({ count, initially: 0 });
  for (let index = 0; index < count; index++) await world.addSpace(index);
  world.replica();
  await world.clock.advance(120_000);
  let deployed = 0;
  world.network.fault = async (request, go) => {
    // From the first deploy on nothing is answered, and after the last one nothing takes effect.
    if (isDeploy(request) && deployed < count) {
      deployed++;
      await go();
      throw lost();
    }
    return deployed > 0 ? Promise.reject(lost()) : go();
  };
  for (let index = 0; index < count; index++) await world.addCluster(index);
  await world.clock.advance(60_000);
  const other = world.replica();
  await world.clock.advance(60_000);
  other.stop.abort();
  await world.clock.advance(60_000);
  expect([deployed, other.state.ended, other.logged.some((line) => line.includes('"gained":'))]).toEqual([
    count,
    'well',
    true,
  ]);
  world.network.fault = undefined;
  await world.clock.advance(900_000);
  expect([new Set(world.readiness()), world.simulator.count('deploy')]).toEqual([new Set(['True Running']), count]);
});

test.each([
  { who: 'a leader that stood by', shardBySpace: false, isWarm: true },
  { who: 'a leader that has just begun', shardBySpace: false, isWarm: false },
  { who: 'a replica that takes over its space', shardBySpace: true, isWarm: true },
])('$who does not leave behind a cluster that lands after its process died', async ({ shardBySpace, isWarm }) => {
  const world = await aWorldOfOperators({ count: 1, shardBySpace });
  const all = [world.replica()];
  await world.clock.advance(60_000);
  if (isWarm) all.push(world.replica());
  await world.clock.advance(60_000);
  let land: (() => Promise<unknown>) | undefined;
  let isLast = false;
  world.network.fault = async (request, go) => {
    if (!isDeploy(request)) return go();
    if (isLast) {
      land = go;
      all[world.calls.at(-1)?.replica ?? 0]?.clock.freeze();
    }
    throw lost();
  };
  await world.addCluster(0, 'late', { deletionPolicy: 'Delete' });
  await world.clock.advance(600_000);
  isLast = true;
  await world.clock.runUntil(() => land !== undefined, 'one more try', 3_600_000);
  world.network.fault = undefined;
  world.kube.remove(DATABASE_CLUSTERS, { namespace: 'shop', name: 'late' });
  if (!isWarm) world.replica();
  await world.clock.advance(60_000);
  await land?.();
  await world.clock.advance(900_000);
  const left = world.kube.all(DATABASE_CLUSTERS).map(({ metadata }) => metadata.name);
  expect([left, world.simulator.count('destroy')]).toEqual([['orders-0'], 1]);
});

test.each([
  { who: 'A leader that stood by', shardBySpace: false },
  { who: 'A replica that takes over', shardBySpace: true },
])('$who tries each login at its own moment', async ({ shardBySpace }) => {
  const world = await aWorldOfOperators({ count: 1, initially: 0, shardBySpace });
  await world.addSpace(0, { verifyInterval: '10m' });
  for (let index = 0; index < 40; index++) await world.addCluster(0, `orders-${index}`);
  const all = [world.replica(), world.replica()];
  await world.clock.advance(600_000);
  expect(world.isReady()).toBe(true);
  await world.clock.advance(7_200_000);
  const servers = new Set<string>();
  const former = world.calls.at(-1)?.replica ?? 0;
  all[former]?.stop.abort();
  await world.clock.settle();
  world.network.fault = (request, go) => {
    if (!request.url.startsWith(world.simulator.baseURL)) servers.add(new URL(request.url).host);
    return go();
  };
  await world.clock.advance(30_000);
  expect([world.calls.at(-1)?.replica, servers.size < 10]).toEqual([1 - former, true]);
  await world.clock.advance(600_000);
  expect(servers.size).toBe(40);
});

test('A standby has nothing in its queues, however much changes meanwhile', async () => {
  const world = await aWorldOfOperators({ count: 4, shardBySpace: false });
  world.replica();
  await world.clock.advance(60_000);
  const standby = world.replica();
  await world.clock.advance(60_000);
  for (let index = 0; index < 4; index++) {
    const ref = { namespace: 'shop', name: `orders-${index}` };
    await world.kube.patch(DATABASE_CLUSTERS, ref, { metadata: { labels: { changed: 'yes' } } });
  }
  await world.clock.advance(600_000);
  const text = await standby.metrics.text();
  const depths = [...text.matchAll(/^workqueue_depth\{.*\} (\d+)$/gm)].map(([, depth]) => Number(depth));
  expect([depths.length > 0, Math.max(...depths)]).toEqual([true, 0]);
});

test.each([
  { who: 'leads', shardBySpace: false },
  { who: 'shares the spaces', shardBySpace: true },
])(
  'A process that $who, and froze in the middle of a pass, changes nothing when it wakes up',
  async ({ shardBySpace }) => {
    const world = await aWorldOfOperators({ count: 1, shardBySpace });
    const { clock, kube, simulator, calls, writes } = world;
    const all = [world.replica(), world.replica()];
    await clock.advance(120_000);
    const acting = calls.at(-1)?.replica ?? 0;
    const its = all[acting]?.clock ?? expect.unreachable();
    // Right before the deploy it is asked whether the object is still as it was.
    const get = kube.get.bind(kube);
    const asked = vi.spyOn(kube, 'get').mockImplementation(async (resource, ref, ...more) => {
      if (resource === DATABASE_CLUSTERS && ref.name === 'late') {
        its.freeze();
        asked.mockRestore();
      }
      return get(resource, ref, ...more);
    });
    await world.addCluster(0, 'late');
    await clock.advance(180_000);
    expect([calls.at(-1)?.replica, simulator.count('deploy')]).toEqual([1 - acting, 2]);
    const [callsBefore, writesBefore] = [calls.length, writes.length];
    its.thaw();
    await clock.advance(60_000);
    const isIts = ({ replica }: { readonly replica: number }) => replica === acting;
    expect(calls.slice(callsBefore).filter((call) => isIts(call) && call.method !== 'GET')).toEqual([]);
    expect(writes.slice(writesBefore).filter(isIts)).toEqual([]);
  },
);
