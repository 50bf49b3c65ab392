import { expect, it } from 'vitest';
import { user } from '../../test/support/manifests.ts';
import { aWorldOfOperators, readyIn } from '../../test/support/operators.ts';
import { DATABASE_CLUSTERS } from '../kinds/databasecluster/resource.ts';
import { DATABASE_USERS } from '../kinds/databaseuser/resource.ts';
import type { DatabaseUserStatus } from '../kinds/databaseuser/schema.ts';
import { SECRETS } from '../kube/api.ts';
import { findStatusCondition } from '../kube/condition.ts';

const SHARED = { adminCredentials: { secretName: 'shared' } };

/** A space, where `first` and, some seconds later, `second` are to have their logins in one Secret. */
async function twoWantOneSecret(secrets?: 'get') {
  const world = await aWorldOfOperators({ count: 1, initially: 0, shardBySpace: false });
  const { kube, clock, simulator } = world;
  await world.addSpace(0);
  world.replica({ secrets });
  await clock.advance(10_000);
  await world.addCluster(0, 'first', SHARED);
  await clock.advance(2_000);
  await world.addCluster(0, 'second', SHARED);
  const ready = (name: string) => {
    const found = kube.all(DATABASE_CLUSTERS).find(({ metadata }) => metadata.name === name);
    return readyIn(found);
  };
  const inCloud = () => [...simulator.clusters()].map(({ id }) => id);
  return { ...world, ready, inCloud };
}

it('A cluster is not created if its login would be in the Secret of one that is being created', async () => {
  const { kube, clock, ready, inCloud } = await twoWantOneSecret();
  await clock.advance(1_000);
  expect(ready('second')?.message).toContain('Secret "shared" is to hold the login of DatabaseCluster "first", which');
  await clock.advance(60_000);
  expect([ready('first')?.reason, ready('second')?.reason, inCloud()]).toEqual(['Running', 'SecretNotOurs', ['first']]);
  expect(ready('second')?.message).toContain('Secret "shared" belongs to DatabaseCluster "first"');
  await kube.patch(DATABASE_CLUSTERS, { namespace: 'shop', name: 'second' }, { spec: { adminCredentials: null } });
  await clock.advance(60_000);
  expect([ready('second')?.reason, inCloud()]).toEqual(['Running', ['first', 'second']]);
});

it('A cluster is created at once when another that was to have its login in the same Secret names another', async () => {
  const { kube, clock, ready, inCloud } = await twoWantOneSecret();
  await clock.advance(1_000);
  expect(inCloud()).toEqual(['first']);
  await kube.patch(
    DATABASE_CLUSTERS,
    { namespace: 'shop', name: 'first' },
    { spec: { adminCredentials: { secretName: 'own' } } },
  );
  await clock.advance(1_000);
  expect(inCloud()).toEqual(['first', 'second']);
  await clock.advance(60_000);
  expect([ready('first')?.reason, ready('second')?.reason]).toEqual(['Running', 'Running']);
});

it('A cluster is created as soon as another, whose login was in the Secret that it names, is gone', async () => {
  const { kube, clock, ready, inCloud } = await twoWantOneSecret();
  await kube.patch(DATABASE_CLUSTERS, { namespace: 'shop', name: 'first' }, { spec: { deletionPolicy: 'Delete' } });
  await clock.advance(60_000);
  expect(ready('second')?.reason).toBe('SecretNotOurs');
  const { uid = '' } = kube.all(DATABASE_CLUSTERS).find(({ metadata }) => metadata.name === 'first')?.metadata ?? {};
  await kube.delete(DATABASE_CLUSTERS, { namespace: 'shop', name: 'first' }, { uid });
  await clock.advance(60_000);
  expect([ready('second')?.reason, inCloud()]).toEqual(['Running', ['second']]);
});

it.each([
  ['watched', undefined],
  ['read by name', 'get'],
] as const)(
  'A cluster is created as soon as the login of another has moved from the Secret that it names: %s',
  async (_how, secrets) => {
    const { kube, clock, ready, inCloud } = await twoWantOneSecret(secrets);
    // By now it is looked at rarely.
    await clock.advance(3_600_000);
    expect([ready('first')?.reason, ready('second')?.reason]).toEqual(['Running', 'SecretNotOurs']);
    await kube.patch(
      DATABASE_CLUSTERS,
      { namespace: 'shop', name: 'first' },
      { spec: { adminCredentials: { secretName: 'own' } } },
    );
    await clock.advance(60_000);
    expect([ready('first')?.reason, ready('second')?.reason]).toEqual(['Running', 'Running']);
    expect(inCloud()).toEqual(['first', 'second']);
  },
);

it.each([
  ['that is new', false],
  ['that has another password', true],
])(
  'A user %s follows its own password within five minutes, however long that was missing, if Secrets are read by name',
  async (_what, isThere) => {
    const world = await aWorldOfOperators({ count: 1, shardBySpace: false });
    const { kube, clock } = world;
    world.replica({ secrets: 'get' });
    await clock.advance(60_000);
    const spec = (own: boolean) => ({
      clusterRef: { name: 'orders-0' },
      passwordSecretRef: own ? { name: 'own', key: 'password' } : null,
    });
    await kube.create(DATABASE_USERS, 'shop', user(spec(!isThere), {}, 'app'));
    await clock.advance(60_000);
    if (isThere) await kube.patch(DATABASE_USERS, { namespace: 'shop', name: 'app' }, { spec: spec(true) });
    await clock.advance(100 * 60_000);
    const status = () => kube.all(DATABASE_USERS)[0]?.['status'] as DatabaseUserStatus | undefined;
    const ready = () => findStatusCondition(status()?.conditions, 'Ready')?.reason;
    expect(ready()).toBe('SecretNotFound');
    await kube.create(SECRETS, 'shop', { metadata: { name: 'own' }, data: { password: 'bXktb3du' } });
    await clock.advance(5 * 60_000);
    expect([ready(), status()?.connection?.sourceResourceVersion]).toEqual(['LoginWorks', expect.any(String)]);
  },
);
