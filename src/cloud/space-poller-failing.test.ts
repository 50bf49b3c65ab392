import { expect, test } from 'vitest';
import { aPoller, cluster, INTERVAL_MS, senseless, steps } from '../../test/support/space-poller.ts';

test('SpacePoller keeps what it knows when a List fails, says why, and comes back less and less often', async () => {
  const { poller, space, lists, clock, listedCount } = aPoller();
  space.clusters = [cluster('a', 'starting')];
  poller.follow('a');
  await poller.refresh();
  const { listedAtMs } = poller;
  space.error = new Error('The cloud is away');
  await clock.advance(1_000);
  lists.length = 0;
  await clock.advance(600_000);
  expect([poller.get('a')?.status, poller.error, poller.listedAtMs]).toEqual(['starting', space.error, listedAtMs]);
  expect(listedCount()).toBeGreaterThan(10);
  const pauses = steps(lists);
  expect(pauses.slice(-3).every((pause) => pause >= INTERVAL_MS / 2 && pause <= INTERVAL_MS)).toBe(true);
  expect(lists.length).toBeLessThan(25);
  space.error = undefined;
  await clock.advance(60_000);
  expect(poller.error).toBeUndefined();
});

test('SpacePoller believes what makes sense in a List, and treats nothing as gone because of it', async () => {
  const { poller, space, changed, clock } = aPoller();
  space.clusters = [cluster('a', 'running'), cluster('b', 'running')];
  await poller.refresh();
  const { listedAtMs } = poller;
  await clock.advance(1_000);
  changed.length = 0;
  space.clusters = [cluster('a', 'suspended')];
  space.problem = senseless('Cluster 2 makes no sense');
  await poller.refresh();
  expect([changed.splice(0), poller.get('a')?.status, poller.has('b')]).toEqual([['a'], 'suspended', true]);
  expect([poller.isPartial, poller.error, poller.listedAtMs]).toEqual([true, space.problem, listedAtMs]);
  space.problem = undefined;
  await poller.refresh();
  expect([changed, poller.isPartial, poller.error, poller.listedAtMs]).toEqual([['b'], false, undefined, clock.now()]);
});

test('SpacePoller comes back soon after its first failure, no later than it would have, and at its interval once it has listed', async () => {
  const { poller, space, lists, clock } = aPoller();
  space.error = new Error('down');
  await poller.refresh();
  await clock.advance(1_000);
  expect(lists).toHaveLength(2);
  expect(steps(lists)[0]).toBeGreaterThanOrEqual(500);
  poller.intervalMs = 2_000;
  await clock.advance(60_000);
  expect(Math.max(...steps(lists).slice(2))).toBeLessThanOrEqual(2_000);
  space.error = undefined;
  poller.intervalMs = INTERVAL_MS;
  await poller.refresh();
  lists.length = 0;
  await clock.advance(0.9 * INTERVAL_MS - 1);
  expect(lists).toEqual([]);
  await clock.advance(0.1 * INTERVAL_MS + 1);
  expect(lists).toHaveLength(1);
});

test('SpacePoller.retry() lists at once after a failed List, only then, and once', async () => {
  const { poller, space, lists, clock } = aPoller();
  await poller.refresh();
  poller.retry();
  expect(lists).toHaveLength(1);
  space.error = new Error('down');
  await poller.refresh();
  space.error = undefined;
  poller.retry();
  poller.retry();
  await clock.settle();
  expect([poller.error, lists.length]).toEqual([undefined, 3]);
});

test('SpacePoller that failed has believed no part of the List', async () => {
  const { poller, space } = aPoller();
  expect(poller.isPartial).toBe(false);
  space.problem = senseless('A cluster makes no sense');
  await poller.refresh();
  expect(poller.isPartial).toBe(true);
  space.error = new Error('down');
  await poller.refresh();
  expect(poller.isPartial).toBe(false);
});

test('SpacePoller that fails does not list again for those who asked meanwhile', async () => {
  const { poller, space, lists, clock } = aPoller(1_000);
  space.error = new Error('The cloud is away');
  const asks = [poller.refresh(), poller.refresh()];
  await clock.advance(1_000);
  await Promise.all(asks);
  expect(lists).toHaveLength(1);
});

test('SpacePoller with a long interval comes back a minute after a failure at the latest', async () => {
  const { poller, space, lists, clock } = aPoller();
  poller.intervalMs = 3_600_000;
  space.error = new Error('down');
  await poller.refresh();
  await clock.advance(3_600_000);
  const pauses = steps(lists).slice(-10);
  expect([Math.min(...pauses) >= 30_000, Math.max(...pauses) <= 60_000]).toEqual([true, true]);
});

test('SpacePoller reports followed clusters that are moving when Lists begin to fail for long, and when one succeeds again', async () => {
  const { clock, space, poller, changed } = aPoller();
  space.clusters = [cluster('moving', 'starting'), cluster('settled', 'running'), cluster('others', 'starting')];
  for (const id of ['moving', 'settled']) poller.follow(id);
  await poller.refresh();
  changed.length = 0;
  space.error = new Error('down');
  await clock.advance(2_500);
  expect([poller.isAway, changed]).toEqual([false, []]);
  await clock.advance(60_000);
  expect([poller.isAway, changed]).toEqual([true, ['moving']]);
  space.error = undefined;
  await clock.advance(60_000);
  expect([poller.isAway, changed]).toEqual([false, ['moving', 'moving']]);
  poller.stop();
});
