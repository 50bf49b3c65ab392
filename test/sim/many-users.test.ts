import { expect, test } from 'vitest';
import { API_VERSION } from '../../src/base/group.ts';
import { DATABASE_SPACES } from '../../src/kinds/databasespace/resource.ts';
import { DATABASE_USERS } from '../../src/kinds/databaseuser/resource.ts';
import { databaseUserDefinition } from '../../src/kinds/databaseuser/schema.ts';
import { SECRETS } from '../../src/kube/api.ts';
import { parseStatus } from '../../src/kube/definition.ts';
import type { FakeObject } from '../../src/sandbox/fake-kube.ts';
import { passwordIs } from '../../src/simulator/server/state.ts';
import type { Effect } from './faults.ts';
import { NAMESPACE } from './view.ts';
import { World } from './world.ts';

const USERS = 500;
/** A server does one password check at a time, and each user must sign in once: this is the least time. */
const PASSWORD_CHECK_MS = 60;
const LEAST_MS = USERS * PASSWORD_CHECK_MS;

test(`${USERS} users of one server become Ready in well under a minute, with at most three calls each`, async () => {
  const world = new World(undefined);
  const { simulator, clock, kube } = world;
  // Checking this many objects after each effect takes too long; other tests do.
  world.invariants.check = () => {};
  await world.start();
  // Verification would add calls, so it is off.
  await kube.patch(DATABASE_SPACES, { namespace: NAMESPACE, name: 'production' }, { spec: { verifyInterval: '0s' } });
  await world.createCluster();
  await world.until(() => world.ready() === 'True Running', 'orders is Ready');
  simulator.setKnobs({ passwordCheckMs: PASSWORD_CHECK_MS });
  simulator.resetCounters();
  world.beginCounting();
  const begun = clock.monotonic();
  for (let index = 0; index < USERS; index++) {
    await kube.create(DATABASE_USERS, NAMESPACE, {
      apiVersion: API_VERSION,
      kind: 'DatabaseUser',
      metadata: { name: `user-${index}` },
      spec: { clusterRef: { name: 'orders' } },
    });
  }
  const waiting = new Set(Array.from({ length: USERS }, (_, index) => `user-${index}`));
  const areReady = async () => {
    for (const name of waiting) {
      if (!isReady(await kube.get(DATABASE_USERS, { namespace: NAMESPACE, name }))) return;
      waiting.delete(name);
    }
  };
  const firstLook = clock.monotonic();
  while (waiting.size > 0 && clock.monotonic() - firstLook < 300_000) {
    await clock.advance(100);
    await areReady();
  }
  expect(waiting.size).toBe(0);
  const tookMs = clock.monotonic() - begun;
  expect(tookMs).toBeGreaterThanOrEqual(LEAST_MS);
  expect(tookMs).toBeLessThan(LEAST_MS * 1.3);

  // The List is shared: at most one every two seconds.
  const { byOperation } = simulator.inspect().counters;
  expect(byOperation).toEqual({ createUser: USERS, signIn: USERS, listUsers: expect.any(Number) });
  expect(byOperation['listUsers']).toBeLessThanOrEqual(tookMs / 2_000 + 2);
  expect(writesOf(world.effects, 'user-7')).toEqual([
    'patch databaseusers/user-7  metadata{resourceVersion,finalizers}',
    'create secrets/user-7-connection',
    'patch secrets/user-7-connection  metadata{resourceVersion,uid,annotations} data{password,nextPassword}',
    'patch databaseusers/user-7 status metadata{resourceVersion} status{username,binding,lastRotation,connection,observedGeneration,conditions}',
  ]);
  const writes = world.effects.filter(({ to, what }) => to === 'kube' && !what.startsWith('create events'));
  // And the space gets its finalizer, as deleting a user needs it.
  expect(writes).toHaveLength(USERS * 4 + 1);
  const [cluster] = [...simulator.clusters()];
  for (const { metadata, data } of kube.all(SECRETS, NAMESPACE)) {
    const username = metadata.labels?.['mooring.dev/user'];
    const { password = '' } = data as Readonly<Record<string, string>>;
    const works = (text: string) => cluster !== undefined && passwordIs(cluster.database, username ?? '', text);
    expect(username === undefined || works(Buffer.from(password, 'base64').toString()), username).toBe(true);
  }
  world.stop();
}, 120_000);

function isReady(object: FakeObject | undefined): boolean {
  const { conditions = [] } = parseStatus(databaseUserDefinition, object?.['status']);
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
}

function writesOf(effects: readonly Effect[], name: string): readonly string[] {
  return effects
    .filter(({ to, what }) => to === 'kube' && new RegExp(`/${name}[- ]`).test(what) && !what.includes('events'))
    .map(({ what }) => what);
}
