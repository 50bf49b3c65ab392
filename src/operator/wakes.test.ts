import { expect, it } from 'vitest';
import { user } from '../../test/support/manifests.ts';
import { aWorldOfOperators, readyIn } from '../../test/support/operators.ts';
import { HttpError } from '../base/transport.ts';
import { DATABASE_CLUSTERS } from '../kinds/databasecluster/resource.ts';
import { DATABASE_SPACES } from '../kinds/databasespace/resource.ts';
import { DATABASE_USERS } from '../kinds/databaseuser/resource.ts';
import { type Resource, SECRETS } from '../kube/api.ts';

/* Who looks at once when something else changes, rather than when its own time comes. */

const base64 = (text: string) => Buffer.from(text).toString('base64');

/** A space, its cluster `orders-0`, and a user on it with a person's own password, all Ready. */
async function aQuietWorld() {
  const world = await aWorldOfOperators({ count: 1, initially: 0, shardBySpace: false });
  const { kube, clock } = world;
  await world.addSpace(0, { verifyInterval: '0s' });
  await world.addCluster(0, 'orders-0', { deletionPolicy: 'Delete' });
  await kube.create(SECRETS, 'shop', { metadata: { name: 'mine' }, data: { password: base64('first') } });
  const own = { clusterRef: { name: 'orders-0' }, passwordSecretRef: { name: 'mine' } };
  await kube.create(DATABASE_USERS, 'shop', user(own));
  world.replica();
  await clock.advance(120_000);
  const of = (resource: Resource, name: string) =>
    kube.all(resource, 'shop').find(({ metadata }) => metadata.name === name);
  const remove = async (resource: Resource, name: string) =>
    kube.delete(resource, { namespace: 'shop', name }, { uid: of(resource, name)?.metadata.uid ?? '' });
  expect([readyIn(of(DATABASE_USERS, 'app'))?.reason, world.isReady()]).toEqual(['LoginWorks', true]);
  return { ...world, of, remove };
}

it("A user takes over a person's own password as soon as its Secret changes", async () => {
  const { kube, clock, simulator } = await aQuietWorld();
  await kube.patch(SECRETS, { namespace: 'shop', name: 'mine' }, { data: { password: base64('second') } });
  await clock.advance(5_000);
  expect(simulator.passwordIs('orders-0', 'app', 'second')).toBe(true);
});

it('A cluster looks at its login as soon as that is refused to one of its users', async () => {
  const { kube, clock, simulator, readiness } = await aQuietWorld();
  simulator.setPassword('orders-0', 'admin', 'changed elsewhere');
  simulator.restartServers('orders-0');
  await clock.advance(20_000);
  expect(readiness()).toEqual(['True Running']);
  await kube.patch(SECRETS, { namespace: 'shop', name: 'mine' }, { data: { password: base64('second') } });
  await clock.advance(5_000);
  expect(readiness()).toEqual(['False AdminLoginRefused']);
});

it('A cluster is destroyed as soon as the last user that goes with it is gone, and then its space goes', async () => {
  const { clock, simulator, network, of, remove } = await aQuietWorld();
  network.fault = async (request, go) => {
    if (request.method === 'DELETE') throw new HttpError('unreachable', 'The server is away');
    return go();
  };
  for (const [resource, name] of [
    [DATABASE_USERS, 'app'],
    [DATABASE_CLUSTERS, 'orders-0'],
    [DATABASE_SPACES, 'space-0'],
  ] as const)
    await remove(resource, name);
  await clock.advance(30_000);
  expect([simulator.count('destroy'), of(DATABASE_USERS, 'app')]).toEqual([0, expect.anything()]);
  network.fault = undefined;
  await clock.runUntil(() => of(DATABASE_USERS, 'app') === undefined, 'the user goes', 60_000);
  await clock.advance(2_000);
  expect(simulator.count('destroy')).toBe(1);
  await clock.runUntil(() => of(DATABASE_CLUSTERS, 'orders-0') === undefined, 'the cluster goes', 60_000);
  await clock.advance(2_000);
  expect(of(DATABASE_SPACES, 'space-0')).toBeUndefined();
});

it.each(['token-space-0', 'factory-login'])('A space goes on as soon as its Secret %s is there again', async (name) => {
  const world = await aWorldOfOperators({ count: 1, initially: 0, shardBySpace: false });
  const { kube, clock } = world;
  await world.addSpace(0);
  world.replica();
  await clock.advance(60_000);
  const data = kube.all(SECRETS).find(({ metadata }) => metadata.name === name)?.['data'];
  const isReady = () => readyIn(kube.all(DATABASE_SPACES)[0])?.status === 'True';
  kube.remove(SECRETS, { namespace: 'shop', name });
  await clock.advance(3_600_000);
  expect(isReady()).toBe(false);
  await kube.create(SECRETS, 'shop', { metadata: { name }, data });
  await clock.advance(5_000);
  expect(isReady()).toBe(true);
});
