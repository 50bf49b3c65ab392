import { expect, onTestFinished, test, vi } from 'vitest';
import { cluster, space } from '../../test/support/manifests.ts';
import { createLog } from '../base/log.ts';
import { DATABASE_CLUSTERS } from '../kinds/databasecluster/resource.ts';
import { DATABASE_SPACES } from '../kinds/databasespace/resource.ts';
import { EVENTS, type KubeApi, SECRETS } from '../kube/api.ts';
import type { Condition } from '../kube/condition.ts';
import { createOperator } from '../operator.ts';
import { FakeKube } from '../sandbox/fake-kube.ts';
import { processClock, virtualClock } from '../sandbox/virtual-clock.ts';
import { createSeededRandom } from '../simulator/seeded-random.ts';
import { createSimulator, createTeam, DEFAULT_CREDENTIALS } from '../simulator/simulator.ts';
import { createMetrics } from './metrics.ts';

// Minutes of several operators' time.
vi.setConfig({ testTimeout: 30_000 });

const SPACES = Array.from({ length: 8 }, (_, index) => `space-${index}`);
const PLURALS = ['databasespaces', 'databaseclusters', 'databaseusers', 'databases'];

/** Eight spaces with a cluster each, and any number of replicas that share them. */
async function aWorld() {
  const clock = virtualClock();
  const statusDefaults = Object.fromEntries(PLURALS.map((plural) => [plural, { observedGeneration: -1 }]));
  const kube = new FakeKube({ now: clock.now, random: createSeededRandom(1), statusDefaults });
  const simulator = createSimulator({
    clock,
    random: createSeededRandom(2),
    teams: [createTeam('acme', SPACES, true)],
    knobs: { provisionMs: [5_000, 5_000] },
  });
  /** Who asked the cloud about which space, in order. */
  const calls: { readonly at: number; readonly replica: number; readonly space: string; readonly method: string }[] =
    [];
  const writes: { readonly at: number; readonly replica: number; readonly what: string }[] = [];
  const secret = (name: string, data: Readonly<Record<string, string>>) =>
    kube.create(SECRETS, 'shop', {
      metadata: { name },
      data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')])),
    });
  await secret('factory-login', { ...DEFAULT_CREDENTIALS });
  for (const [index, name] of SPACES.entries()) {
    const token = index === 0 ? 'admin' : `${name}-admin`;
    await secret(`token-${name}`, { clientID: `${token}-id`, clientSecret: `${token}-secret-0123456789` });
    const spec = {
      spaceID: name,
      apiTokens: [{ level: 'admin', secretRef: { name: `token-${name}` } }],
      serverURL: 'https://{host}:{port}',
      pollInterval: '30s',
    };
    await kube.create(DATABASE_SPACES, 'shop', { ...space({ baseURL: simulator.baseURL }, spec), metadata: { name } });
    await kube.create(DATABASE_CLUSTERS, 'shop', cluster({ spaceRef: { name } }, {}, `orders-${index}`));
  }

  let born = 0;
  const replica = () => {
    const number = born++;
    const own = processClock(clock);
    const reach = async <T>(what: string, call: () => Promise<T>): Promise<T> => {
      await own.running();
      if (!what.startsWith('get') && !what.endsWith('leases') && !what.endsWith('events'))
        writes.push({ at: clock.monotonic(), replica: number, what });
      const answer = await call();
      await own.running();
      return answer;
    };
    const api: KubeApi = {
      get: (resource, ref) => reach('get', () => kube.get(resource, ref)),
      list: (resource, options) => reach('get', () => kube.list(resource, options)),
      watch: (...args) => kube.watch(...args),
      create: (resource, namespace, object) =>
        reach(`create ${resource.plural}`, () => kube.create(resource, namespace, object)),
      patch: (resource, ref, patch, options) =>
        reach(`patch ${resource.plural}`, () => kube.patch(resource, ref, patch, options)),
      delete: (resource, ref, preconditions) =>
        reach(`delete ${resource.plural}`, () => kube.delete(resource, ref, preconditions)),
    };
    const operator = createOperator({
      api,
      clock: own,
      random: createSeededRandom(100 + number),
      transport: () => async (request) => {
        await own.running();
        const [, asked] = /\/spaces\/(space-\d)\//.exec(request.url) ?? [];
        if (asked !== undefined)
          calls.push({ at: clock.monotonic(), replica: number, space: asked, method: request.method });
        const response = await simulator.transport(request);
        await own.running();
        return response;
      },
      log: createLog({ level: 'error', format: 'json', write: () => {} }),
      metrics: createMetrics(own, { version: '', node: '' }),
      namespaces: undefined,
      concurrency: 4,
      urlPolicy: { allowHTTP: false, allowedBaseURLs: undefined, allowedNetworks: undefined },
      instance: `replica-${number}`,
      lease: { namespace: 'system', name: 'mooring' },
      shardBySpace: true,
    });
    const stop = new AbortController();
    const state: { ended?: unknown } = {};
    operator.run(stop.signal).then(
      () => {
        state.ended = 'well';
      },
      (error: unknown) => {
        state.ended = error;
      },
    );
    onTestFinished(() => stop.abort());
    return { number, clock: own, stop, state };
  };
  const isReady = () =>
    kube.all(DATABASE_CLUSTERS).every((object) => {
      const { conditions = [] } = (object['status'] ?? {}) as { conditions?: readonly Condition[] };
      return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
    });
  /** Who asked about each space within the last two minutes. */
  const owners = () => {
    const since = clock.monotonic() - 120_000;
    const recent = (name: string) => calls.filter((call) => call.space === name && call.at >= since);
    return new Map(SPACES.map((name) => [name, [...new Set(recent(name).map((call) => call.replica))]]));
  };
  const unwell = () => kube.all(EVENTS).filter((event) => event['type'] === 'Warning');
  return { clock, kube, simulator, calls, writes, replica, isReady, owners, unwell };
}

type World = Awaited<ReturnType<typeof aWorld>>;

async function settled(world: World, replicas: number) {
  const all = Array.from({ length: replicas }, () => world.replica());
  await world.clock.runUntil(world.isReady, 'all clusters are Ready', 600_000);
  await world.clock.advance(180_000);
  return all;
}

/** Of each space, the order in which replicas had it: nobody asks about what another one has. */
function turnsOf(world: World, name: string): readonly number[] {
  const turns: number[] = [];
  for (const { replica } of world.calls.filter((call) => call.space === name))
    if (turns.at(-1) !== replica) turns.push(replica);
  return turns;
}

test.each([1, 2, 3])('%d replicas share the spaces between them, and bring all to what is wanted', async (count) => {
  const world = await aWorld();
  await settled(world, count);
  const owners = [...world.owners().values()];
  expect(owners.every((each) => each.length === 1)).toBe(true);
  expect(new Set(owners.flat()).size).toBe(count);
  expect(world.simulator.count('deploy')).toBe(SPACES.length);
  expect(world.unwell()).toEqual([]);
});

test('A replica that stops leaves its spaces to the others, who keep theirs; no cluster says that it is not Ready', async () => {
  const world = await aWorld();
  const [one, , three] = await settled(world, 3);
  const before = world.owners();
  const events = world.kube.all(EVENTS).length;
  three?.stop.abort();
  await world.clock.advance(180_000);
  expect(three?.state.ended).toBe('well');
  const after = world.owners();
  for (const name of SPACES) {
    const [[had], [has]] = [before.get(name) ?? [], after.get(name) ?? []];
    expect(has === had || had === three?.number, name).toBe(true);
    expect(has, name).not.toBe(three?.number);
  }
  one?.stop.abort();
  await world.clock.advance(180_000);
  expect(new Set([...world.owners().values()].flat())).toEqual(new Set([1]));
  expect([world.kube.all(EVENTS).length, world.isReady()]).toEqual([events, true]);
});

test('A replica that comes takes over spaces one after the other had them, and writes nothing where all is well', async () => {
  const world = await aWorld();
  await settled(world, 2);
  const before = world.owners();
  world.writes.length = 0;
  const three = world.replica();
  await world.clock.advance(300_000);
  const after = world.owners();
  const taken = SPACES.filter((name) => after.get(name)?.[0] === three.number);
  expect(taken.length).toBeGreaterThan(0);
  for (const name of SPACES) if (!taken.includes(name)) expect(after.get(name)).toEqual(before.get(name));
  for (const name of taken) expect(turnsOf(world, name).slice(-2)).toEqual([before.get(name)?.[0], three.number]);
  expect(world.writes).toEqual([]);
  expect(world.isReady()).toBe(true);
});

test('A replica that was frozen past its Lease finds its spaces taken, changes nothing and ends', async () => {
  const world = await aWorld();
  const [one, two] = await settled(world, 2);
  two?.clock.freeze();
  await world.clock.advance(180_000);
  expect(new Set([...world.owners().values()].flat())).toEqual(new Set([one?.number]));
  const [calls, writes] = [world.calls.length, world.writes.length];
  two?.clock.thaw();
  await world.clock.advance(60_000);
  expect(world.calls.slice(calls).filter(({ replica, method }) => replica === two?.number && method !== 'GET')).toEqual(
    [],
  );
  expect(world.writes.slice(writes).filter(({ replica }) => replica === two?.number)).toEqual([]);
  expect(two?.state.ended).toBeInstanceOf(Error);
});

test('A space that is created later, and a cluster in it, are looked after by one replica', async () => {
  const world = await aWorld();
  await settled(world, 3);
  await world.kube.create(DATABASE_CLUSTERS, 'shop', cluster({ spaceRef: { name: 'late' } }, {}, 'late'));
  await world.clock.advance(60_000);
  const spec = {
    spaceID: 'space-7',
    apiTokens: [{ level: 'admin', secretRef: { name: 'token-space-7' } }],
    serverURL: 'https://{host}:{port}',
  };
  const late = { ...space({ baseURL: `${world.simulator.baseURL}/` }, spec), metadata: { name: 'late' } };
  await world.kube.create(DATABASE_SPACES, 'shop', late);
  await world.clock.advance(60_000);
  expect(world.isReady()).toBe(true);
  // It is the same space in the cloud as another one's, so it has the same owner.
  expect(world.owners().get('space-7')).toHaveLength(1);
});

test('Nobody asks about a space that is gone any more', async () => {
  const world = await aWorld();
  await settled(world, 3);
  for (const index of SPACES.keys())
    world.kube.remove(DATABASE_CLUSTERS, { namespace: 'shop', name: `orders-${index}` });
  for (const name of SPACES) world.kube.remove(DATABASE_SPACES, { namespace: 'shop', name });
  await world.clock.advance(60_000);
  expect([world.kube.all(DATABASE_CLUSTERS), world.kube.all(DATABASE_SPACES)]).toEqual([[], []]);
  const asked = world.calls.length;
  await world.clock.advance(300_000);
  expect(world.calls.length).toBe(asked);
});
