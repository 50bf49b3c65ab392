import { expect, test } from 'vitest';
import { KubeError, SECRETS } from '../../src/kube/api.ts';
import { CLUSTER_SPEC } from '../support/specs.ts';
import { isReady, running } from './scenario.ts';
import { SPACES, specOf } from './view.ts';
import { World } from './world.ts';

const SECOND_MS = 1_000;
/** A DatabaseSpace for the same place as `production`, with a token Secret of its own. */
const AGAIN = 'again';

/** A world with the running cluster `orders`, and two DatabaseSpaces for its place. */
async function connectedTwice() {
  const world = new World({ scenario: 'same-place', strikes: [] });
  const { people, view } = world;
  await world.start();
  await running(world, { deletionPolicy: 'Delete' });
  await people.putSecret(AGAIN, { clientID: 'admin-id', clientSecret: 'admin-secret-0123456789' });
  const [production] = view.objects(SPACES);
  if (production === undefined) throw new Error('There is no space');
  const apiTokens = [{ level: 'admin', secretRef: { name: AGAIN } }];
  await people.create(SPACES, AGAIN, { ...specOf(production), apiTokens });
  await world.until(() => view.ready(AGAIN, SPACES).startsWith('True'), 'the other space is Ready');
  return world;
}

/** The same after a restart, when only the other space can be connected. */
async function halfConnected() {
  const world = await connectedTwice();
  const { clock, kube, people, view } = world;
  const link = { isCut: true };
  const get = kube.get.bind(kube);
  kube.get = async (resource, ref) => {
    if (link.isCut && resource === SECRETS && ref.name.startsWith('cloud-'))
      throw new KubeError('etcdserver: leader changed', { status: 500, reason: 'InternalError' });
    return get(resource, ref);
  };
  // The process dies before its next effect.
  world.beginCounting();
  world.chance = () => {
    world.chance = undefined;
    return 'crashBefore';
  };
  await people.edit({ annotations: { 'mooring.dev/rotate-at': '1' } });
  await clock.advance(30 * SECOND_MS);
  expect(world.trace.some((line) => line.endsWith('process 2 starts'))).toBe(true);
  return { world, link, view, people, clock };
}

test('A cluster that its object releases is free at once for an object of another DatabaseSpace for the same place', async () => {
  const world = await connectedTwice();
  const { clock, people, view } = world;
  await people.createCluster({ spaceRef: { name: AGAIN }, clusterID: 'orders', adoptionPolicy: 'MustExist' }, 'heir');
  // So that the space of the first is still needed.
  await people.createCluster({ deletionPolicy: 'Delete' }, 'bills');
  await clock.advance(600 * SECOND_MS);
  expect(view.ready('heir')).toBe('False ClusterIDClaimed');
  await people.edit({ spec: { deletionPolicy: 'Retain' } });
  const cluster = view.cluster();
  if (cluster !== undefined) world.invariants.mayBeAdopted(cluster);
  people.remove('orders');
  await world.wait(() => view.ready() === 'gone', 'the object is gone');
  // It was given no login.
  await world.wait(() => view.ready('heir') === 'False DefaultLoginRefused', 'it has the cluster', 5 * SECOND_MS);
  expect([cluster?.status, world.invariants.violations]).toEqual(['running', []]);
  world.stop();
});

test("A cluster that another object has recorded is not adopted while that object's DatabaseSpace is not connected", async () => {
  const { world, link, people, view, clock } = await halfConnected();
  const thief = {
    spaceRef: { name: AGAIN },
    clusterID: 'orders',
    adoptionPolicy: 'IfExists',
    deletionPolicy: 'Delete',
  };
  await people.createCluster(thief, 'thief');
  await clock.advance(120 * SECOND_MS);
  expect([view.ready('thief'), view.status('thief').createdAt]).toEqual(['False ClusterIDClaimed', undefined]);
  people.remove('thief');
  await world.until(() => view.ready('thief') === 'gone', 'the other object is gone');
  link.isCut = false;
  await world.until(() => isReady(world) && view.status().lastHandledRotateAt === '1', 'orders goes on');
  expect([view.cluster()?.status, world.invariants.violations]).toEqual(['running', []]);
  world.stop();
});

test.each([['storageSizeGB'], ['clusterID'], ['deletionPolicy']])(
  'A cluster still belongs to its object, and nobody else adopts it, when %s of the object can no longer be read',
  async (field) => {
    const world = new World({ scenario: 'same-place', strikes: [] });
    const { clock, people, view } = world;
    await world.start();
    await running(world);
    await people.edit({ spec: { [field]: ['from a time', 'with other rules'] } });
    await world.until(() => view.ready() === 'False InvalidSpec', 'the spec cannot be read');
    await people.createCluster({ clusterID: 'orders', adoptionPolicy: 'IfExists', deletionPolicy: 'Delete' }, 'thief');
    await clock.advance(120 * SECOND_MS);
    expect([view.ready('thief'), view.status('thief').createdAt]).toEqual(['False ClusterIDClaimed', undefined]);
    people.remove('thief');
    await world.until(() => view.ready('thief') === 'gone', 'the other object is gone');
    await people.edit({ spec: { [field]: null, ...CLUSTER_SPEC } });
    await world.until(() => isReady(world), 'orders goes on');
    expect([view.cluster()?.status, world.invariants.violations]).toEqual(['running', []]);
    world.stop();
  },
);

test('A cluster is cloned through another DatabaseSpace for its place, although that of its object is not connected', async () => {
  const { world, people, view } = await halfConnected();
  await people.createCluster({ spaceRef: { name: AGAIN }, cloneFrom: { clusterRef: { name: 'orders' } } }, 'copy');
  await world.until(() => view.cluster('copy') !== undefined, 'it is cloned');
  expect(world.invariants.violations).toEqual([]);
  world.stop();
});
