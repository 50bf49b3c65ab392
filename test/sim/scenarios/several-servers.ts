import { ROTATE_AT } from '../../../src/kube/annotations.ts';
import { isReady, type Scenario, withUser } from '../scenario.ts';
import { electAnother, loseOne, reorder, replaceLost } from '../servers.ts';
import { USERS } from '../view.ts';
import type { World } from '../world.ts';

const SEVERAL = { serverCount: 3, version: '2.29.1' };
const REORDERED_EACH_MS = 45_000;
/** Servers come up one after the other, within this time. */
const LAG_MS = 90_000;

const endpointOf = ({ view }: World) => view.status().endpoint;
const isUserReady = (world: World) => isReady(world, 'app', USERS);
const hasRotated = (world: World) => world.view.status('app', USERS).lastHandledRotateAt === '1';

/** Reports whether the servers that the status and the user's Secret name exist, and the one in use runs. */
function isPublished(world: World): boolean {
  const { servers = [] } = world.view.cluster() ?? {};
  const { uri, addresses } = world.view.secret('app-connection') ?? {};
  const all = servers.map(({ address }) => address);
  return isServed(world) && uri === endpointOf(world) && addresses === all.sort().join(',');
}

function isServed(world: World): boolean {
  const { servers = [] } = world.view.cluster() ?? {};
  return servers.some(({ address, status }) => status === 'running' && `https://${address}` === endpointOf(world));
}

function ofOrders(world: World, work: typeof electAnother): void {
  const cluster = world.view.cluster();
  if (cluster !== undefined) world.others((simulator) => work(simulator, cluster));
}

/** Makes the cloud show the servers in a different order from time to time. */
function keepReordering(world: World): void {
  ofOrders(world, reorder);
  world.clock.after(REORDERED_EACH_MS, () => keepReordering(world));
}

/** Scenarios of clusters with several servers: one takes changes, and others may come and go. */
export const SEVERAL_SERVERS: readonly Scenario[] = [
  {
    name: 'servers-come-up-late',
    dialect: 'field',
    hasSeveral: true,
    prepare: async ({ simulator }) => simulator.setKnobs({ serverLagMs: [0, LAG_MS] }),
    act: ({ people }) => people.createCluster(SEVERAL),
    ends: (world) => isReady(world) && isServed(world),
  },
  {
    name: 'primary-moves',
    dialect: 'field',
    hasSeveral: true,
    prepare: (world) => withUser(world, SEVERAL),
    act: async (world) => {
      ofOrders(world, electAnother);
      await world.people.edit({ annotations: { [ROTATE_AT]: '1' } }, 'app', USERS);
    },
    ends: (world) => isReady(world) && isUserReady(world) && hasRotated(world) && isPublished(world),
  },
  {
    name: 'servers-in-any-order',
    dialect: 'field',
    hasSeveral: true,
    prepare: async (world) => {
      await withUser(world, SEVERAL);
      keepReordering(world);
    },
    act: async (world) => {
      ofOrders(world, loseOne);
      // Another server, or the lost one if the cluster was suspended and resumed meanwhile, after which all its servers run.
      await world.wait(() => isPublished(world), 'a running server is in use');
      ofOrders(world, replaceLost);
    },
    ends: (world) => isReady(world) && isUserReady(world) && isPublished(world),
  },
];
