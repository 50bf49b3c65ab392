import { type Resource, SECRETS } from '../../src/kube/api.ts';
import type { FakeObject } from '../../src/sandbox/fake-kube.ts';
import { foreign } from '../sim/scenario.ts';
import { CLUSTERS, DATABASES, SPACES, USERS } from '../sim/view.ts';
import { World } from '../sim/world.ts';

export type ArgoHealth = 'Healthy' | 'Progressing' | 'Degraded' | 'Suspended';
export type Kstatus = 'Current' | 'InProgress' | 'Failed' | 'Terminating';

export const RESOURCES = {
  DatabaseSpace: SPACES,
  DatabaseCluster: CLUSTERS,
  DatabaseUser: USERS,
  Database: DATABASES,
} as const satisfies Readonly<Record<string, Resource>>;

/** One state that an object may be in, and how the tools should judge it. */
export interface Situation {
  readonly kind: keyof typeof RESOURCES;
  /** The fixture's file name. */
  readonly name: string;
  readonly argo: ArgoHealth;
  readonly kstatus: Kstatus;
  /** Reason of Ready; undefined: the operator has not reported anything yet. */
  readonly reason: string | undefined;
  /** Brings it about. */
  readonly bring: (world: World) => Promise<void>;
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;

const says = (ready: string, name?: string) => (world: World) =>
  world.until(() => world.ready(name) === ready, `${name ?? 'orders'} is ${ready}`);

async function running(world: World, spec: Readonly<Record<string, unknown>> = {}): Promise<void> {
  await world.createCluster(spec);
  await says('True Running')(world);
}

async function suspended(world: World): Promise<void> {
  await running(world);
  await world.edit({ spec: { state: 'Suspended' } });
  await says('True Suspended')(world);
}

/** The only object of the kind. */
function only(world: World, kind: Situation['kind']): FakeObject | undefined {
  return world.view.objects(RESOURCES[kind])[0];
}

const kindSays = (kind: Situation['kind'], ready: string) => (world: World) =>
  world.until(() => world.view.ready(only(world, kind)?.metadata.name, RESOURCES[kind]) === ready, `${kind}: ${ready}`);

const space = (ready: string) => kindSays('DatabaseSpace', ready);

const cluster = (
  name: string,
  [argo, kstatus]: readonly [ArgoHealth, Kstatus],
  reason: string | undefined,
  bring: Situation['bring'],
): Situation => ({ kind: 'DatabaseCluster', name, argo, kstatus, reason, bring });

const of =
  (kind: Situation['kind']) =>
  (...[name, judged, reason, bring]: Parameters<typeof cluster>): Situation => ({
    ...cluster(name, judged, reason, bring),
    kind,
  });

const ofSpace = of('DatabaseSpace');

/** kstatus calls an object that is tried again in progress, however long; Argo CD is told that something is wrong. */
const OF_SPACES_AND_CLUSTERS: readonly Situation[] = [
  cluster('new', ['Progressing', 'InProgress'], undefined, (world) => world.createCluster()),
  cluster('space_missing', ['Progressing', 'InProgress'], 'SpaceNotFound', async (world) => {
    await world.createCluster({ spaceRef: { name: 'elsewhere' } });
    await says('Unknown SpaceNotFound')(world);
  }),
  cluster('deploying', ['Progressing', 'InProgress'], 'Deploying', async (world) => {
    await world.createCluster();
    await says('Unknown Deploying')(world);
  }),
  cluster('running', ['Healthy', 'Current'], 'Running', running),
  cluster('observed', ['Healthy', 'Current'], 'Observed', async (world) => {
    // Observing is not taking over, but the object stands for the cluster all the same.
    foreign(world, 'orders', true);
    await world.createCluster({ managementPolicy: 'Observe' });
    await says('True Observed')(world);
  }),
  cluster('changed', ['Progressing', 'InProgress'], 'Running', async (world) => {
    await running(world);
    await world.edit({ spec: { storageSizeGB: 200 } });
  }),
  cluster('suspending', ['Progressing', 'InProgress'], 'Suspending', async (world) => {
    await running(world);
    await world.edit({ spec: { state: 'Suspended' } });
    await says('Unknown Suspending')(world);
  }),
  cluster('suspended', ['Healthy', 'Current'], 'Suspended', suspended),
  cluster('resuming', ['Progressing', 'InProgress'], 'Resuming', async (world) => {
    await suspended(world);
    await world.edit({ spec: { state: 'Running' } });
    await says('Unknown Resuming')(world);
  }),
  cluster('paused', ['Healthy', 'Current'], 'Running', async (world) => {
    await running(world);
    await world.edit({ annotations: { 'mooring.dev/paused': 'true' } });
    await world.clock.advance(MINUTE_MS);
  }),
  cluster('paused_with_changes', ['Suspended', 'InProgress'], 'Paused', async (world) => {
    await running(world);
    await world.edit({ annotations: { 'mooring.dev/paused': 'true' }, spec: { storageSizeGB: 200 } });
    await says('Unknown Paused')(world);
  }),
  cluster('drifted', ['Degraded', 'InProgress'], 'Drifted', async (world) => {
    await running(world, { driftPolicy: 'Report' });
    world.others((simulator) => simulator.changeCluster('orders', { storageSizeGB: 150 }));
    await says('False Drifted')(world);
  }),
  cluster('server_unreachable', ['Degraded', 'InProgress'], 'ServerUnreachable', async (world) => {
    await running(world);
    world.simulator.faults.add({ effect: 'outage', match: { api: 'server' } });
    await says('False ServerUnreachable')(world);
  }),
  cluster('id_in_use', ['Degraded', 'Failed'], 'ClusterIDInUse', async (world) => {
    world.others((simulator) => simulator.deployForeign({ id: 'orders' }));
    await world.createCluster();
    await says('False ClusterIDInUse')(world);
  }),
  cluster('missing', ['Degraded', 'Failed'], 'ClusterMissing', async (world) => {
    await running(world);
    world.others((simulator) => simulator.vanish('orders'));
    await says('False ClusterMissing')(world);
  }),
  cluster('destroying', ['Progressing', 'Terminating'], 'Destroying', async (world) => {
    await running(world, { deletionPolicy: 'Delete' });
    world.remove();
    await says('Unknown Destroying')(world);
  }),
  cluster('deletion_protected', ['Degraded', 'Terminating'], 'DeletionProtected', async (world) => {
    await running(world, { deletionProtection: true });
    world.remove();
    await says('False DeletionProtected')(world);
  }),
  ofSpace('new', ['Progressing', 'InProgress'], undefined, async () => {}),
  ofSpace('observed', ['Healthy', 'Current'], 'Observed', space('True Observed')),
  ofSpace('secret_missing', ['Progressing', 'InProgress'], 'SecretNotFound', async (world) => {
    world.remove('cloud-write', SECRETS);
    await space('Unknown SecretNotFound')(world);
  }),
  ofSpace('secret_deleting', ['Healthy', 'Current'], 'SecretDeleting', async (world) => {
    await running(world, { deletionPolicy: 'Delete' });
    world.remove('cloud-admin', SECRETS);
    await space('True SecretDeleting')(world);
  }),
  ofSpace('credentials_invalid', ['Degraded', 'Failed'], 'CredentialsInvalid', async (world) => {
    await space('True Observed')(world);
    world.remove('cloud-write', SECRETS);
    await world.putSecret('cloud-write', { clientID: 'write-id', clientSecret: 'a-wrong-one' });
    await space('False CredentialsInvalid')(world);
  }),
  ofSpace('paused', ['Healthy', 'Current'], 'Observed', async (world) => {
    await space('True Observed')(world);
    await world.edit({ annotations: { 'mooring.dev/paused': 'true' } }, 'production', SPACES);
    await world.clock.advance(MINUTE_MS);
  }),
  ofSpace('in_use', ['Progressing', 'Terminating'], 'InUse', async (world) => {
    await running(world, { deletionPolicy: 'Delete' });
    world.remove('production', SPACES);
    await space('Unknown InUse')(world);
  }),
  ofSpace('unreachable', ['Degraded', 'InProgress'], 'CloudUnreachable', async (world) => {
    await space('True Observed')(world);
    world.simulator.faults.add({ effect: '5xx' });
    await space('False CloudUnreachable')(world);
  }),
];

/** For what is on a cluster's server: `well`, the reason when it is Ready; `refused`: a spec that is not accepted, and why. */
function onServer(
  kind: 'DatabaseUser' | 'Database',
  well: string,
  [refusal, refused]: readonly [string, object],
): readonly Situation[] {
  const situation = of(kind);
  const resource = RESOURCES[kind];
  const create = ({ people }: World, spec: object = {}) =>
    people.create(resource, 'app', { clusterRef: { name: 'orders' }, ...spec });
  const ready = async (world: World) => {
    await running(world);
    await create(world);
    await kindSays(kind, `True ${well}`)(world);
  };
  const asleep = async (world: World) => {
    await ready(world);
    await world.edit({ spec: { state: 'Suspended' } });
    await kindSays(kind, 'True ClusterSuspended')(world);
  };
  return [
    situation('new', ['Progressing', 'InProgress'], undefined, (world) => create(world)),
    situation('waiting', ['Progressing', 'InProgress'], 'ClusterNotFound', async (world) => {
      await create(world);
      await kindSays(kind, 'Unknown ClusterNotFound')(world);
    }),
    situation('ready', ['Healthy', 'Current'], well, ready),
    situation('changed', ['Progressing', 'InProgress'], well, async (world) => {
      await ready(world);
      await world.edit({ spec: { deletionPolicy: kind === 'Database' ? 'Delete' : 'Retain' } }, 'app', resource);
    }),
    situation('refused', ['Degraded', 'Failed'], refusal, async (world) => {
      await running(world);
      await create(world, refused);
      await kindSays(kind, `False ${refusal}`)(world);
    }),
    situation('cluster_suspended', ['Healthy', 'Current'], 'ClusterSuspended', asleep),
    situation('new_on_suspended', ['Healthy', 'InProgress'], 'ClusterSuspended', async (world) => {
      await suspended(world);
      await create(world);
      await kindSays(kind, 'Unknown ClusterSuspended')(world);
    }),
    situation('paused', ['Healthy', 'Current'], well, async (world) => {
      await ready(world);
      await world.edit({ annotations: { 'mooring.dev/paused': 'true' } }, 'app', resource);
      await world.clock.advance(MINUTE_MS);
    }),
    situation('paused_with_changes', ['Suspended', 'InProgress'], 'Paused', async (world) => {
      await running(world);
      await create(world);
      await world.edit({ annotations: { 'mooring.dev/paused': 'true' } }, 'app', resource);
      await kindSays(kind, 'Unknown Paused')(world);
    }),
    situation('deleting', ['Progressing', 'Terminating'], 'ClusterSuspended', async (world) => {
      await ready(world);
      await world.edit({ spec: { deletionPolicy: 'Delete' } }, 'app', resource);
      await world.edit({ spec: { state: 'Suspended' } });
      await kindSays(kind, 'True ClusterSuspended')(world);
      world.remove('app', resource);
      await kindSays(kind, 'Unknown ClusterSuspended')(world);
    }),
  ];
}

export const SITUATIONS: readonly Situation[] = [
  ...OF_SPACES_AND_CLUSTERS,
  ...onServer('DatabaseUser', 'LoginWorks', ['UsernameReserved', { username: 'admin' }]),
  ...onServer('Database', 'DatabaseReady', ['SchemaRefused', { schema: [{ inline: 'not a schema' }] }]),
];

/** The object as the API shows it once the whole operator, on a virtual clock, has brought it there. */
export async function objectIn({ kind, bring }: Situation): Promise<FakeObject> {
  const world = new World();
  try {
    await world.start();
    await bring(world);
    const object = only(world, kind);
    if (object === undefined) throw new Error(`There is no ${kind}`);
    return object;
  } finally {
    world.stop();
  }
}
