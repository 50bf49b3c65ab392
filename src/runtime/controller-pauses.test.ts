import { expect, test } from 'vitest';
import { aCluster, aController, aSettledToy, READY } from '../../test/support/toy-controller.ts';
import { TOYS, type ToySubject } from '../../test/support/toy-kind.ts';
import { TerminalError, TransientError } from '../base/errors.ts';
import { HttpError } from '../base/transport.ts';
import { type AnyObject, KubeError } from '../kube/api.ts';

test('Controller slows down an object that always wants another look at once', async () => {
  const toys = await aController({ decide: () => ({ conditions: READY, requeueAfterMs: 0 }) });
  await toys.create('a');
  await toys.clock.advance(10_000);
  expect(toys.passes.length).toBeGreaterThan(20);
  expect(toys.passes.length).toBeLessThan(40);
});

test('Controller slows down an object that always finds something to do, and reports its state', async () => {
  const { create, passes, api, clock } = await aController({
    decide: () => ({ conditions: READY, steps: ['work'] }),
  });
  await create('a');
  expect(passes.length).toBeLessThan(25);
  expect(api.all(TOYS)[0]).toMatchObject({ status: { conditions: [{ reason: 'Done' }] } });
  await clock.advance(3_600_000);
  expect([passes.length > 35, passes.length < 60], `${passes.length} passes`).toEqual([true, true]);
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

test.each([
  ['soon', [2_000, 4_000, 8_000, 16_000, 30_000]],
  ['later', [2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 256_000, 300_000]],
  ['slowly', [120_000, 240_000, 480_000, 960_000, 1_800_000]],
] as const)('Controller comes back with growing pauses if the decision is to look again %s', async (retry, pauses) => {
  const given = await aController({ decide: () => ({ conditions: READY, retry }) });
  await given.create('a');
  await given.clock.advance(6 * 3_600_000);
  expect(given.pauses().slice(0, pauses.length)).toEqual(pauses);
  expect(given.pauses().at(-1)).toBe(pauses.at(-1));
});

test('Controller does not take how long something had to be waited for as how long a refusal will last', async () => {
  let waits = 4;
  const given = await aController({
    decide: () => (waits-- > 0 ? { conditions: READY, retry: 'slowly' } : { conditions: READY, steps: ['work'] }),
    act: () => Promise.reject(new TerminalError('No', 'Never')),
  });
  await given.create('a');
  await given.clock.advance(3_600_000);
  expect(given.pauses().slice(0, 6)).toEqual([120_000, 240_000, 480_000, 960_000, 120_000, 240_000]);
});

test('Controller waits as long as the other side asks for', async () => {
  const { create, clock, pauses } = await aController({
    observe: () => Promise.reject(new TransientError('Busy', 'Later', { retryAfterMs: 90_000 })),
  });
  await create('a');
  await clock.advance(90_000);
  expect(pauses()).toEqual([90_000]);
});

test('Controller reports that a step failed for good, and comes back soon if that was decided', async () => {
  const { create, clock, pauses, logged } = await aController({
    decide: () => ({ conditions: READY, steps: ['grow'], retry: 'soon' }),
    act: () => Promise.reject(new TerminalError('NoFood', 'There is no food')),
  });
  await create('a');
  await clock.advance(120_000);
  expect(pauses()).toEqual([2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  expect(logged.at(-1)).toContain('There is no food');
});

test('Controller starts with short pauses for an object that comes back from another process', async () => {
  const { controller, ...given } = await aController({
    observe: () => Promise.reject(new TransientError('Busy', 'No')),
  });
  await given.create('a');
  await given.clock.advance(3_600_000);
  controller.forget('ns/a', 'released');
  given.passes.length = 0;
  controller.enqueueAsNew('ns/a', 0);
  await given.clock.advance(2_000);
  expect(given.pauses()).toEqual([2_000]);
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

test.each([
  ['changed the spec', { spec: { size: 2 } }, 120_000],
  ['wrote something else', { metadata: { labels: { team: 'sales' } } }, 1_800_000],
])('Controller pauses after a failure as it should after a person %s', async (_what, patch, pauseMs) => {
  const given = await aController({ observe: () => Promise.reject(new TerminalError('No', 'Never')) });
  await given.create('a');
  await given.clock.advance(6 * 3_600_000);
  await given.change('a', patch);
  given.passes.splice(0, given.passes.length - 1);
  await given.clock.advance(1_800_000);
  expect(given.pauses()[0]).toBe(pauseMs);
});

test('Controller returns to a stalled object at once when a person changes it', async () => {
  const given = await aController({ observe: () => Promise.reject(new TerminalError('No', 'Never')) });
  await given.create('a');
  await given.clock.advance(3_600_000);
  const before = given.passes.length;
  await given.change('a', { spec: { size: 2 } });
  expect(given.passes.length).toBe(before + 1);
});

test('Controller survives a bug in a kind: the object reports it and is tried again', async () => {
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
  const { create, api, clock, logged, metrics } = await aController();
  const patch = api.patch.bind(api);
  Object.assign(api, { patch: () => Promise.reject(new Error('The API server is away')) });
  await create('a');
  expect(logged.at(-1)).toContain('The API server is away');
  expect(await metrics.text()).toContain('controller_runtime_reconcile_errors_total{controller="toy"} 1\n');
  expect(await metrics.text()).toContain('controller_runtime_active_workers{controller="toy"} 0\n');
  Object.assign(api, { patch });
  await clock.advance(2_000);
  expect(api.all(TOYS)[0]).toMatchObject({ status: { conditions: [{ reason: 'Done' }] } });
});

test.each([
  ['after the answer', 0],
  ['before the answer', 1],
])(
  'Controller does not retry a failure at once because it hears %s of the finalizer that it has just added',
  async (_when, turns) => {
    const world = aCluster();
    const patch = world.api.patch.bind(world.api);
    world.api.patch = async (...args) => {
      const answer = await patch(...args);
      for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
      return answer;
    };
    const behaviour = {
      decide: () => ({ conditions: READY, steps: ['work'] }),
      act: () => Promise.reject(new TransientError('Busy', 'Later')),
    };
    const { create, change, pauses, clock, api } = await aController(behaviour, 2, world);
    await create('a');
    expect(api.all(TOYS)[0]?.metadata.finalizers).toHaveLength(1);
    await clock.advance(6_000);
    expect(pauses()).toEqual([2_000, 4_000]);
    await change('a', { metadata: { finalizers: null } });
    expect(pauses().at(-1)).toBe(0);
  },
);

test('Controller reports within seconds that a whole crowd has stopped working, even objects that wait for their turn', async () => {
  const world = aCluster();
  const count = 1_500;
  for (let index = 0; index < count; index++) await aSettledToy(world.api, `toy-${index}`);
  let isDown = false;
  const observe = () =>
    isDown ? Promise.reject(new HttpError('unreachable', 'Connection refused')) : Promise.resolve();
  const { controller, clock, passes, api } = await aController({ observe }, 10, world);
  const lookedAt = async (looks: number) => {
    while (passes.length < looks) await clock.settle();
  };
  await lookedAt(count);
  isDown = true;
  controller.enqueueDependents('friends/x');
  await lookedAt(2 * count);
  await clock.advance(6_000);
  const isReady = ({ status }: AnyObject) =>
    (status as { conditions?: readonly { status: string }[] }).conditions?.[0]?.status === 'True';
  expect(api.all(TOYS).filter(isReady)).toEqual([]);
});

test('Controller waits as long as the API server asks for when a status cannot be written', async () => {
  const world = aCluster();
  const patch = world.api.patch.bind(world.api);
  const at: number[] = [];
  world.api.patch = async (resource, ref, body, options) => {
    if (options?.subresource === 'status' && at.push(world.clock.monotonic()) < 4)
      throw new KubeError('too many requests', { status: 429, reason: 'TooManyRequests', retryAfterMs: 30_000 });
    return patch(resource, ref, body, options);
  };
  const { create } = await aController({}, 2, world);
  await create('a');
  await world.clock.advance(600_000);
  expect(at.slice(1).map((each, index) => each - (at[index] ?? 0))).toEqual([30_000, 30_000, 30_000]);
});

test('Controller whose conflicts go on for a minute says so, and comes back less and less often', async () => {
  const denied = new KubeError('admission webhook "names" denied the request', { status: 409, reason: 'Conflict' });
  const behaviour = {
    decide: () => ({ conditions: READY, steps: ['write'] }),
    act: () => Promise.reject(denied),
  };
  const { create, passes, clock, api } = await aController(behaviour);
  await create('a');
  expect(api.all(TOYS)[0]).not.toMatchObject({ status: { conditions: [{}] } });
  await clock.advance(60_000);
  const before = passes.length;
  expect(api.all(TOYS)[0]).not.toMatchObject({ status: { conditions: [{}] } });
  await clock.advance(6_000);
  expect(api.all(TOYS)[0]).toMatchObject({ status: { conditions: [{ reason: 'KubernetesError' }, {}] } });
  await clock.advance(86_400_000);
  expect(api.all(TOYS)[0]).toMatchObject({
    status: { conditions: [{ reason: 'KubernetesError', message: expect.stringContaining('"names" denied') }, {}] },
  });
  expect(passes.length - before).toBeLessThan(1_000);
});

test('Controller that meets one conflict beside a failing crowd comes back at once, and reports nothing', async () => {
  const world = aCluster();
  let conflicts = 0;
  const behaviour = {
    observe: (subject: ToySubject) => {
      if (subject.metadata.name !== 'other') return Promise.reject(new TransientError('Busy', 'Later'));
      return conflicts++ === 0 ? Promise.reject(new KubeError('late', { status: 409 })) : Promise.resolve();
    },
  };
  const { controller, create, clock, api } = await aController(behaviour, 10, world);
  for (let index = 0; index < 20_000; index++)
    controller.queue.addRateLimited(`ns/toy-${index}`, { initialMs: 300_000, maxMs: 300_000 });
  await create('other');
  await clock.advance(5_000);
  expect(api.all(TOYS).find(({ metadata }) => metadata.name === 'other')).toMatchObject({
    status: { conditions: [{ reason: 'Done' }] },
  });
});

test('Controller that meets one conflict just when a long failure is over comes back at once, and reports nothing', async () => {
  let meets: 'failure' | 'conflict' | 'nothing' = 'failure';
  const { create, clock, passes, api, pauses } = await aController({
    observe: () => {
      if (meets === 'nothing') return Promise.resolve();
      if (meets === 'failure') return Promise.reject(new TransientError('Busy', 'Later'));
      meets = 'nothing';
      return Promise.reject(new KubeError('late', { status: 409, reason: 'Conflict' }));
    },
  });
  await create('a');
  await clock.advance(600_000);
  const before = passes.length;
  meets = 'conflict';
  while (passes.length === before) await clock.advance(1_000);
  expect(api.all(TOYS)[0]).toMatchObject({ status: { conditions: [{ reason: 'Busy' }, {}] } });
  await clock.advance(5_000);
  expect(pauses().at(-1)).toBeLessThanOrEqual(5_000);
  expect(api.all(TOYS)[0]).toMatchObject({ status: { conditions: [{ reason: 'Done' }] } });
});

test('Controller that meets one conflict before and one after an outage of the API server reports nothing', async () => {
  const world = aCluster();
  const patch = world.api.patch.bind(world.api);
  let isDown = false;
  world.api.patch = (...given) =>
    isDown ? Promise.reject(new KubeError('etcd is away', { status: 500 })) : patch(...given);
  let meets: 'conflict' | 'nothing' = 'nothing';
  let size = 0;
  const behaviour = {
    observe: () => {
      if (meets === 'nothing') return Promise.resolve();
      meets = 'nothing';
      return Promise.reject(new KubeError('late', { status: 409, reason: 'Conflict' }));
    },
    decide: () => ({ conditions: READY, status: { size: ++size } }),
  };
  const { create, change, clock, events } = await aController(behaviour, 2, world);
  await create('a');
  meets = 'conflict';
  await change('a', { spec: { size: 2 } });
  isDown = true;
  await clock.advance(120_000);
  meets = 'conflict';
  isDown = false;
  await clock.advance(300_000);
  expect(events).toEqual(['Done']);
});

test.each([
  ['steps without effect', ['work'], 40],
  ['looks', [], 30],
])('Controller slows down %s, even if somebody else is faster with each status', async (_what, steps, mostPasses) => {
  const world = aCluster();
  const patch = world.api.patch.bind(world.api);
  world.api.patch = async (resource, ref, body, options) => {
    if (options?.subresource === 'status') throw new KubeError('late', { status: 409, reason: 'Conflict' });
    return patch(resource, ref, body, options);
  };
  const { create, passes, clock } = await aController({ decide: () => ({ conditions: READY, steps }) }, 2, world);
  await create('a');
  await clock.advance(30_000);
  expect(passes.length).toBeLessThan(mostPasses);
  await clock.advance(3_600_000);
  const before = passes.length;
  await clock.advance(3_600_000);
  // Every five minutes.
  expect(passes.length - before).toBe(12);
});
