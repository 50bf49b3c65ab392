import { findStatusCondition } from '../../../src/kube/condition.ts';
import { MINUTE_MS } from '../people.ts';
import { isReady, NOT_WITH_REFUSALS, REFUSED_MS, running, type Scenario } from '../scenario.ts';
import { USERS } from '../view.ts';
import type { World } from '../world.ts';

/** A machine type that the cloud does not offer: it answers 400 to such a change. */
const REFUSED = { machineType: 'c2d-highcpu-99' };
const OFFERED = { machineType: 'c2d-highcpu-4' };
/** Looks at a server that is not up are 30 s apart at most, and calls may be held back for as long. */
const SOON_MS = 75_000;
/** After this time, what only a person can mend is retried minutes apart. */
const DOWN_MS = 8 * MINUTE_MS;

const isAvailable = ({ view }: World) => findStatusCondition(view.status().conditions, 'Available')?.status === 'True';
const hasRotated = (world: World) => world.view.status().lastHandledRotateAt === '1';

/** Scenarios of what goes on while the cloud refuses a change, until the spec no longer asks for it. */
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
    // An object that is created again may ask for what the cloud refuses, which is retried only now and then.
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

/** Changes the spec so that the cloud answers 400 from now on. */
async function refuse(world: World, spec: Readonly<Record<string, unknown>> = {}): Promise<void> {
  await world.people.edit({ spec: { ...REFUSED, ...spec } });
  await world.until(() => world.view.ready() === 'False RefusedByCloud', 'the change is refused');
}

/** Asks for the state. The cloud answers 400 until some minutes after the status has said so. Then it is asked again. */
async function refusedFirst(world: World, operation: 'suspend' | 'resume', state: string): Promise<void> {
  const { clock, people, simulator, view } = world;
  simulator.faults.add({ match: { operation }, effect: 'errorBefore', status: 400 });
  await people.edit({ spec: { state } });
  await world.wait(
    () => view.ready() === 'False RefusedByCloud',
    `the status says that the cloud refuses to ${operation}`,
  );
  await clock.advance(REFUSED_MS);
  simulator.faults.clear();
  await people.edit({ annotations: { 'mooring.dev/reconcile-at': operation } });
}
