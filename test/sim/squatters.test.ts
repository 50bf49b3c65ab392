import { expect, test } from 'vitest';
import { foreign, isReady } from './scenario.ts';
import { SPACES, specOf } from './view.ts';
import { World } from './world.ts';

const SECOND_MS = 1_000;
/** A DatabaseSpace of another namespace, for the same place as `production`. */
const SQUAT = 'mallory/squat';

/** A world where a space in another namespace names the place of `production`, with a token that the cloud accepts or refuses. */
async function named(clientSecret: string) {
  const world = new World({ scenario: 'squatters', strikes: [] });
  const { people, view } = world;
  await world.start();
  await people.putSecret('mallory/token', { clientID: 'admin-id', clientSecret });
  await people.putSecret('mallory/factory-login', { username: 'admin', password: 'password' });
  const [production] = view.objects(SPACES);
  if (production === undefined) throw new Error('There is no space');
  const apiTokens = [{ level: 'admin', secretRef: { name: 'token' } }];
  await people.create(SPACES, SQUAT, { ...specOf(production), apiTokens });
  await people.createCluster({ spaceRef: { name: 'squat' }, clusterID: 'orders' }, 'mallory/first');
  return world;
}

test('Somebody who cannot reach the place does not take an id by asking for it', async () => {
  const world = await named('wrong-secret-0123456789');
  const { clock, view } = world;
  await clock.advance(30 * SECOND_MS);
  expect([view.ready(SQUAT, SPACES), view.ready('mallory/first')]).toEqual([
    'False CredentialsInvalid',
    'Unknown WaitingForSpace',
  ]);
  await world.people.createCluster();
  await world.until(() => isReady(world), 'orders is Ready');
  expect(world.invariants.violations).toEqual([]);
  world.stop();
});

test('If the cloud accepts the tokens of both, the first one who asks for an id gets it', async () => {
  const world = await named('admin-secret-0123456789');
  await world.until(() => isReady(world, 'mallory/first'), 'the first has it');
  await world.people.createCluster();
  await world.until(() => world.view.ready() === 'False ClusterIDClaimed', 'orders is told so');
  expect(world.invariants.violations).toEqual([]);
  world.stop();
});

test('A cluster without an object is shown, even if somebody who cannot reach the place wants its id', async () => {
  const world = await named('wrong-secret-0123456789');
  const { clock, view } = world;
  foreign(world, 'orders');
  await clock.advance(120 * SECOND_MS);
  expect(view.object('production', SPACES)?.['status']).toMatchObject({
    clusters: { total: 1, managed: 0 },
    unmanagedClusters: [{ clusterID: 'orders' }],
  });
  world.stop();
});
