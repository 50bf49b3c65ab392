import { expect, test } from 'vitest';
import type { HttpTransport } from '../../src/base/transport.ts';
import { EVENTS } from '../../src/kube/api.ts';
import { clusterNamed } from '../support/simulator.ts';
import { aCrowd, type Front } from './crowd.ts';
import { CLUSTERS, NAMESPACE } from './view.ts';

const REF = { namespace: NAMESPACE, name: 'orders' };
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** The path of a change: the cluster's id comes last, or before the action. */
const CHANGE = /\/clusters\/(?:orders|c-\d+)(?:\/(suspend|resume))?$/;

async function* bodyOf(value: unknown): AsyncGenerator<Uint8Array> {
  yield Buffer.from(JSON.stringify(value));
}

/** Answers 200 with this status to a change of state, and changes nothing. */
const taking =
  (status: string): Front =>
  async (request, pass) => {
    if (request.method === 'GET' || !CHANGE.test(new URL(request.url).pathname)) return pass(request);
    const shown = await shownBy(pass, request);
    // A token that has ended is refused as anywhere else.
    return 'id' in shown ? { status: 200, headers: {}, body: bodyOf({ ...shown, status }) } : pass(request);
  };

/** Shows the cluster, but answers 404 to its deletion. */
const denying: Front = async (request, pass) =>
  request.method === 'DELETE'
    ? { status: 404, headers: {}, body: bodyOf({ code: 'gone', message: 'No such cluster' }) }
    : pass(request);

/** Lists the cluster, but answers 404 to whoever asks for it alone. */
const losing: Front = async (request, pass) =>
  request.method === 'GET' && CHANGE.test(new URL(request.url).pathname)
    ? { status: 404, headers: {}, body: bodyOf({ code: 'gone', message: 'No such cluster' }) }
    : pass(request);

/** Shows the cluster with this status to whoever asks for it alone. */
const showing =
  (status: string): Front =>
  async (request, pass) => {
    if (request.method !== 'GET' || !CHANGE.test(new URL(request.url).pathname)) return pass(request);
    return { status: 200, headers: {}, body: bodyOf({ ...(await shownBy(pass, request)), status }) };
  };

/** Shows no clusters. */
const hiding: Front = async (request, pass) => {
  const { pathname } = new URL(request.url);
  if (request.method !== 'GET' || !/\/clusters(?:\/orders)?$/.test(pathname)) return pass(request);
  return pathname.endsWith('/orders')
    ? { status: 404, headers: {}, body: bodyOf({ code: 'gone', message: 'No such cluster' }) }
    : { status: 200, headers: {}, body: bodyOf([]) };
};

async function shownBy(pass: HttpTransport, request: Parameters<HttpTransport>[0]): Promise<object> {
  const { body: _, ...rest } = request;
  const url = request.url.replace(/\/(?:suspend|resume)$/, '');
  const answer = await pass({ ...rest, method: 'GET', url });
  const chunks: Uint8Array[] = [];
  for await (const chunk of answer.body) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString());
}

/** An operator with one Ready cluster, and a cloud that does not contradict itself until `front` is set. */
async function running() {
  const crowd = await aCrowd(['production']);
  const { kube, clock, asked, find } = crowd;
  void crowd.start();
  await crowd.createCluster('orders', 'production');
  const ready = () => `${crowd.readyOf(CLUSTERS, 'orders')?.status} ${crowd.readyOf(CLUSTERS, 'orders')?.reason}`;
  await clock.runUntil(() => ready() === 'True Running', 'it runs', MINUTE_MS);
  const words = () => `${ready()} ${crowd.readyOf(CLUSTERS, 'orders')?.message}`;
  const versions = new Set<string>();
  return {
    ...crowd,
    ready,
    message: () => crowd.readyOf(CLUSTERS, 'orders')?.message ?? '',
    edit: (spec: object) => {
      const resourceVersion = find(CLUSTERS, 'orders')?.metadata.resourceVersion ?? '';
      return kube.patch(CLUSTERS, REF, { metadata: { resourceVersion }, spec });
    },
    /** Counts requests, writes of the object, and changes of Ready within that time. */
    async measured(ms: number) {
      asked.splice(0);
      versions.clear();
      let told = 0;
      let before = words();
      for (let gone = 0; gone < ms; gone += 250) {
        await clock.advance(250);
        versions.add(find(CLUSTERS, 'orders')?.metadata.resourceVersion ?? '');
        const now = words();
        if (now !== before) told++;
        before = now;
      }
      const calls = (method: string, path: RegExp) =>
        asked.filter((each) => each.method === method && path.test(each.path)).length;
      return {
        changes: asked.filter(({ method, path }) => method !== 'GET' && CHANGE.test(path)).length,
        lists: calls('GET', /\/clusters$/),
        gets: calls('GET', /\/clusters\/orders$/),
        writes: versions.size,
        told,
      };
    },
  };
}

test('A cloud that answers 404 to the deletion of a cluster that it shows is asked ever less often, and Ready says so', async () => {
  const bench = await running();
  await bench.edit({ deletionPolicy: 'Delete' });
  bench.setting.front = denying;
  bench.kube.remove(CLUSTERS, REF);
  const { changes, gets, lists, writes } = await bench.measured(HOUR_MS);
  expect(changes).toBeGreaterThan(5);
  expect(changes).toBeLessThan(20);
  expect(gets).toBeLessThan(300);
  expect(lists).toBeLessThan(120);
  expect(writes).toBeLessThan(60);
  expect(bench.ready()).toBe('Unknown UpdateNotApplied');
  expect(bench.message()).toMatch(/answered 404 .* but still shows it:.*console.*mooring\.dev\/abandon=true/);
  bench.setting.front = (request, pass) => pass(request);
  await bench.clock.advance(6 * MINUTE_MS);
  expect([bench.find(CLUSTERS, 'orders'), clusterNamed(bench.simulator, 'orders')]).toEqual([undefined, undefined]);
  bench.stop();
}, 60_000);

test.each([
  ['suspending', 'Suspended', undefined, 'suspension', 'does not show it as suspended'],
  ['suspended', 'Suspended', undefined, 'suspension', 'does not show it as suspended'],
  ['resuming', 'Running', 'Suspended', 'resumption', 'does not show it as running'],
  ['destroying', undefined, undefined, 'deletion', 'still shows it'],
] as const)(
  'A cloud that answers with %s and changes nothing is asked ever less often, and Ready says so',
  async (status, state, before, what, shown) => {
    const bench = await running();
    if (before !== undefined) {
      await bench.edit({ state: before });
      await bench.clock.runUntil(() => bench.ready() === 'True Suspended', 'it sleeps', MINUTE_MS);
    }
    bench.setting.front = taking(status);
    await bench.edit(state === undefined ? { deletionPolicy: 'Delete' } : { state });
    if (state === undefined) bench.kube.remove(CLUSTERS, REF);
    const first = await bench.measured(25_000);
    expect(first.changes, 'as long as looks may be stale').toBe(1);
    const { changes, gets, lists, writes, told } = await bench.measured(HOUR_MS);
    expect(changes).toBeGreaterThan(5);
    expect(changes).toBeLessThan(20);
    expect(gets).toBeLessThan(300);
    expect(lists).toBeLessThan(120);
    expect(writes).toBeLessThan(60);
    expect(bench.ready()).toBe('Unknown UpdateNotApplied');
    expect(bench.message()).toMatch(new RegExp(`accepted the ${what} of .* at 20.*Z, but ${shown}:`));
    // An answer that it is done gets a moment to become true.
    if (status !== 'suspended') expect(told, 'one steady word').toBe(1);
    bench.setting.front = (request, pass) => pass(request);
    await bench.clock.advance(6 * MINUTE_MS);
    expect(bench.ready()).toBe(
      { Suspended: 'True Suspended', Running: 'True Running', none: 'undefined undefined' }[state ?? 'none'],
    );
    bench.stop();
  },
  60_000,
);

test.each([
  ['changed', { storageSizeGB: 200 }, 'True Running'],
  ['suspended', { state: 'Suspended' }, 'True Suspended'],
  ['renamed', { clusterID: 'orders-eu' }, 'True Running'],
  ['destroyed', undefined, 'undefined undefined'],
] as const)(
  'A cloud that answers 404 when asked for a cluster that it lists is asked ever less often when that should be %s, and Ready says so',
  async (_what, spec, end) => {
    const bench = await running();
    bench.setting.front = losing;
    await bench.edit(spec ?? { deletionPolicy: 'Delete' });
    if (spec === undefined) bench.kube.remove(CLUSTERS, REF);
    const { changes, gets, lists, writes, told } = await bench.measured(HOUR_MS);
    expect(changes).toBe(0);
    expect(gets).toBeLessThan(40);
    expect(lists).toBeLessThan(120);
    expect(writes).toBeLessThan(5);
    expect(told).toBeLessThan(3);
    expect(bench.ready()).toBe('Unknown NotFound');
    expect(bench.message()).toMatch(/lists cluster "orders", but answers 404 .*nothing is changed.* If this persists,/);
    bench.setting.front = (request, pass) => pass(request);
    await bench.clock.advance(6 * MINUTE_MS);
    expect(bench.ready()).toBe(end);
    bench.stop();
  },
  60_000,
);

test.each([
  ['running', 'suspended', 'Running'],
  ['suspended', 'running', 'Suspended'],
  ['updating', 'running', 'Suspended'],
] as const)(
  'A cloud that shows a cluster as %s that it lists as %s is asked ever less often when the spec says %s, and Ready says so',
  async (alone, listed, state) => {
    const bench = await running();
    if (listed === 'suspended') {
      await bench.edit({ state: 'Suspended' });
      await bench.clock.runUntil(() => bench.ready() === 'True Suspended', 'it sleeps', MINUTE_MS);
    }
    bench.setting.front = showing(alone);
    await bench.edit({ state });
    const { changes, gets, lists, writes, told } = await bench.measured(HOUR_MS);
    expect(changes).toBe(0);
    expect(gets).toBeLessThan(40);
    expect(lists).toBeLessThan(120);
    expect(writes).toBeLessThan(5);
    expect(told).toBeLessThan(4);
    expect(bench.ready()).toBe('Unknown ClusterChanged');
    expect(bench.message()).toBe(
      `The cloud lists cluster "orders" as ${listed}, but as ${alone} when asked for it alone: nothing is changed, and Mooring tries again. If this persists, check the cluster in the cloud's console, and proxies on the way to the cloud`,
    );
    bench.setting.front = (request, pass) => pass(request);
    await bench.clock.advance(6 * MINUTE_MS);
    expect(bench.ready()).toBe(`True ${state}`);
    bench.stop();
  },
  60_000,
);

test.each([
  ['as updating', showing('updating'), 'Unknown ClusterChanged'],
  ['with 404', losing, 'Unknown NotFound'],
] as const)(
  'A cloud that shows many clusters %s that it lists as running is asked for no more Lists than for one',
  async (_what, front, told) => {
    const bench = await running();
    const names = ['orders', ...Array.from({ length: 20 }, (_, index) => `c-${index}`)];
    for (const name of names.slice(1)) await bench.createCluster(name, 'production');
    await bench.clock.runUntil(() => names.every((name) => bench.isReady(name)), 'all run', 10 * MINUTE_MS);
    bench.setting.front = front;
    for (const name of names) {
      const resourceVersion = bench.find(CLUSTERS, name)?.metadata.resourceVersion ?? '';
      await bench.kube.patch(
        CLUSTERS,
        { ...REF, name },
        { metadata: { resourceVersion }, spec: { state: 'Suspended' } },
      );
    }
    await bench.clock.advance(MINUTE_MS);
    const { lists } = await bench.measured(HOUR_MS);
    expect(lists).toBeLessThan(120);
    expect(bench.readyOf(CLUSTERS, 'c-9')).toMatchObject({ status: told.split(' ')[0], reason: told.split(' ')[1] });
    bench.stop();
  },
  60_000,
);

test.each([
  ['suspending', { suspendMs: [HOUR_MS, HOUR_MS] }, { state: 'Suspended' }, 'Unknown Suspending'],
  ['destroying', { destroyMs: [HOUR_MS, HOUR_MS] }, undefined, 'Unknown Destroying'],
] as const)(
  'When the cloud does in the end what it was asked for, Ready reports %s within a minute',
  async (status, knobs, spec, told) => {
    const bench = await running();
    bench.simulator.setKnobs(knobs);
    bench.setting.front = taking(status);
    await bench.edit(spec ?? { deletionPolicy: 'Delete' });
    if (spec === undefined) bench.kube.remove(CLUSTERS, REF);
    await bench.clock.runUntil(() => bench.ready() === 'Unknown UpdateNotApplied', 'it was asked twice', 5 * MINUTE_MS);
    bench.setting.front = (request, pass) => pass(request);
    const isShown = () => clusterNamed(bench.simulator, 'orders')?.status === status;
    await bench.clock.runUntil(isShown, 'it does it', 6 * MINUTE_MS);
    await bench.clock.advance(MINUTE_MS);
    expect(bench.ready()).toBe(told);
    expect((await bench.measured(30 * MINUTE_MS)).writes).toBeLessThan(3);
    bench.stop();
  },
  60_000,
);

test.each([
  ['Delete', 'destroyed'],
  ['Suspend', 'suspended'],
] as const)(
  'A Warning Event reports a cluster that the cloud no longer shows when its object is deleted (%s)',
  async (deletionPolicy, end) => {
    const bench = await running();
    await bench.edit({ deletionPolicy });
    bench.setting.front = hiding;
    await bench.clock.advance(2_000);
    bench.kube.remove(CLUSTERS, REF);
    await bench.clock.runUntil(() => bench.find(CLUSTERS, 'orders') === undefined, 'it goes', 2 * MINUTE_MS);
    await bench.clock.advance(1_000);
    const left = bench.kube.all(EVENTS).filter((event) => event['reason'] === 'ClusterLeft');
    const note = expect.stringContaining(`was to be ${end} with this object`);
    expect(left).toMatchObject([{ type: 'Warning', note, regarding: { kind: 'DatabaseCluster', name: 'orders' } }]);
    expect(clusterNamed(bench.simulator, 'orders')?.status).toBe('running');
    bench.stop();
  },
  60_000,
);

test('A change that the cloud refuses is sent once, and while a suspension that it accepted does not show, Ready reports only that', async () => {
  const bench = await running();
  const take = taking('suspending');
  const refusal = { code: 'TOO_LARGE', message: 'No' };
  bench.setting.front = async (request, pass) =>
    request.method === 'PATCH' ? { status: 400, headers: {}, body: bodyOf(refusal) } : take(request, pass);
  await bench.edit({ state: 'Suspended', storageSizeGB: 200 });
  const reasons = new Set<string>();
  const { changes, writes } = await bench.measured(HOUR_MS);
  const updates = bench.asked.filter(({ method }) => method === 'PATCH');
  expect(updates).toHaveLength(1);
  expect(changes).toBeLessThan(20);
  expect(writes).toBeLessThan(60);
  for (let gone = 0; gone < HOUR_MS; gone += 1_000) {
    await bench.clock.advance(1_000);
    reasons.add(bench.ready());
  }
  expect(reasons).toEqual(new Set(['Unknown UpdateNotApplied']));
  bench.stop();
}, 60_000);
