import { DATABASE_CLUSTERS } from '../../src/kinds/databasecluster/resource.ts';
import { DATABASE_SPACES } from '../../src/kinds/databasespace/resource.ts';
import { SECRETS } from '../../src/kube/api.ts';
import { NAMESPACE } from '../sim/view.ts';
import { World } from '../sim/world.ts';
import type { FakeObject } from '../support/fake-kube.ts';

export type ArgoHealth = 'Healthy' | 'Progressing' | 'Degraded' | 'Suspended';
export type Kstatus = 'Current' | 'InProgress' | 'Failed' | 'Terminating';

/** One state that an object may be in, and what the tools are to make of it. */
export interface Situation {
  readonly kind: 'DatabaseSpace' | 'DatabaseCluster';
  /** The fixture's file name. */
  readonly name: string;
  readonly argo: ArgoHealth;
  readonly kstatus: Kstatus;
  /** Reason of Ready; undefined: the operator has not said anything yet. */
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

/** The space's Ready, as "status reason". */
function spaceOf(world: World): FakeObject | undefined {
  return world.kube.all(DATABASE_SPACES, NAMESPACE)[0];
}

function spaceSays(world: World): string {
  const { conditions = [] } = (spaceOf(world)?.['status'] ?? {}) as { conditions?: readonly Record<string, string>[] };
  const ready = conditions.find(({ type }) => type === 'Ready');
  return `${ready?.['status']} ${ready?.['reason']}`;
}

const space = (ready: string) => (world: World) => world.until(() => spaceSays(world) === ready, `space: ${ready}`);

const cluster = (
  name: string,
  [argo, kstatus]: readonly [ArgoHealth, Kstatus],
  reason: string | undefined,
  bring: Situation['bring'],
): Situation => ({ kind: 'DatabaseCluster', name, argo, kstatus, reason, bring });

const ofSpace = (...[name, judged, reason, bring]: Parameters<typeof cluster>): Situation => ({
  ...cluster(name, judged, reason, bring),
  kind: 'DatabaseSpace',
});

/** kstatus calls what is tried again in progress, however long; Argo CD is told that something is wrong. */
export const SITUATIONS: readonly Situation[] = [
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
    world.simulator.deployForeign({ id: 'orders', machineType: 'c2d-highcpu-4', storageSizeGB: 100, version: '3.5.0' });
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
  cluster('suspended', ['Suspended', 'Current'], 'Suspended', suspended),
  cluster('resuming', ['Progressing', 'InProgress'], 'Resuming', async (world) => {
    await suspended(world);
    await world.edit({ spec: { state: 'Running' } });
    await says('Unknown Resuming')(world);
  }),
  cluster('paused', ['Suspended', 'Current'], 'Running', async (world) => {
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
    world.simulator.changeCluster('orders', { storageSizeGB: 150 });
    await says('False Drifted')(world);
  }),
  cluster('id_in_use', ['Degraded', 'Failed'], 'ClusterIDInUse', async (world) => {
    world.simulator.deployForeign({ id: 'orders' });
    await world.createCluster();
    await says('False ClusterIDInUse')(world);
  }),
  cluster('missing', ['Degraded', 'Failed'], 'ClusterMissing', async (world) => {
    await running(world);
    world.simulator.vanish('orders');
    await says('False ClusterMissing')(world);
  }),
  cluster('destroying', ['Progressing', 'Terminating'], 'Destroying', async (world) => {
    await running(world, { deletionPolicy: 'Delete' });
    world.remove();
    await says('Unknown Destroying')(world);
  }),
  cluster('deletion_protected', ['Progressing', 'Terminating'], 'DeletionProtected', async (world) => {
    await running(world, { deletionProtection: true });
    world.remove();
    await says('False DeletionProtected')(world);
  }),
  ofSpace('new', ['Progressing', 'InProgress'], undefined, async () => {}),
  ofSpace('observed', ['Healthy', 'Current'], 'Observed', space('True Observed')),
  ofSpace('secret_missing', ['Progressing', 'InProgress'], 'SecretNotFound', async (world) => {
    world.kube.remove(SECRETS, { namespace: NAMESPACE, name: 'cloud-write' });
    await space('Unknown SecretNotFound')(world);
  }),
  ofSpace('credentials_invalid', ['Degraded', 'Failed'], 'CredentialsInvalid', async (world) => {
    await space('True Observed')(world);
    world.kube.remove(SECRETS, { namespace: NAMESPACE, name: 'cloud-write' });
    await world.putSecret('cloud-write', { clientID: 'write-id', clientSecret: 'a-wrong-one' });
    await space('False CredentialsInvalid')(world);
  }),
  ofSpace('unreachable', ['Degraded', 'InProgress'], 'CloudUnreachable', async (world) => {
    await space('True Observed')(world);
    world.simulator.faults.add({ effect: '5xx' });
    await space('False CloudUnreachable')(world);
  }),
];

/** The object as the API shows it once the whole operator, on a virtual clock, has brought it there. */
export async function objectIn({ kind, bring }: Situation): Promise<FakeObject> {
  const world = new World(undefined);
  try {
    await world.start();
    await bring(world);
    const resource = kind === 'DatabaseSpace' ? DATABASE_SPACES : DATABASE_CLUSTERS;
    const object = world.kube.all(resource, NAMESPACE)[0];
    if (object === undefined) throw new Error(`There is no ${kind}`);
    return object;
  } finally {
    world.stop();
  }
}
