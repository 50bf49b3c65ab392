import { expect, test } from 'vitest';
import { aPoller, cluster, INTERVAL_MS, senseless, steps } from '../../test/support/space-poller.ts';
import { ApiError } from '../http/api-error.ts';
import { virtualClock } from '../sandbox/virtual-clock.ts';
import { createSeededRandom } from '../simulator/seeded-random.ts';
import type { Cluster } from './schema.ts';
import { isSettled, SpacePoller } from './space-poller.ts';

test('SpacePoller reports which clusters have changed, and nothing about others', async () => {
  const { poller, space, changed, clock } = aPoller();
  space.clusters = [cluster('a', 'running'), cluster('b', 'running')];
  await poller.refresh();
  expect([changed.splice(0), poller.get('a')?.status, poller.listedAtMs]).toEqual([['a', 'b'], 'running', clock.now()]);
  space.clusters = [cluster('a', 'running'), cluster('b', 'suspending')];
  await poller.refresh();
  expect(changed.splice(0)).toEqual(['b']);
  await poller.refresh();
  expect(changed).toEqual([]);
  expect([...poller.clusters()].map(({ id }) => id)).toEqual(['a', 'b']);
  expect([...poller.ids()]).toEqual(['a', 'b']);
});

test('SpacePoller lets others have their turn while it takes in a long List, and keeps what is learned meanwhile', async () => {
  let now = 0;
  let turns = 0;
  const changed: string[] = [];
  const poller: SpacePoller = new SpacePoller(
    {
      clock: {
        ...virtualClock(),
        monotonic: () => ++now,
        yieldNow: async () => {
          if (++turns === 1) poller.learn('c-99', cluster('c-99', 'suspending'), ++now);
        },
      },
      random: createSeededRandom(1),
      onClusters: (ids) => changed.push(...ids),
      onListed: () => {},
      client: {
        listAs: async (_memo, keep) => ({
          clusters: Array.from({ length: 100 }, (_, index) => keep(cluster(`c-${index}`, 'running'))),
          problem: undefined,
        }),
      },
    },
    INTERVAL_MS,
  );
  await poller.refresh();
  poller.stop();
  expect(turns).toBeGreaterThan(10);
  expect(poller.get('c-99')?.status).toBe('suspending');
  expect(new Set(changed).size).toBe(100);
});

test('SpacePoller lists the whole space at its interval, a little earlier each time, while no cluster is in transition', async () => {
  const { poller, space, lists, clock } = aPoller();
  space.clusters = [cluster('a', 'running')];
  poller.follow('a');
  await poller.refresh();
  await clock.advance(600_000);
  for (const step of steps(lists)) {
    expect(step).toBeGreaterThanOrEqual(0.9 * INTERVAL_MS);
    expect(step).toBeLessThanOrEqual(INTERVAL_MS);
  }
  expect(new Set(steps(lists)).size).toBeGreaterThan(5);
});

test('SpacePoller hurries while a followed cluster is in transition, in growing steps, until it is settled', async () => {
  const { poller, space, lists, clock } = aPoller();
  space.clusters = [cluster('a', 'starting')];
  poller.follow('a');
  await poller.refresh();
  await clock.advance(300_000);
  const hurried = steps(lists);
  expect(hurried[0]).toBe(750);
  expect(Math.max(...hurried)).toBe(15_000);
  expect(hurried.every((step, index) => step > (hurried[index - 1] ?? 0) - 0.001)).toBe(true);
  expect([lists.length > 30, lists.length < 45], `${lists.length} Lists`).toEqual([true, true]);
  space.clusters = [cluster('a', 'running')];
  await clock.advance(15_000);
  lists.length = 0;
  await clock.advance(300_000);
  expect(lists.length).toBeLessThanOrEqual(6);
});

test.each([
  ['no more often for one that is deployed soon after another', 'starting', 4_000],
  ['sooner for one that does something else', 'updating', 750],
])('SpacePoller lists %s', async (_, status, stepMs) => {
  const { poller, space, lists, clock } = aPoller();
  for (const id of ['a', 'b']) poller.follow(id);
  space.clusters = [cluster('a', 'starting')];
  await poller.refresh();
  await clock.advance(20_000);
  space.clusters = [...space.clusters, cluster('b', status)];
  await poller.refresh();
  lists.length = 0;
  await clock.advance(20_000);
  expect(Math.round(Math.min(...steps(lists)) / 100) * 100).toBeGreaterThanOrEqual(stepMs);
  expect(lists.length > 8).toBe(status === 'updating');
});

test.each([
  ['has a server that never runs', cluster('a', 'running', { servers: [{ address: 'a:1', status: 'pending' }] })],
  ['has a status that nobody knows', cluster('a', 'a future word')],
  ['is being suspended for ever', cluster('a', 'suspending')],
])('SpacePoller does not hurry on for a cluster that %s, until it changes', async (_, stuck) => {
  const { poller, space, lists, clock } = aPoller();
  poller.follow('a');
  space.clusters = [stuck];
  await poller.refresh();
  await clock.advance(11 * 60_000);
  lists.length = 0;
  await clock.advance(30 * 60_000);
  expect(Math.min(...steps(lists))).toBeGreaterThanOrEqual(0.9 * INTERVAL_MS);
  space.clusters = [{ ...stuck, storageSizeGB: 2 }];
  await poller.refresh();
  lists.length = 0;
  await clock.advance(5 * 60_000);
  expect(Math.max(...steps(lists))).toBe(15_000);
  await clock.advance(20 * 60_000);
  lists.length = 0;
  poller.learn('a', { ...stuck, storageSizeGB: 3 }, clock.monotonic());
  await clock.advance(5 * 60_000);
  expect(Math.max(...steps(lists))).toBe(15_000);
});

test('SpacePoller hurries for ten minutes for a cluster that was stuck for longer before anybody followed it', async () => {
  const { poller, space, lists, clock } = aPoller();
  space.clusters = [cluster('a', 'suspending')];
  await poller.refresh();
  await clock.advance(30 * 60_000);
  poller.follow('a');
  lists.length = 0;
  await clock.advance(5 * 60_000);
  expect(Math.max(...steps(lists))).toBe(15_000);
  await clock.advance(6 * 60_000);
  lists.length = 0;
  poller.follow('a');
  await clock.advance(30 * 60_000);
  expect(Math.min(...steps(lists))).toBeGreaterThanOrEqual(0.9 * INTERVAL_MS);
});

test('SpacePoller does not hurry for clusters that nobody follows', async () => {
  const { poller, space, lists, clock } = aPoller();
  space.clusters = [cluster('a', 'starting')];
  await poller.refresh();
  await clock.advance(50_000);
  expect(lists).toHaveLength(1);
  poller.follow('a');
  await clock.advance(1_000);
  expect(lists.length).toBeGreaterThan(1);
  poller.unfollow('a');
  await clock.advance(16_000);
  lists.length = 0;
  await clock.advance(50_000);
  expect(lists.length).toBeLessThanOrEqual(1);
});

test.each<[string, (bench: ReturnType<typeof aPoller>) => Promise<void> | void]>([
  [
    'that a List no longer shows',
    ({ space, clock }) => {
      space.clusters = [];
      return clock.advance(1_000);
    },
  ],
  [
    'that a single call reported as gone',
    ({ space, poller, clock }) => {
      space.clusters = [];
      poller.learn('a', undefined, clock.monotonic());
    },
  ],
])('SpacePoller does not hurry for a cluster %s', async (_, goes) => {
  const bench = aPoller();
  const { poller, space, lists, clock } = bench;
  space.clusters = [cluster('a', 'destroying')];
  poller.follow('a');
  await poller.refresh();
  await clock.advance(100);
  await goes(bench);
  lists.length = 0;
  await clock.advance(50_000);
  expect(lists).toEqual([]);
});

test('SpacePoller makes one List for all who ask while one is running, and requests it after they asked', async () => {
  const { poller, lists, clock } = aPoller(1_000);
  const asks = [poller.refresh(), poller.refresh(), poller.refresh()];
  await clock.advance(2_000);
  await Promise.all(asks);
  expect(lists).toEqual([0, 1_000]);
});

test('SpacePoller takes in answers to single calls, and reports them once', async () => {
  const { poller, changed, clock } = aPoller();
  poller.learn('a', cluster('a', 'starting'), clock.monotonic());
  poller.learn('a', cluster('a', 'starting'), clock.monotonic());
  expect([changed, poller.get('a')?.status]).toEqual([['a'], 'starting']);
  poller.learn('a', undefined, clock.monotonic());
  expect([poller.knows('a'), poller.has('a'), [...poller.ids()], [...poller.clusters()]]).toEqual([
    true,
    false,
    [],
    [],
  ]);
});

test('SpacePoller does not let a List that was requested earlier undo what it learned since', async () => {
  const { poller, space, clock } = aPoller(5_000);
  space.clusters = [cluster('old', 'running')];
  const first = poller.refresh();
  await clock.advance(5_000);
  await first;
  const listing = poller.refresh();
  await clock.advance(1_000);
  poller.learn('new', cluster('new', 'starting'), clock.monotonic());
  poller.learn('old', cluster('old', 'destroying'), clock.monotonic());
  await clock.advance(4_000);
  await listing;
  expect([poller.get('new')?.status, poller.get('old')?.status]).toEqual(['starting', 'destroying']);
});

test('SpacePoller does not let a List that was requested earlier bring back a cluster that is gone', async () => {
  const { poller, space, changed, clock } = aPoller(5_000);
  space.clusters = [cluster('a', 'destroying')];
  const first = poller.refresh();
  await clock.advance(5_000);
  await first;
  const listing = poller.refresh();
  await clock.advance(1_000);
  poller.learn('a', undefined, clock.monotonic());
  changed.length = 0;
  await clock.advance(4_000);
  await listing;
  expect([poller.get('a'), changed]).toEqual([undefined, []]);
});

test('SpacePoller reports a cluster that vanished, and one that appeared again under its id', async () => {
  const { poller, space, changed } = aPoller();
  space.clusters = [cluster('a', 'running')];
  await poller.refresh();
  space.clusters = [];
  await poller.refresh();
  await poller.refresh();
  expect([changed.splice(0), poller.get('a'), [...poller.clusters()]]).toEqual([['a', 'a'], undefined, []]);
  space.clusters = [cluster('a', 'running', { createdAt: 2 })];
  await poller.refresh();
  expect([changed, poller.get('a')?.createdAt]).toEqual([['a'], 2]);
});

test.each<[string, number | undefined, number, number]>([
  ['was held back', undefined, 35_000, 35_000],
  ['was held back, however often', undefined, 1_500, 1_500],
  ['was refused', 429, 35_000, 60_000],
])('SpacePoller comes back when it makes sense to after a List that %s', async (_, status, retryAfterMs, mostMs) => {
  const { clock, space, poller, lists } = aPoller();
  space.error = new ApiError({
    api: 'cloud',
    operation: 'list',
    phrase: 'list',
    idempotent: true,
    kind: 'throttled',
    what: 'no',
    status,
    retryAfterMs,
  });
  await poller.refresh();
  await clock.advance(10 * 60_000);
  poller.stop();
  const gaps = steps(lists);
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(retryAfterMs);
  expect(Math.max(...gaps)).toBeLessThanOrEqual(mostMs);
});

test.each([
  ['hurries on for what it shows', ['a'], 0, 15_000],
  ['comes back as after failures for what it may hide', [], 30_000, INTERVAL_MS],
])('SpacePoller with Lists that make sense in part %s', async (_how, shows, leastMs, mostMs) => {
  const { poller, space, lists, clock } = aPoller();
  poller.follow('a');
  space.clusters = [cluster('a', 'starting')];
  await poller.refresh();
  space.clusters = space.clusters.filter(({ id }) => shows.includes(id));
  space.problem = senseless('A cluster makes no sense');
  await clock.advance(600_000);
  const later = steps(lists).slice(-3);
  expect(Math.min(...later)).toBeGreaterThanOrEqual(leastMs);
  expect(Math.max(...later)).toBeLessThanOrEqual(mostMs);
});

test('SpacePoller that is stopped between two Lists leaves no timer', async () => {
  const { poller, clock } = aPoller();
  await poller.refresh();
  expect(clock.timers()).toBe(1);
  poller.stop();
  expect(clock.timers()).toBe(0);
});

test('SpacePoller lists again for those who asked meanwhile if a List was only incomplete', async () => {
  const { poller, space, lists, clock } = aPoller(1_000);
  space.problem = senseless('Cluster 2 makes no sense');
  space.clusters = [cluster('a', 'running')];
  const first = poller.refresh();
  await clock.advance(500);
  space.clusters = [cluster('a', 'suspended')];
  const second = poller.refresh();
  await clock.advance(1_500);
  await Promise.all([first, second]);
  expect([lists, poller.get('a')?.status]).toEqual([[0, 1_000], 'suspended']);
});

test('SpacePoller follows a new interval at once, counted from the last List', async () => {
  const { poller, lists, clock } = aPoller();
  await poller.refresh();
  await clock.advance(30_000);
  poller.intervalMs = 10_000;
  await clock.advance(1);
  expect(lists).toHaveLength(2);
  poller.intervalMs = 600_000;
  await clock.advance(500_000);
  expect(lists).toHaveLength(2);
});

test('SpacePoller waits for its first List to be requested', async () => {
  const { poller, lists, clock } = aPoller();
  poller.follow('a');
  poller.learn('a', cluster('a', 'starting'), clock.monotonic());
  poller.intervalMs = 1_000;
  await clock.advance(60_000);
  expect(lists).toEqual([]);
});

test('SpacePoller that is stopped lists no more, reports nothing of a running List and leaves no timer', async () => {
  const { poller, space, lists, clock, listedCount, changed } = aPoller(1_000);
  space.clusters = [cluster('a', 'starting')];
  poller.follow('a');
  const listing = Promise.all([poller.refresh(), poller.refresh()]);
  poller.stop();
  await clock.advance(1_000);
  await listing;
  await clock.advance(600_000);
  expect([lists.length, listedCount(), changed, clock.timers()]).toEqual([1, 0, [], 0]);
});

test.each([
  ['running', [{ address: 'a:1', status: 'running' }], true],
  ['running', [{ address: 'a:1', status: 'pending' }], false],
  ['running', [], false],
  ['suspended', [], true],
  [
    'running',
    [
      { address: 'a', status: 'running' },
      { address: 'b', status: 'starting' },
    ],
    false,
  ],
  ['starting', [{ address: 'a', status: 'running' }], false],
  ['starting', [], false],
  ['a future word', [], false],
] as const)('isSettled() of a cluster that is %s with servers %j is %s', (status, servers, settled) => {
  expect(isSettled(cluster('a', status, { servers }))).toBe(settled);
});

test.each([
  ['fail', { error: new Error('down') }, [false, false, true]],
  ['make sense in part', { problem: senseless('A cluster makes no sense') }, [false, false, false]],
])('SpacePoller counts as away after three Lists in a row that %s, if at all', async (_, trouble, expected) => {
  const { poller, space, changed } = aPoller();
  Object.assign(space, trouble);
  const away: boolean[] = [];
  for (const _list of expected) {
    await poller.refresh();
    away.push(poller.isAway);
  }
  expect([away, changed]).toEqual([expected, []]);
});

test('SpacePoller does not list at another time because it is given the interval that it has', async () => {
  const [one, other] = [aPoller(), aPoller()];
  for (const { poller, clock } of [one, other]) {
    await poller.refresh();
    if (poller === other.poller) for (let count = 0; count < 10; count++) poller.intervalMs = INTERVAL_MS;
    await clock.advance(300_000);
  }
  expect(other.lists).toEqual(one.lists);
});

test('SpacePoller does not report again, when a List lacks it, what a call reported as gone', async () => {
  const { poller, changed, clock } = aPoller();
  poller.learn('a', undefined, clock.monotonic());
  changed.length = 0;
  await poller.refresh();
  expect(changed).toEqual([]);
});

test('SpacePoller looks in shorter steps for the last of many clusters that moved together', async () => {
  const { poller, space, lists, clock } = aPoller();
  const show = (left: number) => {
    space.clusters = ids.map((id, index) => cluster(id, index < left ? 'creating' : 'running'));
  };
  const ids = Array.from({ length: 20 }, (_, index) => `c-${index}`);
  for (const id of ids) poller.follow(id);
  show(20);
  await poller.refresh();
  await clock.advance(300_000);
  show(2);
  await poller.refresh();
  await clock.advance(45_000);
  expect(steps(lists).slice(-3)).toEqual([3_000, 3_000, 15_000]);
});

test('SpacePoller goes on in growing steps when a cluster that has been moving for long takes another status on its way', async () => {
  const { poller, space, lists, clock } = aPoller();
  space.clusters = [cluster('a', 'starting')];
  poller.follow('a');
  await poller.refresh();
  await clock.advance(60_000);
  space.clusters = [cluster('a', 'scaling')];
  lists.length = 0;
  await clock.advance(60_000);
  expect(Math.min(...steps(lists))).toBeGreaterThan(5_000);
});

test('SpacePoller that hears of a moving cluster during a List counts the time of the next one from its end', async () => {
  const { poller, lists, clock } = aPoller(5_000);
  poller.follow('a');
  void poller.refresh();
  await clock.advance(5_000);
  void poller.refresh();
  await clock.advance(1_000);
  poller.learn('a', cluster('a', 'starting'), clock.monotonic());
  await clock.advance(5_000);
  expect(lists).toEqual([0, 5_000, 10_800]);
  poller.stop();
  poller.learn('a', cluster('a', 'scaling'), clock.monotonic());
  await clock.advance(60_000);
  expect([lists.length, clock.timers()]).toEqual([3, 0]);
});

test.each([0, 1, 2, 3, 4, 5])(
  'SpacePoller lists anew for whoever asks %i microtasks after a List was requested',
  async (ticks) => {
    const { poller, lists } = aPoller();
    void poller.refresh();
    for (let tick = 0; tick < ticks; tick++) await undefined;
    const before = lists.length;
    await poller.refresh();
    expect(lists.length).toBeGreaterThan(before);
    poller.stop();
  },
);

test('SpacePoller knows as of when a List showed what a cluster was like before it changed last', async () => {
  const { poller, space, clock } = aPoller();
  const [before, after] = [cluster('orders', 'running'), cluster('orders', 'running', { storageSizeGB: 999 })];
  const list = async (shown: Cluster) => {
    await clock.advance(1_000);
    space.clusters = [shown];
    await poller.refresh();
    return poller.formerListedAt('orders');
  };
  const never = Number.NEGATIVE_INFINITY;
  const firstAt = clock.monotonic() + 1_000;
  expect([await list(before), poller.formerListedAt('other')]).toEqual([never, never]);
  poller.learn('orders', after, clock.monotonic());
  expect(poller.formerListedAt('orders')).toBe(firstAt);
  // No List showed what the answer said.
  expect(await list(before)).toBe(never);
  poller.learn('orders', after, clock.monotonic());
  await list(after);
  const shownAt = clock.monotonic();
  expect(await list(before)).toBe(shownAt);
  poller.follow('orders');
  const shownLastAt = clock.monotonic();
  expect(await list(cluster('orders-eu', 'running'))).toBe(shownLastAt);
});
