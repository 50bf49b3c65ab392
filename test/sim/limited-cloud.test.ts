import { expect, test, vi } from 'vitest';
import { jain, servedWhileContended } from '../bench/measure/fairness.ts';
import { RateLimit } from '../bench/rate-limit.ts';
import { aCrowd, type Front } from './crowd.ts';
import { CLUSTERS, SPACES as SPACES_RESOURCE } from './view.ts';

const REQUESTS_PER_SECOND = 10;
const SPACES = Array.from({ length: 10 }, (_, index) => `space-${index}`);
const [NOISY = '', ...QUIET] = SPACES;

function limitedTo(perSecond: number, now: () => number): Front {
  const limit = new RateLimit(perSecond, now());
  return async (request, pass) => {
    const seconds = limit.refuse(now());
    if (seconds === undefined) return pass(request);
    return { status: 429, headers: { 'retry-after': String(seconds) }, body: emptyBody() };
  };
}

async function* emptyBody(): AsyncGenerator<Uint8Array> {}

/** Creates this many clusters in each space. Resolves with their names. */
async function createClusters(crowd: Awaited<ReturnType<typeof aCrowd>>, noisy: number, quiet: number) {
  const names: string[] = [];
  for (const space of SPACES) {
    for (let index = 0; index < (space === NOISY ? noisy : quiet); index++) {
      names.push(`${space}-${index}`);
      await crowd.createCluster(`${space}-${index}`, space);
    }
  }
  return names;
}

test("Spaces keep to the cloud's limit and share it, whatever each of them asks for", async () => {
  const crowd = await aCrowd(SPACES);
  const { clock, asked, setting } = crowd;
  setting.front = limitedTo(REQUESTS_PER_SECOND, clock.now);
  void crowd.start();
  await clock.advance(30_000);
  const before = asked.length;
  const begin = clock.monotonic();
  const names = await createClusters(crowd, 100, 10);
  await clock.runUntil(() => names.every(crowd.isReady), 'all are Ready', 300_000);
  crowd.stop();
  const requests = asked.slice(before);
  const good = requests.filter(({ status }) => status >= 200 && status < 300);
  const deploys = good.filter(({ deploys }) => deploys !== '');
  const served = servedWhileContended(
    deploys.map(({ space, at }) => ({ who: space, at })),
    SPACES,
  );
  expect(deploys.map(({ deploys }) => deploys).toSorted()).toEqual(names.toSorted());
  expect(good.length / requests.length).toBeGreaterThan(0.95);
  expect(jain(served)).toBeGreaterThan(0.95);
  // With their fair share of the limit this takes 10 s, if there are no other requests.
  const waits = deploys.filter(({ space }) => QUIET.includes(space)).map(({ at }) => at - begin);
  expect(Math.max(...waits)).toBeLessThan(15_000);
  // The limit is fully used while there is something to do.
  expect(Math.max(...deploys.map(({ at }) => at)) - begin).toBeLessThan(1.3 * 100 * requests.length);
}, 120_000);

test('While deploys wait for the limit, none costs another request', async () => {
  const spaces = Array.from({ length: 30 }, (_, index) => `space-${index}`);
  const crowd = await aCrowd(spaces);
  const { clock, asked, setting } = crowd;
  setting.front = limitedTo(REQUESTS_PER_SECOND, clock.now);
  void crowd.start();
  await clock.advance(60_000);
  const begin = clock.monotonic();
  const names = [0, 1, 2, 3].flatMap((index) => spaces.map((space) => ({ space, name: `${space}-${index}` })));
  for (const { name, space } of names) await crowd.createCluster(name, space);
  await clock.runUntil(() => names.every(({ name }) => crowd.isReady(name)), 'all are Ready', 300_000);
  crowd.stop();
  const deploys = asked.filter(({ deploys, status }) => deploys !== '' && status === 200);
  // As many requests as there are clusters take 12 s, and others have some turns, too.
  expect(Math.max(...deploys.map(({ at }) => at)) - begin).toBeLessThan(18_000);
}, 120_000);

test('When the first looks at many spaces must wait, no cluster is written more often for it', async () => {
  const spaces = Array.from({ length: 100 }, (_, index) => `space-${index}`);
  const crowd = await aCrowd(spaces);
  const { clock, kube, setting, asked } = crowd;
  setting.front = limitedTo(50, clock.now);
  const patches = vi.spyOn(kube, 'patch');
  const names = spaces.flatMap((space) => [1, 2, 3].map((index) => ({ space, name: `${space}-${index}` })));
  for (const { name, space } of names) await crowd.createCluster(name, space);
  void crowd.start();
  // Clusters are first looked at long before.
  await clock.advance(5_000);
  expect(spaces.filter((space) => crowd.readyOf(SPACES_RESOURCE, space) === undefined).length).toBeGreaterThan(50);
  await clock.runUntil(() => names.every(({ name }) => crowd.isReady(name)), 'all are Ready', 300_000);
  crowd.stop();
  const written = patches.mock.calls.flatMap(([{ plural }, { name }]) => (plural === CLUSTERS.plural ? [name] : []));
  const refused = new Set(asked.filter(({ status }) => status === 429).map(({ space }) => space));
  // The finalizer, the operation, what was deployed, and Ready. A space that was refused itself says so, and so do its clusters.
  for (const { name, space } of names)
    expect(written.filter((each) => each === name).length).toBeLessThanOrEqual(refused.has(space) ? 5 : 4);
  expect(refused.size).toBeLessThan(10);
}, 120_000);

test('Without a limit nobody waits, and 190 clusters are deployed as fast as ever', async () => {
  const crowd = await aCrowd(SPACES);
  const { clock, asked } = crowd;
  void crowd.start();
  await clock.advance(30_000);
  const begin = clock.monotonic();
  const names = await createClusters(crowd, 100, 10);
  await clock.runUntil(() => names.every(crowd.isReady), 'all are Ready', 300_000);
  crowd.stop();
  const last = Math.max(...asked.filter(({ deploys }) => deploys !== '').map(({ at }) => at));
  // Ten at a time, 10 ms each; the noisy space is limited to 50 requests a second, with a burst of 50.
  expect(last - begin).toBeLessThan(2_000);
}, 120_000);

test('A cloud that keeps refusing one space holds up no other, and a person sees why', async () => {
  const crowd = await aCrowd(SPACES);
  const { clock, setting } = crowd;
  void crowd.start();
  await clock.advance(30_000);
  setting.front = async (request, pass) =>
    request.url.includes(`/spaces/${NOISY}/`)
      ? { status: 429, headers: { 'retry-after': '600' }, body: emptyBody() }
      : pass(request);
  const names = await createClusters(crowd, 20, 10);
  const others = names.filter((name) => !name.startsWith(`${NOISY}-`));
  const begin = clock.monotonic();
  await clock.runUntil(() => others.every(crowd.isReady), 'all others are Ready', 60_000);
  expect(clock.monotonic() - begin).toBeLessThan(30_000);
  await clock.advance(240_000);
  const { reason, message = '' } = crowd.readyOf(SPACES_RESOURCE, NOISY) ?? {};
  expect(reason).toBe('CloudThrottled');
  expect(message).toMatch(
    / pause until 20.*00Z \(HTTP 429\), since 20.*Z\. Mooring tries again by itself\. If this persists, raise pollInterval/,
  );
  expect(crowd.readyOf(CLUSTERS, `${NOISY}-7`)?.reason).toBe('CloudThrottled');
  crowd.stop();
}, 120_000);

test.each([5, 600])(
  'A cloud that keeps refusing one operation of one space, with Retry-After %d s, holds up nothing else',
  async (retryAfter) => {
    const spaces = Array.from({ length: 12 }, (_, index) => `space-${index}`);
    const crowd = await aCrowd(spaces, '10s', undefined, ['later']);
    const { clock, asked, setting } = crowd;
    void crowd.start();
    for (const space of spaces) await crowd.createCluster(`${space}-first`, space);
    await clock.runUntil(() => spaces.every((space) => crowd.isReady(`${space}-first`)), 'all are Ready', 60_000);
    await clock.advance(30_000);
    setting.front = async (request, pass) =>
      request.url.endsWith('/deploy') && JSON.parse(request.body ?? '').id === 'second'
        ? { status: 429, headers: { 'retry-after': String(retryAfter) }, body: emptyBody() }
        : pass(request);
    await crowd.createCluster('second', 'space-0');
    for (let time = 0; time < 3; time++) {
      const before = asked.length;
      await clock.advance(40_000);
      const lists = asked.slice(before).filter(({ path }) => path.endsWith('/clusters'));
      expect(lists.length).toBeGreaterThanOrEqual(time === 0 ? 42 : 47);
      for (const space of spaces.slice(1))
        expect(lists.filter(({ path }) => path.includes(`/${space}/`)).length).toBeGreaterThanOrEqual(3);
    }
    const begin = clock.monotonic();
    await crowd.createSpace('later');
    await crowd.createCluster('newcomer', 'later');
    await clock.runUntil(() => crowd.isReady('newcomer'), 'it is Ready', 60_000);
    expect(clock.monotonic() - begin).toBeLessThan(12_000);
    const refused = asked.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(0);
    expect(crowd.readyOf(CLUSTERS, 'second')?.reason).toBe('CloudThrottled');
    crowd.stop();
  },
  120_000,
);
