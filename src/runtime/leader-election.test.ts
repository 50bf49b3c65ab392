import { expect, test } from 'vitest';
import { noChance } from '../../test/support/clock.ts';
import { messageOf } from '../base/errors.ts';
import { type KubeApi, KubeError } from '../kube/api.ts';
import { LEASES } from '../kube/lease.ts';
import { FakeKube } from '../sandbox/fake-kube.ts';
import { processClock, type VirtualClock, virtualClock } from '../sandbox/virtual-clock.ts';
import { createSeededRandom } from '../simulator/seeded-random.ts';
import { LeaderElector } from './leader-election.ts';

const LEASE = { namespace: 'system', name: 'mooring' };

function aWorld() {
  const clock = virtualClock();
  const api = new FakeKube({ now: clock.now, random: createSeededRandom(1) });
  const spec = () => (api.all(LEASES)[0]?.['spec'] ?? {}) as Readonly<Record<string, unknown>>;
  return { clock, api, spec, holder: () => spec()['holderIdentity'] };
}

/** One candidate with a clock, a connection and a fate of its own. Its work ends as soon as it is told to stop. */
function aCandidate(
  world: { readonly clock: VirtualClock; readonly api: KubeApi },
  identity: string,
  options: { readonly skewMs?: number; readonly drainMs?: number } = {},
) {
  const clock = processClock(world.clock, options.skewMs);
  const log: string[] = [];
  const failures: unknown[] = [];
  const stop = new AbortController();
  /** How its requests fare: 'cut' answers nothing, 'deaf' takes effect but the answer is lost. */
  const link: { state: 'up' | 'cut' | 'deaf'; hears: boolean } = { state: 'up', hears: true };
  const requests = { get: 0, list: 0, watch: 0, create: 0, patch: 0, delete: 0 };
  const never = new Promise<never>(() => {});
  const reach = async <T>(verb: keyof typeof requests, call: () => Promise<T>): Promise<T> => {
    await clock.running();
    requests[verb]++;
    if (link.state === 'cut') return never;
    const answer = await call();
    await clock.running();
    return link.state === 'deaf' ? never : answer;
  };
  const api: KubeApi = {
    get: (...args) => reach('get', () => world.api.get(...args)),
    list: (...args) => reach('list', () => world.api.list(...args)),
    async *watch(...args) {
      requests.watch++;
      for await (const event of world.api.watch(...args)) {
        await clock.running();
        if (link.hears && link.state !== 'cut') yield event;
      }
    },
    create: (...args) => reach('create', () => world.api.create(...args)),
    patch: (...args) => reach('patch', () => world.api.patch(...args)),
    delete: (...args) => reach('delete', () => world.api.delete(...args)),
  };
  const elector = new LeaderElector({
    ...LEASE,
    api,
    clock,
    random: noChance,
    identity,
    onFailure: (error) => failures.push(error),
  });
  const ended = elector.run(stop.signal, {
    onStartedLeading: async (signal) => {
      log.push('started');
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      log.push('told to stop');
      if (options.drainMs !== undefined) await new Promise<void>((done) => clock.after(options.drainMs ?? 0, done));
    },
    onStoppedLeading: () => log.push('stopped'),
  });
  return { clock, elector, ended, log, failures, link, requests, stop, leads: () => elector.isLeader() };
}

test('LeaderElector takes a Lease that is not there, and renews it', async () => {
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

test('LeaderElector lets one lead, and another one only after it gave the Lease back, then at once', async () => {
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

test('LeaderElector whose watch tells nothing takes a Lease that was given back when it next asks', async () => {
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

test('LeaderElector takes the Lease of a holder that died as soon as it has run out', async () => {
  const world = aWorld();
  const one = aCandidate(world, 'one');
  await world.clock.advance(1_300);
  const two = aCandidate(world, 'two');
  // Renewed at 60 s for the last time.
  await world.clock.advance(59_000);
  one.clock.freeze();
  await world.clock.advance(14_600);
  expect(two.leads()).toBe(false);
  await world.clock.advance(100);
  expect(two.leads()).toBe(true);
});

test('LeaderElector that stands by asks no more often than every retry period, and watches by one request', async () => {
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

test('LeaderElector keeps leading while what is in hand ends', async () => {
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

test('LeaderElector stops by itself when it cannot renew, before another one may start', async () => {
  const world = aWorld();
  const one = aCandidate(world, 'one');
  const two = aCandidate(world, 'two');
  await world.clock.advance(60_000);
  one.link.state = 'cut';
  await world.clock.advance(8_000);
  expect(one.leads()).toBe(true);
  await world.clock.advance(2_000);
  expect([one.leads(), two.leads()]).toEqual([false, false]);
  await one.ended;
  expect([...one.log].sort()).toEqual(['started', 'stopped', 'told to stop']);
  await world.clock.advance(9_000);
  expect(two.leads()).toBe(true);
});

test('LeaderElector survives a short outage, and renewals whose answers are lost', async () => {
  const world = aWorld();
  const one = aCandidate(world, 'one');
  await world.clock.advance(10_000);
  for (const state of ['cut', 'deaf'] as const) {
    one.link.state = state;
    await world.clock.advance(4_000);
    one.link.state = 'up';
    await world.clock.advance(20_000);
    expect(one.leads()).toBe(true);
  }
  expect(one.log).toEqual(['started']);
});

test('LeaderElector that was frozen does not lead when it wakes up, before it does anything', async () => {
  const world = aWorld();
  const one = aCandidate(world, 'one');
  const two = aCandidate(world, 'two');
  await world.clock.advance(60_000);
  one.clock.freeze();
  await world.clock.advance(60_000);
  expect([one.leads(), two.leads()]).toEqual([false, true]);
  one.clock.thaw();
  expect(one.leads()).toBe(false);
  await one.ended;
  expect(one.log.includes('stopped')).toBe(true);
  expect(world.holder()).toBe('two');
});

test('LeaderElector stops at once when somebody else took the Lease', async () => {
  const world = aWorld();
  const one = aCandidate(world, 'one');
  await world.clock.settle();
  await world.api.patch(LEASES, LEASE, { spec: { holderIdentity: 'a person' } });
  await world.clock.advance(2_000);
  await one.ended;
  expect([one.leads(), world.holder()]).toEqual([false, 'a person']);
});

test.each([
  ['leads', 'up', 2_000, []],
  ['is cut off', 'cut', 9_000, ['No answer in time', 'No answer in time']],
] as const)(
  'LeaderElector waits for a whole lease after somebody deleted the Lease of one that %s',
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

test('LeaderElector that did not hear of the last renewals waits for a whole lease after it finds the Lease deleted', async () => {
  const world = aWorld();
  const one = aCandidate(world, 'one');
  const two = aCandidate(world, 'two');
  await world.clock.advance(60_000);
  two.link.state = 'cut';
  await world.clock.advance(14_000);
  one.clock.freeze();
  world.api.remove(LEASES, LEASE);
  two.link.state = 'up';
  one.clock.thaw();
  one.link.state = 'cut';
  for (let step = 0; step < 20; step++) {
    await world.clock.advance(1_000);
    expect([one.leads(), two.leads()]).not.toEqual([true, true]);
  }
  expect(two.leads()).toBe(true);
});

test('LeaderElector goes on leading when somebody changes the Lease without taking it', async () => {
  const world = aWorld();
  const one = aCandidate(world, 'one');
  await world.clock.settle();
  await world.api.patch(LEASES, LEASE, { metadata: { labels: { touched: 'yes' } } });
  await world.clock.advance(60_000);
  expect([one.leads(), one.log]).toEqual([true, ['started']]);
});

test('LeaderElector believes no clock but its own: the times in the Lease mean nothing', async () => {
  const world = aWorld();
  const one = aCandidate(world, 'one', { skewMs: -86_400_000 });
  await world.clock.settle();
  const two = aCandidate(world, 'two', { skewMs: 86_400_000 });
  await world.clock.advance(600_000);
  expect([one.leads(), two.leads()]).toEqual([true, false]);
});

test('LeaderElector waits out the whole lease of a holder that it finds, however old it says it is', async () => {
  const world = aWorld();
  const spec = { holderIdentity: 'ghost', leaseDurationSeconds: 15, renewTime: '2001-01-01T00:00:00.000000Z' };
  await world.api.create(LEASES, LEASE.namespace, { metadata: { name: LEASE.name }, spec });
  const one = aCandidate(world, 'one');
  await world.clock.advance(14_999);
  expect(one.leads()).toBe(false);
  await world.clock.advance(2_000);
  expect([one.leads(), world.spec()['leaseTransitions']]).toEqual([true, 1]);
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

test('LeaderElector goes on asking while the API refuses, and says why', async () => {
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

test('LeaderElector gives the Lease back and tells when the work fails', async () => {
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
])('LeaderElector refuses times that do not exclude two leaders: %j', (times, problem) => {
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
  await clock.advance(60_000);
  expect(elector.isLeader()).toBe(leads);
  stop.abort();
  await clock.settle();
  await ended;
});

test('LeaderElector that found its time to be over does not lead again when its wall clock is set back', async () => {
  const { api, clock } = aWorld();
  const jump = { ms: 0 };
  const own = { ...clock, now: () => clock.now() + jump.ms };
  const elector = new LeaderElector({ ...LEASE, api, clock: own, random: noChance, identity: 'one' });
  let hasStopped = false;
  const ended = elector.run(new AbortController().signal, {
    onStartedLeading: (signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve())),
    onStoppedLeading: () => {
      hasStopped = true;
    },
  });
  await clock.advance(60_000);
  jump.ms = 45_000;
  expect(elector.isLeader()).toBe(false);
  jump.ms = 0;
  expect([elector.isLeader(), hasStopped]).toEqual([false, false]);
  await clock.advance(2_000);
  await ended;
  expect(hasStopped).toBe(true);
});

test('LeaderElectors never lead two at once, whatever freezes, is cut off or restarts, and one leads in the end', async () => {
  for (let seed = 1; seed <= 6; seed++) {
    const world = aWorld();
    const random = createSeededRandom(seed);
    const draw = (count: number) => Math.floor(random.float() * count);
    let born = 0;
    const candidate = () => aCandidate(world, `candidate-${born++}`, { skewMs: draw(600_000) - 300_000 });
    const alive = [candidate(), candidate(), candidate()];
    const leaders = () => alive.filter((each) => each.leads()).length;
    for (let turn = 0; turn < 100; turn++) {
      const index = draw(alive.length);
      const one = alive[index] ?? candidate();
      switch (draw(8)) {
        case 0:
          one.clock.freeze();
          break;
        case 1:
          one.link.state = 'cut';
          break;
        case 2:
          one.link.state = 'deaf';
          break;
        case 3:
          one.stop.abort();
          alive[index] = candidate();
          break;
        default:
          one.clock.thaw();
          one.link.state = 'up';
      }
      for (let step = draw(20); step >= 0; step--) {
        await world.clock.advance(random.float() * 1_500);
        expect(leaders(), `seed ${seed}, turn ${turn}`).toBeLessThanOrEqual(1);
      }
    }
    for (const [index, each] of alive.entries()) {
      each.stop.abort();
      alive[index] = candidate();
    }
    await world.clock.advance(40_000);
    expect(leaders(), `seed ${seed}`).toBe(1);
    for (const each of alive) each.stop.abort();
  }
});

test('LeaderElectors that know the Lease never lead two at once, however often it is deleted, and one leads again', async () => {
  for (let seed = 1; seed <= 6; seed++) {
    const world = aWorld();
    const random = createSeededRandom(seed);
    const draw = (count: number) => Math.floor(random.float() * count);
    let born = 0;
    const candidate = () => {
      const one = aCandidate(world, `candidate-${born++}`);
      const state = { hasEnded: false };
      void one.ended.then(() => (state.hasEnded = true));
      return { ...one, state };
    };
    const alive = [candidate(), candidate(), candidate()];
    const leaders = () => alive.filter((each) => each.leads()).length;
    await world.clock.advance(5_000);
    for (let turn = 0; turn < 30; turn++) {
      for (let fault = draw(3); fault >= 0; fault--) {
        const one = alive[draw(alive.length)] ?? candidate();
        if (draw(2) === 0) one.clock.freeze();
        else one.link.state = draw(2) === 0 ? 'cut' : 'deaf';
      }
      await world.clock.advance(random.float() * 8_000);
      world.api.remove(LEASES, LEASE);
      for (let step = 0; step < 40; step++) {
        const one = alive[draw(alive.length)] ?? candidate();
        if (draw(4) === 0) one.clock.thaw();
        if (draw(4) === 0) one.link.state = 'up';
        await world.clock.advance(500 + random.float() * 500);
        expect(leaders(), `seed ${seed}, turn ${turn}`).toBeLessThanOrEqual(1);
      }
      for (const { clock, link } of alive) {
        clock.thaw();
        link.state = 'up';
      }
      await world.clock.advance(18_000);
      expect([leaders(), world.holder()], `seed ${seed}, turn ${turn}`).toEqual([1, expect.any(String)]);
      // As its process does: who comes finds the Lease, so that it knows of it when it is deleted.
      for (const [index, each] of alive.entries()) if (each.state.hasEnded) alive[index] = candidate();
      await world.clock.settle();
    }
    for (const each of alive) each.stop.abort();
  }
});
