import { expect, test } from 'vitest';
import { aCandidate, aWorld, LEASE } from '../../test/support/candidates.ts';
import { noChance } from '../../test/support/clock.ts';
import { messageOf } from '../base/errors.ts';
import { type KubeApi, KubeError } from '../kube/api.ts';
import { LEASES } from '../kube/lease.ts';
import { LeaderElector } from './leader-election.ts';

/** The requests of an API. Each may be replaced. */
function requestsOf(api: KubeApi): KubeApi {
  return {
    get: (...args) => api.get(...args),
    list: (...args) => api.list(...args),
    watch: (...args) => api.watch(...args),
    create: (...args) => api.create(...args),
    patch: (...args) => api.patch(...args),
    delete: (...args) => api.delete(...args),
  };
}

test('LeaderElector creates a missing Lease, and renews it', async () => {
  const world = aWorld();
  const one = aCandidate(world, 'one');
  await world.clock.settle();
  expect([one.leads(), one.log]).toEqual([true, ['started']]);
  expect(world.spec()).toMatchObject({
    holderIdentity: 'one',
    leaseDurationSeconds: 15,
    leaseTransitions: 0,
    renewTime: '2023-11-14T22:13:20.000000Z',
  });
  await world.clock.advance(3_600_000);
  expect([one.leads(), one.log, one.failures]).toEqual([true, ['started'], []]);
  expect(world.spec()).toMatchObject({
    renewTime: '2023-11-14T23:13:20.000000Z',
    acquireTime: '2023-11-14T22:13:20.000000Z',
    leaseTransitions: 0,
  });
});

test('LeaderElector lets only one lead; another leads at once after the first gave up the Lease', async () => {
  const world = aWorld();
  const one = aCandidate(world, 'one');
  const two = aCandidate(world, 'two');
  await world.clock.advance(60_000);
  expect([one.leads(), two.leads()]).toEqual([true, false]);
  one.stop.abort();
  await world.clock.settle();
  await one.ended;
  expect([one.leads(), one.log]).toEqual([false, ['started', 'told to stop', 'stopped']]);
  expect([two.leads(), world.holder(), world.spec()['leaseTransitions']]).toEqual([true, 'two', 1]);
});

test('LeaderElector whose watch is silent takes a Lease that was given up when it next asks', async () => {
  const world = aWorld();
  const one = aCandidate(world, 'one');
  const two = aCandidate(world, 'two');
  two.link.hears = false;
  await world.clock.advance(61_000);
  one.stop.abort();
  await world.clock.settle();
  await one.ended;
  expect([two.leads(), world.holder()]).toEqual([false, '']);
  await world.clock.advance(2_000);
  expect([two.leads(), two.failures]).toEqual([true, []]);
});

test('LeaderElector takes the Lease of a dead holder as soon as it has expired', async () => {
  const world = aWorld();
  const one = aCandidate(world, 'one');
  await world.clock.advance(1_300);
  const two = aCandidate(world, 'two');
  // Last renewed at 60 s.
  await world.clock.advance(59_000);
  one.clock.freeze();
  await world.clock.advance(14_600);
  expect(two.leads()).toBe(false);
  await world.clock.advance(100);
  expect(two.leads()).toBe(true);
});

test('LeaderElector takes and keeps a Lease even if each answer takes a second', async () => {
  const world = aWorld();
  const slowly = async <T>(call: () => Promise<T>): Promise<T> => {
    await new Promise<void>((resolve) => world.clock.after(1_000, resolve));
    return call();
  };
  const { get, create, patch, ...rest } = requestsOf(world.api);
  const api: KubeApi = {
    ...rest,
    get: (...args) => slowly(() => get(...args)),
    create: (...args) => slowly(() => create(...args)),
    patch: (...args) => slowly(() => patch(...args)),
  };
  const one = aCandidate({ clock: world.clock, api }, 'one');
  await world.clock.advance(2_000);
  expect(one.leads()).toBe(true);
  await world.clock.advance(600_000);
  expect([one.leads(), one.log, one.failures]).toEqual([true, ['started'], []]);
  // It ends once the Lease is given up.
  let holder: unknown;
  void one.ended.then(() => {
    holder = world.holder();
  });
  one.stop.abort();
  await world.clock.advance(10_000);
  expect(holder).toBe('');
});

test('LeaderElector that stands by asks at most a fifth later, by chance', async () => {
  const { api, clock } = aWorld();
  const requests = requestsOf(api);
  const spec = { holderIdentity: 'other', leaseDurationSeconds: 3_600 };
  await api.create(LEASES, LEASE.namespace, { metadata: { name: LEASE.name }, spec });
  const asked: number[] = [];
  const get: KubeApi['get'] = (...args) => {
    asked.push(clock.monotonic());
    return requests.get(...args);
  };
  const random = { ...noChance, float: () => 1 };
  const elector = new LeaderElector({
    ...LEASE,
    api: { ...requests, get },
    clock,
    random,
    identity: 'one',
  });
  const stop = new AbortController();
  const ended = elector.run(stop.signal, { onStartedLeading: async () => {}, onStoppedLeading: () => {} });
  await clock.advance(10_000);
  stop.abort();
  await ended;
  expect(asked).toEqual([0, 2_400, 4_800, 7_200, 9_600]);
});

test('LeaderElector goes on with a Lease that is already its own, and counts no transition', async () => {
  const world = aWorld();
  const spec = { holderIdentity: 'one', leaseDurationSeconds: 15, acquireTime: 'before', leaseTransitions: 3 };
  await world.api.create(LEASES, LEASE.namespace, { metadata: { name: LEASE.name }, spec });
  const one = aCandidate(world, 'one');
  await world.clock.settle();
  expect(one.leads()).toBe(true);
  expect(world.spec()).toMatchObject({ holderIdentity: 'one', acquireTime: 'before', leaseTransitions: 3 });
});

test('LeaderElector sends a refused renewal once, and reads the Lease only if somebody else has written to it', async () => {
  const world = aWorld();
  const one = aCandidate(world, 'one');
  await world.clock.advance(1_000);
  const { get, patch } = one.requests;
  const busy = new KubeError('busy', { status: 500 });
  world.api.patch = () => Promise.reject(busy);
  await world.clock.advance(2_000);
  expect([one.requests.get - get, one.requests.patch - patch, one.failures]).toEqual([0, 1, [busy]]);
});

test.each([
  ['never ends', () => new Promise<void>(() => {})],
  ['fails when it is told to stop', () => Promise.reject(new Error('stopped'))],
])('LeaderElector that has lost the Lease ends even if its work %s', async (_how, end) => {
  const { api, clock } = aWorld();
  let isCut = false;
  const requests = requestsOf(api);
  const patch: KubeApi['patch'] = (...args) => (isCut ? new Promise(() => {}) : requests.patch(...args));
  const elector = new LeaderElector({
    ...LEASE,
    api: { ...requests, patch },
    clock,
    random: noChance,
    identity: 'one',
  });
  let hasEnded = false;
  const ended = elector.run(new AbortController().signal, {
    onStartedLeading: async (signal) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      await end();
    },
    onStoppedLeading: () => {},
  });
  void ended.then(() => {
    hasEnded = true;
  });
  await clock.advance(5_000);
  isCut = true;
  await clock.advance(20_000);
  expect([elector.isLeader(), hasEnded]).toEqual([false, true]);
});

test('LeaderElector that is stopped during a request has not failed', async () => {
  const world = aWorld();
  const one = aCandidate(world, 'one');
  one.link.state = 'cut';
  await world.clock.advance(1_000);
  one.stop.abort();
  await one.ended;
  expect([one.log, one.failures]).toEqual([[], []]);
});

test('LeaderElector that stands by asks at most once per retry period, and watches with one request', async () => {
  const world = aWorld();
  aCandidate(world, 'one');
  await world.clock.settle();
  const two = aCandidate(world, 'two');
  await world.clock.advance(200_000);
  expect(two.requests).toEqual({ get: 101, list: 0, watch: 1, create: 0, patch: 0, delete: 0 });
});

test('LeaderElector that leads, or has stopped, watches nothing', async () => {
  const world = aWorld();
  const one = aCandidate(world, 'one');
  const two = aCandidate(world, 'two');
  await world.clock.advance(10_000);
  expect(world.api.watches).toBe(1);
  two.stop.abort();
  await world.clock.settle();
  expect([one.leads(), world.api.watches]).toEqual([true, 0]);
});

test('LeaderElector keeps leading until running work has ended', async () => {
  const world = aWorld();
  const one = aCandidate(world, 'one', { drainMs: 30_000 });
  const two = aCandidate(world, 'two');
  await world.clock.settle();
  one.stop.abort();
  await world.clock.advance(29_999);
  expect([one.leads(), two.leads()]).toEqual([true, false]);
  await world.clock.advance(2_001);
  expect([one.leads(), two.leads()]).toEqual([false, true]);
});

test.each([
  ['leads', 'up', 2_000, []],
  ['is cut off', 'cut', 9_000, ['No answer in time', 'No answer in time', 'No answer in time']],
] as const)(
  'LeaderElector waits a whole lease duration after somebody deleted the Lease of one that %s',
  async (_, state, ms, failed) => {
    for (const hears of [true, false]) {
      const world = aWorld();
      const one = aCandidate(world, 'one');
      const two = aCandidate(world, 'two');
      two.link.hears = hears;
      await world.clock.advance(61_000);
      one.link.state = state;
      world.api.remove(LEASES, LEASE);
      await world.clock.advance(ms - 1_000);
      expect([one.leads(), two.leads()]).toEqual([state === 'cut', false]);
      await world.clock.advance(1_000);
      await one.ended;
      expect([one.leads(), two.leads(), one.failures.map(messageOf)]).toEqual([false, false, failed]);
      await world.clock.advance(14_999 - ms);
      expect(two.leads()).toBe(false);
      await world.clock.advance(2_001);
      expect([two.leads(), two.failures]).toEqual([true, []]);
    }
  },
);

test('LeaderElector trusts no clock but its own: the times in the Lease mean nothing', async () => {
  const world = aWorld();
  const one = aCandidate(world, 'one', { skewMs: -86_400_000 });
  await world.clock.settle();
  const two = aCandidate(world, 'two', { skewMs: 86_400_000 });
  await world.clock.advance(600_000);
  expect([one.leads(), two.leads()]).toEqual([true, false]);
});

test('LeaderElector waits the whole lease duration of a holder that it finds, whatever age the Lease claims', async () => {
  const world = aWorld();
  const renewTime = '2001-01-01T00:00:00.000000Z';
  const spec = { holderIdentity: 'ghost', leaseDurationSeconds: 15, renewTime, leaseTransitions: 7 };
  await world.api.create(LEASES, LEASE.namespace, { metadata: { name: LEASE.name }, spec });
  const one = aCandidate(world, 'one');
  await world.clock.advance(14_999);
  expect(one.leads()).toBe(false);
  await world.clock.advance(2_000);
  expect([one.leads(), world.spec()['leaseTransitions']]).toEqual([true, 8]);
});

test('LeaderElector that is stopped while it waits leaves the Lease alone', async () => {
  const world = aWorld();
  aCandidate(world, 'one');
  await world.clock.settle();
  const two = aCandidate(world, 'two');
  await world.clock.advance(5_000);
  two.stop.abort();
  await world.clock.settle();
  await two.ended;
  expect([two.log, world.holder()]).toEqual([[], 'one']);
});

test('LeaderElector keeps asking while the API refuses, and says why', async () => {
  const world = aWorld();
  const forbidden = new KubeError('leases is forbidden', { status: 403, reason: 'Forbidden' });
  const failures: unknown[] = [];
  const { api, clock } = world;
  const elector = new LeaderElector({
    ...LEASE,
    api: Object.assign(Object.create(api) as KubeApi, { get: () => Promise.reject(forbidden) }),
    clock,
    random: noChance,
    identity: 'one',
    onFailure: (error) => failures.push(error),
  });
  const stop = new AbortController();
  const ended = elector.run(stop.signal, { onStartedLeading: async () => {}, onStoppedLeading: () => {} });
  await clock.advance(20_000);
  expect([elector.isLeader(), failures.length, failures[0]]).toEqual([false, 11, forbidden]);
  stop.abort();
  await ended;
});

test('LeaderElector gives up the Lease and reports it when the work fails', async () => {
  const world = aWorld();
  const { api, clock } = world;
  const elector = new LeaderElector({ ...LEASE, api, clock, random: noChance, identity: 'one' });
  const ended = elector.run(new AbortController().signal, {
    onStartedLeading: () => Promise.reject(new Error('work failed')),
    onStoppedLeading: () => {},
  });
  await expect(ended).rejects.toThrow('work failed');
  expect([elector.isLeader(), world.holder(), clock.timers()]).toEqual([false, '', 0]);
});

test.each([
  [{ leaseDurationMs: 10_000 }, 'the lease duration must be longer than the renew deadline'],
  [{ renewDeadlineMs: 2_400 }, 'the renew deadline must be longer than 1.2 times the retry period'],
  [{ retryPeriodMs: 8_334 }, 'the renew deadline must be longer than 1.2 times the retry period'],
  [{ retryPeriodMs: 0 }, 'the retry period must be longer than 0'],
])('LeaderElector refuses times that would allow two leaders: %j', (times, problem) => {
  const { api, clock } = aWorld();
  const elect = () => new LeaderElector({ ...LEASE, api, clock, random: noChance, identity: 'one', ...times });
  expect(elect).toThrow(new RangeError(`Two could lead at once: ${problem}`));
});

test.each([
  ['forward by more than the deadline, as after a suspension of the whole machine', 10_001, false],
  ['forward by less', 7_000, true],
  ['back', -3_600_000, true],
])('LeaderElector whose wall clock jumps %s, leads: %s', async (_, jumpMs, leads) => {
  const { api, clock } = aWorld();
  const jump = { ms: 0 };
  const own = { ...clock, now: () => clock.now() + jump.ms };
  const elector = new LeaderElector({ ...LEASE, api, clock: own, random: noChance, identity: 'one' });
  const stop = new AbortController();
  const ended = elector.run(stop.signal, {
    onStartedLeading: (signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve())),
    onStoppedLeading: () => {},
  });
  await clock.advance(60_000);
  jump.ms = jumpMs;
  expect(elector.isLeader()).toBe(leads);
  // A lost Lease stays lost, even if the clock is corrected.
  jump.ms = 0;
  expect(elector.isLeader()).toBe(leads);
  jump.ms = jumpMs;
  await clock.advance(60_000);
  expect(elector.isLeader()).toBe(leads);
  stop.abort();
  await clock.settle();
  await ended;
});
