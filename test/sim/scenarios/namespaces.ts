import { isReady, type Scenario } from '../scenario.ts';
import { DATABASES, USERS } from '../view.ts';
import type { World } from '../world.ts';

/* A space in `platform`, a cluster on it in `shop`, a user and a database on that in `app`. */

const USER = 'app/reader';
const DATABASE = 'app/sales';
/** A DatabaseCluster of the same name in another namespace, with a DatabaseUser and a user of the same names. */
const NAMESAKE = 'platform/orders';
const USER_OF_NAMESAKE = 'platform/reader';

const subject = { resource: USERS, name: USER };
const spaceRef = { name: 'preview', namespace: 'platform' };
const clusterRef = { name: 'orders', namespace: 'shop' };
const admitting = (...teams: readonly string[]) => ({
  allowedNamespaces: {
    from: 'Selector',
    selector: { matchExpressions: [{ key: 'team', operator: 'In', values: teams }] },
  },
});
const granted = admitting('app');
const withdrawn = { allowedNamespaces: { from: 'Same', selector: null } };

const hasRotated = ({ view }: World) => view.status(USER, USERS).lastHandledRotateAt === '1';
const hasUser = ({ view }: World) => view.cluster()?.database.users.has('reader') ?? false;
const hasDatabase = ({ view }: World) => view.cluster()?.database.databases.has('sales') ?? false;
const works = ({ simulator, view }: World, cluster: string, name: string) =>
  simulator.passwordIs(cluster, 'reader', view.secret(`${name}-connection`)?.['password'] ?? '');
const isThere = (world: World) => hasDatabase(world) && works(world, 'orders', USER);
const isServed = (world: World) => isReady(world, USER, USERS) && isReady(world, DATABASE, DATABASES) && isThere(world);
const isRefused = ({ view }: World) =>
  [view.ready(USER, USERS), view.ready(DATABASE, DATABASES)].every((ready) => ready === 'False ClusterNotAllowed');
const isNamesakeServed = (world: World) =>
  isReady(world, USER_OF_NAMESAKE, USERS) && works(world, 'namesake', USER_OF_NAMESAKE);

async function served(world: World, deletionPolicy = 'Retain'): Promise<void> {
  const { people } = world;
  for (const name of ['platform', 'shop', 'app']) people.createNamespace(name, { team: name });
  await people.createSpace('platform/preview', admitting('shop'));
  await people.createCluster({ spaceRef, deletionPolicy, ...granted });
  await people.create(USERS, USER, { clusterRef });
  await people.create(DATABASES, DATABASE, { clusterRef, deletionPolicy: 'Delete' });
  await world.until(() => isServed(world), 'user and database are Ready');
}

async function servedBesideNamesake(world: World): Promise<void> {
  const { people } = world;
  await served(world);
  await people.createCluster({ spaceRef: { name: 'preview' }, clusterID: 'namesake' }, NAMESAKE);
  await people.create(USERS, USER_OF_NAMESAKE, { clusterRef: { name: 'orders' } });
  await world.until(() => isNamesakeServed(world), 'the user of the same name is Ready');
}

/** Withdraws the grant. Then the tenant asks for a rotation, which must wait until it is admitted again. */
async function withdraw(world: World): Promise<void> {
  await world.people.edit({ spec: withdrawn });
  await world.wait(() => isRefused(world), 'user and database are refused');
  await world.people.edit({ annotations: { 'mooring.dev/rotate-at': '1' } }, USER, USERS);
}

/** Scenarios of objects that are used from another namespace, as long as it is admitted and both namespaces exist. */
export const NAMESPACES_APART: readonly Scenario[] = [
  {
    name: 'grant-withdrawn',
    subject,
    prepare: servedBesideNamesake,
    act: withdraw,
    ends: (world) => isRefused(world) && !hasRotated(world) && isThere(world) && isNamesakeServed(world),
    never: /^(?:PUT|POST|DELETE) \/v1\/(?!signin)/,
  },
  {
    name: 'granted-again',
    subject,
    prepare: async (world) => {
      await served(world);
      await withdraw(world);
    },
    act: ({ people }) => people.edit({ spec: granted }),
    ends: (world) => isServed(world) && hasRotated(world),
  },
  {
    // What the tenant has elsewhere is deleted as soon as the grant allows it.
    name: 'tenant-namespace-deleted',
    subject,
    prepare: async (world) => {
      await served(world);
      await withdraw(world);
    },
    act: async (world) => {
      world.people.terminate('app');
      await world.wait(
        () => world.view.ready(USER, USERS) === 'False DeletionBlocked',
        'the deletion of the user is blocked',
      );
      await world.people.edit({ spec: granted });
    },
    ends: (world) => world.view.isEmpty('app') && isReady(world) && !hasDatabase(world) && !hasUser(world),
  },
  {
    // The space stays, with the tokens that destroying the cluster needs.
    name: 'owner-namespace-deleted',
    subject,
    prepare: (world) => served(world, 'Delete'),
    act: async ({ people }) => people.terminate('shop'),
    ends: ({ view }) =>
      view.isEmpty('shop') && view.cluster() === undefined && view.ready(USER, USERS) === 'Unknown ClusterNotFound',
  },
];
