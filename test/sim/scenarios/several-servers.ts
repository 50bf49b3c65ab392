import { ROTATE_AT } from '../../../src/kinds/rotation.ts';
import { MINUTE_MS } from '../people.ts';
import { isReady, running, type Scenario } from '../scenario.ts';
import { electAnother, loseOne, reorder } from '../servers.ts';
import { USERS } from '../view.ts';
import type { World } from '../world.ts';

const SEVERAL = { serverCount: 3, version: '2.29.1' };
const REORDERED_EACH_MS = 20_000;
/** Servers come up one after the other, within this time. */
const LAG_MS = 90_000;

const endpointOf = ({ view }: World) => view.status().endpoint;
const hasRotated = (world: World) => world.view.status().lastHandledRotateAt === '1';
const isUserReady = (world: World) => isReady(world, 'app', USERS);
/** What is published names the server that is worked with. */
const isPublished = (world: World) =>
  isUserReady(world) && world.view.secret('app-connection')?.['uri'] === endpointOf(world);
const isServed = (world: World) => {
  const cluster = world.view.cluster();
  return cluster?.servers.some(
    ({ address, status }) => status === 'running' && `https://${address}` === endpointOf(world),
  );
};
const createUser = ({ people }: World) => people.create(USERS, 'app', { clusterRef: { name: 'orders' } });

function ofOrders(world: World, work: typeof electAnother): void {
  const cluster = world.view.cluster();
  if (cluster !== undefined) world.others((simulator) => work(simulator, cluster));
}

/** The cloud shows the servers in another order each time, from now on. */
function keepReordering(world: World): void {
  ofOrders(world, reorder);
  world.clock.after(REORDERED_EACH_MS, () => keepReordering(world));
}

async function withUser(world: World): Promise<void> {
  await running(world, SEVERAL);
  await createUser(world);
  await world.until(() => isUserReady(world), 'app is Ready');
}

/** Clusters of several servers, of which one takes changes, and others may come and go. */
export const SEVERAL_SERVERS: readonly Scenario[] = [
  {
    name: 'servers-come-up-late',
    dialect: 'field',
    hasSeveral: true,
    prepare: async ({ simulator }) => simulator.setKnobs({ serverLagMs: [0, LAG_MS] }),
    act: ({ people }) => people.createCluster(SEVERAL),
    ends: (world) => isReady(world) && isServed(world) === true,
  },
  {
    name: 'primary-moves',
    dialect: 'field',
    hasSeveral: true,
    prepare: withUser,
    act: async (world) => {
      ofOrders(world, electAnother);
      await world.people.edit({ annotations: { [ROTATE_AT]: '1' } });
      await world.wait(() => hasRotated(world) && isPublished(world), 'the primary has the new password');
    },
    ends: (world) => isReady(world) && hasRotated(world) && isPublished(world) && isServed(world) === true,
  },
  {
    name: 'servers-in-any-order',
    hasSeveral: true,
    prepare: (world) => running(world, SEVERAL),
    act: async (world) => {
      keepReordering(world);
      await createUser(world);
      const before = endpointOf(world);
      const cluster = world.view.cluster();
      if (cluster === undefined) return;
      let comeBack = () => {};
      ofOrders(world, (simulator) => {
        comeBack = loseOne(simulator, cluster);
      });
      await world.wait(() => isPublished(world) && endpointOf(world) !== before, 'another server is worked with');
      await world.clock.advance(MINUTE_MS);
      world.others(comeBack);
    },
    ends: (world) => isReady(world) && isPublished(world) && isServed(world) === true,
  },
];
