import { expect, test } from 'vitest';
import { user } from '../../test/support/manifests.ts';
import { aWorldOfOperators } from '../../test/support/operators.ts';
import { DATABASE_CLUSTERS } from '../kinds/databasecluster/resource.ts';
import { DATABASE_USERS } from '../kinds/databaseuser/resource.ts';
import { ROTATE_AT } from '../kube/annotations.ts';
import { SECRETS } from '../kube/api.ts';

const LATE_MS = 10_000;

test.each([
  ['with a watch that', undefined],
  ['without a watch', 'get'],
] as const)(
  'A pass sees what the one before it wrote into a Secret, %s is late: it does it only once',
  async (_, secrets) => {
    const { clock, kube, addCluster, addSpace, replica } = await aWorldOfOperators({
      count: 1,
      initially: 0,
      shardBySpace: false,
    });
    await addSpace(0);
    await addCluster(0, 'orders');
    await kube.create(DATABASE_USERS, 'shop', user({ clusterRef: { name: 'orders' } }, {}, 'app'));
    const watch = kube.watch.bind(kube);
    kube.watch = async function* (resource, ...given) {
      for await (const event of watch(resource, ...given)) {
        if (resource === SECRETS && event.type === 'MODIFIED')
          await new Promise<void>((resolve) => clock.after(LATE_MS, resolve));
        yield event;
      }
    };
    const { logged } = replica({ secrets });
    await clock.advance(60_000);
    logged.splice(0);
    for (const [resource, name] of [
      [DATABASE_CLUSTERS, 'orders'],
      [DATABASE_USERS, 'app'],
    ] as const)
      await kube.patch(resource, { namespace: 'shop', name }, { metadata: { annotations: { [ROTATE_AT]: '1' } } });
    await clock.advance(LATE_MS / 2);
    const told = logged.map((line) => JSON.parse(line)).filter(({ msg }) => msg.startsWith('Going to'));
    expect(told.map(({ kind, msg }) => `${kind}: ${msg}`).toSorted()).toEqual([
      'DatabaseCluster: Going to make the new password the one in the admin Secret',
      'DatabaseCluster: Going to replace the password of the admin user of cluster "orders"',
      'DatabaseCluster: Going to write a new password to the admin Secret, beside the one that works',
      'DatabaseUser: Going to make the new password the one in the connection Secret',
      'DatabaseUser: Going to set the password of user "app" on the server',
      'DatabaseUser: Going to write a new password to the connection Secret, beside the one that works',
    ]);
  },
);
