import { expect, test } from 'vitest';
import { aCrowd } from './crowd.ts';
import { CLUSTERS, NAMESPACE, SPACES, USERS } from './view.ts';

/** So many times as many as there are workers. */
const HANGING = 30;
/** A cluster that is created alone is provisioned in 5 s, and secured in half a second. */
const ALONE_MS = 5_600;
/** Until a substitute works in the place of a pass that hangs. */
const SUBSTITUTE_MS = 7_000;

type Crowd = Awaited<ReturnType<typeof aCrowd>>;

/** Clusters whose servers take connections and never answer, each with a user, in the spaces by turns. */
async function aHangingCrowd(spaces: readonly string[]) {
  const crowd = await aCrowd([...new Set([...spaces, 'production', 'staging'])]);
  const { clock, kube, simulator } = crowd;
  void crowd.start();
  const names = Array.from({ length: HANGING }, (_, index) => `hangs-${index}`);
  for (const [index, name] of names.entries()) {
    await crowd.createCluster(name, spaces[index % spaces.length] ?? '');
    await crowd.create(USERS, name, { clusterRef: { name } });
  }
  const areReady = () => names.every((name) => crowd.isReady(name) && crowd.readyOf(USERS, name)?.status === 'True');
  await clock.runUntil(areReady, 'all are Ready', 120_000);
  // Each login is verified once a minute.
  for (const name of spaces)
    await kube.patch(SPACES, { namespace: NAMESPACE, name }, { spec: { verifyInterval: '60s' } });
  await clock.advance(61_000);
  for (const clusterID of names) simulator.faults.add({ match: { api: 'server', clusterID }, effect: 'hang' });
  return { ...crowd, names };
}

/** How long it takes until a new cluster in the space, and then a new user on it, are Ready. */
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
  'Beside servers that hang, of three times as many clusters as there are workers, %s, newcomers are Ready as soon as ever',
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
