import { SECRETS } from '../../../src/kube/api.ts';
import { TURNS } from '../faults.ts';
import { isReady, type Scenario } from '../scenario.ts';
import { CLUSTERS, DATABASES, KINDS, USERS } from '../view.ts';
import type { World } from '../world.ts';

/* A namespace with a cluster, a user and a database, and a copy of it, with status, as a backup restores it into another namespace. */

const COPY = 'copy';
const subject = { resource: USERS, name: 'app' };
/** If the original goes, the copy takes over what it leaves: src/operator/copied-namespace.test.ts shows that. */
const without = [...TURNS];
const clusterRef = { name: 'orders' };

const hasRotated = ({ view }: World) => view.status('app', USERS).lastHandledRotateAt === '1';
/** The original has all that it had. */
const isServed = (world: World) => {
  const { databases, users } = world.view.cluster()?.database ?? {};
  const areReady = isReady(world) && isReady(world, 'app', USERS) && isReady(world, 'sales', DATABASES);
  return areReady && users?.has('app') === true && databases?.has('sales') === true;
};
const isClaimed = ({ view }: World) => view.ready(`${COPY}/orders`) === 'False ClusterIDClaimed';
const isRefused = (world: World) =>
  isClaimed(world) &&
  [world.view.ready(`${COPY}/app`, USERS), world.view.ready(`${COPY}/sales`, DATABASES)].every(
    (ready) => ready === 'Unknown WaitingForCluster',
  );

async function served(world: World): Promise<void> {
  const { people } = world;
  await people.createCluster({ deletionPolicy: 'Delete' });
  await people.create(USERS, 'app', { clusterRef });
  await people.create(DATABASES, 'sales', { clusterRef, deletionPolicy: 'Delete' });
  await world.until(() => isServed(world), 'cluster, user and database are Ready');
}

/** Scenarios of a namespace that is restored beside its original: nothing of the original is touched. */
export const COPIES: readonly Scenario[] = [
  {
    // The copy's Secret grows old when the password is replaced: nothing sets the server back to it.
    name: 'copied-namespace',
    subject,
    without,
    prepare: served,
    act: async (world) => {
      await world.people.restoreInto(COPY);
      await world.wait(() => isClaimed(world), 'the copy says whose the cluster is');
      await world.people.edit({ annotations: { 'mooring.dev/rotate-at': '1' } }, 'app', USERS);
    },
    ends: (world) => isServed(world) && hasRotated(world) && isRefused(world),
  },
  {
    name: 'copied-namespace-deleted',
    subject: { resource: CLUSTERS, name: 'orders' },
    without,
    prepare: async (world) => {
      await served(world);
      await world.people.restoreInto(COPY);
      await world.until(() => isClaimed(world), 'the copy says whose the cluster is');
    },
    act: async ({ people, view }) => {
      for (const resource of KINDS)
        for (const { metadata } of view.objects(resource))
          if (metadata.namespace === COPY) people.remove(`${COPY}/${metadata.name}`, resource);
    },
    // The login in its Secret may work: the cluster is there.
    ends: (world) => {
      const { kube } = world;
      const isThere = kube.all(SECRETS, COPY).some(({ metadata }) => metadata.name === 'orders-admin');
      return isServed(world) && isThere && KINDS.every((resource) => kube.all(resource, COPY).length === 0);
    },
  },
];
