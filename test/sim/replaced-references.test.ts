import { expect, test } from 'vitest';
import { type Resource, SECRETS } from '../../src/kube/api.ts';
import { isReady } from './scenario.ts';
import { CLUSTERS, CONFIG_MAPS, DATABASES, SPACES, USERS } from './view.ts';
import { World } from './world.ts';

const STEP_MS = 250;
const OBJECTS: readonly (readonly [string, Resource])[] = [
  ['production', SPACES],
  ['orders', CLUSTERS],
  ['app', USERS],
  ['sales', DATABASES],
];
const CONTENTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'sales-schema': { base: 'define attribute name, value string;' },
  'app-own': { password: 'a-password-of-their-own' },
  'cloud-write': { clientID: 'write-id', clientSecret: 'write-secret-0123456789' },
  'factory-login': { username: 'admin', password: 'password' },
};

async function aHousehold(): Promise<World> {
  const world = new World();
  const { people } = world;
  await world.start();
  await put(world, CONFIG_MAPS, 'sales-schema');
  await put(world, SECRETS, 'app-own');
  await people.createCluster();
  await people.create(USERS, 'app', { clusterRef: { name: 'orders' }, passwordSecretRef: { name: 'app-own' } });
  const schema = [{ configMapKeyRef: { name: 'sales-schema', key: 'base' } }];
  await people.create(DATABASES, 'sales', { clusterRef: { name: 'orders' }, schema });
  await world.until(() => OBJECTS.every(([name, kind]) => isReady(world, name, kind)), 'all are Ready');
  return world;
}

async function put({ people }: World, resource: Resource, name: string): Promise<void> {
  const contents = CONTENTS[name] ?? {};
  await (resource === SECRETS ? people.putSecret(name, contents) : people.putConfigMap(name, contents));
}

/** Returns what Ready of all objects said in this time. */
async function readyFor(world: World, ms: number): Promise<ReadonlySet<string>> {
  const said = new Set<string>();
  for (let passedMs = 0; passedMs < ms; passedMs += STEP_MS) {
    await world.clock.advance(STEP_MS);
    for (const [name, kind] of OBJECTS) said.add(`${name} ${world.view.ready(name, kind)}`);
  }
  return said;
}

const ALL_READY = [
  'production True Observed',
  'orders True Running',
  'app True LoginWorks',
  'sales True DatabaseReady',
];

test.each<[string, Resource, string, string]>([
  ['a ConfigMap with a schema', CONFIG_MAPS, 'sales-schema', 'sales Unknown ConfigMapNotFound'],
  ["a Secret with a user's own password", SECRETS, 'app-own', 'app Unknown SecretNotFound'],
  ['a Secret with an API token', SECRETS, 'cloud-write', 'production Unknown SecretNotFound'],
  ['a Secret with the factory login', SECRETS, 'factory-login', 'production Unknown SecretNotFound'],
])(
  '%s that is deleted and created again within seconds is no news; one that stays away is',
  async (_, resource, name, missing) => {
    const world = await aHousehold();
    for (let times = 0; times < 3; times++) {
      world.people.remove(name, resource);
      const away = await readyFor(world, 3_000);
      await put(world, resource, name);
      const back = await readyFor(world, 20_000);
      expect([...new Set([...away, ...back])]).toEqual(ALL_READY);
    }
    world.people.remove(name, resource);
    expect([...(await readyFor(world, 4_000))]).toEqual(ALL_READY);
    expect([...(await readyFor(world, 4_000))]).toContain(missing);
    await put(world, resource, name);
    await readyFor(world, 5_000);
    expect([...(await readyFor(world, 5_000))]).toEqual(ALL_READY);
    expect(world.invariants.violations).toEqual([]);
    world.stop();
  },
);

test('What is on a server hears that the DatabaseSpace is there again, even if that cannot be connected', async () => {
  const world = await aHousehold();
  const { people, view } = world;
  const told = () => [view.ready('app', USERS), view.ready('sales', DATABASES)];
  const { spec } = view.object('production', SPACES) ?? {};
  await people.edit({ spec: { serverURL: 'not a URL' } }, 'production', SPACES);
  await people.edit({ annotations: { 'mooring.dev/paused': 'true' } });
  people.remove('production', SPACES);
  people.remove('orders');
  const isGone = () => view.object('production', SPACES) === undefined;
  await world.until(isGone, 'the space is gone');
  await world.clock.advance(1_000);
  expect(told()).toEqual(Array(2).fill('Unknown ClusterDeleting'));
  await people.create(SPACES, 'production', { ...(spec as object), serverURL: 'not a URL' });
  await world.clock.advance(5_000);
  expect(told()).toEqual(Array(2).fill('Unknown WaitingForCluster'));
  expect(world.invariants.violations).toEqual([]);
  world.stop();
});
