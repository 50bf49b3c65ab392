import { DATABASE_FINALIZER } from '../../../src/kinds/database/resource.ts';
import { USER_FINALIZER } from '../../../src/kinds/databaseuser/resource.ts';
import type { Resource } from '../../../src/kube/api.ts';
import { renderSchema } from '../../../src/simulator/server/query/schema-text.ts';
import type { Fault } from '../faults.ts';
import { isReady, running, type Scenario } from '../scenario.ts';
import { DATABASES, NAMESPACE, USERS } from '../view.ts';
import type { World } from '../world.ts';

/** The second object for a user or database. The first object has the same name as that. */
const SECOND = 'second';
/** The duration of each call, long enough that both objects are seen before one of them has begun. */
const CALL_MS = 1_000;
const clusterRef = { name: 'orders' };

/** Two objects for one user, or for one database. */
interface Rivalry {
  /** A word for the names of scenarios. */
  readonly things: string;
  readonly resource: Resource;
  /** The name of the first object, and of the user or database. */
  readonly name: string;
  readonly finalizer: string;
  readonly second: object;
  /** What the second object changes when it takes over. */
  readonly heir: object;
  /** The reason that the object without it reports. */
  readonly reason: string;
  /** Reports whether what is on the server is as this object wants it. */
  readonly isAsWanted: (world: World, object: string) => boolean;
  readonly without?: readonly Fault[];
}

const OF_USERS: Rivalry = {
  things: 'users',
  resource: USERS,
  name: 'app',
  finalizer: USER_FINALIZER,
  second: { username: 'app' },
  heir: {},
  reason: 'UserClaimed',
  isAsWanted: ({ simulator, view }, object) =>
    simulator.passwordIs('orders', 'app', view.secret(`${object}-connection`)?.['password'] ?? ''),
  // A deletion that is sent twice, and succeeds the second time, may land again later: then it hits the other object's user.
  without: ['lateLanding'],
};

const OF_DATABASES: Rivalry = {
  things: 'databases',
  resource: DATABASES,
  name: 'sales',
  finalizer: DATABASE_FINALIZER,
  second: { name: 'sales', deletionPolicy: 'Delete' },
  heir: { schema: [{ inline: 'define entity company;' }] },
  reason: 'DatabaseClaimed',
  isAsWanted: ({ view }, object) => {
    const found = view.cluster()?.database.databases.get('sales');
    const isChanged = found !== undefined && renderSchema(found.committed.schema, 'all').includes('company');
    return found !== undefined && (object === SECOND || !isChanged);
  },
};

function scenariosOf(rivalry: Rivalry): readonly Scenario[] {
  const { things, resource, name, finalizer, second, heir, reason, isAsWanted, without = [] } = rivalry;
  const createFirst = ({ people }: World) => people.create(resource, name, { clusterRef });
  const createSecond = ({ people }: World, spec: object = {}, metadata = {}) =>
    people.create(resource, SECOND, { clusterRef, ...second, ...spec }, metadata);
  const has = (world: World, object: string) => isReady(world, object, resource) && isAsWanted(world, object);
  const isGone = ({ view }: World, object: string) => view.ready(object, resource) === 'gone';
  /** Reports whether one has it, and the other one names its owner. */
  const isSettled = (world: World, owner: string) => {
    const { conditions } = world.view.status(owner === name ? SECOND : name, resource);
    const ready = conditions?.find(({ type }) => type === 'Ready');
    const isNamed = ready?.message.includes(`"${NAMESPACE}/${owner}"`) === true;
    return has(world, owner) && ready?.reason === reason && isNamed;
  };
  const withFirst = async (world: World) => {
    await running(world);
    await createFirst(world);
    await world.until(() => has(world, name), 'the first one is Ready');
  };
  return [
    {
      // The first object is deleted, and the other one, which may adopt, takes over what it had.
      name: `two-${things}-first-goes`,
      subject: { resource, name },
      prepare: async (world) => {
        await withFirst(world);
        await createSecond(world, { adoptionPolicy: 'IfExists', ...heir });
        await world.until(() => isSettled(world, name), 'the second one says that the first one has it');
      },
      act: async ({ people }) => people.remove(name, resource),
      ends: (world) => isGone(world, name) && has(world, SECOND),
      without,
    },
    {
      // As restored from a backup: with the finalizer of an object that had begun.
      name: `two-${things}-second-goes`,
      subject: { resource, name: SECOND },
      prepare: withFirst,
      act: async (world) => {
        await createSecond(world, { adoptionPolicy: 'IfExists' }, { finalizers: [finalizer] });
        await world.wait(() => isSettled(world, name), 'the second one says that the first one has it');
        world.people.remove(SECOND, resource);
      },
      ends: (world) => isGone(world, SECOND) && has(world, name),
      never: /^(?:PUT|POST|DELETE) \/v1\/(?!signin)/,
    },
    {
      name: `two-${things}-at-once`,
      subject: { resource, name },
      // Such servers answer a second creation of a database like the first.
      dialect: 'field',
      prepare: running,
      act: async (world) => {
        world.simulator.setKnobs({ latencyMs: [CALL_MS, CALL_MS] });
        await createFirst(world);
        await createSecond(world);
      },
      ends: (world) => isSettled(world, name) || isSettled(world, SECOND),
      // The owner is the one that comes first, even if both begin again.
      mayEndElsewhere: () => true,
    },
  ];
}

/** Scenarios of two objects for one user or database: one has it, and the other one says so, and gets it when the first is gone. */
export const RIVALS: readonly Scenario[] = [...scenariosOf(OF_USERS), ...scenariosOf(OF_DATABASES)];

/** Those scenarios in which both begin together. */
export const AT_ONCE: readonly Scenario[] = RIVALS.filter(({ name }) => name.endsWith('-at-once'));
