import { isReady, running, type Scenario } from '../scenario.ts';
import { SPACES } from '../view.ts';

/** How an object goes, and what becomes of its cluster. */
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
      // Before anything was done, as nothing takes less time.
      await world.people.edit({ spec: { deletionPolicy: 'Retain' } });
    },
    ends: ({ view }) => view.ready() === 'gone' && view.cluster()?.status === 'running',
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
    name: 'namespace-deleted-while-deploying',
    act: async (world) => {
      await world.people.createCluster({ deletionPolicy: 'Delete' });
      await world.wait(() => world.view.cluster() !== undefined, 'orders is deploying');
      // Until its controller has heard of the cluster, the space may go before it: then the object says that it is blocked.
      const isHeld = () => (world.view.object('production', SPACES)?.metadata.finalizers ?? []).length > 0;
      await world.wait(isHeld, 'the space is held');
      world.people.terminate();
    },
    ends: (world) => world.view.isEmpty() && world.view.cluster() === undefined,
    without: ['wrongToken'],
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
