import { SECRETS } from '../../../src/kube/api.ts';
import { isReady, NOT_WITH_REFUSALS, running, type Scenario, whileRefused } from '../scenario.ts';
import { USERS } from '../view.ts';
import type { World } from '../world.ts';

const NAME = 'app';
const ROTATE = 'mooring.dev/rotate-at';
const PUT = /^PUT \/v1\/users\/app$/;

const subject = { resource: USERS, name: NAME };
const create = ({ people }: World, spec: object = {}) =>
  people.create(USERS, NAME, { clusterRef: { name: 'orders' }, ...spec });
const rotate = ({ people }: World) => people.edit({ annotations: { [ROTATE]: '1' } }, NAME, USERS);
const isUserReady = (world: World) => isReady(world, NAME, USERS);
const works = (world: World, password = '') => world.simulator.passwordIs('orders', NAME, password);
const hasUser = ({ view }: World) => view.cluster()?.database.users.has(NAME) ?? false;
const isReadyAndWorks = (world: World, secret = 'app-connection') =>
  isUserReady(world) && works(world, world.view.secret(secret)?.['password']);

async function ready(world: World, spec: object = {}): Promise<void> {
  await running(world);
  await create(world, spec);
  await world.until(() => isUserReady(world), 'app is Ready');
}

/** Scenarios of a DatabaseUser, whose connection Secret works all the time. */
export const USERS_OF_SERVERS: readonly Scenario[] = [
  { name: 'user', subject, prepare: running, act: (world) => create(world), ends: isReadyAndWorks, never: PUT },
  {
    name: 'user-and-cluster-at-once',
    subject,
    act: async (world) => {
      await create(world);
      await world.people.createCluster();
    },
    ends: isReadyAndWorks,
  },
  {
    name: 'user-rotate',
    subject,
    prepare: (world) => ready(world),
    act: (world) => rotate(world),
    ends: (world) => isReadyAndWorks(world) && world.view.status(NAME, USERS).lastHandledRotateAt === '1',
  },
  {
    name: 'user-refused',
    isSlow: true,
    without: NOT_WITH_REFUSALS,
    subject,
    prepare: running,
    act: (world) => whileRefused(world, () => create(world), NAME, USERS),
    ends: isReadyAndWorks,
    never: PUT,
  },
  {
    name: 'user-rotate-refused',
    isSlow: true,
    without: NOT_WITH_REFUSALS,
    subject,
    prepare: (world) => ready(world),
    act: (world) => whileRefused(world, () => rotate(world), NAME, USERS),
    ends: (world) => isReadyAndWorks(world) && world.view.status(NAME, USERS).lastHandledRotateAt === '1',
  },
  {
    name: 'user-own-password',
    subject,
    prepare: async (world) => {
      await world.people.putSecret('mine', { password: 'first of mine' });
      await ready(world, { passwordSecretRef: { name: 'mine' } });
    },
    act: ({ people }) => people.putSecret('mine', { password: 'second of mine' }),
    ends: (world) => isReadyAndWorks(world) && works(world, 'second of mine'),
  },
  {
    name: 'user-move-secret',
    subject,
    prepare: (world) => ready(world),
    act: ({ people }) => people.edit({ spec: { connectionSecret: { name: 'renamed' } } }, NAME, USERS),
    ends: (world) => isReadyAndWorks(world, 'renamed') && world.view.secret('app-connection') === undefined,
    never: PUT,
  },
  {
    name: 'user-secret-deleted',
    subject,
    prepare: (world) => ready(world),
    act: async ({ people }) => people.remove('app-connection', SECRETS),
    ends: isReadyAndWorks,
  },
  {
    name: 'user-deleted-elsewhere',
    subject,
    prepare: (world) => ready(world),
    act: async (world) => {
      world.people.deleteUser('orders', NAME);
      await world.people.edit({ annotations: { 'mooring.dev/reconcile-at': '1' } }, NAME, USERS);
    },
    ends: isReadyAndWorks,
  },
  {
    // Only the next verification notices it.
    name: 'user-password-changed-elsewhere',
    isSlow: true,
    subject,
    prepare: (world) => ready(world),
    act: async ({ people }) => people.setPassword('orders', NAME, 'set-behind-our-back'),
    ends: isReadyAndWorks,
  },
  {
    name: 'user-of-others',
    subject,
    prepare: async (world) => {
      await running(world);
      world.others((simulator) => simulator.setPassword('orders', NAME, 'of somebody else'));
    },
    act: (world) => create(world),
    ends: (world) => world.view.ready(NAME, USERS).startsWith('False') && works(world, 'of somebody else'),
    // A Secret whose password no server accepts.
    leavesTraces: ['missing'],
  },
  {
    name: 'race-for-username',
    subject,
    prepare: running,
    act: async (world) => {
      world.simulator.setKnobs({ latencyMs: [1_000, 1_000] });
      await create(world);
      await world.wait(() => world.view.secret('app-connection') !== undefined, 'app is about to be created');
      world.others((simulator) => simulator.setPassword('orders', NAME, 'of somebody else'));
    },
    ends: (world) => world.view.ready(NAME, USERS) === 'False UserExists' && works(world, 'of somebody else'),
    leavesTraces: ['missing'],
  },
  {
    name: 'user-adopt',
    subject,
    prepare: async (world) => {
      await running(world);
      world.others((simulator) => simulator.setPassword('orders', NAME, 'of somebody else'));
    },
    act: (world) => create(world, { adoptionPolicy: 'IfExists' }),
    ends: isReadyAndWorks,
  },
  {
    name: 'user-delete',
    subject,
    prepare: (world) => ready(world),
    act: async ({ people }) => people.remove(NAME, USERS),
    ends: (world) =>
      world.view.ready(NAME, USERS) === 'gone' &&
      !hasUser(world) &&
      world.view.object('app-connection', SECRETS) === undefined,
  },
  {
    name: 'user-retain',
    subject,
    prepare: (world) => ready(world, { deletionPolicy: 'Retain' }),
    act: async ({ people }) => people.remove(NAME, USERS),
    ends: (world) => world.view.ready(NAME, USERS) === 'gone' && hasUser(world),
    // It would ask for a different end.
    without: ['edit'],
  },
];
