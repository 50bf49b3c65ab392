import { openWorkspace } from '../../../src/simulator/server/query/workspace.ts';
import { isReady, running, type Scenario } from '../scenario.ts';
import { DATABASES } from '../view.ts';
import type { World } from '../world.ts';

const NAME = 'sales';
const BASE = 'define attribute name, value string;';
const MORE = 'define entity person, owns name;';

/** About the length of the first pause between two tries. */
const IN_USE_MS = 1_000;

const subject = { resource: DATABASES, name: NAME };
const create = ({ people }: World, spec: object = {}) =>
  people.create(DATABASES, NAME, { clusterRef: { name: 'orders' }, ...spec });
const isDatabaseReady = (world: World) => isReady(world, NAME, DATABASES);
const has = ({ view }: World) => view.cluster()?.database.databases.has(NAME) ?? false;

/** Opens a transaction as somebody else. Returns a function that closes it. */
function use({ view }: World): () => void {
  const { databases, transactions } = view.cluster()?.database ?? {};
  const database = databases?.get(NAME);
  if (database === undefined || transactions === undefined) throw new Error('There is nothing to be used');
  const workspace = openWorkspace(database.committed);
  const id = 'of somebody else';
  transactions.set(id, { id, type: 'read', database, username: id, deadlineMs: Number.POSITIVE_INFINITY, workspace });
  return () => void transactions.delete(id);
}

async function ready(world: World, spec: object = {}): Promise<void> {
  await running(world);
  await create(world, spec);
  await world.until(() => isDatabaseReady(world), 'sales is Ready');
}

/** Scenarios of a Database and its schema. */
export const DATABASES_OF_SERVERS: readonly Scenario[] = [
  {
    name: 'database',
    subject,
    prepare: running,
    act: (world) => create(world),
    ends: (world) => isDatabaseReady(world) && has(world),
  },
  {
    name: 'database-with-schema',
    subject,
    prepare: async (world) => {
      await world.people.putConfigMap('sales-schema', { base: BASE });
      await running(world);
    },
    act: (world) =>
      create(world, { schema: [{ configMapKeyRef: { name: 'sales-schema', key: 'base' } }, { inline: MORE }] }),
    ends: (world) => isDatabaseReady(world) && has(world),
  },
  {
    name: 'database-more-schema',
    subject,
    prepare: (world) => ready(world, { schema: [{ inline: BASE }] }),
    act: ({ people }) => people.edit({ spec: { schema: [{ inline: BASE }, { inline: MORE }] } }, NAME, DATABASES),
    ends: isDatabaseReady,
    // If the status cannot be written after the commit, it later reports that others changed the schema.
    mayEndElsewhere: () => true,
  },
  {
    name: 'database-of-others',
    subject,
    prepare: async (world) => {
      await running(world);
      world.others((simulator) => simulator.createDatabase('orders', NAME));
    },
    act: (world) => create(world, { deletionPolicy: 'Delete' }),
    ends: (world) => world.view.ready(NAME, DATABASES).startsWith('False') && has(world),
  },
  {
    name: 'database-delete',
    subject,
    prepare: (world) => ready(world, { deletionPolicy: 'Delete' }),
    act: async ({ people }) => people.remove(NAME, DATABASES),
    ends: (world) => world.view.ready(NAME, DATABASES) === 'gone' && !has(world),
    // It would ask for a different end.
    without: ['edit'],
  },
  {
    // Servers refuse to delete it then, with the same words as for a database that does not exist.
    name: 'database-in-use',
    subject,
    prepare: (world) => ready(world, { deletionPolicy: 'Delete' }),
    act: async (world) => {
      const end = use(world);
      world.people.remove(NAME, DATABASES);
      await world.clock.advance(IN_USE_MS);
      end();
    },
    ends: (world) => world.view.ready(NAME, DATABASES) === 'gone' && !has(world),
    // It would ask for a different end.
    without: ['edit'],
  },
  {
    name: 'database-retain',
    subject,
    prepare: (world) => ready(world),
    act: async ({ people }) => people.remove(NAME, DATABASES),
    ends: (world) => world.view.ready(NAME, DATABASES) === 'gone' && has(world),
  },
];
