import { API_VERSION } from '../../src/base/group.ts';
import { DATABASE_USERS } from '../../src/kinds/databaseuser/resource.ts';
import { databaseUserDefinition } from '../../src/kinds/databaseuser/schema.ts';
import { SECRETS } from '../../src/kube/api.ts';
import { parseStatus } from '../../src/kube/definition.ts';
import { passwordIs } from '../../src/simulator/server/state.ts';
import type { FakeObject } from '../support/fake-kube.ts';
import type { Scenario } from './scenarios.ts';
import { NAMESPACE, type World } from './world.ts';

type Fields = Readonly<Record<string, unknown>>;
const REF = { namespace: NAMESPACE, name: 'app' };

export const userObject = (world: World): FakeObject | undefined =>
  world.kube.all(DATABASE_USERS, NAMESPACE).find(({ metadata }) => metadata.name === REF.name);
const statusOf = (object: FakeObject) => parseStatus(databaseUserDefinition, object['status']);

async function createUser(world: World, spec: Fields = {}): Promise<void> {
  await world.kube.create(DATABASE_USERS, NAMESPACE, {
    apiVersion: API_VERSION,
    kind: 'DatabaseUser',
    metadata: { name: REF.name },
    spec: { clusterRef: { name: 'orders' }, ...spec },
  });
}

export async function editUser(world: World, change: Fields): Promise<void> {
  if (userObject(world) !== undefined) await world.kube.patch(DATABASE_USERS, REF, change);
}

async function changeSecret(world: World, name: string, data: Readonly<Record<string, string>>): Promise<void> {
  const encoded = Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')]);
  await world.kube.patch(SECRETS, { namespace: NAMESPACE, name }, { data: Object.fromEntries(encoded) });
}

/** Whether the login signs in at the server of `orders`, asked without a call. */
function works(world: World, password: string | undefined): boolean {
  return [...world.simulator.clusters()].some(
    ({ id, database }) => id === 'orders' && password !== undefined && passwordIs(database, 'app', password),
  );
}

export function isUserReady(world: World): boolean {
  const object = userObject(world);
  const ready = object && statusOf(object).conditions?.find(({ type }) => type === 'Ready');
  return ready?.status === 'True' && ready.observedGeneration === object?.metadata.generation;
}

/** The last value of the annotation rotate-at that was acted on. */
export function rotationHandled(world: World): string | undefined {
  const object = userObject(world);
  return object === undefined ? undefined : statusOf(object).lastHandledRotateAt;
}

const isReadyOrGone = (world: World) => isUserReady(world) || userObject(world) === undefined;
const connection = (world: World) => world.secret('app-connection') ?? world.secret('renamed');

interface Allowed {
  /** There is a reason to put a password. */
  readonly puts?: boolean;
}

/** Worlds in which somebody took the password away, so that none works until one does again. */
const losing = new WeakSet<World>();

/** From the first moment at which a password works, one that stands in the Secret does. */
function watch(world: World, allowed: Allowed): void {
  const accepted = new Set<string>();
  const { invariants } = world;
  world.person = {
    edit: () => editUser(world, { spec: { connectionSecret: { labels: { edited: 'true' } } } }),
    remove: () => world.kube.remove(DATABASE_USERS, REF),
  };
  const oneWorks = (secret: Readonly<Record<string, string>> | undefined) =>
    works(world, secret?.['password']) || works(world, secret?.['nextPassword']);
  invariants.others.push(() => {
    const object = userObject(world);
    if (object === undefined || object.metadata.deletionTimestamp !== undefined) return;
    const puts = world.effects.filter(({ what }) => what === 'PUT /v1/users/app');
    if (puts.length > 0 && allowed.puts !== true) invariants.fail('A password was put though there was no need');
    for (const secret of [world.secret('app-connection'), world.secret('renamed')]) {
      const { password } = secret ?? {};
      if (password === undefined) continue;
      if (works(world, password)) accepted.add(password);
      if (!accepted.has(password)) invariants.fail('A password stands in the Secret that no server has accepted');
      if (oneWorks(secret)) losing.delete(world);
      else if (!losing.has(world)) invariants.fail('None of the passwords in the connection Secret signs in');
    }
    const bound = statusOf(object).binding?.name;
    if (
      bound !== undefined &&
      isUserReady(world) &&
      world.secret(bound) !== undefined &&
      !oneWorks(world.secret(bound)) &&
      !losing.has(world)
    )
      invariants.fail('The user is Ready, and the Secret that is bound does not work');
  });
}

async function running(world: World, allowed: Allowed = {}): Promise<void> {
  await world.createCluster();
  await world.until(() => world.ready() === 'True Running', 'orders is Ready');
  watch(world, allowed);
}

export async function readyUser(world: World, allowed: Allowed = {}, spec: Fields = {}): Promise<void> {
  await running(world, allowed);
  await createUser(world, spec);
  await world.until(() => isUserReady(world), 'app is Ready');
}

export const USER_SCENARIOS: readonly Scenario[] = [
  {
    name: 'create',
    prepare: (world) => running(world),
    act: (world) => createUser(world),
    ends: isReadyOrGone,
  },
  {
    name: 'rotate',
    prepare: (world) => readyUser(world, { puts: true }),
    act: (world) => editUser(world, { metadata: { annotations: { 'mooring.dev/rotate-at': '1' } } }),
    ends: (world) => userObject(world) === undefined || (isUserReady(world) && rotationHandled(world) === '1'),
  },
  {
    name: 'own password',
    prepare: async (world) => {
      await world.putSecret('mine', { password: 'first of mine' });
      await readyUser(world, { puts: true }, { passwordSecretRef: { name: 'mine' } });
    },
    act: (world) => changeSecret(world, 'mine', { password: 'second of mine' }),
    ends: (world) => userObject(world) === undefined || (isUserReady(world) && works(world, 'second of mine')),
  },
  {
    name: 'rename',
    prepare: (world) => readyUser(world),
    act: (world) => editUser(world, { spec: { connectionSecret: { name: 'renamed' } } }),
    ends: (world) =>
      userObject(world) === undefined || (isUserReady(world) && world.secret('app-connection') === undefined),
  },
  {
    name: 'Secret deleted',
    prepare: (world) => readyUser(world, { puts: true }),
    act: async (world) => {
      losing.add(world);
      world.kube.remove(SECRETS, { namespace: NAMESPACE, name: 'app-connection' });
    },
    ends: (world) =>
      userObject(world) === undefined || (isUserReady(world) && works(world, connection(world)?.['password'])),
  },
  {
    name: 'password changed on the server',
    prepare: (world) => readyUser(world, { puts: true }),
    act: async (world) => {
      losing.add(world);
      world.simulator.setPassword('orders', 'app', 'set-behind-our-back');
      await editUser(world, { metadata: { annotations: { 'mooring.dev/reconcile-at': '1' } } });
    },
    ends: (world) =>
      userObject(world) === undefined || (isUserReady(world) && works(world, connection(world)?.['password'])),
  },
  {
    name: 'delete',
    prepare: (world) => readyUser(world),
    act: async (world) => world.kube.remove(DATABASE_USERS, REF),
    ends: (world) => userObject(world) === undefined && !world.simulator.inspect().teams.some(hasUser),
  },
];

function hasUser(team: ReturnType<World['simulator']['inspect']>['teams'][number]): boolean {
  return team.spaces.some(({ clusters }) =>
    clusters.some(({ users }) => users.some(({ username }) => username === 'app')),
  );
}
