import { expect, onTestFinished, test, vi } from 'vitest';
import { space } from '../../../test/support/manifests.ts';
import { processClock } from '../../../test/support/process-clock.ts';
import { createLog } from '../../base/log.ts';
import { placeInFull, placeOf } from '../../kinds/databasespace/place.ts';
import { DATABASE_SPACES } from '../../kinds/databasespace/resource.ts';
import type { DatabaseSpaceSpec } from '../../kinds/databasespace/schema.ts';
import { KubeError, type ObjectRef } from '../../kube/api.ts';
import { GIVEN_BACK, LEASES } from '../../kube/lease.ts';
import { type KubeObject, keyOf } from '../../kube/object.ts';
import type { KeyGate } from '../../runtime/controller.ts';
import type { StoreChange } from '../../runtime/store.ts';
import { FakeKube } from '../../sandbox/fake-kube.ts';
import { virtualClock } from '../../sandbox/virtual-clock.ts';
import { createSeededRandom } from '../../simulator/seeded-random.ts';
import { WITHDRAWN } from './others.ts';
import { ownerOf } from './owners.ts';
import { Sharding } from './sharding.ts';

/* Which keys a replica turns away, takes and releases. */

/** A source of changes for one kind. */
function aSource() {
  const handlers: StoreChange<KubeObject>[] = [];
  return {
    onChange: (handler: StoreChange<KubeObject>) => void handlers.push(handler),
    tell: (object: KubeObject) => {
      for (const handler of handlers) handler(keyOf(object), undefined, object);
    },
    tellGone: (object: KubeObject) => {
      for (const handler of handlers) handler(keyOf(object), object, undefined);
    },
  };
}

function aWorld() {
  const world = virtualClock();
  return { world, api: new FakeKube({ now: world.now, random: createSeededRandom(1) }) };
}

const specAt = (baseURL: string) => space({ baseURL })['spec'] as DatabaseSpaceSpec;
const shardAt = (baseURL: string) => placeInFull(placeOf(specAt(baseURL)));

/** One replica's share of a space with some clusters, without controllers: it records what these would be told. */
function aShare(count: number, namespaces?: readonly string[], { world, api } = aWorld(), seed = 1) {
  const clock = processClock(world);
  const informers = { spaces: aSource(), clusters: aSource(), users: aSource(), databases: aSource() };
  const object = (name: string, spec: object): KubeObject => ({
    apiVersion: '',
    kind: '',
    metadata: { namespace: 'shop', name, uid: name, resourceVersion: '1' },
    spec,
  });
  const log = createLog({ level: 'error', format: 'json', write: () => {} });
  const lease = { namespace: 'system', name: 'mooring' };
  const sharding = new Sharding(
    { api, leases: api, clock, random: createSeededRandom(seed), log, namespaces, ...lease, onFailure: () => {} },
    informers,
  );
  const placeSpace = (baseURL: string) => informers.spaces.tell(object('production', specAt(baseURL)));
  const removeSpace = () => informers.spaces.tellGone(object('production', specAt('https://cloud.test')));
  placeSpace('https://cloud.test');
  for (let index = 0; index < count; index++)
    informers.clusters.tell(object(`orders-${index}`, { spaceRef: { name: 'production' } }));
  const resynced: string[] = [];
  const released: string[] = [];
  const delays = new Map<string, number>();
  const hurried = new Map<string, number>();
  const controller = {
    enqueueAsNew: (key: string, delayMs: number) => {
      resynced.push(key);
      delays.set(key, delayMs);
    },
    forget: (key: string) => void released.push(key),
    queue: { addAfter: (key: string, delayMs: number) => void hurried.set(key, delayMs) },
  };
  const stop = new AbortController();
  const running = sharding.run(
    stop.signal,
    { spaces: controller, clusters: controller, users: controller, databases: controller },
    (end) => new Promise((resolve) => end.addEventListener('abort', () => resolve())),
  );
  onTestFinished(async () => {
    stop.abort();
    await world.advance(10_000);
    await running;
  });
  /** Creates another replica's Lease, whose view makes it the owner of the space at that place. Resolves with its name. */
  const rival = async (baseURL = 'https://cloud.test'): Promise<ObjectRef> => {
    const shard = shardAt(baseURL);
    const own = api.all(LEASES)[0]?.metadata.name.replace('mooring-replica-', '') ?? '';
    for (let index = 0; ; index++) {
      const view = [own, `rival-${index}`].sort();
      if (ownerOf(shard, view) === own) continue;
      const name = `mooring-replica-rival-${index}`;
      await api.create(LEASES, lease.namespace, {
        metadata: { name, annotations: { 'mooring.dev/members': view.join() } },
        spec: { holderIdentity: `rival-${index}`, leaseDurationSeconds: 15 },
      });
      return { namespace: lease.namespace, name };
    }
  };
  return {
    world,
    clock,
    api,
    clusters: informers.clusters,
    object,
    gate: sharding.gateOf('clusters'),
    isMember: () => sharding.isMember(),
    actsSinceMs: (key: string) => sharding.actsSinceMs('clusters', key),
    resynced,
    released,
    delays,
    hurried,
    rival,
    placeSpace,
    removeSpace,
  };
}

test('Sharding goes through thousands of objects in slices, between which others have their turn', async () => {
  const { world, resynced } = aShare(1_000);
  let [before, most] = [0, 0];
  for (let turn = 0; resynced.length < 1_001 && turn < 1_000; turn++) {
    if (turn % 50 === 0) void world.advance(1_000);
    await new Promise((resolve) => setImmediate(resolve));
    most = Math.max(most, resynced.length - before);
    before = resynced.length;
  }
  expect([resynced.length, most <= 100]).toEqual([1_001, true]);
});

test('An object in a space that nobody watches still has an owner, which reports it', async () => {
  const { world, api, clusters, object, gate } = aShare(0, ['shop']);
  const elsewhere = { name: 'production', namespace: 'elsewhere' };
  await api.create(DATABASE_SPACES, 'elsewhere', { metadata: { name: 'production' }, spec: {} });
  clusters.tell(object('orders', { spaceRef: elsewhere }));
  await world.advance(3_000);
  expect(await gate.begin('shop/orders')).toBe(true);
  gate.end('shop/orders');
});

test('A key that was turned away while the Lease was in doubt comes back once it is renewed', async () => {
  const { world, clock, gate, resynced } = aShare(2);
  await world.advance(3_000);
  expect(await gate.begin('shop/orders-0')).toBe(true);
  gate.end('shop/orders-0');
  resynced.length = 0;
  clock.freeze();
  await world.advance(12_000);
  expect(await gate.begin('shop/orders-0')).toBe(false);
  clock.thaw();
  await world.advance(3_000);
  expect(resynced).toEqual(['shop/orders-0']);
  await world.advance(60_000);
  expect(resynced).toEqual(['shop/orders-0']);
});

test('A key that has become its own is not looked at again by a sweep', async () => {
  const { world, clusters, object, gate, resynced } = aShare(1);
  await world.advance(3_000);
  resynced.length = 0;
  clusters.tell(object('late', { spaceRef: { name: 'production' } }));
  expect(await gate.begin('shop/late')).toBe(true);
  gate.end('shop/late');
  await world.advance(60_000);
  expect(resynced).toEqual([]);
});

test('A key that was turned away for a replica that left during a pass comes back', async () => {
  const { world, api, gate, resynced, hurried, released, rival } = aShare(2);
  await world.advance(3_000);
  expect(await gate.begin('shop/orders-0')).toBe(true);
  resynced.length = 0;
  const ref = await rival();
  await world.advance(3_000);
  expect(await gate.begin('shop/orders-1')).toBe(false);
  await world.advance(6_000);
  await api.patch(LEASES, ref, { metadata: { annotations: WITHDRAWN }, spec: GIVEN_BACK });
  await world.advance(6_000);
  expect([resynced, [...hurried.keys()], released]).toEqual([['shop/orders-1'], ['shop/orders-1'], []]);
  gate.end('shop/orders-0');
  expect(await gate.begin('shop/orders-1')).toBe(true);
});

test('What a replica loses is forgotten once its last pass there has ended', async () => {
  const { world, gate, released, rival } = aShare(2);
  await world.advance(3_000);
  expect(await gate.begin('shop/orders-0')).toBe(true);
  await rival();
  await world.advance(6_000);
  expect(released).toEqual([]);
  gate.end('shop/orders-0');
  await world.advance(3_000);
  expect(released.sort()).toEqual(['shop/orders-0', 'shop/orders-1', 'shop/production']);
});

test('What a replica loses is kept while another pass is running there', async () => {
  const { world, gate, released, rival } = aShare(3);
  await world.advance(3_000);
  expect([await gate.begin('shop/orders-0'), await gate.begin('shop/orders-1')]).toEqual([true, true]);
  await rival();
  await world.advance(3_000);
  gate.end('shop/orders-0');
  await world.advance(3_000);
  expect(released).toEqual([]);
  gate.end('shop/orders-1');
  await world.advance(3_000);
  expect(released.toSorted()).toEqual(['shop/orders-0', 'shop/orders-1', 'shop/orders-2', 'shop/production']);
});

test('Clusters that a replica takes over wait for the first look at their space', async () => {
  const { world, delays } = aShare(1);
  await world.advance(3_000);
  expect(Object.fromEntries(delays)).toEqual({ 'shop/production': 0, 'shop/orders-0': 2_000 });
});

test('A replica that lost a key and got it back counts from when it got it back', async () => {
  const { world, api, actsSinceMs, released, rival } = aShare(1);
  await world.advance(3_000);
  const first = actsSinceMs('shop/orders-0');
  await world.advance(60_000);
  expect(actsSinceMs('shop/orders-0')).toBe(first);
  const ref = await rival();
  await world.advance(6_000);
  expect(released).toContain('shop/orders-0');
  await api.patch(LEASES, ref, { metadata: { annotations: WITHDRAWN }, spec: GIVEN_BACK });
  const goneAtMs = world.now();
  await world.advance(60_000);
  expect([actsSinceMs('shop/orders-0') >= goneAtMs, actsSinceMs('shop/orders-0') < world.now()]).toEqual([true, true]);
});

test('A running key is not forgotten because its space has moved to a place of another replica', async () => {
  const { world, gate, released, rival, placeSpace } = aShare(2);
  await world.advance(3_000);
  expect(await gate.begin('shop/orders-0')).toBe(true);
  placeSpace('https://elsewhere.test');
  await rival('https://elsewhere.test');
  await world.advance(6_000);
  expect(released.sort()).toEqual(['shop/orders-1', 'shop/production']);
  gate.end('shop/orders-0');
  await world.advance(0);
  expect(released).toContain('shop/orders-0');
});

/** Two replicas. The first owns the space, and `move` moves the space to a place of the other. `apartMs`: between their renewals. */
async function aPair(apartMs = 0) {
  const setting = aWorld();
  const one = aShare(1, undefined, setting, 1);
  await setting.world.advance(apartMs);
  const both = [one, aShare(1, undefined, setting, 2)] as const;
  await setting.world.advance(20_000);
  const isFirst = await both[0].gate.begin('shop/orders-0');
  if (isFirst) both[0].gate.end('shop/orders-0');
  const [first, other] = isFirst ? both : [both[1], both[0]];
  const view = setting.api.all(LEASES).flatMap(({ metadata: { name } }) => name.split('mooring-replica-').slice(1));
  const ownerAt = (shard: string) => ownerOf(shard, view.sort());
  /** Moves the space to the first place that fits. */
  const placeWhere = (is: (baseURL: string) => boolean) => {
    let index = 0;
    while (!is(`https://cloud-${index}.test`)) index++;
    for (const { placeSpace, resynced } of both) {
      placeSpace(`https://cloud-${index}.test`);
      resynced.length = 0;
    }
  };
  const move = () => placeWhere((baseURL) => ownerAt(shardAt(baseURL)) !== ownerAt(shardAt('https://cloud.test')));
  return { ...setting, both, first, other, view, ownerAt, placeWhere, move };
}

test('A key that one replica is processing is not begun by the one that owns the new place of its space', async () => {
  const { world, first, other, move } = await aPair();
  expect(await first.gate.begin('shop/orders-0')).toBe(true);
  move();
  expect(await other.gate.begin('shop/orders-0')).toBe(false);
  await world.advance(60_000);
  expect([await other.gate.begin('shop/orders-0'), other.resynced]).toEqual([false, []]);
  first.gate.end('shop/orders-0');
  await world.advance(6_000);
  expect(other.resynced.sort()).toEqual(['shop/orders-0', 'shop/production']);
  expect(await other.gate.begin('shop/orders-0')).toBe(true);
});

test('A key that one replica is processing is not begun by the one that owns it after its space is gone', async () => {
  const { world, both, ownerAt, placeWhere } = await aPair();
  // If its space is not known, the name of the space decides who owns an object.
  placeWhere((baseURL) => ownerAt(shardAt(baseURL)) !== ownerAt('shop/production'));
  await world.advance(20_000);
  const begun = await Promise.all(both.map(({ gate }) => gate.begin('shop/orders-0')));
  expect(begun.toSorted()).toEqual([false, true]);
  const [first, other] = begun[0] ? both : [both[1], both[0]];
  for (const each of both) each.removeSpace();
  other.resynced.length = 0;
  expect(await other.gate.begin('shop/orders-0')).toBe(false);
  await world.advance(60_000);
  expect(await other.gate.begin('shop/orders-0')).toBe(false);
  first.gate.end('shop/orders-0');
  await world.advance(6_000);
  expect(other.resynced).toEqual(['shop/orders-0']);
  expect(await other.gate.begin('shop/orders-0')).toBe(true);
});

test('A key whose space has moved waits until another replica would have said that it is processing it', async () => {
  const { world, other, move } = await aPair();
  move();
  expect(await other.gate.begin('shop/orders-0')).toBe(false);
  await world.advance(8_000);
  expect(other.resynced.sort()).toEqual(['shop/orders-0', 'shop/production']);
  expect([await other.gate.begin('shop/orders-0'), await other.gate.begin('shop/orders-0')]).toEqual([true, true]);
  await world.advance(60_000);
  expect(other.resynced).toHaveLength(2);
});

test('A key that was turned away because its space has moved does not rest as after a start', async () => {
  const { world, other, move } = await aPair();
  expect(await other.gate.begin('shop/orders-0')).toBe(false);
  move();
  expect(await other.gate.begin('shop/orders-0')).toBe(false);
  expect(await other.gate.begin('shop/orders-0')).toBe(false);
  await world.advance(8_000);
  expect(other.resynced.sort()).toEqual(['shop/orders-0', 'shop/production']);
  expect([...other.hurried]).toEqual([['shop/orders-0', 2_000]]);
});

test('A key that was turned away before its owner was known rests as after a start', async () => {
  const { world, gate, resynced, hurried } = aShare(1);
  expect(await gate.begin('shop/orders-0')).toBe(false);
  await world.advance(3_000);
  expect([resynced.sort(), [...hurried]]).toEqual([['shop/orders-0', 'shop/production'], []]);
});

test('A key whose space has moved waits as long even if a third replica dies just then', async () => {
  for (const afterMs of [0, 600, 1_200, 1_800])
    for (let at = 0; at < 4_500; at += 300) {
      const { world, api, first, other, view, ownerAt, move } = await aPair(2_700);
      await world.advance(afterMs);
      // Nothing in this test belongs to it, and it counts as dead some 15 s later.
      const shards = ['', '-0', '-1', '-2', '-3'].map((each) => shardAt(`https://cloud${each}.test`));
      const viewWith = (name: string) => [...view, name].sort();
      const names = Array.from({ length: 1_000 }, (_, index) => `third-${index}`);
      const third = names.find((name) => shards.every((each) => ownerOf(each, viewWith(name)) === ownerAt(each))) ?? '';
      const metadata = {
        name: `mooring-replica-${third}`,
        annotations: { 'mooring.dev/members': viewWith(third).join() },
      };
      await api.create(LEASES, 'system', { metadata, spec: { holderIdentity: third, leaseDurationSeconds: 15 } });
      await world.advance(14_500 + at);
      expect(await first.gate.begin('shop/orders-0')).toBe(true);
      move();
      for (let step = 0; step < 60; step++) {
        expect(await other.gate.begin('shop/orders-0'), `${afterMs} ${at} ${step}`).toBe(false);
        await world.advance(100);
      }
      first.gate.end('shop/orders-0');
    }
});

test('A key whose space has moved waits for a replica that cannot renew for as long as that one may act', async () => {
  const { world, api, first, other, ownerAt, move } = await aPair();
  const holderIdentity = ownerAt(shardAt('https://cloud.test'));
  const patch = api.patch.bind(api);
  expect(await first.gate.begin('shop/orders-0')).toBe(true);
  api.patch = (resource, ref, body, options) => {
    const { spec } = body as { readonly spec?: { readonly holderIdentity?: string } };
    if (spec?.holderIdentity === holderIdentity) return Promise.reject(new KubeError('busy', { status: 500 }));
    return patch(resource, ref, body, options);
  };
  move();
  for (let step = 0; first.isMember(); step++) {
    expect(await other.gate.begin('shop/orders-0'), `${step}`).toBe(false);
    await world.advance(100);
  }
  await world.advance(30_000);
  expect(await other.gate.begin('shop/orders-0')).toBe(true);
});

test('A key whose space has moved within the same replica does not wait', async () => {
  const { world, gate, placeSpace } = aShare(1);
  await world.advance(3_000);
  placeSpace('https://elsewhere.test');
  expect(await gate.begin('shop/orders-0')).toBe(true);
});

test('A key whose object is gone is turned away once, and causes no further look at all objects', async () => {
  /** Counts how often all objects are gone through in some minutes after `work`. */
  const looksAfter = async (work: (gate: KeyGate) => Promise<void>) => {
    const { world, gate, rival } = aShare(1);
    await world.advance(3_000);
    await rival();
    await world.advance(3_000);
    await work(gate);
    await world.advance(60_000);
    const keys = vi.spyOn(Map.prototype, 'keys');
    await world.advance(300_000);
    const looks = keys.mock.calls.length;
    keys.mockRestore();
    return looks;
  };
  const unprovoked = await looksAfter(async () => {});
  const provoked = await looksAfter(async (gate) => {
    // Every replica hears that they are gone, and some of them belong to another one.
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
    const begun = await Promise.all(names.map((name) => gate.begin(`shop/${name}`)));
    expect(new Set(begun)).toEqual(new Set([true, false]));
  });
  expect([unprovoked > 0, provoked]).toEqual([true, unprovoked]);
});

test('A cluster whose existing space was not seen yet is begun by nobody; one without a space is begun by one replica', async () => {
  const { world, api, clusters, object, gate, rival } = aShare(0);
  await world.advance(3_000);
  await rival();
  await world.advance(3_000);
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
  for (const name of names) clusters.tell(object(`of-${name}`, { spaceRef: { name } }));
  const begin = () => Promise.all(names.map((name) => gate.begin(`shop/of-${name}`)));
  expect(new Set(await begin())).toEqual(new Set([true, false]));
  for (const name of names) await api.create(DATABASE_SPACES, 'shop', { metadata: { name }, spec: {} });
  expect(new Set(await begin())).toEqual(new Set([false]));
  vi.spyOn(api, 'get').mockRejectedValue(new Error('Connection refused'));
  expect(new Set(await begin())).toEqual(new Set([false]));
});

test('A space that exists and is not seen is asked about more and more rarely, once for everything in it, until it is seen', async () => {
  const { world, api, clusters, object, gate, resynced, placeSpace, removeSpace } = aShare(0);
  removeSpace();
  for (let index = 0; index < 50; index++)
    clusters.tell(object(`orders-${index}`, { spaceRef: { name: 'production' } }));
  await api.create(DATABASE_SPACES, 'shop', { metadata: { name: 'production' }, spec: {} });
  const asked = vi.spyOn(api, 'get');
  const looks = () => asked.mock.calls.filter(([{ plural }]) => plural === DATABASE_SPACES.plural).length;
  const begun: string[] = [];
  const beginAll = async () => {
    const keys = resynced.splice(0).filter((key) => key.includes('orders'));
    await Promise.all(keys.map(async (key) => (await gate.begin(key)) && begun.push(key)));
  };
  for (let second = 0; second < 600; second++) {
    await world.advance(1_000);
    await beginAll();
  }
  expect([looks() <= 20, begun]).toEqual([true, []]);
  placeSpace('https://cloud.test');
  await world.advance(3_000);
  await beginAll();
  expect(begun.length).toBe(50);
});
