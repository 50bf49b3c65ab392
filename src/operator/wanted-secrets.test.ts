import { expect, it } from 'vitest';
import { aWorldOfOperators } from '../../test/support/operators.ts';
import { DATABASE_CLUSTERS } from '../kinds/databasecluster/resource.ts';
import { type Condition, findStatusCondition } from '../kube/condition.ts';

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
    const { conditions } = (found?.['status'] ?? {}) as { conditions?: readonly Condition[] };
    return findStatusCondition(conditions, 'Ready');
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
