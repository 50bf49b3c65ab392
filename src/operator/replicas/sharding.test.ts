import { expect, test, vi } from 'vitest';
import { cluster, space } from '../../../test/support/manifests.ts';
import { aWorldOfOperators } from '../../../test/support/operators.ts';
import { DATABASE_CLUSTERS } from '../../kinds/databasecluster/resource.ts';
import { DATABASE_SPACES } from '../../kinds/databasespace/resource.ts';
import { EVENTS } from '../../kube/api.ts';

// The time of several operators, in minutes.
vi.setConfig({ testTimeout: 30_000 });

/** Eight spaces with a cluster each, and any number of replicas that share them. */
const aWorld = () => aWorldOfOperators({ count: 8 });

type World = Awaited<ReturnType<typeof aWorld>>;

async function settled(world: World, replicas: number) {
  const all = Array.from({ length: replicas }, () => world.replica());
  await world.clock.runUntil(world.isReady, 'all clusters are Ready', 600_000);
  await world.clock.advance(180_000);
  return all;
}

/** For each space, the order in which replicas had it: nobody asks about a space of another. */
function turnsOf(world: World, name: string): readonly number[] {
  const turns: number[] = [];
  for (const { replica } of world.calls.filter((call) => call.space === name))
    if (turns.at(-1) !== replica) turns.push(replica);
  return turns;
}

test.each([1, 2, 3])('%d replicas share the spaces, and bring everything to its desired state', async (count) => {
  const world = await aWorld();
  await settled(world, count);
  const owners = [...world.owners().values()];
  expect(owners.every((each) => each.length === 1)).toBe(true);
  expect(new Set(owners.flat()).size).toBe(count);
  expect(world.simulator.count('deploy')).toBe(world.names.length);
  expect(world.unwell()).toEqual([]);
});

test('A replica that stops leaves its spaces to the others, which keep theirs; every cluster stays Ready', async () => {
  const world = await aWorld();
  const [one, , three] = await settled(world, 3);
  const before = world.owners();
  const events = world.kube.all(EVENTS).length;
  three?.stop.abort();
  await world.clock.advance(180_000);
  expect(three?.state.ended).toBe('well');
  const after = world.owners();
  for (const name of world.names) {
    const [[had], [has]] = [before.get(name) ?? [], after.get(name) ?? []];
    expect(has === had || had === three?.number, name).toBe(true);
    expect(has, name).not.toBe(three?.number);
  }
  one?.stop.abort();
  await world.clock.advance(180_000);
  expect(new Set([...world.owners().values()].flat())).toEqual(new Set([1]));
  expect([world.kube.all(EVENTS).length, world.isReady()]).toEqual([events, true]);
});

test('A new replica takes over spaces after the others release them, and writes nothing if all is well', async () => {
  const world = await aWorld();
  await settled(world, 2);
  const before = world.owners();
  world.writes.length = 0;
  const three = world.replica();
  await world.clock.advance(300_000);
  const after = world.owners();
  const taken = world.names.filter((name) => after.get(name)?.[0] === three.number);
  expect(taken.length).toBeGreaterThan(0);
  for (const name of world.names) if (!taken.includes(name)) expect(after.get(name)).toEqual(before.get(name));
  for (const name of taken) expect(turnsOf(world, name).slice(-2)).toEqual([before.get(name)?.[0], three.number]);
  expect(world.writes).toEqual([]);
  expect(world.isReady()).toBe(true);
});

test('A replica that was frozen past its Lease finds its spaces taken, changes nothing and ends', async () => {
  const world = await aWorld();
  const [one, two] = await settled(world, 2);
  two?.clock.freeze();
  await world.clock.advance(180_000);
  expect(new Set([...world.owners().values()].flat())).toEqual(new Set([one?.number]));
  const [calls, writes] = [world.calls.length, world.writes.length];
  two?.clock.thaw();
  await world.clock.advance(60_000);
  expect(world.calls.slice(calls).filter(({ replica, method }) => replica === two?.number && method !== 'GET')).toEqual(
    [],
  );
  expect(world.writes.slice(writes).filter(({ replica }) => replica === two?.number)).toEqual([]);
  expect(two?.state.ended).toBeInstanceOf(Error);
});

test('A space that is created later, and a cluster in it, are handled by one replica', async () => {
  const world = await aWorld();
  await settled(world, 3);
  await world.kube.create(DATABASE_CLUSTERS, 'shop', cluster({ spaceRef: { name: 'late' } }, {}, 'late'));
  await world.clock.advance(60_000);
  const spec = {
    spaceID: 'space-7',
    apiTokens: [{ level: 'admin', secretRef: { name: 'token-space-7' } }],
    serverURL: 'https://{host}:{port}',
  };
  const late = { ...space({ baseURL: `${world.simulator.baseURL}/` }, spec), metadata: { name: 'late' } };
  await world.kube.create(DATABASE_SPACES, 'shop', late);
  await world.clock.advance(60_000);
  expect(world.isReady()).toBe(true);
  // It is the same space in the cloud as another object's, so it has the same owner.
  expect(world.owners().get('space-7')).toHaveLength(1);
});

test.each([3_000, 15_000])('Spaces that were created %d ms before a new replica are listed by only one', async (ms) => {
  const world = await aWorldOfOperators({ count: 16, initially: 4 });
  world.replica();
  await world.clock.advance(120_000);
  for (let index = 4; index < 16; index++) await world.addSpace(index);
  await world.clock.advance(ms);
  world.replica();
  await world.clock.advance(180_000);
  const owners = [...world.owners().values()];
  expect([owners.every((each) => each.length === 1), new Set(owners.flat()).size]).toEqual([true, 2]);
});

test('A replica on its own says nothing about others when objects are created', async () => {
  const world = await aWorldOfOperators({ count: 2, initially: 1 });
  const { logged } = world.replica();
  await world.clock.advance(120_000);
  logged.length = 0;
  await world.addSpace(1);
  await world.addCluster(1);
  await world.clock.advance(120_000);
  expect(logged.filter((line) => line.includes('other replicas'))).toEqual([]);
});

test('Nobody asks about a space after it is gone', async () => {
  const world = await aWorld();
  await settled(world, 3);
  for (const index of world.names.keys())
    world.kube.remove(DATABASE_CLUSTERS, { namespace: 'shop', name: `orders-${index}` });
  for (const name of world.names) world.kube.remove(DATABASE_SPACES, { namespace: 'shop', name });
  await world.clock.advance(60_000);
  expect([world.kube.all(DATABASE_CLUSTERS), world.kube.all(DATABASE_SPACES)]).toEqual([[], []]);
  const asked = world.calls.length;
  await world.clock.advance(300_000);
  expect(world.calls.length).toBe(asked);
});
