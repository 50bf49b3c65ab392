import { expect, test } from 'vitest';
import { aCluster, aController, aStandby, READY } from '../../test/support/toy-controller.ts';
import { TOYS, type ToyBehaviour, type ToyKind } from '../../test/support/toy-kind.ts';
import { TransientError } from '../base/errors.ts';
import { API_VERSION } from '../base/group.ts';
import { KubeError } from '../kube/api.ts';
import { ready, stalled } from '../kube/summary.ts';
import type { KeyGate } from './controller.ts';

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

test('Controller reports a meaningless annotation once, and goes on', async () => {
  const { create, change, passes, events, clock } = await aController();
  await create('a');
  await change('a', { metadata: { annotations: { 'mooring.dev/paused': 'True' } } });
  await change('a', { metadata: { annotations: { other: 'x' } } });
  await clock.advance(3_600_000);
  const told = () => events.filter((event) => event.includes('AnnotationIgnored'));
  expect(told()).toHaveLength(1);
  expect(passes.length).toBeLessThanOrEqual(4);
  await change('a', { metadata: { annotations: { 'mooring.dev/paused': 'true' } } });
  await change('a', { metadata: { annotations: { 'mooring.dev/paused': 'True' } } });
  expect(told()).toHaveLength(2);
});

test('Controller reports once that an object is going to be abandoned, beside what has no effect', async () => {
  const { create, change, events } = await aController();
  await create('a');
  const annotate = (annotations: Readonly<Record<string, string | null>>) => change('a', { metadata: { annotations } });
  const told = () => events.filter((event) => ['AnnotationIgnored', 'AbandonedWhenDeleted'].includes(event));
  await annotate({ 'mooring.dev/abandon': 'true' });
  await annotate({ 'mooring.dev/paused': 'True' });
  await annotate({ other: 'x' });
  expect(told()).toEqual(['AbandonedWhenDeleted', 'AnnotationIgnored']);
  await annotate({ 'mooring.dev/abandon': null });
  await annotate({ 'mooring.dev/abandon': 'true' });
  expect(told()).toEqual(['AbandonedWhenDeleted', 'AnnotationIgnored', 'AbandonedWhenDeleted']);
});

test('Controller reports a meaningless annotation again if another object of the same name has it', async () => {
  const { api, clock, events } = await aController();
  const metadata = { name: 'a', annotations: { 'mooring.dev/paused': 'True' } };
  for (let told = 1; told <= 2; told++) {
    await api.create(TOYS, 'ns', { apiVersion: API_VERSION, kind: 'Toy', metadata, spec: {} });
    await clock.settle();
    expect(events.filter((event) => event === 'AnnotationIgnored')).toHaveLength(told);
    api.remove(TOYS, { namespace: 'ns', name: 'a' });
    await clock.settle();
  }
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

test('Controller mends a status that somebody else wrote right after its own, even if the watch shows both before the answer', async () => {
  const { clock, api } = aCluster();
  const patch = api.patch.bind(api);
  let isFirst = true;
  api.patch = async (...args) => {
    const answer = await patch(...args);
    const conditions = [{ type: 'Ready', status: 'False', reason: 'Stale', message: '', lastTransitionTime: '' }];
    if (isFirst)
      await patch(TOYS, { namespace: 'ns', name: 'a' }, { status: { conditions } }, { subresource: 'status' });
    isFirst = false;
    await new Promise((resolve) => setImmediate(resolve));
    return answer;
  };
  const { create, passes } = await aController({}, 2, { clock, api });
  await create('a');
  await clock.advance(60_000);
  expect(passes).toHaveLength(2);
  expect(api.all(TOYS)[0]).toMatchObject({ status: { conditions: [{ status: 'True', reason: 'Done' }] } });
});

test('Controller sees its own writes in the next pass, and no news in them, however late the watch shows them', async () => {
  const { clock, api } = aCluster();
  const watch = api.watch.bind(api);
  api.watch = async function* (...given) {
    for await (const event of watch(...given)) {
      if (event.type === 'MODIFIED') await new Promise<void>((resolve) => clock.after(60_000, resolve));
      yield event;
    }
  };
  let isSettled = false;
  const acts: string[] = [];
  const { create, logged, passes } = await aController(
    {
      decide: ({ status }) => ({ conditions: READY, steps: isSettled || status.size === 1 ? [] : ['grow'] }),
      act: async (_subject, step) => {
        acts.push(step);
        return { size: 1 };
      },
    },
    2,
    { clock, api },
  );
  await create('a');
  await clock.advance(3_600_000);
  expect([acts, logged, passes.length]).toEqual([['grow'], ['Going to grow', 'All is well'], 2]);
  isSettled = true;
  await create('b');
  await clock.advance(3_600_000);
  expect([acts.length, passes.length]).toEqual([1, 3]);
});

test('Controller keeps its pause when the watch shows a status before its write is answered', async () => {
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

test('Controller says so when somebody else was faster, and looks again', async () => {
  const { clock, api } = aCluster();
  const patch = api.patch.bind(api);
  let conflicts = 3;
  api.patch = async (resource, ref, body, options) => {
    if (options?.subresource === 'status' && conflicts-- > 0)
      throw new KubeError('the object has been modified', { status: 409, reason: 'Conflict' });
    return patch(resource, ref, body, options);
  };
  const { create, logged } = await aController({}, 2, { clock, api });
  await create('a');
  await clock.advance(60_000);
  expect(logged.filter((line) => line.includes('was changed or deleted meanwhile'))).toHaveLength(3);
  expect(api.all(TOYS)[0]).toMatchObject({ status: { conditions: [{ status: 'True' }] } });
});

test('Controller looks at what refers to a thing when that thing changes, and at nothing else', async () => {
  const { create, change, passes, controller, clock } = await aController();
  await create('a', { friend: 'x' });
  await create('b', { friend: 'y' });
  passes.length = 0;
  controller.enqueueDependents('friends/x');
  await clock.settle();
  expect(passes.map(({ name }) => name)).toEqual(['a']);
  controller.enqueueDependents('friends/y', 'low');
  await clock.settle();
  expect(passes.map(({ name }) => name)).toEqual(['a', 'b']);
  await change('a', { spec: { friend: 'y' } });
  passes.length = 0;
  controller.enqueueDependents('friends/x');
  controller.enqueueDependents('friends/y');
  await clock.settle();
  expect(passes.map(({ name }) => name).sort()).toEqual(['a', 'b']);
});

test.each([
  ['nothing, if its kind says nothing', undefined, []],
  ['what its kind reads of it', { spec: { size: 1, friend: 'x' }, status: { observedGeneration: 1 } }, ['ns/a']],
])('Controller has an object whose spec cannot be read refer to %s', async (_, read, dependents) => {
  const record: ToyKind['record'] = (object) => object && read && { metadata: object.metadata, ...read };
  const { create, controller } = await aController(read === undefined ? {} : { record });
  await create('a', { size: 'large', friend: 'x' });
  expect([...controller.references.dependents('friends/x')]).toEqual(dependents);
});

test('Controller remembers nothing of an object that another one has replaced, even if it never heard of the deletion', async () => {
  const { create, informer, clock, calls, passes } = await aController();
  await create('a');
  const former = informer.store.get('ns/a');
  if (former === undefined) expect.fail('There is no toy');
  informer.store.apply({ ...former, metadata: { ...former.metadata, uid: 'another', resourceVersion: '1000' } });
  await clock.settle();
  expect([calls, passes.length]).toEqual([['observe', 'forget ns/a, deleted', 'observe'], 2]);
});

test('Controller remembers nothing that a pass learned about an object that was replaced meanwhile', async () => {
  const wait = Promise.withResolvers<void>();
  const { create, informer, clock, calls } = await aController({ observe: () => wait.promise });
  await create('a');
  const former = informer.store.get('ns/a');
  if (former === undefined) expect.fail('There is no toy');
  informer.store.apply({ ...former, metadata: { ...former.metadata, uid: 'another', resourceVersion: '1000' } });
  await clock.settle();
  expect(calls.splice(0)).toEqual(['observe', 'forget ns/a, deleted']);
  wait.resolve();
  await clock.settle();
  expect(calls).toEqual(['forget ns/a, deleted', 'observe']);
});

test('Controller remembers nothing of an object that went back to an earlier version, as after a restore of the server', async () => {
  const { create, change, informer, clock, calls } = await aController();
  await create('a');
  const former = informer.store.get('ns/a');
  await change('a', { metadata: { labels: { x: 'y' } } });
  if (former === undefined) expect.fail('There is no toy');
  informer.store.apply(former, true);
  await clock.settle();
  expect(calls).toEqual(['observe', 'observe', 'forget ns/a, wentBack', 'observe']);
});

test('Controller remembers nothing that a pass learned about an object that went back meanwhile', async () => {
  let hold = Promise.resolve();
  const { create, change, informer, clock, calls } = await aController({ observe: () => hold });
  await create('a');
  const former = informer.store.get('ns/a');
  if (former === undefined) expect.fail('There is no toy');
  const held = Promise.withResolvers<void>();
  hold = held.promise;
  await change('a', { metadata: { labels: { x: 'y' } } });
  informer.store.apply(former, true);
  held.resolve();
  await clock.settle();
  expect(calls).toEqual([...Array(2).fill('observe'), ...Array(2).fill('forget ns/a, wentBack'), 'observe']);
});

test('Controller looks again, within a minute, at an object of which only the status went back while a pass was under way', async () => {
  let hold = Promise.resolve();
  const { create, change, informer, clock, passes } = await aController({ observe: () => hold });
  await create('a');
  const held = Promise.withResolvers<void>();
  hold = held.promise;
  await change('a', { metadata: { annotations: { x: 'y' } } });
  const later = informer.store.get('ns/a');
  if (later === undefined) expect.fail('There is no toy');
  informer.store.apply({ ...later, status: {}, metadata: { ...later.metadata, resourceVersion: '1' } }, true);
  held.resolve();
  await clock.settle();
  const before = passes.length;
  await clock.advance(60_000);
  expect(passes).toHaveLength(before + 1);
});

test('Controller forgets what is gone for good, even if another process had it', async () => {
  const { create, controller, api, clock, calls, logged } = await aController();
  await create('a');
  controller.forget('ns/a', 'released');
  expect(calls).toEqual(['observe', 'forget ns/a, released']);
  api.remove(TOYS, { namespace: 'ns', name: 'a' });
  await clock.settle();
  expect(new Set(calls.slice(2))).toEqual(new Set(['forget ns/a, deleted']));
  expect(logged).toEqual(['All is well']);
});

test('Controller forgets what an object referred to when it is gone', async () => {
  const { create, controller, api, clock } = await aController();
  await create('a', { friend: 'x' });
  expect([...controller.references.dependents('friends/x')]).toEqual(['ns/a']);
  api.remove(TOYS, { namespace: 'ns', name: 'a' });
  await clock.settle();
  expect([...controller.references.dependents('friends/x')]).toEqual([]);
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
  for (const friend of ['x', 'y']) controller.enqueueDependents(`friends/${friend}`);
  await clock.advance(60_000);
  expect(most).toBe(3);
});

test('Controller makes one Event for each change of Ready, none for a pass', async () => {
  let reason = 'One';
  const { create, events, controller, clock } = await aController({
    decide: () => ({ conditions: ready(reason, reason) }),
  });
  await create('a', { friend: 'x' });
  const look = async () => {
    controller.enqueueDependents('friends/x');
    await clock.settle();
  };
  await look();
  await look();
  reason = 'Two';
  await look();
  await look();
  expect(events).toEqual(['One', 'Two']);
});

test('Controller makes no Event for a status that is written while Ready stays as it is', async () => {
  let size = 1;
  const { create, events, controller, clock, api } = await aController({
    decide: () => ({ conditions: ready('Done', `It has size ${size}`), status: { size } }),
  });
  await create('a', { friend: 'x' });
  size = 2;
  controller.enqueueDependents('friends/x');
  await clock.settle();
  expect(api.all(TOYS)[0]).toMatchObject({ status: { size: 2, conditions: [{ message: 'It has size 2' }] } });
  expect(events).toEqual(['Done']);
});

test('Controller that is stopped finishes the running pass and begins no other', async () => {
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

test('Controller that is stopped before it runs begins nothing, and ends', async () => {
  const { create, stop, run, passes, clock } = await aStandby();
  await create('a');
  stop.abort();
  let ended = false;
  void run().then(() => {
    ended = true;
  });
  await clock.settle();
  expect([ended, passes]).toEqual([true, []]);
});

test('Controller that is stopped while its gate is asking begins nothing, and tells the gate so', async () => {
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

test('Controller begins what its gate says is its own, tells the gate when it has ended, and comes to what becomes its own', async () => {
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
  given.controller.enqueueAsNew('ns/b', 2_000);
  await given.clock.advance(1_999);
  expect(given.passes).toHaveLength(1);
  await given.clock.advance(1);
  expect(given.passes.map(({ name }) => name)).toEqual(['a', 'b']);
});

test('Controller logs with each line of a pass its object, and an id that ties the lines together', async () => {
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

test('Controller hears of a change even after a handler threw at its own write', async () => {
  const { create, change, informer, passes, clock } = await aController();
  let hasBug = true;
  informer.onChange((_key, before, after) => {
    if (before === undefined || after === undefined || !hasBug) return;
    hasBug = false;
    throw new Error('a bug');
  });
  await create('a');
  await clock.advance(600_000);
  const before = passes.length;
  await change('a', { spec: { size: 2 } });
  await clock.advance(1_000);
  expect(passes.length).toBeGreaterThan(before);
});

test('Controller remembers what it learned about an object that replaced one it had not begun with', async () => {
  const answers: ((isOurs: boolean) => void)[] = [];
  let holds = false;
  const begin = () => (holds ? new Promise<boolean>((resolve) => answers.push(resolve)) : Promise.resolve(true));
  const { create, change, clock, api, calls } = await aController({}, 2, aCluster(), { begin, end: () => {} });
  await create('a');
  holds = true;
  await change('a', { spec: { size: 3 } });
  api.remove(TOYS, { namespace: 'ns', name: 'a' });
  await clock.settle();
  await create('a');
  answers.shift()?.(false);
  await clock.settle();
  calls.length = 0;
  answers.shift()?.(true);
  await clock.settle();
  expect(calls).toEqual(['observe']);
});

test.each<[string, ToyBehaviour]>([
  ['success', {}],
  ['requeue_after', { decide: () => ({ conditions: READY, requeueAfterMs: 60_000 }) }],
  ['requeue', { decide: () => ({ conditions: READY, retry: 'later' }) }],
  ['error', { observe: () => Promise.reject(new TransientError('Busy', 'Try later')) }],
  ['requeue', { observe: () => Promise.reject(new KubeError('late', { status: 409, reason: 'Conflict' })) }],
])('Controller counts a pass that ends as %s once, and its worker as free', async (result, behaviour) => {
  const { create, metrics } = await aController(behaviour);
  await create('a');
  const text = await metrics.text();
  expect(text).toContain(`controller_runtime_reconcile_total{controller="toy",result="${result}"} 1\n`);
  expect(text).toContain('controller_runtime_active_workers{controller="toy"} 0\n');
});
