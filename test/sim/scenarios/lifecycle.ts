import { MINUTE_MS } from '../people.ts';
import { foreign, isReady, running, type Scenario } from '../scenario.ts';

/** Scenarios of a cluster from its creation, through all changes that people ask for. */
export const LIFECYCLE: readonly Scenario[] = [
  {
    name: 'deploy',
    act: ({ people }) => people.createCluster({ backup: { frequency: 'daily' } }),
    ends: isReady,
  },
  {
    name: 'change',
    prepare: running,
    act: ({ people }) =>
      people.edit({ spec: { storageSizeGB: 200, machineType: 'c2d-highcpu-8', backup: { frequency: 'hourly' } } }),
    ends: (world) => {
      const cluster = world.view.cluster();
      return isReady(world) && cluster?.storageSizeGB === 200 && cluster.machineType === 'c2d-highcpu-8';
    },
  },
  {
    name: 'rename',
    prepare: running,
    act: ({ people }) => people.edit({ spec: { clusterID: 'orders-eu' } }),
    ends: (world) => isReady(world) && world.view.cluster('orders-eu') !== undefined,
  },
  {
    name: 'change-and-rename',
    prepare: running,
    act: ({ people }) =>
      people.edit({
        spec: {
          clusterID: 'orders-eu',
          storageSizeGB: 200,
          machineType: 'c2d-highcpu-8',
          backup: { frequency: 'hourly' },
        },
      }),
    ends: (world) => isReady(world) && world.view.cluster('orders-eu')?.backup.frequency === 'hourly',
  },
  {
    name: 'suspend-resume',
    prepare: running,
    act: async (world) => {
      await world.people.edit({ spec: { state: 'Suspended' } });
      await world.wait(() => world.view.cluster()?.status === 'suspended', 'orders is suspended');
      await world.people.edit({ spec: { state: 'Running' } });
    },
    ends: isReady,
  },
  {
    name: 'suspended-from-start',
    act: ({ people }) => people.createCluster({ state: 'Suspended' }),
    ends: ({ view }) => view.ready() === 'True Suspended',
  },
  {
    name: 'paused',
    prepare: running,
    act: async (world) => {
      await world.people.edit({ spec: { storageSizeGB: 200 }, annotations: { 'mooring.dev/paused': 'true' } });
      await world.clock.advance(3 * MINUTE_MS);
    },
    ends: ({ view }) => view.ready() === 'Unknown Paused' && view.cluster()?.storageSizeGB === 100,
    // `pause` would end the pause, and during a pause no finalizer is put back.
    without: ['pause', 'replace'],
  },
  {
    name: 'clone',
    prepare: async (world) => foreign(world, 'source'),
    act: ({ people }) => people.createCluster({ cloneFrom: { clusterID: 'source' } }),
    ends: isReady,
  },
  {
    name: 'clone-of-object',
    prepare: async (world) => {
      await world.people.createCluster({}, 'source');
      await world.until(() => isReady(world, 'source'), 'source is Ready');
    },
    act: ({ people }) => people.createCluster({ cloneFrom: { clusterRef: { name: 'source' } } }),
    ends: isReady,
  },
  {
    // The clone comes with the password in the Secret of its source, which goes with that.
    name: 'clone-of-destroyed',
    prepare: async (world) => {
      await world.people.createCluster({ deletionPolicy: 'Delete' }, 'source');
      await world.until(() => isReady(world, 'source'), 'source is Ready');
    },
    act: async (world) => {
      await world.people.createCluster({ cloneFrom: { clusterRef: { name: 'source' } } });
      await world.wait(() => world.view.cluster() !== undefined, 'the clone is made');
      world.people.remove('source');
    },
    ends: (world) =>
      isReady(world) && world.view.ready('source') === 'gone' && world.view.cluster('source') === undefined,
    // Nobody waits for a clone that a person lets go.
    without: ['pause', 'delete', 'recreate'],
  },
  {
    // The clone has the password of before: the source gets a new one only once nobody needs that any more.
    name: 'clone-of-rotated',
    prepare: async (world) => {
      await world.people.createCluster({}, 'source');
      await world.until(() => isReady(world, 'source'), 'source is Ready');
    },
    act: async (world) => {
      await world.people.createCluster({ cloneFrom: { clusterRef: { name: 'source' } } });
      await world.wait(() => world.view.cluster() !== undefined, 'the clone is made');
      await world.people.edit({ annotations: { 'mooring.dev/rotate-at': '1' } }, 'source');
    },
    ends: (world) =>
      isReady(world) && isReady(world, 'source') && world.view.status('source').lastHandledRotateAt === '1',
    // Nobody waits for a clone that a person lets go.
    without: ['pause', 'delete', 'recreate'],
  },
  {
    name: 'change-of-mind',
    act: async (world) => {
      await world.people.createCluster();
      await world.clock.advance(1_000);
      await world.people.edit({ spec: { storageSizeGB: 200 } });
      await world.clock.advance(1_000);
      await world.people.edit({ spec: { state: 'Suspended' } });
      await world.clock.advance(30_000);
      await world.people.edit({ spec: { state: 'Running', storageSizeGB: 300 } });
    },
    ends: (world) => isReady(world) && world.view.cluster()?.storageSizeGB === 300,
  },
];
