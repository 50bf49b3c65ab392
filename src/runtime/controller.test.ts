import { expect, test } from 'vitest';
import { noChance } from '../../test/support/clock.ts';
import { TOYS, type ToyBehaviour, toyKind } from '../../test/support/toy-kind.ts';
import { TerminalError, TransientError } from '../base/errors.ts';
import { API_VERSION } from '../base/group.ts';
import type { Random } from '../base/random.ts';
import type { KubeObject } from '../kube/object.ts';
import { ready, stalled } from '../kube/summary.ts';
import { FakeKube } from '../sandbox/fake-kube.ts';
import { virtualClock } from '../sandbox/virtual-clock.ts';
import { createSeededRandom } from '../simulator/seeded-random.ts';
import { Controller, isNews, type KeyGate } from './controller.ts';
import { Informer } from './informer.ts';
import { createMetrics } from './metrics.ts';

const READY = ready('Done', 'All is well');

/** Delays are as long as they may be. */
const longest: Random = { float: () => 1, bytes: (count) => new Uint8Array(count) };

function aCluster() {
  const clock = virtualClock();
  const statusDefaults = { toys: { observedGeneration: -1 } };
  return { clock, api: new FakeKube({ now: clock.now, random: createSeededRandom(1), statusDefaults }) };
}

/** A controller of toys that runs, with the times at which passes looked at each toy. */
async function aController(behaviour: ToyBehaviour = {}, concurrency = 2, { clock, api } = aCluster(), gate?: KeyGate) {
  const passes: { readonly name: string; readonly at: number }[] = [];
  const events: string[] = [];
  const logged: string[] = [];
  const fields: object[] = [];
  const log = (about: object, message: string) => {
    logged.push(message);
    fields.push(about);
  };
  const kind = toyKind(
    {
      ...behaviour,
      observe: async (subject) => {
        passes.push({ name: subject.metadata.name, at: clock.monotonic() });
        return behaviour.observe?.(subject);
      },
      decide: behaviour.decide ?? (() => ({ conditions: READY })),
    },
    [],
  );
  const informer = new Informer<KubeObject>({
    api,
    resource: TOYS,
    namespaces: undefined,
    transform: (object) => object as KubeObject,
    clock,
    random: noChance,
    onFailure: () => {},
  });
  const metrics = createMetrics(clock, { version: '', node: '' });
  const controller = new Controller(kind, informer, {
    api,
    clock,
    random: longest,
    log: { info: log, warn: log },
    events: { record: (_object, { reason }) => events.push(reason) },
    metrics: metrics.controller('toy', concurrency),
    concurrency,
    gate,
  });
  const [stop, kill] = [new AbortController(), new AbortController()];
  void informer.run(stop.signal);
  await informer.synced;
  const running = controller.run(stop.signal, kill.signal);
  const create = async (name: string, spec: object = {}) => {
    await api.create(TOYS, 'ns', { apiVersion: API_VERSION, kind: 'Toy', metadata: { name }, spec });
    await clock.settle();
  };
  const change = async (name: string, patch: object) => {
    await api.patch(TOYS, { namespace: 'ns', name }, patch);
    await clock.settle();
  };
  /** Pauses between passes. */
  const pauses = () => passes.slice(1).map(({ at }, index) => at - (passes[index]?.at ?? 0));
  return {
    clock,
    api,
    controller,
    passes,
    pauses,
    events,
    logged,
    fields,
    create,
    change,
    stop,
    kill,
    running,
    metrics,
  };
}

test('Controller looks at each object once when it appears, and not again because of its own writes', async () => {
  const { create, passes, clock } = await aController();
  await create('a');
  await create('b');
  await clock.advance(3_600_000);
  expect(passes.map(({ name }) => name)).toEqual(['a', 'b']);
});

test('Controller looks again when the spec, labels or annotations change', async () => {
  const { create, change, passes, api } = await aController({ decide: () => ({ conditions: READY, hold: true }) });
  await create('a');
  await change('a', { spec: { size: 2 } });
  await change('a', { metadata: { labels: { a: 'b' } } });
  await change('a', { metadata: { annotations: { a: 'b' } } });
  const before = passes.length;
  expect(before).toBeGreaterThanOrEqual(4);
  expect(api.all(TOYS)[0]).toMatchObject({ status: { observedGeneration: 2 } });
});

test('Controller mends a status that somebody else wrote, within a minute', async () => {
  const { create, passes, api, clock } = await aController();
  await create('a');
  await clock.advance(3_600_000);
  const ref = { namespace: 'ns', name: 'a' };
  const conditions = [{ type: 'Ready', status: 'False', reason: 'Stale', message: '', lastTransitionTime: '' }];
  await api.patch(TOYS, ref, { status: { conditions } }, { subresource: 'status' });
  await clock.advance(60_000);
  expect(passes).toHaveLength(2);
  expect(api.all(TOYS)[0]).toMatchObject({ status: { conditions: [{ status: 'True', reason: 'Done' }] } });
  await clock.advance(3_600_000);
  expect(passes).toHaveLength(2);
});

test('Controller keeps to its pause where the watch tells of a status before the answer to its write comes', async () => {
  const { clock, api } = aCluster();
  const patch = api.patch.bind(api);
  api.patch = async (...args) => {
    const answer = await patch(...args);
    await new Promise((resolve) => setImmediate(resolve));
    return answer;
  };
  let tries = 0;
  const decide = () => ({ conditions: stalled('Refused', `Refused ${++tries} times`), retry: 'slowly' as const });
  const { create, pauses } = await aController({ decide }, 2, { clock, api });
  await create('a');
  await clock.advance(3_600_000);
  expect(pauses().map((ms) => Math.round(ms / 1_000))).toEqual([120, 240, 480, 960, 1_800]);
});

test('Controller looks at what refers to a thing when that thing changes, and at nothing else', async () => {
  const { create, change, passes, controller, clock } = await aController();
  await create('a', { friend: 'x' });
  await create('b', { friend: 'y' });
  passes.length = 0;
  controller.changed('friends/x');
  await clock.settle();
  expect(passes.map(({ name }) => name)).toEqual(['a']);
  await change('a', { spec: { friend: 'y' } });
  passes.length = 0;
  controller.changed('friends/x');
  controller.changed('friends/y');
  await clock.settle();
  expect(passes.map(({ name }) => name).sort()).toEqual(['a', 'b']);
});

test('Controller forgets what an object referred to when it is gone', async () => {
  const { create, controller, api, clock } = await aController();
  await create('a', { friend: 'x' });
  expect([...controller.dependents('friends/x')]).toEqual(['ns/a']);
  api.remove(TOYS, { namespace: 'ns', name: 'a' });
  await clock.settle();
  expect([...controller.dependents('friends/x')]).toEqual([]);
});

test('Controller comes back when the decision says', async () => {
  const { create, clock, pauses } = await aController({
    decide: () => ({ conditions: READY, requeueAfterMs: 10_000 }),
  });
  await create('a');
  await clock.advance(30_000);
  expect(pauses()).toEqual([10_000, 10_000, 10_000]);
});

test('Controller looks again at once after it did something', async () => {
  let left = 3;
  const { create, passes, clock } = await aController({
    decide: () => (left > 0 ? { conditions: READY, steps: ['work'] } : { conditions: READY }),
    act: async () => {
      left--;
      return undefined;
    },
  });
  await create('a');
  await clock.advance(60_000);
  expect(passes.map(({ at }) => at)).toEqual([0, 0, 0, 0]);
});

test('Controller slows down what always wants to look again at once', async () => {
  const toys = await aController({ decide: () => ({ conditions: READY, requeueAfterMs: 0 }) });
  await toys.create('a');
  await toys.clock.advance(10_000);
  expect(toys.passes.length).toBeGreaterThan(20);
  expect(toys.passes.length).toBeLessThan(40);
});

test('Controller slows down what always finds something to do, and says how it stands', async () => {
  const { create, passes, api, clock } = await aController({
    decide: () => ({ conditions: READY, steps: ['work'] }),
  });
  await create('a');
  expect(passes.length).toBeLessThan(25);
  expect(api.all(TOYS)[0]).toMatchObject({ status: { conditions: [{ reason: 'Done' }] } });
  await clock.advance(3_600_000);
  expect(passes.length).toBeLessThan(60);
});

test.each([
  {
    what: 'a transient failure',
    error: new TransientError('Busy', 'Later'),
    pauses: [2_000, 4_000, 8_000, 16_000, 32_000],
    maxMs: 300_000,
  },
  {
    what: 'a terminal failure',
    error: new TerminalError('No', 'Never'),
    pauses: [120_000, 240_000, 480_000, 960_000, 1_800_000],
    maxMs: 1_800_000,
  },
])('Controller comes back after $what with growing pauses, and never gives up', async ({ error, pauses, maxMs }) => {
  const given = await aController({ observe: () => Promise.reject(error) });
  await given.create('a');
  await given.clock.advance(6 * 3_600_000);
  expect(given.pauses().slice(0, pauses.length)).toEqual(pauses);
  expect(given.pauses().at(-1)).toBe(maxMs);
});

test('Controller waits as long as the other side asks for', async () => {
  const { create, clock, pauses } = await aController({
    observe: () => Promise.reject(new TransientError('Busy', 'Later', { retryAfterMs: 90_000 })),
  });
  await create('a');
  await clock.advance(90_000);
  expect(pauses()).toEqual([90_000]);
});

test('Controller starts with short pauses again after a pass that went well', async () => {
  let fails = true;
  const given = await aController({
    observe: () => (fails ? Promise.reject(new TransientError('Busy', 'Later')) : Promise.resolve()),
  });
  await given.create('a');
  await given.clock.advance(20_000);
  fails = false;
  await given.clock.advance(20_000);
  fails = true;
  await given.change('a', { spec: { size: 2 } });
  given.passes.splice(0, given.passes.length - 1);
  await given.clock.advance(2_000);
  expect(given.pauses()[0]).toBe(2_000);
});

test('Controller comes to an object with a stalled pass at once when a person changes it', async () => {
  const given = await aController({ observe: () => Promise.reject(new TerminalError('No', 'Never')) });
  await given.create('a');
  await given.clock.advance(3_600_000);
  const before = given.passes.length;
  await given.change('a', { spec: { size: 2 } });
  expect(given.passes.length).toBe(before + 1);
});

test('Controller survives a bug in a kind: the object says so and is tried again', async () => {
  let bug = true;
  const { create, api, clock } = await aController({
    decide: () => {
      if (bug) throw new RangeError('Invalid array length');
      return { conditions: READY };
    },
  });
  await create('a');
  expect(api.all(TOYS)[0]).toMatchObject({ status: { conditions: [{ reason: 'InternalError' }, {}] } });
  bug = false;
  await clock.advance(2_000);
  expect(api.all(TOYS)[0]).toMatchObject({ status: { conditions: [{ reason: 'Done' }] } });
});

test('Controller loses no key when the status cannot be written', async () => {
  const { create, api, clock, logged } = await aController();
  const patch = api.patch.bind(api);
  Object.assign(api, { patch: () => Promise.reject(new Error('The API server is away')) });
  await create('a');
  expect(logged.at(-1)).toContain('The API server is away');
  Object.assign(api, { patch });
  await clock.advance(2_000);
  expect(api.all(TOYS)[0]).toMatchObject({ status: { conditions: [{ reason: 'Done' }] } });
});

test('Controller works on as many objects at once as it has workers, and never twice on one', async () => {
  const inHand: string[] = [];
  let most = 0;
  const { create, clock, controller } = await aController(
    {
      observe: async ({ metadata }) => {
        expect(inHand).not.toContain(metadata.name);
        inHand.push(metadata.name);
        most = Math.max(most, inHand.length);
        await new Promise<void>((resolve) => clock.after(1_000, resolve));
        inHand.splice(inHand.indexOf(metadata.name), 1);
      },
    },
    3,
  );
  for (const name of ['a', 'b', 'c', 'd', 'e']) await create(name, { friend: name < 'd' ? 'x' : 'y' });
  for (const friend of ['x', 'y']) controller.changed(`friends/${friend}`);
  await clock.advance(60_000);
  expect(most).toBe(3);
});

test('Controller tells one event for each change of Ready, none for a pass', async () => {
  let reason = 'One';
  const { create, events, controller, clock } = await aController({
    decide: () => ({ conditions: ready(reason, reason) }),
  });
  await create('a', { friend: 'x' });
  const look = async () => {
    controller.changed('friends/x');
    await clock.settle();
  };
  await look();
  await look();
  reason = 'Two';
  await look();
  await look();
  expect(events).toEqual(['One', 'Two']);
});

test('Controller that is stopped ends the pass in hand and begins no other', async () => {
  let finish = () => {};
  const { create, stop, running, passes, clock } = await aController(
    { observe: () => new Promise<void>((resolve) => (finish = resolve)) },
    1,
  );
  await create('a');
  await create('b');
  stop.abort();
  let ended = false;
  void running.then(() => {
    ended = true;
  });
  await clock.advance(10_000);
  expect(ended).toBe(false);
  finish();
  await running;
  expect(passes.map(({ name }) => name)).toEqual(['a']);
});

test('Controller does not come back at once after a failure because it has just added the finalizer', async () => {
  const { create, pauses, clock, api } = await aController({
    decide: () => ({ conditions: READY, steps: ['work'] }),
    act: () => Promise.reject(new TransientError('Busy', 'Later')),
  });
  await create('a');
  expect(api.all(TOYS)[0]?.metadata.finalizers).toHaveLength(1);
  await clock.advance(6_000);
  expect(pauses()).toEqual([2_000, 4_000]);
});

test('Controller logs with each line of a pass what it is about, and an id that ties them together', async () => {
  const { create, fields, logged } = await aController({
    decide: () => ({ conditions: READY, steps: ['work'] }),
    act: () => Promise.reject(new TransientError('Busy', 'The other side answers 503')),
  });
  await create('a');
  expect(logged).toEqual(['Going to work', 'The other side answers 503', 'The other side answers 503']);
  expect(new Set(fields.map((each) => JSON.stringify(each)).map((text) => JSON.parse(text).reconcileID)).size).toBe(1);
  for (const each of fields)
    expect(each).toMatchObject({
      kind: 'Toy',
      namespace: 'ns',
      name: 'a',
      reconcileID: expect.stringMatching(/^\w{8}$/),
    });
});

/** What toys are worked on in which order, one after the other, when the first pass takes a second. */
async function anOrder(world: ReturnType<typeof aCluster>, meanwhile: (given: Toys) => Promise<void>) {
  let hold: (() => void) | undefined;
  const first = { still: true };
  const given = await aController(
    {
      observe: async () => {
        if (!first.still) return;
        first.still = false;
        await new Promise<void>((resolve) => (hold = resolve));
      },
    },
    1,
    world,
  );
  await given.clock.settle();
  await meanwhile(given);
  hold?.();
  await given.clock.advance(1_000);
  return given.passes.map(({ name }) => name);
}

type Toys = Awaited<ReturnType<typeof aController>>;

test('Controller that starts beside many objects in order looks at what a person changes before them', async () => {
  const world = aCluster();
  const toys = Array.from({ length: 50 }, (_, index) => `toy-${index}`);
  for (const name of toys) await aSettledToy(world.api, name);
  await world.api.patch(TOYS, { namespace: 'ns', name: 'toy-49' }, { spec: { size: 7 } });
  const order = await anOrder(world, async ({ create, change }) => {
    await create('new');
    await change('toy-40', { spec: { size: 2 } });
    await change('toy-30', { metadata: { annotations: { a: 'b' } } });
  });
  expect(order.slice(1, 4)).toEqual(['new', 'toy-40', 'toy-30']);
  expect(order[0]).toBe('toy-49');
  expect(new Set(order)).toEqual(new Set([...toys, 'new']));
});

test('Controller turns from one group to the other, so that a crowd of new objects holds up no other group', async () => {
  const order = await anOrder(aCluster(), async ({ create }) => {
    await create('first');
    for (let index = 0; index < 20; index++) await create(`crowd-${index}`, { friend: 'x' });
    await create('other', { friend: 'y' });
  });
  expect(order.slice(0, 3)).toEqual(['first', 'crowd-0', 'other']);
});

test('Controller that starts beside many objects in order writes nothing', async () => {
  const world = aCluster();
  for (let index = 0; index < 200; index++) await aSettledToy(world.api, `toy-${index}`);
  const versions = () => world.api.all(TOYS).map(({ metadata }) => metadata.resourceVersion);
  const before = versions();
  const given = await aController({}, 2, world);
  await given.clock.advance(3_600_000);
  expect(new Set(given.passes.map(({ name }) => name)).size).toBe(200);
  expect(versions()).toEqual(before);
});

test('Controller that starts beside many stalled objects does not try them all at once, and an edited one at once', async () => {
  const world = aCluster();
  for (let index = 0; index < 200; index++) {
    await aSettledToy(world.api, `toy-${index}`, stalled('No', 'Never'), world.clock.now() - 3_600_000);
  }
  const given = await aController({ observe: () => Promise.reject(new TerminalError('No', 'Never')) }, 2, world);
  await given.clock.advance(1_000);
  expect(given.passes.length).toBeLessThan(5);
  given.controller.changed('friends/x', 'low');
  await given.clock.settle();
  expect(given.passes.length).toBeLessThan(5);
  given.passes.length = 0;
  await given.change('toy-7', { spec: { size: 2 } });
  expect(given.passes.map(({ name }) => name)).toEqual(['toy-7']);
  await given.clock.advance(300_000);
  const half = new Set(given.passes.map(({ name }) => name)).size;
  expect([half > 60, half < 140]).toEqual([true, true]);
  await given.clock.advance(300_000);
  expect(new Set(given.passes.map(({ name }) => name)).size).toBeGreaterThan(195);
});

test('Controller wakes a stalled object that rests since a start when what it refers to is changed', async () => {
  const world = aCluster();
  await aSettledToy(world.api, 'a', stalled('No', 'Never'), world.clock.now() - 3_600_000);
  const given = await aController({}, 2, world);
  for (const priority of ['low', 'high'] as const) {
    given.controller.changed('friends/x', priority);
    await given.clock.settle();
    expect(given.passes.length).toBe(priority === 'low' ? 0 : 1);
  }
});

test('Controller begins what its gate says is its own, tells the gate the end, and comes to what becomes its own', async () => {
  const told: string[] = [];
  const ours = new Set(['ns/a']);
  const gate: KeyGate = {
    begin: async (key) => {
      told.push(`begin ${key}`);
      return ours.has(key);
    },
    end: (key) => told.push(`end ${key}`),
  };
  const given = await aController({}, 2, aCluster(), gate);
  await given.create('a');
  await given.create('b');
  expect(given.passes.map(({ name }) => name)).toEqual(['a']);
  expect(told).toEqual(['begin ns/a', 'end ns/a', 'begin ns/b']);
  ours.add('ns/b');
  given.controller.revisit('ns/b', 2_000);
  await given.clock.advance(1_999);
  expect(given.passes).toHaveLength(1);
  await given.clock.advance(1);
  expect(given.passes.map(({ name }) => name)).toEqual(['a', 'b']);
});

test('Controller that is stopped while its gate asks begins nothing, and tells the gate so', async () => {
  const asked = Promise.withResolvers<boolean>();
  const ended: string[] = [];
  const gate: KeyGate = { begin: () => asked.promise, end: (key) => ended.push(key) };
  const { create, stop, running, passes } = await aController({}, 2, aCluster(), gate);
  await create('a');
  stop.abort();
  asked.resolve(true);
  await running;
  expect([passes, ended]).toEqual([[], ['ns/a']]);
});

/** A toy that was looked at in its newest generation, by a process that is gone. It refers to friend x. */
async function aSettledToy(api: FakeKube, name: string, conditions = READY, atMs = 0): Promise<void> {
  const lastTransitionTime = new Date(atMs).toISOString();
  const status = {
    observedGeneration: 1,
    conditions: conditions.map((each) => ({ ...each, observedGeneration: 1, lastTransitionTime })),
  };
  await api.create(TOYS, 'ns', { apiVersion: API_VERSION, kind: 'Toy', metadata: { name }, spec: { friend: 'x' } });
  await api.patch(TOYS, { namespace: 'ns', name }, { status }, { subresource: 'status' });
}

const seen = (changes: object = {}) => ({
  metadata: { name: 'a', namespace: 'ns', uid: 'u', resourceVersion: '1', generation: 1, ...changes },
});

test.each([
  [undefined, seen(), true],
  [seen(), undefined, true],
  [seen(), seen({ resourceVersion: '2' }), false],
  [seen(), seen({ resourceVersion: '2', managedFields: [] }), false],
  [seen(), seen({ generation: 2 }), true],
  [seen(), seen({ uid: 'v' }), true],
  [seen(), seen({ deletionTimestamp: 't' }), true],
  [seen(), seen({ finalizers: ['x'] }), true],
  [seen(), seen({ annotations: { a: 'b' } }), true],
  [seen(), seen({ labels: { a: 'b' } }), true],
])('isNews() of %j and %j is %s', (before, after, news) => {
  expect(isNews(before, after)).toBe(news);
});

test('A Controller lets others have their turn between passes that wait for nothing', async () => {
  const { clock, api } = aCluster();
  let ticks = 0;
  // Each look at the clock finds it a millisecond on.
  const ticking = { ...clock, monotonic: () => clock.monotonic() + ++ticks };
  for (let index = 0; index < 200; index++)
    await api.create(TOYS, 'ns', {
      apiVersion: API_VERSION,
      kind: 'Toy',
      metadata: { name: `toy-${index}` },
      spec: {},
    });
  const { passes } = await aController({}, 10, { clock: ticking, api });
  let [most, seen] = [0, passes.length];
  for (let turn = 0; turn < 2_000 && new Set(passes.map(({ name }) => name)).size < 200; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
    [most, seen] = [Math.max(most, passes.length - seen), passes.length];
  }
  expect(new Set(passes.map(({ name }) => name)).size).toBe(200);
  expect(most).toBeLessThanOrEqual(20);
});
