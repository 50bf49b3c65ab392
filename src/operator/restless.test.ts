import { expect, test, vi } from 'vitest';
import { aWorldOfOperators } from '../../test/support/operators.ts';
import { DATABASE_SPACES } from '../kinds/databasespace/resource.ts';

vi.setConfig({ testTimeout: 60_000 });

test('A process that finds stalled spaces looks at them at once, as their clusters run and must stay Ready', async () => {
  const count = 8;
  const world = await aWorldOfOperators({ count, shardBySpace: false });
  const first = world.replica();
  await world.clock.advance(120_000);
  for (const name of world.names) {
    const apiTokens = [
      { level: 'write', secretRef: { name: `token-${name}` } },
      { level: 'admin', secretRef: { name: `token-${name}`, clientIDKey: 'clientSecret' } },
    ];
    await world.kube.patch(DATABASE_SPACES, { namespace: 'shop', name }, { spec: { apiTokens } });
  }
  await world.clock.advance(3_600_000);
  const reasons = world.unwell().map((event) => event['reason']);
  expect(reasons.filter((reason) => reason === 'CredentialsInvalid')).toHaveLength(count);
  first.stop.abort();
  await world.clock.advance(10_000);
  const second = world.replica();
  await world.clock.advance(30_000);
  const looked = world.calls.filter((call) => call.replica === second.number).map((call) => call.space);
  expect([new Set(looked).size, new Set(world.readiness())]).toEqual([count, new Set(['True Running'])]);
});

test('A process that was started with other flags tries at once what the flags of the former one refused', async () => {
  const count = 8;
  const world = await aWorldOfOperators({ count, initially: 0, shardBySpace: false });
  for (let index = 0; index < count; index++) {
    await world.addSpace(index, { serverURL: 'http://{host}:{port}' });
    await world.addCluster(index);
  }
  const refused = new Set(['False ServerURLNotAllowed']);
  const first = world.replica();
  await world.clock.advance(3_600_000);
  expect(new Set(world.readiness())).toEqual(refused);
  first.stop.abort();
  await world.clock.advance(10_000);
  world.replica({ allowHTTP: true });
  await world.clock.advance(30_000);
  expect(world.readiness().filter((text) => refused.has(text))).toEqual([]);
});

test('A process finds at once what a List shows of clusters that were stalled, and does not ask for those that it does not show', async () => {
  const world = await aWorldOfOperators({ count: 1, initially: 0, shardBySpace: false });
  const { clock, simulator } = world;
  await world.addSpace(0);
  const names = Array.from({ length: 16 }, (_, index) => `orders-${index}`);
  const appearing = names.slice(0, 8);
  for (const name of names) await world.addCluster(0, name, { adoptionPolicy: 'MustExist' });
  const first = world.replica();
  await clock.advance(3_600_000);
  const notFound = () => world.readiness().filter((text) => text === 'False ClusterNotFound').length;
  expect(notFound()).toBe(names.length);
  first.stop.abort();
  await clock.advance(10_000);
  for (const id of appearing) simulator.deployForeign({ id, spaceID: 'space-0' });
  simulator.resetCounters();
  world.replica();
  await clock.advance(5_000);
  expect(notFound()).toBe(names.length - appearing.length);
  expect(names.filter((name) => !appearing.includes(name) && simulator.count('get', name) > 0)).toEqual([]);
});
