import { foreign, isReady, running, type Scenario } from '../scenario.ts';

/**
 * A person must say whether it is the same. An object that is created again may get another cluster: then the Secret of the first is not
 * overwritten.
 */
const isSeenAsRenamed = (ready: string) =>
  ['True Running', 'False ClusterMissing', 'False SecretNotOurs'].includes(ready);

/** Scenarios of what others do to a cluster, or have in its place. */
export const OTHERS: readonly Scenario[] = [
  {
    name: 'foreign',
    prepare: async (world) => foreign(world, 'orders'),
    act: ({ people }) => people.createCluster({ deletionPolicy: 'Delete' }),
    ends: ({ view }) => view.ready() === 'False ClusterIDInUse',
  },
  {
    name: 'race-for-id',
    act: async (world) => {
      await world.people.createCluster();
      // If it were equal in everything that was asked for, it could not be told from ours after a lost answer.
      world.others((simulator) => simulator.deployForeign({ id: 'orders', version: '3.5.0', storageSizeGB: 200 }));
    },
    ends: ({ view }) => view.ready() === 'False ClusterIDInUse',
  },
  {
    name: 'adopt',
    prepare: async (world) => foreign(world, 'orders', true),
    act: ({ people }) => people.createCluster({ adoptionPolicy: 'IfExists' }),
    ends: isReady,
  },
  {
    name: 'observe',
    prepare: async (world) => foreign(world, 'orders', true),
    act: ({ people }) => people.createCluster({ managementPolicy: 'Observe', storageSizeGB: 200 }),
    ends: ({ view }) => view.ready() === 'False Drifted',
  },
  {
    name: 'two-for-one-id',
    act: async (world) => {
      await world.people.createCluster();
      await world.clock.advance(2_000);
      await world.people.createCluster({ clusterID: 'orders' }, 'second');
    },
    ends: (world) => isReady(world) && world.view.ready('second').startsWith('False'),
    // Then the other object takes its place.
    without: ['delete', 'recreate', 'loseSecret', 'terminate'],
  },
  {
    name: 'replaced',
    prepare: (world) => running(world, { deletionPolicy: 'Delete' }),
    act: async (world) => world.others((simulator) => simulator.replaceCluster('orders')),
    ends: ({ view }) => view.ready() === 'False IdentityChanged',
  },
  {
    name: 'replaced-at-the-end',
    prepare: (world) => running(world, { deletionPolicy: 'Delete' }),
    act: async (world) => {
      world.others((simulator) => simulator.replaceCluster('orders'));
      world.people.remove();
    },
    ends: ({ view }) => view.ready() === 'gone' && view.cluster()?.status === 'running',
  },
  {
    name: 'identity-accepted',
    prepare: async (world) => {
      await running(world);
      world.others((simulator) => simulator.replaceCluster('orders'));
      await world.until(() => world.view.ready() === 'False IdentityChanged', 'orders reports the other cluster');
    },
    act: async (world) => {
      const cluster = world.view.cluster();
      if (cluster === undefined) return;
      world.invariants.mayBeAdopted(cluster);
      const createdAt = new Date(cluster.createdAt).toISOString();
      await world.people.edit({ annotations: { 'mooring.dev/accept-identity': createdAt } });
    },
    ends: isReady,
  },
  {
    name: 'vanished',
    prepare: running,
    act: async (world) => world.others((simulator) => simulator.vanish('orders')),
    ends: ({ view }) => view.ready() === 'False ClusterMissing',
    // A cluster that does not show is not reported as gone at once.
    isSlow: true,
  },
  {
    name: 'recreated',
    prepare: (world) => running(world, { recreatePolicy: 'Always' }),
    act: async (world) => world.others((simulator) => simulator.vanish('orders')),
    ends: (world) => isReady(world) && world.view.cluster() !== undefined,
    // A cluster that does not show is not reported as gone at once.
    isSlow: true,
  },
  {
    // One answer that the cluster does not exist creates no other one, although that is allowed.
    name: 'still-there',
    prepare: (world) => running(world, { recreatePolicy: 'Always' }),
    act: ({ people }) => people.edit({ spec: { storageSizeGB: 200 } }),
    ends: (world) => isReady(world) && world.view.cluster()?.storageSizeGB === 200,
    never: /\/deploy$/,
  },
  {
    name: 'renamed-elsewhere',
    prepare: running,
    act: async (world) => world.others((simulator) => simulator.changeCluster('orders', { id: 'orders-x' })),
    ends: ({ view }) => isSeenAsRenamed(view.ready()),
    // Of two clusters that were created in a whole second nobody knows whether they are the same.
    mayEndElsewhere: ({ view }) =>
      view.clusters().some(({ id, createdAt }) => id === 'orders-x' && createdAt % 1000 === 0),
  },
  {
    name: 'renamed-to-awaited',
    prepare: async (world) => {
      await world.people.createCluster({ clusterID: 'orders-x', adoptionPolicy: 'MustExist' }, 'second');
      await running(world);
    },
    act: async (world) => world.others((simulator) => simulator.changeCluster('orders', { id: 'orders-x' })),
    ends: ({ view }) => isSeenAsRenamed(view.ready()) && view.ready('second').startsWith('False'),
    // Then the other object takes its place.
    without: ['delete', 'recreate', 'loseSecret', 'terminate'],
  },
  {
    name: 'drift',
    prepare: running,
    act: async (world) =>
      world.others((simulator) => simulator.changeCluster('orders', { machineType: 'c2d-highcpu-2' })),
    ends: (world) => isReady(world) && world.view.cluster()?.machineType === 'c2d-highcpu-4',
  },
  {
    name: 'drift-reported',
    prepare: (world) => running(world, { driftPolicy: 'Report' }),
    act: async (world) =>
      world.others((simulator) => simulator.changeCluster('orders', { machineType: 'c2d-highcpu-2' })),
    ends: ({ view }) => view.ready() === 'False Drifted',
    // A changed spec is applied, whatever others changed before.
    without: ['edit', 'mistake', 'sleep'],
  },
  {
    name: 'moved-servers',
    prepare: running,
    act: async (world) => world.others((simulator) => simulator.moveServers('orders')),
    ends: (world) => {
      const address = world.view.cluster()?.servers[0]?.address ?? 'none';
      return isReady(world) && (world.view.status().endpoint ?? '').includes(address);
    },
  },
];
