import { expect, test } from 'vitest';
import { aCluster, aController, aSettledToy, aStandby, READY } from '../../test/support/toy-controller.ts';
import { TOYS, type ToySubject } from '../../test/support/toy-kind.ts';
import { sleep } from '../base/clock.ts';
import { TerminalError } from '../base/errors.ts';
import { API_VERSION } from '../base/group.ts';
import type { KubeObject } from '../kube/object.ts';
import { stalled } from '../kube/summary.ts';
import { SOON_MS } from './controller.ts';

/** Returns the order in which toys are reconciled one after the other, if the first pass takes a second. */
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

test('Controller that starts with many settled objects looks first at what a person changes', async () => {
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

test('Controller alternates between groups, so that a crowd of new objects holds up no other group', async () => {
  const order = await anOrder(aCluster(), async ({ create }) => {
    await create('first');
    for (let index = 0; index < 20; index++) await create(`crowd-${index}`, { friend: 'x' });
    await create('other', { friend: 'y' });
  });
  expect(order.slice(0, 3)).toEqual(['first', 'crowd-0', 'other']);
});

test('Controller works at once on objects outside the groups that hang, even if several do', async () => {
  const observe = ({ spec }: ToySubject) =>
    spec.friend === 'healthy' ? Promise.resolve() : new Promise<never>(() => {});
  const { create, passes, clock } = await aController({ observe }, 10);
  for (let index = 0; index < 20; index++)
    for (const friend of ['hangs', 'hangs-too', 'hangs-as-well']) await create(`${friend}-${index}`, { friend });
  await clock.settle();
  const before = passes.length;
  for (let index = 0; index < 5; index++) await create(`healthy-${index}`, { friend: 'healthy' });
  await clock.settle();
  expect(passes.slice(before).map(({ name }) => name)).toEqual(
    Array.from({ length: 5 }, (_, index) => `healthy-${index}`),
  );
});

test('Controller that starts with many settled objects writes nothing', async () => {
  const world = aCluster();
  for (let index = 0; index < 200; index++) await aSettledToy(world.api, `toy-${index}`);
  const versions = () => world.api.all(TOYS).map(({ metadata }) => metadata.resourceVersion);
  const before = versions();
  const given = await aController({}, 2, world);
  await given.clock.advance(3_600_000);
  expect(new Set(given.passes.map(({ name }) => name)).size).toBe(200);
  expect(versions()).toEqual(before);
});

test('Controller that starts with many stalled objects does not try them all at once, but an edited one at once', async () => {
  const world = aCluster();
  for (let index = 0; index < 200; index++) {
    await aSettledToy(world.api, `toy-${index}`, stalled('No', 'Never'), world.clock.now() - 3_600_000);
  }
  const given = await aController({ observe: () => Promise.reject(new TerminalError('No', 'Never')) }, 2, world);
  await given.clock.advance(1_000);
  expect(given.passes.length).toBeLessThan(5);
  given.controller.enqueueDependents('friends/x', 'low');
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

test('Controller lets a stalled object rest that a later list brings, too, and comes to it in the end', async () => {
  const { api, clock } = aCluster();
  await aSettledToy(api, 'a', stalled('No', 'Never'), clock.now() - 3_600_000);
  const { informer, passes, clock: ours } = await aController();
  for (const toy of api.all(TOYS)) informer.store.apply(toy as unknown as KubeObject);
  await ours.advance(1_000);
  expect(passes).toEqual([]);
  await ours.advance(600_000);
  expect(passes.length).toBeGreaterThan(0);
});

test('Controller wakes a stalled object that has rested since the start when what it refers to changes', async () => {
  const world = aCluster();
  await aSettledToy(world.api, 'a', stalled('No', 'Never'), world.clock.now() - 3_600_000);
  const given = await aController({}, 2, world);
  for (const priority of ['low', 'high'] as const) {
    given.controller.enqueueDependents('friends/x', priority);
    await given.clock.settle();
    expect(given.passes.length).toBe(priority === 'low' ? 0 : 1);
  }
});

test('Controller lets others have their turn between passes that wait for nothing', async () => {
  const { clock, api } = aCluster();
  let ticks = 0;
  // The clock moves on by a millisecond at each look.
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

test('Controller that stood by for an hour does not try all stalled objects at once when it begins', async () => {
  const world = aCluster();
  const never = stalled('No', 'Never');
  for (let index = 0; index < 200; index++)
    await aSettledToy(world.api, `toy-${index}`, never, world.clock.now() - 3_600_000);
  const { run, passes } = await aStandby({ decide: () => ({ conditions: never }) }, 2, world);
  await world.clock.advance(3_600_000);
  void run();
  await world.clock.advance(10_000);
  expect(passes.length).toBeLessThan(10);
  await world.clock.advance(600_000);
  expect(new Set(passes.map(({ name }) => name)).size).toBe(200);
});

test('Controller that stands by queues nothing, and then begins with objects that nobody has looked at since they changed', async () => {
  const world = aCluster();
  const names = Array.from({ length: 120 }, (_, index) => `toy-${index}`);
  for (const name of names) await aSettledToy(world.api, name);
  const { run, passes, controller, change } = await aStandby({}, 1, world);
  const [gone = '', labelled = '', changed = ''] = names.slice(-3);
  await change(changed, { spec: { size: 2 } });
  await change(labelled, { metadata: { labels: { a: 'b' } } });
  await world.api.patch(TOYS, { namespace: 'ns', name: 'toy-1' }, { status: { size: 1 } }, { subresource: 'status' });
  world.api.remove(TOYS, { namespace: 'ns', name: gone });
  controller.enqueueDependents('friends/x', 'high');
  controller.enqueueDependents('friends/x', 'normal', SOON_MS);
  controller.enqueueAsNew('ns/toy-2', 2_000);
  await world.clock.advance(600_000);
  expect([controller.queue.depth, world.clock.timers()]).toEqual([0, 0]);
  void run();
  await world.clock.advance(600_000);
  const order = passes.map(({ name }) => name);
  expect([order[0], order.includes(gone), order.indexOf(labelled) > 1]).toEqual([changed, false, true]);
  expect([order.length, new Set(order).size]).toEqual([119, 119]);
});

test('Controller that begins with thousands of objects lets others have their turn while it queues them', async () => {
  const world = aCluster();
  for (let index = 0; index < 1_000; index++) await aSettledToy(world.api, `toy-${index}`);
  const { run, controller } = await aStandby({ observe: () => new Promise<never>(() => {}) }, 1, world);
  void run();
  let [most, before] = [controller.queue.depth, controller.queue.depth];
  while (controller.queue.depth < 900) {
    await new Promise((resolve) => setImmediate(resolve));
    most = Math.max(most, controller.queue.depth - before);
    before = controller.queue.depth;
  }
  expect(most).toBeLessThanOrEqual(100);
});

test('Controller lets others have their turn while it queues thousands that refer to one object', async () => {
  const world = aCluster();
  for (let index = 0; index < 1_000; index++) await aSettledToy(world.api, `toy-${index}`);
  const given = await aController({}, 1, world);
  const nextTurn = () => new Promise((resolve) => setImmediate(resolve));
  while (given.passes.length < 1_000) await nextTurn();
  given.controller.enqueueDependents('friends/x');
  expect(given.controller.queue.depth).toBeLessThanOrEqual(50);
  while (given.passes.length < 2_000) await nextTurn();
});

test('Controller that begins with thousands of objects begins with what a person changed, wherever that is', async () => {
  const world = aCluster();
  for (let index = 0; index < 1_000; index++) await aSettledToy(world.api, `toy-${index}`);
  const { run, passes, change } = await aStandby({}, 1, world);
  await change('toy-998', { spec: { size: 2 } });
  void run();
  await world.clock.advance(60_000);
  expect(passes[0]?.name).toBe('toy-998');
  expect(passes.filter(({ name }) => name === 'toy-998')).toHaveLength(1);
});

test('Controller makes the crowd pause sooner while it works on what a person changed', async () => {
  const world = aCluster();
  await aSettledToy(world.api, 'toy');
  const held: (() => void)[] = [];
  const observe = () => new Promise<void>((resolve) => held.push(resolve));
  const { pace, clock, change, passes } = await aController({ observe }, 2, world);
  await clock.settle();
  const isDueAfter = async (ms: number) => {
    await pace.rest();
    await clock.advance(ms);
    return pace.due;
  };
  const isDueIn = { routine: await isDueAfter(1), urgent: false, after: false };
  held.pop()?.();
  await change('toy', { spec: { size: 2 } });
  isDueIn.urgent = await isDueAfter(1);
  held.pop()?.();
  await clock.settle();
  isDueIn.after = await isDueAfter(1);
  expect(isDueIn).toEqual({ routine: false, urgent: true, after: false });
  expect(passes).toHaveLength(2);
});

test('Controller takes what a person changed during a pass as urgent, though the answer to its own write brings it first', async () => {
  const { clock, api } = aCluster();
  const watch = api.watch.bind(api);
  let isLate = false;
  api.watch = async function* (...asked) {
    for await (const event of watch(...asked)) {
      if (isLate) await sleep(clock, 300);
      yield event;
    }
  };
  const seen: unknown[] = [];
  let acts = false;
  const given = await aController(
    {
      observe: async ({ spec }) => {
        seen.push([spec.size, given?.controller.queue.priorityOf('ns/a')]);
      },
      decide: () => ({ conditions: READY, requeueAfterMs: 60_000, ...(acts ? { steps: ['grow'] } : {}) }),
      act: async () => {
        [acts, isLate] = [false, true];
        await api.patch(TOYS, { namespace: 'ns', name: 'a' }, { spec: { size: 7 } });
        return { size: 1 };
      },
    },
    2,
    { clock, api },
  );
  await given.create('a');
  acts = true;
  await clock.advance(65_000);
  expect(seen.at(-1)).toEqual([7, 'high']);
});
