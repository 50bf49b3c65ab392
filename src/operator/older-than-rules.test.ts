import { expect, test } from 'vitest';
import { cluster } from '../../test/support/manifests.ts';
import { aWorldOfOperators, readyIn } from '../../test/support/operators.ts';
import { DATABASES } from '../kinds/database/resource.ts';
import { DATABASE_CLUSTERS } from '../kinds/databasecluster/resource.ts';
import { DATABASE_SPACES } from '../kinds/databasespace/resource.ts';

/* Objects from before a rule keep what they have. For clusters see test/sim/same-place.test.ts. */

test('A database still belongs to its object when the spec can no longer be read, and nobody else adopts or deletes it', async () => {
  const world = await aWorldOfOperators({ count: 1, shardBySpace: false });
  const namespace = 'shop';
  const create = (name: string, spec: object) =>
    world.kube.create(DATABASES, namespace, {
      apiVersion: 'mooring.dev/v1alpha1',
      kind: 'Database',
      metadata: { name },
      spec: { clusterRef: { name: 'orders-0' }, name: 'sales', deletionPolicy: 'Delete', ...spec },
    });
  const reason = (name: string) => {
    const found = world.kube.all(DATABASES).find(({ metadata }) => metadata.name === name);
    return readyIn(found)?.reason;
  };
  world.replica();
  await create('first', {});
  await world.clock.advance(120_000);
  expect(reason('first')).toBe('DatabaseReady');
  // The test's API server has no rules, like one with definitions of another version.
  await world.kube.patch(DATABASES, { namespace, name: 'first' }, { spec: { name: 7, schema: 'of another time' } });
  await world.clock.advance(60_000);
  expect(reason('first')).toBe('InvalidSpec');
  await create('second', { adoptionPolicy: 'IfExists' });
  await world.clock.advance(120_000);
  expect(reason('second')).toBe('DatabaseClaimed');
  world.kube.remove(DATABASES, { namespace, name: 'second' });
  await world.clock.advance(120_000);
  expect(world.simulator.count('deleteDatabase')).toBe(0);
});

test('A space goes on for the clusters of another namespace that it admits when something else in its spec cannot be read', async () => {
  const world = await aWorldOfOperators({ count: 1, initially: 0, shardBySpace: false });
  await world.addSpace(0, { allowedNamespaces: { from: 'All' } });
  const spaceRef = { name: 'space-0', namespace: 'shop' };
  for (const namespace of ['shop', 'billing'])
    await world.kube.create(DATABASE_CLUSTERS, namespace, cluster({ spaceRef }, {}, `orders-${namespace}`));
  world.replica();
  await world.clock.advance(60_000);
  expect(world.readiness()).toEqual(['True Running', 'True Running']);
  const space = { namespace: 'shop', name: 'space-0' };
  await world.kube.patch(DATABASE_SPACES, space, { spec: { verifyInterval: 'now and then' } });
  await world.clock.advance(60_000);
  expect(world.readiness()).toEqual(['True Running', 'True Running']);
});

test.each([true, false])(
  'Objects that lack what they must have do not keep others from being looked after, by space or not: %s',
  async (shardBySpace) => {
    const world = await aWorldOfOperators({ count: 1, shardBySpace });
    const { kube, clock } = world;
    for (const [resource, spec] of [
      [DATABASE_SPACES, {}],
      [DATABASE_CLUSTERS, undefined],
      [DATABASES, undefined],
    ] as const)
      await kube.create(resource, 'older', { apiVersion: 'mooring.dev/v1alpha1', metadata: { name: 'old' }, spec });
    const { logged } = world.replica();
    await clock.advance(120_000);
    expect(logged.filter((line) => JSON.parse(line).level === 'warn')).toEqual([]);
    expect(world.readiness()).toEqual(['False InvalidSpec', 'True Running']);
  },
);
