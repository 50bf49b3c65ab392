import { expect, test } from 'vitest';
import { cluster, space } from '../test/support/manifests.ts';
import { sleep } from './base/clock.ts';
import { createLog } from './base/log.ts';
import { HttpError } from './base/transport.ts';
import { DATABASE_CLUSTERS } from './kinds/databasecluster/resource.ts';
import { DATABASE_SPACES } from './kinds/databasespace/resource.ts';
import { EVENTS, type KubeApi, KubeError, type Resource, SECRETS } from './kube/api.ts';
import { LEASES, leaseSpecOf } from './kube/lease.ts';
import { createMetrics } from './operator/metrics.ts';
import { createOperator } from './operator.ts';
import { FakeKube } from './sandbox/fake-kube.ts';
import { virtualClock } from './sandbox/virtual-clock.ts';
import { createSeededRandom } from './simulator/seeded-random.ts';

function aWorld() {
  const clock = virtualClock();
  const statusDefaults = {
    databasespaces: { observedGeneration: -1 },
    databaseclusters: { observedGeneration: -1 },
    databaseusers: { observedGeneration: -1 },
    databases: { observedGeneration: -1 },
  };
  return { clock, api: new FakeKube({ now: clock.now, random: createSeededRandom(1), statusDefaults }) };
}

/** An operator of a world without objects that runs until `stop`. */
function anOperator(
  { clock, api }: { readonly clock: ReturnType<typeof virtualClock>; readonly api: KubeApi },
  seed = 1,
  lease?: { readonly namespace: string; readonly name: string; readonly shardBySpace?: boolean },
  write: (line: string) => void = () => {},
) {
  const metrics = createMetrics(clock, { version: '', node: '' });
  const operator = createOperator({
    api,
    clock,
    random: createSeededRandom(seed),
    transport: () => () => Promise.reject(new HttpError('unreachable', 'There is no cloud here')),
    log: createLog({ level: 'info', format: 'json', write }),
    metrics,
    namespaces: undefined,
    concurrency: 2,
    urlPolicy: { allowHTTP: false, allowedBaseURLs: undefined, allowedNetworks: undefined },
    instance: `operator-${seed}`,
    lease,
  });
  const stop = new AbortController();
  const result: { ended?: 'well' | Error } = {};
  const running = operator.run(stop.signal).then(
    () => {
      result.ended = 'well';
    },
    (error: unknown) => {
      result.ended = error instanceof Error ? error : new Error(String(error));
    },
  );
  const leads = async () => /^mooring_leader 1$/m.test(await metrics.text());
  return { operator, stop, running, result, leads, metrics };
}

test('createOperator() is ready once every collection is listed, and says what it waits for', async () => {
  const { clock, api } = aWorld();
  const link = { up: false };
  const watch = api.watch.bind(api);
  api.watch = (resource, options, signal) => {
    if (resource === SECRETS && !link.up) throw new HttpError('unreachable', 'Connection refused');
    return watch(resource, options, signal);
  };
  const { operator, stop, running, leads } = anOperator({ clock, api });
  await clock.advance(5_000);
  expect(operator.notReady()).toMatch(/ secrets: Connection refused$/);
  expect(await leads()).toBe(false);
  link.up = true;
  await clock.advance(60_000);
  expect([operator.notReady(), operator.stuck(), await leads()]).toEqual([undefined, undefined, true]);
  stop.abort();
  await running;
});

test('createOperator() is ready once it has looked at its spaces, or has tried for two seconds', async () => {
  const { clock, api } = aWorld();
  await api.create(DATABASE_SPACES, 'shop', space({ baseURL: 'https://cloud.example' }));
  const get = api.get.bind(api);
  let isAnswered = false;
  // Of the space's Secrets.
  api.get = async (...args) => {
    while (!isAnswered) await new Promise<void>((resolve) => clock.after(100, resolve));
    return get(...args);
  };
  const { operator, stop, running } = anOperator({ clock, api });
  await clock.advance(1_900);
  expect(operator.notReady()).toBe('Waiting for the first look at the spaces');
  await clock.advance(200);
  expect(operator.notReady()).toBeUndefined();
  isAnswered = true;
  stop.abort();
  await clock.advance(30_000);
  await running;
});

test.each([
  { shardBySpace: false, cannot: 'get', why: 'forbidden' },
  { shardBySpace: false, cannot: 'get', why: 'No answer in time' },
  { shardBySpace: true, cannot: 'list', why: 'forbidden' },
  { shardBySpace: true, cannot: 'list', why: 'No answer in time' },
  { shardBySpace: true, cannot: 'patch', why: 'forbidden' },
  { shardBySpace: true, cannot: 'patch', why: 'No answer in time' },
] as const)('createOperator() is not ready while it cannot $cannot Leases: $why', async (row) => {
  const { shardBySpace, cannot, why } = row;
  const { clock, api } = aWorld();
  const answer: (...args: never[]) => Promise<unknown> = api[cannot].bind(api);
  let isGranted = false;
  const refusal = () =>
    why === 'forbidden' ? Promise.reject(new KubeError(why, { status: 403 })) : new Promise(() => {});
  Object.assign(api, {
    [cannot]: (...args: never[]) => (args[0] === LEASES && !isGranted ? refusal() : answer(...args)),
  });
  const lease = { namespace: 'system', name: 'mooring', shardBySpace };
  const { operator, stop, running } = anOperator({ clock, api }, 1, lease);
  await clock.advance(10_000);
  for (let seconds = 0; seconds < 60; seconds++) {
    expect(operator.notReady()).toBe(`Waiting for its Lease: ${why}`);
    await clock.advance(1_000);
  }
  isGranted = true;
  await clock.advance(10_000);
  expect([operator.notReady(), operator.acts()]).toEqual([undefined, true]);
  stop.abort();
  await clock.advance(30_000);
  await running;
});

test('createOperator() that stands by is ready again ten seconds after it last failed to read the Lease', async () => {
  const world = aWorld();
  const lease = { namespace: 'system', name: 'mooring' };
  const one = anOperator(world, 1, lease);
  await world.clock.advance(5_000);
  let isGranted = false;
  const get = world.api.get.bind(world.api);
  // The holder only writes the Lease.
  world.api.get = (...given) =>
    given[0] === LEASES && !isGranted ? Promise.reject(new KubeError('no', { status: 500 })) : get(...given);
  const two = anOperator(world, 2, lease);
  await world.clock.advance(30_000);
  expect(two.operator.notReady()).toBe('Waiting for its Lease: no');
  isGranted = true;
  await world.clock.advance(11_000);
  expect([two.operator.notReady(), two.operator.acts()]).toEqual([undefined, false]);
  for (const { stop } of [two, one]) stop.abort();
  await world.clock.advance(30_000);
  await Promise.all([one.running, two.running]);
});

const NO_LOGIN =
  /^The API server has not accepted this operator's login for 2 minutes \(401\), .* ServiceAccount is gone/;

test.each([
  ['401 to all', () => new KubeError('Unauthorized', { status: 401 }), NO_LOGIN],
  [
    '401 to some',
    ({ plural }: Resource) => new KubeError('No', { status: plural === 'secrets' ? 503 : 401 }),
    undefined,
  ],
  ['403 to all', () => new KubeError('Forbidden', { status: 403 }), undefined],
  ['nothing', () => new HttpError('unreachable', 'Connection refused'), undefined],
] as const)('createOperator() whose watches are answered %s for two minutes', async (_, errorFor, why) => {
  const { clock, api } = aWorld();
  const [watch, list] = [api.watch.bind(api), api.list.bind(api)];
  const { operator, stop, running } = anOperator({ clock, api });
  await clock.advance(60_000);
  api.watch = (resource) => {
    throw errorFor(resource);
  };
  api.list = (resource) => Promise.reject(errorFor(resource));
  api.closeWatches();
  await clock.advance(110_000);
  expect(operator.notReady()).toBeUndefined();
  for (let seconds = 110; seconds < 300; seconds += 10) {
    await clock.advance(10_000);
    if (seconds > 130) expect(operator.notReady()).toEqual(why && expect.stringMatching(seconds < 170 ? why : /401/));
  }
  Object.assign(api, { watch, list });
  await clock.advance(65_000);
  expect([operator.notReady(), operator.acts()]).toEqual([undefined, true]);
  stop.abort();
  await clock.advance(30_000);
  await running;
});

test('createOperator() is stuck when a pass does not end, and says which', async () => {
  const { clock, api } = aWorld();
  await api.create(DATABASE_CLUSTERS, 'shop', cluster());
  // Production's client gives up by itself; this one does not.
  Object.assign(api, { patch: () => new Promise(() => {}) });
  const { operator, stop, running } = anOperator({ clock, api });
  await clock.advance(14 * 60_000);
  expect(operator.stuck()).toBeUndefined();
  await clock.advance(2 * 60_000);
  expect(operator.stuck()).toBe('A pass of shop/orders does not end');
  stop.abort();
  await clock.advance(30_000);
  await running;
});

test('createOperator() stops when told to, before and after its caches are filled, and leaves nothing behind', async () => {
  for (const runMs of [undefined, 60_000]) {
    const world = aWorld();
    const { stop, running, leads } = anOperator(world);
    if (runMs !== undefined) await world.clock.advance(runMs);
    stop.abort();
    await world.clock.advance(30_000);
    await running;
    expect([world.clock.timers(), world.api.watches, await leads()]).toEqual([0, 0, false]);
  }
});

test('createOperator() with a lease lets one replica act and keeps the other warm, which takes over', async () => {
  const world = aWorld();
  const lease = { namespace: 'system', name: 'mooring' };
  const one = anOperator(world, 1, lease);
  await world.clock.advance(5_000);
  const two = anOperator(world, 2, lease);
  await world.clock.advance(60_000);
  expect([await one.leads(), await two.leads(), two.operator.notReady()]).toEqual([true, false, undefined]);
  expect([one.operator.acts(), two.operator.acts()]).toEqual([true, false]);
  one.stop.abort();
  await world.clock.advance(10_000);
  expect([one.result.ended, await one.leads(), await two.leads()]).toEqual(['well', false, true]);
  two.stop.abort();
  await world.clock.advance(30_000);
  expect(two.result.ended).toBe('well');
});

test('createOperator() that is stopped keeps its Lease until its running passes have ended', async () => {
  const { clock, api } = aWorld();
  await api.create(DATABASE_SPACES, 'shop', space({ baseURL: 'https://cloud.example' }));
  const get = api.get.bind(api);
  let isAnswered = false;
  api.get = async (resource, ...more) => {
    while (resource === SECRETS && !isAnswered) await new Promise<void>((resolve) => clock.after(100, resolve));
    return get(resource, ...more);
  };
  const { stop, running, result } = anOperator({ clock, api }, 1, { namespace: 'system', name: 'mooring' });
  await clock.advance(5_000);
  stop.abort();
  await clock.advance(10_000);
  const holder = () => api.all(LEASES).map((lease) => leaseSpecOf(lease).holderIdentity);
  expect([holder(), result.ended]).toEqual([[expect.stringContaining('operator-1')], undefined]);
  isAnswered = true;
  await clock.advance(1_000);
  await running;
  expect(holder()).toEqual(['']);
});

test.each([
  { what: 'writes the Events of its last passes', eventMs: 30, written: 5, endsWithinMs: 200 },
  { what: 'does not wait for Events that take long', eventMs: 5_000, written: 0, endsWithinMs: 600 },
])('createOperator() that is stopped $what', async ({ eventMs, written, endsWithinMs }) => {
  const { clock, api } = aWorld();
  const create = api.create.bind(api);
  api.create = async (...given) => {
    if (given[0] === EVENTS) await sleep(clock, eventMs);
    return create(...given);
  };
  const { stop, running, result } = anOperator({ clock, api }, 1, { namespace: 'system', name: 'mooring' });
  await clock.advance(3_000);
  for (let index = 0; index < 5; index++)
    await api.create(DATABASE_SPACES, 'shop', {
      ...space({ baseURL: 'https://cloud.example' }),
      metadata: { name: `space-${index}` },
    });
  await clock.advance(10);
  stop.abort();
  await clock.advance(endsWithinMs);
  expect(result.ended).toBe('well');
  await running;
  expect(api.all(EVENTS)).toHaveLength(written);
});

test('createOperator() that is stopped gives running passes twenty seconds, then cuts them off and gives its Lease back', async () => {
  const { clock, api } = aWorld();
  await api.create(DATABASE_SPACES, 'shop', space({ baseURL: 'https://cloud.example' }));
  const get = api.get.bind(api);
  let stoppedAt = 0;
  let cutOffAfterMs: number | undefined;
  // One request for the space's Secrets hangs for as long as it may.
  api.get = async (resource, ref, signal, ...more) => {
    if (resource !== SECRETS) return get(resource, ref, signal, ...more);
    await new Promise((resolve) => signal?.addEventListener('abort', resolve));
    cutOffAfterMs = clock.monotonic() - stoppedAt;
    throw new HttpError('aborted', 'Aborted');
  };
  const { stop, running, result } = anOperator({ clock, api }, 1, { namespace: 'system', name: 'mooring' });
  await clock.advance(5_000);
  stoppedAt = clock.monotonic();
  stop.abort();
  await clock.advance(19_999);
  expect([cutOffAfterMs, result.ended]).toEqual([undefined, undefined]);
  await clock.advance(1);
  await running;
  expect([cutOffAfterMs, result.ended]).toEqual([20_000, 'well']);
  expect(api.all(LEASES).map((lease) => leaseSpecOf(lease).holderIdentity)).toEqual(['']);
});

test('createOperator() that lost its lease ends with an error, as what it knows may be outdated', async () => {
  const world = aWorld();
  const lease = { namespace: 'system', name: 'mooring' };
  const one = anOperator(world, 1, lease);
  await world.clock.advance(60_000);
  await world.api.patch(LEASES, lease, { spec: { holderIdentity: 'somebody else' } });
  await world.clock.advance(60_000);
  expect([one.result.ended, await one.leads()]).toEqual([expect.any(Error), false]);
});

test('createOperator() does not try all stalled objects at once when it starts, and tries all of them in time', async () => {
  const world = aWorld();
  const { clock, api } = world;
  const lastTransitionTime = new Date(clock.now() - 3_600_000).toISOString();
  const about = { reason: 'RefusedByCloud', message: 'No', observedGeneration: 1, lastTransitionTime };
  const conditions = [
    { type: 'Ready', status: 'False', ...about },
    { type: 'Stalled', status: 'True', ...about },
  ];
  for (let index = 0; index < 100; index++) {
    const name = `orders-${index}`;
    await api.create(DATABASE_CLUSTERS, 'shop', cluster({}, {}, name));
    const status = { observedGeneration: 1, conditions };
    await api.patch(DATABASE_CLUSTERS, { namespace: 'shop', name }, { status }, { subresource: 'status' });
  }
  const { stop, running, metrics } = anOperator(world);
  const tried = async () => {
    const text = await metrics.text();
    return Number(/^workqueue_queue_duration_seconds_count{name="databasecluster"} (\d+)$/m.exec(text)?.[1] ?? 0);
  };
  await clock.advance(10_000);
  expect(await tried()).toBeLessThan(10);
  await clock.advance(600_000);
  expect(await tried()).toBeGreaterThanOrEqual(100);
  stop.abort();
  await clock.advance(30_000);
  await running;
});

test('An operator that fails says so, and leaves nothing running', async () => {
  const { clock, api } = aWorld();
  const { running, result } = anOperator({ clock, api }, 1, undefined, (line) => {
    if (line.includes('Work begins')) throw new Error('a bug');
  });
  await clock.advance(60_000);
  await running;
  expect([String(result.ended), api.watches]).toEqual(['Error: a bug', 0]);
});
