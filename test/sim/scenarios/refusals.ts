import { findStatusCondition } from '../../../src/kube/condition.ts';
import { MINUTE_MS } from '../people.ts';
import { isReady, NOT_WITH_REFUSALS, REFUSED_MS, running, type Scenario } from '../scenario.ts';
import { USERS } from '../view.ts';
import type { World } from '../world.ts';

/** The cloud offers no such machine type, and answers each such change with 400. */
const REFUSED = { machineType: 'c2d-highcpu-99' };
const OFFERED = { machineType: 'c2d-highcpu-4' };
/** Between two looks at a server that is not up there are 30 s at most, and as much while calls are held back. */
const SOON_MS = 75_000;
/** After so long, what only a person can mend is asked for in minutes. */
const DOWN_MS = 8 * MINUTE_MS;

const isAvailable = ({ view }: World) => findStatusCondition(view.status().conditions, 'Available')?.status === 'True';
const hasRotated = (world: World) => world.view.status().lastHandledRotateAt === '1';

/** What goes on while the cloud refuses a change of the cluster for as long as the spec asks for it, until that is taken back. */
export const REFUSALS: readonly Scenario[] = [
  {
    name: 'refused-change',
    prepare: async (world) => {
      await running(world, { allowUnlisted: true, deletionPolicy: 'Delete' });
      await refuse(world);
      await world.people.create(USERS, 'app', { clusterRef: { name: 'orders' } });
      await world.until(() => isReady(world, 'app', USERS), 'app is Ready');
    },
    act: async (world) => {
      await world.people.edit({ annotations: { 'mooring.dev/rotate-at': '1' } });
      await world.wait(() => hasRotated(world), 'the password is another', SOON_MS);
      await world.people.edit({ spec: OFFERED });
    },
    ends: (world) => isReady(world) && isReady(world, 'app', USERS) && hasRotated(world),
    // What is created anew may be what the cloud refuses: that is asked for now and then.
    without: ['recreate'],
  },
  {
    name: 'refused-change-server-late',
    prepare: async (world) => {
      await running(world, { allowUnlisted: true });
      await world.people.edit({ spec: { state: 'Suspended' } });
      await world.until(() => world.view.ready() === 'True Suspended', 'orders is suspended');
      world.simulator.faults.add({ match: { api: 'server' }, effect: 'outage' });
      await refuse(world, { state: 'Running' });
      await world.clock.advance(DOWN_MS);
    },
    act: async (world) => {
      world.simulator.faults.clear();
      await world.wait(() => isAvailable(world), 'the server is seen to be up', SOON_MS);
      await world.people.edit({ spec: OFFERED });
    },
    ends: isReady,
    without: ['recreate'],
  },
  {
    name: 'refused-suspend-and-resume',
    prepare: async (world) => {
      await running(world, { deletionPolicy: 'Delete' });
      await world.people.create(USERS, 'app', { clusterRef: { name: 'orders' } });
      await world.until(() => isReady(world, 'app', USERS), 'app is Ready');
    },
    act: async (world) => {
      await refusedFirst(world, 'suspend', 'Suspended');
      await world.wait(() => world.view.cluster()?.status === 'suspended', 'orders is suspended');
      await refusedFirst(world, 'resume', 'Running');
      await world.wait(() => world.view.cluster()?.status === 'running', 'orders runs');
    },
    ends: (world) => isReady(world) && isReady(world, 'app', USERS),
    without: NOT_WITH_REFUSALS,
  },
];

/** The cloud answers what the spec asks for with 400 from now on. */
async function refuse(world: World, spec: Readonly<Record<string, unknown>> = {}): Promise<void> {
  await world.people.edit({ spec: { ...REFUSED, ...spec } });
  await world.until(() => world.view.ready() === 'False RefusedByCloud', 'the change is refused');
}

/** A person asks for the state; the cloud answers 400 until some minutes after that was told, and is asked again. */
async function refusedFirst(world: World, operation: 'suspend' | 'resume', state: string): Promise<void> {
  const { clock, people, simulator, view } = world;
  simulator.faults.add({ match: { operation }, effect: 'errorBefore', status: 400 });
  await people.edit({ spec: { state } });
  await world.wait(() => view.ready() === 'False RefusedByCloud', `it is told that the cloud refuses to ${operation}`);
  await clock.advance(REFUSED_MS);
  simulator.faults.clear();
  await people.edit({ annotations: { 'mooring.dev/reconcile-at': operation } });
}
