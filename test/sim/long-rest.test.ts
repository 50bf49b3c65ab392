import { expect, test } from 'vitest';
import { isLogin } from './faults.ts';
import { MINUTE_MS } from './people.ts';
import { foreign } from './scenario.ts';
import { DATABASES, KINDS, SPACES, USERS } from './view.ts';
import { World } from './world.ts';

const HOURS = 24;
/** The default verifyInterval is ten minutes. */
const VERIFICATIONS = HOURS * 6;
/** A pollInterval of one minute may be a tenth shorter by chance. */
const MOST_LISTS = (HOURS * 60) / 0.9 + 1;

/** Creates objects of all kinds: most are well, one is suspended, one paused, one waits, and one wants somebody else's cluster. */
async function aHousehold(world: World): Promise<void> {
  const { people, clock } = world;
  await world.start();
  foreign(world, 'theirs');
  await people.createCluster();
  await people.createCluster({ state: 'Suspended' }, 'asleep');
  await people.createCluster({}, 'theirs');
  await people.createCluster({}, 'paused');
  await people.create(USERS, 'app', { clusterRef: { name: 'orders' } });
  await people.create(USERS, 'waits', { clusterRef: { name: 'asleep' } });
  const schema = [{ inline: 'define attribute name, value string;' }];
  await people.create(DATABASES, 'sales', { clusterRef: { name: 'orders' }, schema });
  await clock.advance(30 * MINUTE_MS);
  await people.edit({ annotations: { 'mooring.dev/paused': 'true' } }, 'paused');
  await clock.advance(30 * MINUTE_MS);
}

test('On a day without changes nothing is written, and nothing requested except Lists and what is due', async () => {
  const world = new World();
  const { clock, simulator, view, invariants } = world;
  await aHousehold(world);
  const stand = () =>
    KINDS.flatMap((kind) => view.objects(kind)).map(
      ({ metadata: { name, resourceVersion }, kind }) => `${kind} ${name} ${resourceVersion}`,
    );
  const before = stand();
  expect([
    view.ready('production', SPACES),
    view.ready(),
    view.ready('asleep'),
    view.ready('theirs'),
    view.ready('paused'),
  ]).toEqual(['True Observed', 'True Running', 'True Suspended', 'False ClusterIDInUse', 'True Running']);
  expect([view.ready('app', USERS), view.ready('waits', USERS), view.ready('sales', DATABASES)]).toEqual([
    'True LoginWorks',
    'Unknown ClusterSuspended',
    'True DatabaseReady',
  ]);

  world.beginCounting();
  simulator.resetCounters();
  await clock.advance(HOURS * 60 * MINUTE_MS);
  world.stop();
  expect(world.effects.filter((effect) => !isLogin(effect)).map(({ what }) => what)).toEqual([]);
  expect([stand(), invariants.violations]).toEqual([before, []]);
  const { list = 0, exchangeToken, ...rest } = simulator.inspect().counters.byOperation;
  expect(list).toBeLessThan(MOST_LISTS);
  // A token lasts for an hour.
  expect(exchangeToken).toBeLessThanOrEqual(HOURS + 1);
  // For each running cluster both logins, for the user one. For the database its existence and its schema.
  expect(rest).toEqual({ signIn: 5 * VERIFICATIONS, listDatabases: VERIFICATIONS, getSchema: VERIFICATIONS });
});
