import { expect, it } from 'vitest';
import { user } from '../../test/support/manifests.ts';
import { aWorldOfOperators } from '../../test/support/operators.ts';
import { CLUSTER_FINALIZER, DATABASE_CLUSTERS } from '../kinds/databasecluster/resource.ts';
import { DATABASE_USERS } from '../kinds/databaseuser/resource.ts';

it('A user goes with its cluster, which was destroyed, though the object of that is kept until users are gone', async () => {
  const world = await aWorldOfOperators({ count: 1, initially: 0, shardBySpace: false });
  const { kube, clock, simulator } = world;
  await world.addSpace(0);
  world.replica();
  await clock.advance(10_000);
  await world.addCluster(0, 'orders', { deletionPolicy: 'Delete' });
  await kube.create(DATABASE_USERS, 'shop', user({ clusterRef: { name: 'orders' } }));
  await clock.advance(60_000);
  const the = (resource: typeof DATABASE_CLUSTERS) => kube.all(resource)[0]?.metadata;
  // As foreground deletion does.
  const ref = { namespace: 'shop', name: 'orders' };
  await kube.patch(DATABASE_CLUSTERS, ref, { metadata: { finalizers: [CLUSTER_FINALIZER, 'foregroundDeletion'] } });
  await kube.delete(DATABASE_CLUSTERS, ref, { uid: the(DATABASE_CLUSTERS)?.uid ?? '' });
  await clock.advance(60_000);
  expect([...simulator.clusters()]).toEqual([]);
  expect(the(DATABASE_CLUSTERS)?.finalizers).toEqual(['foregroundDeletion']);
  const { name = '', uid = '' } = the(DATABASE_USERS) ?? {};
  await kube.delete(DATABASE_USERS, { namespace: 'shop', name }, { uid });
  await clock.advance(10_000);
  expect(kube.all(DATABASE_USERS)).toEqual([]);
});
