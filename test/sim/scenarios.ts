import type { World } from './world.ts';

export interface Scenario {
  readonly name: string;
  /** What there is before; faults do not strike yet. */
  readonly prepare?: (world: World) => Promise<void>;
  /** What a person does, waiting between the steps. Faults strike from here on. */
  readonly act: (world: World) => Promise<void>;
  /** Where it ends, at the latest an hour after the faults. */
  readonly ends: (world: World) => boolean;
  /** The object may be deleted by a person at any step: not where a second object would take its place. */
  readonly deletable?: boolean;
}

const isReady = (world: World) => world.ready() === 'True Running';
const ready = (world: World) => world.until(() => isReady(world), 'orders is Ready');
const clusterOf = (world: World, id: string) =>
  [...world.simulator.clusters()].find((cluster) => cluster.id === id && !cluster.gone);

async function running(world: World, spec: Readonly<Record<string, unknown>> = {}): Promise<void> {
  await world.createCluster(spec);
  await ready(world);
}

/** Done once the object is Ready, or once somebody deleted it. */
const isReadyOrGone = (world: World) => isReady(world) || world.object() === undefined;

export const SCENARIOS: readonly Scenario[] = [
  { name: 'deploy', act: (world) => world.createCluster({ backup: { frequency: 'daily' } }), ends: isReadyOrGone },
  {
    name: 'storage',
    prepare: running,
    act: (world) => world.edit({ spec: { storageSizeGB: 200 } }),
    ends: (world) =>
      world.object() === undefined || (isReady(world) && clusterOf(world, 'orders')?.storageSizeGB === 200),
  },
  {
    name: 'rename',
    prepare: running,
    act: (world) => world.edit({ spec: { clusterID: 'orders-eu' } }),
    ends: (world) => world.object() === undefined || (isReady(world) && clusterOf(world, 'orders-eu') !== undefined),
  },
  {
    name: 'suspend-resume',
    prepare: running,
    act: async (world) => {
      await world.edit({ spec: { state: 'Suspended' } });
      await world.until(
        () => world.object() === undefined || clusterOf(world, 'orders')?.status === 'suspended',
        'orders is suspended',
      );
      await world.edit({ spec: { state: 'Running' } });
    },
    ends: isReadyOrGone,
  },
  {
    name: 'suspended-from-start',
    act: (world) => world.createCluster({ state: 'Suspended' }),
    ends: (world) =>
      world.object() === undefined || (world.status().state === 'suspended' && world.ready() !== 'stale'),
  },
  {
    name: 'rotate',
    prepare: running,
    act: (world) => world.edit({ annotations: { 'mooring.dev/rotate-at': '1' } }),
    ends: (world) => world.object() === undefined || (isReady(world) && world.status().lastHandledRotateAt === '1'),
  },
  {
    name: 'password-lost',
    prepare: async (world) => {
      await running(world);
      await world.putSecret('known-login', { username: 'admin', password: 'set-behind-our-back' });
      world.simulator.setPassword('orders', 'admin', 'set-behind-our-back');
      world.invariants.passwordIsLost = true;
    },
    act: (world) => world.edit({ spec: { adminCredentials: { existingSecretRef: { name: 'known-login' } } } }),
    ends: (world) =>
      world.object() === undefined ||
      (isReady(world) &&
        world.simulator.passwordIs('orders', 'admin', world.secret()?.['password'] ?? '') &&
        world.secret()?.['nextPassword'] === undefined),
  },
  {
    name: 'adopt',
    prepare: async (world) => {
      world.simulator.deployForeign({
        id: 'orders',
        machineType: 'c2d-highcpu-4',
        storageSizeGB: 100,
        version: '3.5.0',
      });
      world.invariants.knows('orders', true);
      world.invariants.mayCreate = 0;
    },
    act: (world) => world.createCluster({ adoptionPolicy: 'IfExists' }),
    ends: isReadyOrGone,
  },
  {
    name: 'clone',
    prepare: async (world) => {
      world.simulator.deployForeign({
        id: 'source',
        machineType: 'c2d-highcpu-4',
        storageSizeGB: 100,
        version: '3.5.0',
      });
      world.invariants.knows('source');
    },
    act: (world) => world.createCluster({ cloneFrom: { clusterID: 'source' } }),
    ends: isReadyOrGone,
  },
  {
    name: 'destroy',
    prepare: (world) => running(world, { deletionPolicy: 'Delete' }),
    act: async (world) => world.remove(),
    ends: (world) => world.object() === undefined && clusterOf(world, 'orders') === undefined,
  },
  {
    name: 'retain',
    prepare: running,
    act: async (world) => world.remove(),
    ends: (world) => world.object() === undefined && clusterOf(world, 'orders')?.status === 'running',
  },
  {
    name: 'destroy-while-deploying',
    act: async (world) => {
      await world.createCluster({ deletionPolicy: 'Delete' });
      await world.until(
        () => world.object() === undefined || clusterOf(world, 'orders') !== undefined,
        'orders is deploying',
      );
      world.remove();
    },
    ends: (world) => world.object() === undefined && clusterOf(world, 'orders') === undefined,
  },
  {
    name: 'renamed-elsewhere',
    prepare: running,
    act: async (world) => world.simulator.changeCluster('orders', { id: 'orders-x' }),
    ends: (world) =>
      world.object() === undefined ||
      (isReady(world) && clusterOf(world, 'orders') !== undefined && clusterOf(world, 'orders-x') === undefined),
  },
  {
    name: 'drift',
    prepare: running,
    act: async (world) => world.simulator.changeCluster('orders', { machineType: 'c2d-highcpu-8' }),
    ends: (world) =>
      world.object() === undefined || (isReady(world) && clusterOf(world, 'orders')?.machineType === 'c2d-highcpu-4'),
  },
  {
    name: 'recreate',
    prepare: async (world) => {
      await running(world, { recreatePolicy: 'Always' });
      world.invariants.mayCreate = 2;
      world.simulator.vanish('orders');
      // The new cluster comes with another login than the Secret has.
      world.invariants.passwordIsLost = true;
    },
    act: (world) => world.clock.advance(60_000),
    ends: (world) => world.object() === undefined || (isReady(world) && clusterOf(world, 'orders') !== undefined),
  },
  {
    name: 'accept-identity',
    prepare: async (world) => {
      await running(world);
      world.invariants.mayCreate = 2;
      world.simulator.replaceCluster('orders');
      world.invariants.passwordIsLost = true;
    },
    act: async (world) => {
      const createdAt = new Date(clusterOf(world, 'orders')?.createdAt ?? 0).toISOString();
      await world.edit({ annotations: { 'mooring.dev/accept-identity': createdAt } });
    },
    ends: isReadyOrGone,
  },
  {
    name: 'three-fields-and-id',
    prepare: running,
    act: (world) =>
      world.edit({
        spec: {
          clusterID: 'orders-eu',
          storageSizeGB: 200,
          machineType: 'c2d-highcpu-8',
          backup: { frequency: 'hourly' },
        },
      }),
    ends: (world) =>
      world.object() === undefined || (isReady(world) && clusterOf(world, 'orders-eu')?.backup.frequency === 'hourly'),
  },
  {
    name: 'two-for-one-id',
    act: async (world) => {
      await world.createCluster();
      await world.clock.advance(2_000);
      await world.createCluster({ clusterID: 'orders' }, 'second');
    },
    ends: (world) => isReady(world) && world.ready('second').startsWith('False'),
    deletable: false,
  },
  {
    name: 'foreign',
    prepare: async (world) => {
      world.simulator.deployForeign({ id: 'orders' });
      world.invariants.knows('orders');
      world.invariants.mayCreate = 0;
    },
    act: (world) => world.createCluster({ deletionPolicy: 'Delete' }),
    ends: (world) => world.object() === undefined || world.ready().startsWith('False'),
  },
];
