import { expect, test } from 'vitest';
import { cluster } from '../../test/support/manifests.ts';
import { aWorldOfOperators } from '../../test/support/operators.ts';
import { DATABASE_CLUSTERS } from '../kinds/databasecluster/resource.ts';

const OPEN = { allowedNamespaces: { from: 'All' } };

test('A clone goes on at once when the DatabaseCluster that has its source admits its namespace', async () => {
  const { kube, clock, simulator, ...world } = await aWorldOfOperators({ count: 1, initially: 0, shardBySpace: false });
  await world.addSpace(0, OPEN);
  await world.addCluster(0);
  world.replica();
  await clock.advance(60_000);
  const spec = { spaceRef: { name: 'space-0', namespace: 'shop' }, cloneFrom: { clusterID: 'orders-0' } };
  await kube.create(DATABASE_CLUSTERS, 'billing', cluster(spec, {}, 'copy'));
  await clock.advance(3_600_000);
  expect(world.readiness()).toEqual(['False ClusterNotAllowed', 'True Running']);
  await kube.patch(DATABASE_CLUSTERS, { namespace: 'shop', name: 'orders-0' }, { spec: OPEN });
  await clock.advance(5_000);
  expect(Array.from(simulator.clusters(), ({ id }) => id)).toEqual(['orders-0', 'copy']);
});
