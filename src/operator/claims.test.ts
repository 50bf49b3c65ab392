import { expect, test } from 'vitest';
import { cluster, database, user } from '../../test/support/manifests.ts';
import { aWorldOfOperators } from '../../test/support/operators.ts';
import { DATABASES } from '../kinds/database/resource.ts';
import { DATABASE_CLUSTERS } from '../kinds/databasecluster/resource.ts';
import { DATABASE_SPACES } from '../kinds/databasespace/resource.ts';
import { DATABASE_USERS } from '../kinds/databaseuser/resource.ts';
import { RECONCILE_AT } from '../kube/annotations.ts';
import { NAMESPACES } from '../kube/api.ts';
import { type Condition, findStatusCondition } from '../kube/condition.ts';

const [SPACE, CLUSTER] = [
  { name: 'space-0', namespace: 'shop' },
  { name: 'orders-0', namespace: 'shop' },
];
const ADMITTED = { team: 'sales' };
const OPEN = { allowedNamespaces: { from: 'Selector', selector: { matchLabels: ADMITTED } } };

/** What two objects may want: `of` makes the manifest of an object. */
const CASES = [
  {
    what: 'cluster',
    resource: DATABASE_CLUSTERS,
    of: (spec: object) => cluster({ spaceRef: SPACE, clusterID: 'sales', ...spec }, {}, 'sales'),
    reasons: ['ClusterIDInUse', 'ClusterIDClaimed', 'SpaceNotAllowed'],
  },
  {
    what: 'user',
    resource: DATABASE_USERS,
    of: (spec: object) => user({ clusterRef: CLUSTER, deletionPolicy: 'Retain', ...spec }, {}, 'sales'),
    reasons: ['UserExists', 'UserClaimed', 'ClusterNotAllowed'],
  },
  {
    what: 'database',
    resource: DATABASES,
    of: (spec: object) => database({ clusterRef: CLUSTER, ...spec }, {}, 'sales'),
    reasons: ['DatabaseExists', 'DatabaseClaimed', 'ClusterNotAllowed'],
  },
] as const;

test.each(CASES)(
  'A $what is free at once when the object that others waited for is no longer admitted',
  async ({ resource, of, reasons: [exists, claimed, refused] }) => {
    const world = await aWorldOfOperators({ count: 1, initially: 0, shardBySpace: false });
    const { kube, clock } = world;
    const reason = (namespace: string) => {
      const found = kube
        .all(resource)
        .find(({ metadata }) => metadata.name === 'sales' && metadata.namespace === namespace);
      const { conditions } = (found?.['status'] ?? {}) as { conditions?: readonly Condition[] };
      return findStatusCondition(conditions, 'Ready')?.reason;
    };
    await kube.create(NAMESPACES, '', { metadata: { name: 'billing', labels: ADMITTED } });
    await world.addSpace(0, OPEN);
    await world.addCluster(0, CLUSTER.name, OPEN);
    world.replica();
    await clock.advance(60_000);
    // What an object leaves behind is nobody's.
    await kube.create(resource, 'shop', of({}));
    await clock.advance(60_000);
    kube.remove(resource, { namespace: 'shop', name: 'sales' });
    await clock.advance(60_000);
    await kube.create(resource, 'billing', of({}));
    await clock.advance(60_000);
    await kube.create(resource, 'shop', of({ adoptionPolicy: 'IfExists' }));
    await clock.advance(1_800_000);
    expect([reason('billing'), reason('shop')]).toEqual([exists, claimed]);
    // A pass reads the labels of a namespace; nothing watches them.
    await kube.patch(NAMESPACES, { name: 'billing' }, { metadata: { labels: { team: 'another' } } });
    await kube.patch(
      resource,
      { namespace: 'billing', name: 'sales' },
      { metadata: { annotations: { [RECONCILE_AT]: 'now' } } },
    );
    await clock.advance(15_000);
    expect(reason('billing')).toBe(refused);
    expect(reason('shop')).not.toBe(claimed);
  },
);

test('A cluster is free at once when the DatabaseSpace of the object that others waited for is gone', async () => {
  const world = await aWorldOfOperators({ count: 1, initially: 0, shardBySpace: false });
  const { kube, clock } = world;
  const reason = (name: string) => {
    const found = kube.all(DATABASE_CLUSTERS).find(({ metadata }) => metadata.name === name);
    const { conditions } = (found?.['status'] ?? {}) as { conditions?: readonly Condition[] };
    return findStatusCondition(conditions, 'Ready')?.reason;
  };
  await world.addSpace(0);
  const [production] = kube.all(DATABASE_SPACES);
  await kube.create(DATABASE_SPACES, 'shop', { ...production, metadata: { name: 'again' }, status: undefined });
  await world.addCluster(0, 'sales');
  world.replica();
  await clock.advance(60_000);
  kube.remove(DATABASE_CLUSTERS, { namespace: 'shop', name: 'sales' });
  await clock.advance(60_000);
  await world.addCluster(0, 'first', { clusterID: 'sales', spaceRef: { name: 'again' } });
  await clock.advance(60_000);
  await world.addCluster(0, 'second', { clusterID: 'sales', adoptionPolicy: 'IfExists' });
  await clock.advance(1_800_000);
  expect([reason('first'), reason('second')]).toEqual(['ClusterIDInUse', 'ClusterIDClaimed']);
  kube.remove(DATABASE_SPACES, { namespace: 'shop', name: 'again' });
  await clock.advance(15_000);
  expect(reason('first')).toBe('SpaceNotFound');
  expect(reason('second')).not.toBe('ClusterIDClaimed');
});
