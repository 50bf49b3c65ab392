import { expect, test } from 'vitest';
import { aCandidate, aWorld, LEASE } from '../../test/support/candidates.ts';
import { noChance } from '../../test/support/clock.ts';
import { LEASES } from '../kube/lease.ts';
import { createSeededRandom } from '../simulator/seeded-random.ts';
import { LeaderElector } from './leader-election.ts';

/* How leadership ends, and that two never lead at once. */

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

test('LeaderElector gives up the Lease at once even if the answer to its last renewal was lost', async () => {
  const world = aWorld();
  const one = aCandidate(world, 'one');
  await world.clock.advance(10_000);
  one.link.state = 'deaf';
  await world.clock.advance(3_000);
  one.link.state = 'up';
  one.stop.abort();
  await world.clock.advance(6_000);
  expect([world.holder(), one.log]).toEqual(['', ['started', 'told to stop', 'stopped']]);
});

test('LeaderElector renews in time after a request that hung, even if each answer takes a second', async () => {
  const world = aWorld();
  const one = aCandidate(world, 'one');
  await world.clock.advance(10_500);
  const patch = world.api.patch.bind(world.api);
  world.api.patch = async (...args) => {
    await new Promise<void>((resolve) => world.clock.after(1_000, resolve));
    return patch(...args);
  };
  one.link.state = 'cut';
  await world.clock.advance(5_000);
  one.link.state = 'up';
  await world.clock.advance(20_000);
  expect([one.leads(), one.log]).toEqual([true, ['started']]);
});

test('LeaderElector that was frozen no longer leads when it wakes up, before it does anything', async () => {
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

test('LeaderElector counts its time from when it sent a renewal, however late the answer comes', async () => {
  const { api, clock } = aWorld();
  const patch = api.patch.bind(api);
  let lateMs = 0;
  api.patch = async (...args) => {
    const answer = await patch(...args);
    await new Promise<void>((resolve) => clock.after(lateMs, resolve));
    return answer;
  };
  const elector = new LeaderElector({ ...LEASE, api, clock, random: noChance, identity: 'one' });
  const stop = new AbortController();
  const onStartedLeading = (signal: AbortSignal) =>
    new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
  void elector.run(stop.signal, { onStartedLeading, onStoppedLeading: () => {} });
  await clock.advance(1_000);
  lateMs = 4_000;
  // Sent at 2 s, answered at 6 s. The next renewal is not answered.
  await clock.advance(5_500);
  lateMs = 3_600_000;
  await clock.advance(5_000);
  expect([clock.monotonic(), elector.isLeader()]).toEqual([11_500, true]);
  await clock.advance(500);
  expect(elector.isLeader()).toBe(false);
  stop.abort();
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

test('LeaderElector that missed the last renewals waits a whole lease duration after it finds the Lease deleted', async () => {
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

test.each([
  { edit: 'frees', spec: { holderIdentity: '' } },
  { edit: 'frees, by removing the holder from', spec: { holderIdentity: null } },
  { edit: 'shortens', spec: { leaseDurationSeconds: 1 } },
  { edit: 'removes the duration from', spec: { leaseDurationSeconds: null } },
  { edit: 'removes everything from', spec: null },
])('LeaderElector does not lead beside one that is cut off when a person $edit its Lease', async ({ spec }) => {
  for (const state of ['up', 'cut'] as const) {
    const world = aWorld();
    const one = aCandidate(world, 'one');
    const two = aCandidate(world, 'two');
    await world.clock.advance(61_000);
    one.link.state = state;
    await world.api.patch(LEASES, LEASE, { spec });
    for (let step = 0; step < 200; step++) {
      expect([one.leads(), two.leads()]).not.toEqual([true, true]);
      await world.clock.advance(100);
    }
    expect([one.leads(), two.leads()].filter((leads) => leads)).toEqual([true]);
    for (const { stop } of [one, two]) stop.abort();
  }
});

test('LeaderElector goes on leading when somebody changes the Lease without taking it', async () => {
  const world = aWorld();
  const one = aCandidate(world, 'one');
  await world.clock.settle();
  await world.api.patch(LEASES, LEASE, { metadata: { labels: { touched: 'yes' } } });
  await world.clock.advance(60_000);
  expect([one.leads(), one.log]).toEqual([true, ['started']]);
});

test('LeaderElector that has found its time to be over does not lead again when its wall clock is set back', async () => {
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

test('Two LeaderElectors never lead at once, whatever freezes, is cut off or restarts, and one leads in the end', async () => {
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

test('Two LeaderElectors that know the Lease never lead at once, however often it is deleted, and one leads again', async () => {
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
      // As in its process: a newcomer finds the Lease, and so notices when it is deleted.
      for (const [index, each] of alive.entries()) if (each.state.hasEnded) alive[index] = candidate();
      await world.clock.settle();
    }
    for (const each of alive) each.stop.abort();
  }
});
