import { isReady, running, type Scenario } from '../scenario.ts';
import { SPACES, specOf, USERS } from '../view.ts';
import type { World } from '../world.ts';

/** A space that, with several replicas, another one owns than the owner of `production`. */
const OTHER = 'preview';
const PASSWORD_CHECK_MS = 2_500;
const TURNS = 4;
const TURN_MS = 4_000;
const rotation = (turn: number) => ({ annotations: { 'mooring.dev/rotate-at': String(turn) } });

const bills = (world: World, space: string) => world.people.createCluster({ spaceRef: { name: space } }, 'bills');
const user = ({ people }: World, name: string, cluster: string) =>
  people.create(USERS, name, { clusterRef: { name: cluster } });
const hasRotated = ({ view }: World, name: string, turn = 1) => view.status(name).lastHandledRotateAt === String(turn);
const works = ({ simulator, view }: World, cluster: string, name: string) =>
  simulator.passwordIs(cluster, name, view.secret(`${name}-connection`)?.['password'] ?? '');

async function inBoth(world: World): Promise<void> {
  await world.people.createSpace(OTHER);
  await bills(world, OTHER);
  await running(world);
  await world.until(() => isReady(world, 'bills'), 'bills is Ready');
}

/** Scenarios of a space alone. */
export const OF_SPACES: readonly Scenario[] = [
  {
    name: 'space-looked-at',
    subject: { resource: SPACES, name: 'production' },
    act: ({ people }) => people.edit({ annotations: { 'mooring.dev/reconcile-at': '1' } }, 'production', SPACES),
    ends: ({ view }) => view.status('production', SPACES).lastHandledReconcileAt === '1',
  },
];

/** Scenarios of more than one space at once, which replicas may share. */
export const SPACES_AT_ONCE: readonly Scenario[] = [
  {
    name: 'two-spaces',
    prepare: async (world) => {
      await world.people.createSpace(OTHER);
      await running(world);
    },
    act: async (world) => {
      await bills(world, OTHER);
      await world.people.edit({ spec: { storageSizeGB: 200 } });
    },
    ends: (world) => isReady(world) && isReady(world, 'bills') && world.view.cluster()?.storageSizeGB === 200,
  },
  {
    name: 'two-spaces-rotate',
    prepare: inBoth,
    act: async (world) => {
      await user(world, 'app', 'orders');
      await user(world, 'ledger', 'bills');
      await world.people.edit(rotation(1));
      await world.people.edit(rotation(1), 'bills');
    },
    ends: (world) =>
      [isReady(world), isReady(world, 'bills'), isReady(world, 'app', USERS), isReady(world, 'ledger', USERS)].every(
        Boolean,
      ) &&
      [hasRotated(world, 'orders'), hasRotated(world, 'bills')].every(Boolean) &&
      [works(world, 'orders', 'app'), works(world, 'bills', 'ledger')].every(Boolean),
  },
  {
    // A pass takes seconds, so that one is running most of the time.
    name: 'two-spaces-busy',
    prepare: inBoth,
    act: async (world) => {
      world.simulator.setKnobs({ passwordCheckMs: PASSWORD_CHECK_MS });
      for (let turn = 1; turn <= TURNS; turn++) {
        for (const name of ['orders', 'bills']) await world.people.edit(rotation(turn), name);
        await world.clock.advance(TURN_MS);
      }
    },
    ends: (world) => ['orders', 'bills'].every((name) => isReady(world, name) && hasRotated(world, name, TURNS)),
  },
  {
    name: 'space-named-twice',
    prepare: running,
    act: async (world) => {
      for (const space of world.view.objects(SPACES)) await world.people.create(SPACES, 'again', specOf(space));
      await bills(world, 'again');
    },
    ends: (world) => isReady(world) && isReady(world, 'bills') && world.view.ready('again', SPACES).startsWith('True'),
  },
];
