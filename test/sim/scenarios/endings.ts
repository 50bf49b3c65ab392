import { MINUTE_MS } from '../people.ts';
import { isReady, running, type Scenario } from '../scenario.ts';
import { KINDS, SPACES, USERS } from '../view.ts';
import type { World } from '../world.ts';

const isHeld = ({ view }: World) => view.object('production', SPACES)?.metadata.finalizers !== undefined;

/** Scenarios of how an object is deleted, and what happens to its cluster. */
export const ENDINGS: readonly Scenario[] = [
  {
    name: 'destroy',
    prepare: (world) => running(world, { deletionPolicy: 'Delete' }),
    act: async ({ people }) => people.remove(),
    ends: ({ view }) => view.ready() === 'gone' && view.cluster() === undefined,
  },
  {
    name: 'retain',
    prepare: running,
    act: async ({ people }) => people.remove(),
    ends: ({ view }) => view.ready() === 'gone' && view.cluster()?.status === 'running',
  },
  {
    name: 'suspend-at-the-end',
    prepare: (world) => running(world, { deletionPolicy: 'Suspend' }),
    act: async ({ people }) => people.remove(),
    ends: ({ view }) => view.ready() === 'gone' && view.cluster()?.status === 'suspended',
  },
  {
    name: 'protected',
    prepare: (world) => running(world, { deletionPolicy: 'Delete', deletionProtection: true }),
    act: async (world) => {
      world.people.remove();
      await world.wait(() => world.view.ready().startsWith('False'), 'orders says that it is protected');
      await world.people.edit({ spec: { deletionProtection: false } });
    },
    ends: ({ view }) => view.ready() === 'gone' && view.cluster() === undefined,
  },
  {
    name: 'spared',
    prepare: (world) => running(world, { deletionPolicy: 'Delete' }),
    act: async (world) => {
      world.people.remove();
      // At once, before anything is done.
      await world.people.edit({ spec: { deletionPolicy: 'Retain' } });
    },
    ends: ({ view }) => view.ready() === 'gone' && view.cluster()?.status === 'running',
  },
  {
    name: 'destroy-at-once',
    act: async (world) => {
      await world.people.createCluster({ deletionPolicy: 'Delete' });
      // Before a failed deploy is retried.
      await world.clock.advance(200);
      world.people.remove();
    },
    ends: ({ view }) => view.ready() === 'gone' && view.cluster() === undefined,
  },
  {
    name: 'destroy-while-deploying',
    act: async (world) => {
      await world.people.createCluster({ deletionPolicy: 'Delete' });
      await world.wait(
        () => world.view.ready() === 'gone' || world.view.cluster() !== undefined,
        'orders is deploying',
      );
      world.people.remove();
    },
    ends: ({ view }) => view.ready() === 'gone' && view.cluster() === undefined,
  },
  {
    name: 'namespace-deleted',
    prepare: (world) => running(world, { deletionPolicy: 'Delete' }),
    act: async ({ people }) => people.terminate(),
    ends: (world) => world.view.isEmpty() && world.view.cluster() === undefined,
    without: ['wrongToken'],
  },
  {
    // No server answers, and the cluster stays: meanwhile a user that must be deleted is not left on it.
    name: 'protected-namespace-deleted',
    prepare: async (world) => {
      await running(world, { deletionPolicy: 'Delete', deletionProtection: true });
      await world.people.create(USERS, 'app', { clusterRef: { name: 'orders' } });
      await world.until(() => isReady(world, 'app', USERS), 'app is Ready');
      world.simulator.faults.add({ match: { api: 'server' }, effect: 'outage' });
      await world.people.edit({ annotations: { 'mooring.dev/reconcile-at': '1' } });
      await world.until(() => !isReady(world), 'orders says that no server answers');
    },
    act: async (world) => {
      const { clock, people, simulator, view } = world;
      people.terminate();
      await world.wait(() => view.ready() === 'False DeletionProtected', 'orders says that it is protected');
      await clock.advance(2 * MINUTE_MS);
      simulator.faults.clear();
      const isLeft = view.ready('app', USERS) === 'gone' && view.cluster()?.database.users.has('app');
      await world.wait(() => !isLeft, 'the user is not left on the server');
      await people.edit({ spec: { deletionProtection: false } });
    },
    ends: (world) => world.view.isEmpty() && world.view.cluster() === undefined,
    without: ['wrongToken'],
  },
  {
    name: 'namespace-deleted-while-deploying',
    act: async (world) => {
      await world.people.createCluster({ deletionPolicy: 'Delete' });
      await world.wait(() => world.view.cluster() !== undefined, 'orders is deploying');
      world.people.terminate();
    },
    // Space and Secrets are protected soon after; if they are gone before that, the object says what its deletion needs.
    ends: ({ view }) => view.isEmpty() || view.ready() === 'False DeletionBlocked',
    mayEndElsewhere: () => true,
    without: ['wrongToken'],
  },
  {
    // As with kubectl delete of one file: the user is removed from the server, though the cluster stays and the space goes first.
    name: 'all-deleted-space-first',
    prepare: async (world) => {
      await running(world);
      await world.people.create(USERS, 'app', { clusterRef: { name: 'orders' } });
      await world.until(() => isReady(world, 'app', USERS) && isHeld(world), 'app is Ready, and the space is held');
    },
    act: async ({ clock, people }) => {
      people.remove('production', SPACES);
      await clock.advance(50);
      people.remove();
      await clock.advance(50);
      people.remove('app', USERS);
    },
    ends: ({ view }) =>
      KINDS.every((resource) => view.objects(resource).length === 0) &&
      view.cluster()?.status === 'running' &&
      view.cluster()?.database.users.has('app') === false,
    // Two minutes without the server, or seconds without news of the others, and the user stays there: an Event says so.
    without: ['serverOutage', 'stale', 'gap', 'oldList', 'restart', 'sleep', 'freeze', 'suspendMachine', 'stopMachine'],
  },
  {
    name: 'retain-and-adopt-again',
    prepare: running,
    act: async (world) => {
      const cluster = world.view.cluster();
      if (cluster !== undefined) world.invariants.mayBeAdopted(cluster);
      world.people.remove();
      await world.wait(() => world.view.ready() === 'gone', 'orders is gone');
      if (world.view.ready() === 'gone' && !world.isTurned)
        await world.people.createCluster({ adoptionPolicy: 'MustExist' });
    },
    ends: isReady,
  },
];
