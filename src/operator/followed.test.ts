import { expect, test } from 'vitest';
import { aWorldOfOperators } from '../../test/support/operators.ts';
import { DATABASE_CLUSTERS } from '../kinds/databasecluster/resource.ts';

/** With a List in 27 to 30 s. */
const IN_TEN_MINUTES = 23;

test.each([
  ['has renamed its cluster', { spec: { clusterID: 'renamed' } }],
  ['is gone', undefined],
])('A space is not listed more often for what is under the former id of an object that %s', async (_, patch) => {
  const world = await aWorldOfOperators({ count: 1, initially: 1, shardBySpace: false });
  const { kube, clock, simulator } = world;
  world.replica();
  await clock.advance(60_000);
  const ref = { namespace: 'shop', name: 'orders-0' };
  if (patch === undefined) kube.remove(DATABASE_CLUSTERS, ref);
  else await kube.patch(DATABASE_CLUSTERS, ref, patch);
  await clock.advance(60_000);
  if (patch === undefined) simulator.vanish({ spaceID: 'space-0', clusterID: 'orders-0' });
  simulator.deployForeign({ id: 'orders-0', spaceID: 'space-0' });
  const foreign = [...simulator.clusters()].find(({ id, gone }) => id === 'orders-0' && !gone) ?? expect.unreachable();
  foreign.status = 'suspending';
  await clock.advance(60_000);
  const before = simulator.count('list');
  await clock.advance(600_000);
  expect(simulator.count('list') - before).toBeLessThanOrEqual(IN_TEN_MINUTES);
});
