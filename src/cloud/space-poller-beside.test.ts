import { expect, test } from 'vitest';
import { aPoller, cluster } from '../../test/support/space-poller.ts';
import type { Cluster } from './schema.ts';

/* How often Lists showed two clusters of the same creation time: if they did, one is not the other, renamed. */

const ours = cluster('orders', 'running', { createdAt: 7 });
const named = (id: string) => ({ ...ours, id });

test.each<{ what: string; lists: readonly (readonly Cluster[])[]; expected: number }>([
  {
    what: 'beside it three times',
    lists: [[ours, named('x')], [ours, named('x')], [ours, named('x')], [named('x')]],
    expected: 3,
  },
  { what: 'beside it once', lists: [[ours], [ours, named('x')], [named('x')]], expected: 1 },
  {
    what: 'beside it until now',
    lists: [
      [ours, named('x')],
      [ours, named('x')],
    ],
    expected: 2,
  },
  { what: 'without it', lists: [[named('x')]], expected: 0 },
  { what: 'some time after it', lists: [[ours], [], [named('x')]], expected: 0 },
  { what: 'after it', lists: [[ours], [ours], [named('x')], [named('x')]], expected: 0 },
  {
    what: 'after it, where another one was',
    lists: [[ours, cluster('x', 'running', { createdAt: 8 })], [named('x')]],
    expected: 0,
  },
  {
    what: 'under an id with which it changed places',
    lists: [
      [ours, cluster('x', 'running', { createdAt: 8 })],
      [cluster('orders', 'running', { createdAt: 8 }), named('x')],
    ],
    expected: 0,
  },
  {
    what: 'beside it before another one took its id',
    lists: [
      [ours, named('x')],
      [ours, named('x')],
      [cluster('orders', 'running', { createdAt: 8 }), named('x')],
    ],
    expected: 2,
  },
  { what: 'in no List', lists: [[ours], []], expected: 0 },
])(
  'SpacePoller counts the Lists that showed a cluster beside one of the same creation time: $what',
  async ({ lists, expected }) => {
    const { poller, space } = aPoller();
    poller.follow('orders');
    for (const clusters of lists) {
      space.clusters = clusters;
      await poller.refresh();
    }
    expect(poller.listsBeside('orders', named('x'))).toBe(expected);
  },
);

test('SpacePoller counts no cluster beside itself, and forgets what was there when nobody follows the id any more', async () => {
  const { poller, space } = aPoller();
  poller.follow('orders');
  space.clusters = [ours, named('x')];
  await poller.refresh();
  expect(poller.listsBeside('orders', ours)).toBe(0);
  space.clusters = [named('x')];
  await poller.refresh();
  expect(poller.listsBeside('orders', named('x'))).toBe(1);
  poller.unfollow('orders');
  expect(poller.listsBeside('orders', named('x'))).toBe(0);
});

test('SpacePoller counts Lists beside a cluster that a call reported first', async () => {
  const { poller, space, clock } = aPoller();
  poller.follow('orders');
  poller.learn('x', named('x'), clock.monotonic());
  space.clusters = [ours, named('x')];
  for (let count = 0; count < 2; count++) await poller.refresh();
  expect(poller.listsBeside('orders', named('x'))).toBe(2);
});

test('SpacePoller remembers what was there before a call reported it as gone and another one came', async () => {
  const { poller, space, clock } = aPoller();
  poller.follow('orders');
  space.clusters = [ours, named('x')];
  await poller.refresh();
  poller.learn('orders', undefined, clock.monotonic());
  space.clusters = [cluster('orders', 'running', { createdAt: 8 }), named('x')];
  await poller.refresh();
  expect(poller.listsBeside('orders', named('x'))).toBe(1);
});
