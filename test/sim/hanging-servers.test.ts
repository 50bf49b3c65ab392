import { expect, test } from 'vitest';
import { aCrowd } from './crowd.ts';
import { CLUSTERS, NAMESPACE, SPACES, USERS } from './view.ts';

/** Three times the number of workers. */
const HANGING = 30;
/** A cluster on its own is provisioned in 5 s, and secured in half a second. */
const ALONE_MS = 5_600;
/** The time until a substitute takes the place of a pass that hangs. */
const SUBSTITUTE_MS = 7_000;
/** A call that still hangs, a pause of up to half a minute, and some seconds until the circuit breaker lets one try the server. */
const FOUND_MS = 20_000 + 30_000 + 10_000;

type Crowd = Awaited<ReturnType<typeof aCrowd>>;

/** Creates clusters whose servers accept connections and never answer, spread over the spaces, each with a user. */
async function aHangingCrowd(spaces: readonly string[], count = HANGING) {
  const crowd = await aCrowd([...new Set([...spaces, 'production', 'staging'])]);
  const { clock, kube, simulator } = crowd;
  void crowd.start();
  const names = Array.from({ length: count }, (_, index) => `hangs-${index}`);
  for (const [index, name] of names.entries()) {
    await crowd.createCluster(name, spaces[index % spaces.length] ?? '');
    await crowd.create(USERS, name, { clusterRef: { name } });
  }
  const areReady = () => names.every((name) => crowd.isReady(name) && crowd.readyOf(USERS, name)?.status === 'True');
  await clock.runUntil(areReady, 'all are Ready', 600_000);
  // Each login is verified once a minute.
  for (const name of spaces)
    await kube.patch(SPACES, { namespace: NAMESPACE, name }, { spec: { verifyInterval: '60s' } });
  await clock.advance(61_000);
  const faults = new Map(
    names.map((clusterID) => [
      clusterID,
      simulator.faults.add({ match: { api: 'server', clusterID }, effect: 'hang' }),
    ]),
  );
  const heal = (name: string) => simulator.faults.remove(faults.get(name) ?? '');
  return { ...crowd, names, heal };
}

/** Returns how long a new cluster in the space, and then a new user on it, take to become Ready: the longer of both. */
async function newcomers({ clock, createCluster, create, readyOf, isReady }: Crowd, name: string, space: string) {
  const begin = clock.monotonic();
  await createCluster(name, space);
  await clock.runUntil(() => isReady(name), `${name} is Ready`);
  const clusterMs = clock.monotonic() - begin;
  await create(USERS, name, { clusterRef: { name } });
  await clock.runUntil(() => readyOf(USERS, name)?.status === 'True', `the user on ${name} is Ready`);
  return Math.max(clusterMs, clock.monotonic() - begin - clusterMs);
}

test.each([
  ['in one space', ['production']],
  ['in ten spaces', Array.from({ length: 10 }, (_, index) => `space-${index}`)],
])(
  'While servers of three times as many clusters as workers hang, %s, new objects are Ready as soon as ever',
  async (_, spaces) => {
    const crowd = await aHangingCrowd(spaces);
    const { clock, names } = crowd;
    const took: number[] = [];
    for (let turn = 0; turn < 10; turn++) {
      await clock.advance(17_000);
      for (const space of ['production', 'staging']) took.push(await newcomers(crowd, `${space}-${turn}`, space));
    }
    crowd.stop();
    expect(names.map((name) => crowd.readyOf(CLUSTERS, name)?.reason)).toEqual(names.map(() => 'ServerUnreachable'));
    expect(Math.max(...took)).toBeLessThan(ALONE_MS + SUBSTITUTE_MS);
  },
  120_000,
);

test('When one of a hundred hanging servers is back, its cluster is Ready soon, and so is the user on it', async () => {
  const crowd = await aHangingCrowd(['production'], 100);
  const { clock, names, heal, isReady, readyOf } = crowd;
  await clock.advance(10 * 60_000);
  const took: number[] = [];
  for (const name of names.filter((_, index) => index % 20 === 0)) {
    heal(name);
    const begin = clock.monotonic();
    await clock.runUntil(() => isReady(name) && readyOf(USERS, name)?.status === 'True', `${name} is Ready`);
    took.push(clock.monotonic() - begin);
  }
  crowd.stop();
  expect(Math.max(...took)).toBeLessThan(FOUND_MS);
}, 120_000);
