import { expect, test } from 'vitest';
import { database, user } from '../../test/support/manifests.ts';
import { aWorldOfOperators } from '../../test/support/operators.ts';
import { DATABASES } from '../kinds/database/resource.ts';
import { DATABASE_SPACES } from '../kinds/databasespace/resource.ts';
import { DATABASE_USERS } from '../kinds/databaseuser/resource.ts';

const CLUSTER = { name: 'orders-0', namespace: 'shop' };

test.each(['0s', '24h'])(
  'A verifyInterval of %s that is made shorter counts at once for users and databases',
  async (long) => {
    const world = await aWorldOfOperators({ count: 1, initially: 0, shardBySpace: false });
    const { kube, clock, simulator } = world;
    await world.addSpace(0, { verifyInterval: long });
    await world.addCluster(0, CLUSTER.name);
    await kube.create(DATABASE_USERS, 'shop', user({ clusterRef: CLUSTER }));
    await kube.create(DATABASES, 'shop', database({ clusterRef: CLUSTER }));
    world.replica();
    await clock.advance(120_000);
    await kube.patch(DATABASE_SPACES, { namespace: 'shop', name: 'space-0' }, { spec: { verifyInterval: '60s' } });
    await clock.advance(120_000);
    simulator.setPassword('orders-0', 'app', 'somebody else knows this one');
    simulator.dropDatabase('orders-0', 'orders');
    await clock.advance(120_000);
    const [server] = [...simulator.clusters()].map((each) => each.database);
    expect([...(server?.databases.keys() ?? [])]).toEqual(['orders']);
    expect(simulator.passwordIs('orders-0', 'app', 'somebody else knows this one')).toBe(false);
  },
);
