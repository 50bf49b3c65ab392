import { describe, expect, it, test } from 'vitest';
import { cluster, database, user } from '../../test/support/manifests.ts';
import { aWorldOfOperators, readyIn } from '../../test/support/operators.ts';
import { sleep } from '../base/clock.ts';
import { DATABASES } from '../kinds/database/resource.ts';
import { DATABASE_CLUSTERS } from '../kinds/databasecluster/resource.ts';
import { DATABASE_SPACES } from '../kinds/databasespace/resource.ts';
import { DATABASE_USERS } from '../kinds/databaseuser/resource.ts';
import { ABANDON, RECONCILE_AT } from '../kube/annotations.ts';
import { NAMESPACES } from '../kube/api.ts';

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

/** A world with a cluster and an operator, where objects that are all called `sales` want one thing. */
async function aWorldOf({ resource, of }: (typeof CASES)[number]) {
  const world = await aWorldOfOperators({ count: 1, initially: 0, shardBySpace: false });
  const { kube, clock } = world;
  const reason = (namespace: string) => {
    const found = kube
      .all(resource)
      .find(({ metadata }) => metadata.name === 'sales' && metadata.namespace === namespace);
    return readyIn(found)?.reason;
  };
  /** Creates an object, and gives it some time. */
  const create = async (namespace: string, spec: object = {}, metadata: object = {}) => {
    const manifest = of(spec);
    await kube.create(resource, namespace, { ...manifest, metadata: { ...manifest.metadata, ...metadata } });
    await clock.advance(60_000);
  };
  const remove = async (namespace: string) => {
    kube.remove(resource, { namespace, name: 'sales' });
    await clock.advance(60_000);
  };
  await kube.create(NAMESPACES, '', { metadata: { name: 'billing', labels: ADMITTED } });
  await world.addSpace(0, OPEN);
  await world.addCluster(0, CLUSTER.name, OPEN);
  world.replica();
  await clock.advance(60_000);
  return { ...world, reason, create, remove };
}

// Of users, an object that found one that it did not create keeps no other from it in the first place.
test.each(CASES.filter(({ what }) => what !== 'user'))(
  'A $what is free at once when the object that others waited for is no longer admitted',
  async (given) => {
    const {
      resource,
      reasons: [exists, claimed, refused],
    } = given;
    const { kube, clock, reason, create, remove } = await aWorldOf(given);
    // What an object leaves behind is nobody's.
    await create('shop');
    await remove('shop');
    await create('billing');
    await create('shop', { adoptionPolicy: 'IfExists' });
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

test.each(CASES)(
  'A $what is free once its object has let go of it, though a finalizer of somebody else keeps that',
  async (given) => {
    const {
      reasons: [, claimed],
    } = given;
    const { kube, clock, reason, create, remove } = await aWorldOf(given);
    await create('billing', {}, { finalizers: ['example.com/theirs'] });
    await create('shop', { adoptionPolicy: 'IfExists' });
    await clock.advance(1_800_000);
    expect(reason('shop')).toBe(claimed);
    await remove('billing');
    const kept = kube.all(given.resource).find(({ metadata }) => metadata.namespace === 'billing');
    expect(kept?.metadata.finalizers).toEqual(['example.com/theirs']);
    expect(reason('shop')).not.toBe(claimed);
  },
);

test('A cluster is free at once when the DatabaseSpace of the object that others waited for is gone', async () => {
  const world = await aWorldOfOperators({ count: 1, initially: 0, shardBySpace: false });
  const { kube, clock } = world;
  const reason = (name: string) => {
    const found = kube.all(DATABASE_CLUSTERS).find(({ metadata }) => metadata.name === name);
    return readyIn(found)?.reason;
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

test('A cluster that may be the renamed one of another object is free at once when that lets go of it', async () => {
  const world = await aWorldOfOperators({ count: 1, initially: 0, shardBySpace: false });
  const { kube, clock, simulator } = world;
  const reason = (name: string) => {
    const found = kube.all(DATABASE_CLUSTERS).find(({ metadata }) => metadata.name === name);
    return readyIn(found)?.reason;
  };
  await world.addSpace(0);
  await world.addCluster(0, 'first');
  await world.addCluster(0, 'second', { clusterID: 'renamed', adoptionPolicy: 'MustExist' });
  // So that it is created at a whole second, which may be that of another cluster.
  await clock.advance(990);
  world.replica();
  await clock.advance(60_000);
  simulator.changeCluster('first', { id: 'renamed' });
  await clock.advance(1_800_000);
  expect([reason('first'), reason('second')]).toEqual(['ClusterMissing', 'ClusterIDClaimed']);
  const first = { namespace: 'shop', name: 'first' };
  await kube.patch(DATABASE_CLUSTERS, first, { metadata: { annotations: { [ABANDON]: 'true' } } });
  kube.remove(DATABASE_CLUSTERS, first);
  await clock.advance(15_000);
  expect(reason('first')).toBeUndefined();
  expect(reason('second')).not.toBe('ClusterIDClaimed');
});

test('A database is created again for another object once its own has let go of it, though a finalizer keeps that', async () => {
  const [, , given] = CASES;
  const { simulator, reason, create, remove } = await aWorldOf(given);
  await create('billing', { deletionPolicy: 'Delete' }, { finalizers: ['example.com/theirs'] });
  await create('shop');
  await remove('billing');
  expect(reason('shop')).toBe('DatabaseReady');
  expect(simulator.count('createDatabase')).toBe(2);
});

test.each(CASES)(
  'An object that comes second for a $what says how that is kept when the first is deleted',
  async (given) => {
    const { kube, create, reason } = await aWorldOf(given);
    await create('shop');
    await create('billing');
    expect(reason('billing')).toBe(given.reasons[1]);
    const second = kube.all(given.resource).find(({ metadata }) => metadata.namespace === 'billing');
    expect(readyIn(second)?.message).toMatch(
      /: delete this object, or set deletionPolicy: Retain on that one and delete it(, with which its connection Secret goes)?, or /,
    );
  },
);

test('A user that two objects may take over from now on is taken over by one of them only', async () => {
  const [, given] = CASES;
  const { kube, clock, simulator, network, reason, create } = await aWorldOf(given);
  await create('shop', { username: 'sales' }, { name: 'former' });
  kube.remove(given.resource, { namespace: 'shop', name: 'former' });
  await create('billing');
  await create('shop');
  expect([reason('billing'), reason('shop')]).toEqual(['UserExists', 'UserExists']);
  network.fault = async (_request, go) => {
    await sleep(clock, 100);
    return go();
  };
  const setBefore = simulator.count('updateUser');
  for (const namespace of ['billing', 'shop'])
    await kube.patch(given.resource, { namespace, name: 'sales' }, { spec: { adoptionPolicy: 'IfExists' } });
  await clock.advance(60_000);
  expect([reason('billing'), reason('shop')]).toEqual(['LoginWorks', 'UserClaimed']);
  expect(simulator.count('updateUser') - setBefore).toBe(1);
});

/** What becomes of the DatabaseSpace of an object that has a cluster. */
const SPACE_GOES = [
  {
    what: 'is gone',
    go: async ({ kube }: World) => kube.remove(DATABASE_SPACES, SPACE),
    back: async ({ kube }: World) => {
      const [again] = kube.all(DATABASE_SPACES);
      await kube.create(DATABASE_SPACES, 'shop', { ...again, metadata: { name: SPACE.name }, status: undefined });
    },
  },
  {
    what: 'names another address by now',
    go: async ({ kube }: World) =>
      void (await kube.patch(DATABASE_SPACES, SPACE, { spec: { baseURL: 'https://another.test' } })),
    back: async ({ kube, simulator }: World) =>
      void (await kube.patch(DATABASE_SPACES, SPACE, { spec: { baseURL: simulator.baseURL } })),
  },
] as const;

type World = Awaited<ReturnType<typeof aWorldOfOperators>>;

describe.each(SPACE_GOES)('A cluster whose DatabaseSpace $what', ({ go, back }) => {
  /** A world in which the object `sales` has a cluster, its space has gone, and another space `again` for the same place is there. */
  const aWorldWithout = async () => {
    const world = await aWorldOfOperators({ count: 1, initially: 0, shardBySpace: false });
    const { kube, clock } = world;
    await world.addSpace(0);
    const [production] = kube.all(DATABASE_SPACES);
    await kube.create(DATABASE_SPACES, 'shop', { ...production, metadata: { name: 'again' }, status: undefined });
    await world.addCluster(0, 'sales', { allowedNamespaces: { from: 'Same' } });
    world.replica();
    await clock.advance(60_000);
    await go(world);
    await clock.advance(60_000);
    const conditionOf = (name: string, resource = DATABASE_CLUSTERS) => {
      const found = kube.all(resource).find(({ metadata }) => metadata.name === name);
      return readyIn(found);
    };
    return { ...world, conditionOf };
  };

  it("stays its object's: no other object gets it, destroys it or counts it as nobody's", async () => {
    const world = await aWorldWithout();
    const { kube, clock, simulator, conditionOf } = world;
    const isThere = () => [...simulator.clusters()].some(({ id, gone }) => id === 'sales' && !gone);
    const thief = { clusterID: 'sales', spaceRef: { name: 'again' }, adoptionPolicy: 'MustExist' };
    await world.addCluster(0, 'thief', { ...thief, deletionPolicy: 'Delete' });
    await clock.advance(60_000);
    expect(conditionOf('thief')?.reason).toBe('ClusterIDClaimed');
    expect(conditionOf('thief')?.message).toContain('shop/sales');
    kube.remove(DATABASE_CLUSTERS, { namespace: 'shop', name: 'thief' });
    await clock.advance(60_000);
    expect([conditionOf('thief'), isThere()]).toEqual([undefined, true]);
    const again = kube.all(DATABASE_SPACES).find(({ metadata }) => metadata.name === 'again');
    expect(again?.['status']).toMatchObject({ clusters: { total: 1, managed: 1 } });
    await back(world);
    await clock.advance(120_000);
    expect(conditionOf('sales')?.reason).toBe('Running');
  });

  it('is free as soon as its object lets go of it', async () => {
    const world = await aWorldWithout();
    const { kube, clock, conditionOf } = world;
    await world.addCluster(0, 'heir', { clusterID: 'sales', spaceRef: { name: 'again' }, adoptionPolicy: 'MustExist' });
    await clock.advance(1_800_000);
    expect(conditionOf('heir')?.reason).toBe('ClusterIDClaimed');
    kube.remove(DATABASE_CLUSTERS, { namespace: 'shop', name: 'sales' });
    await clock.advance(15_000);
    expect(conditionOf('heir')?.reason).not.toBe('ClusterIDClaimed');
  });

  it('is not cloned by those whom its object does not admit', async () => {
    const world = await aWorldWithout();
    const { kube, clock, simulator } = world;
    const made = simulator.count('clone');
    const copy = cluster(
      { spaceRef: { name: 'again', namespace: 'shop' }, cloneFrom: { clusterID: 'sales' } },
      {},
      'copy',
    );
    await kube.patch(
      DATABASE_SPACES,
      { namespace: 'shop', name: 'again' },
      { spec: { allowedNamespaces: { from: 'All' } } },
    );
    await kube.create(DATABASE_CLUSTERS, 'billing', copy);
    await clock.advance(60_000);
    const found = kube.all(DATABASE_CLUSTERS).find(({ metadata }) => metadata.namespace === 'billing');
    expect(readyIn(found)?.reason).toBe('ClusterNotAllowed');
    expect(simulator.count('clone')).toBe(made);
  });
});
