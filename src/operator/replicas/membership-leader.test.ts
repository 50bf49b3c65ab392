import { expect, test, vi } from 'vitest';
import { aLeader, aReplica, aWorld, LEADER, NAMESPACE, SHARDS, sorted } from '../../../test/support/replicas.ts';
import { LEASES } from '../../kube/lease.ts';
import { createSeededRandom } from '../../simulator/seeded-random.ts';

// The time of many replicas, in hours.
vi.setConfig({ testTimeout: 30_000 });

test('Replicas own nothing while a leader that was started without shards holds its Lease', async () => {
  const world = aWorld();
  const leader = aLeader(world);
  await world.clock.advance(1_000);
  const [one, two] = [aReplica(world, 'one'), aReplica(world, 'two')];
  await world.clock.advance(120_000);
  expect([leader.isLeader(), one.owned(), two.owned()]).toEqual([true, [], []]);
  leader.stop.abort();
  await world.clock.settle();
  await leader.ended;
  await world.clock.advance(10_000);
  expect(sorted(one.owned(), two.owned())).toEqual([...SHARDS].sort());
});

test('A process without shards waits for the last replica to end, and no longer if that replica says so', async () => {
  const world = aWorld();
  const [one, two] = [aReplica(world, 'one'), aReplica(world, 'two')];
  await world.clock.advance(20_000);
  const leader = aLeader(world);
  await world.clock.advance(120_000);
  expect([leader.isLeader(), sorted(one.owned(), two.owned())]).toEqual([false, [...SHARDS].sort()]);
  one.stop.abort();
  await world.clock.advance(30_000);
  expect([leader.isLeader(), two.owned()]).toEqual([false, SHARDS]);
  two.stop.abort();
  await world.clock.advance(1_000);
  expect([leader.isLeader(), two.holds()]).toEqual([true, []]);
  leader.stop.abort();
});

test('Replicas wait for a leader and take over even if each of their requests takes 2.4 s', async () => {
  const world = aWorld();
  const leader = aLeader(world);
  await world.clock.advance(1_000);
  const replicas = ['one', 'two'].map((name) => aReplica(world, name, () => 1_200));
  const owned = () => replicas.map((replica) => replica.owned());
  for (let seconds = 0; seconds < 120; seconds++) {
    await world.clock.advance(1_000);
    expect([leader.isLeader(), ...owned()]).toEqual([true, [], []]);
  }
  leader.stop.abort();
  await world.clock.advance(30_000);
  expect([replicas.map(({ state }) => state.ended), sorted(...owned())]).toEqual([[false, false], [...SHARDS].sort()]);
});

test('A process without shards acts once dead replicas could no longer act', async () => {
  const world = aWorld();
  const [one, two] = [aReplica(world, 'one'), aReplica(world, 'two')];
  await world.clock.advance(20_000);
  // What they are doing when they wake up must not go on either.
  for (const each of [one, two]) each.inHand.add(each.owned()[0] ?? '');
  one.clock.freeze();
  two.link.state = 'cut';
  const leader = aLeader(world);
  for (let seconds = 0; seconds < 60; seconds++) {
    await world.clock.advance(1_000);
    if (leader.isLeader()) expect(two.holds()).toEqual([]);
  }
  one.clock.thaw();
  two.link.state = 'up';
  for (let seconds = 0; seconds < 10; seconds++) {
    expect([leader.isLeader(), one.holds(), two.holds()]).toEqual([true, [], []]);
    await world.clock.advance(1_000);
  }
  expect([one.state.ended, two.state.ended]).toEqual([true, true]);
  leader.stop.abort();
});

test('Replicas wait for a leader whose Lease somebody deletes as long as it may act', async () => {
  const world = aWorld();
  const leader = aLeader(world);
  await world.clock.advance(1_000);
  const one = aReplica(world, 'one');
  // Half a second before the replica renews, and longer before the leader does.
  await world.clock.advance(21_500);
  world.api.remove(LEASES, { namespace: NAMESPACE, name: LEADER });
  for (let seconds = 0; seconds < 60; seconds++) {
    await world.clock.advance(500);
    expect(leader.isLeader() && one.owned().length > 0).toBe(false);
  }
  expect([leader.isLeader(), one.owned()]).toEqual([false, SHARDS]);
});

test.each([
  { edit: 'frees', spec: { holderIdentity: '' } },
  { edit: 'shortens', spec: { leaseDurationSeconds: 1 } },
  { edit: 'removes the duration from', spec: { leaseDurationSeconds: null } },
  { edit: 'removes everything from', spec: null },
  { edit: 'writes a list into', spec: { holderIdentity: 'leader,of,all' } },
])('Replicas wait for a leader as long as it may act when a person $edit its Lease', async ({ spec }) => {
  // A replica that never saw the holder treats an empty Lease as one that nobody ever had.
  for (const isKnown of spec === null ? [true] : [true, false]) {
    const world = aWorld();
    const link = { isCut: false };
    const never = new Promise<never>(() => {});
    const api = new Proxy(world.api, {
      get: (target, verb: keyof typeof world.api) => {
        const value = target[verb];
        if (typeof value !== 'function' || verb === 'watch') return value;
        return (...args: never[]) =>
          link.isCut ? never : (value as (...args: never[]) => unknown).apply(target, args);
      },
    });
    const leader = aLeader({ ...world, api });
    await world.clock.advance(1_000);
    const early = isKnown ? [aReplica(world, 'one')] : [];
    await world.clock.advance(20_000);
    link.isCut = true;
    await world.api.patch(LEASES, { namespace: NAMESPACE, name: LEADER }, { spec });
    const one = early[0] ?? aReplica(world, 'one');
    for (let step = 0; step < 600; step++) {
      expect(leader.isLeader() && one.owned().length > 0).toBe(false);
      await world.clock.advance(100);
    }
    expect([leader.isLeader(), one.owned()]).toEqual([false, SHARDS]);
  }
});

test('Replicas go on when a person removes them from their common Lease, and a process without shards still waits', async () => {
  const world = aWorld();
  const [one, two] = [aReplica(world, 'one'), aReplica(world, 'two')];
  await world.clock.advance(20_000);
  const leader = aLeader(world);
  await world.clock.advance(20_000);
  await world.api.patch(LEASES, { namespace: NAMESPACE, name: LEADER }, { spec: { holderIdentity: '' } });
  for (let seconds = 0; seconds < 30; seconds++) {
    await world.clock.advance(1_000);
    expect([leader.isLeader(), one.state.ended, two.state.ended]).toEqual([false, false, false]);
  }
  expect(sorted(one.owned(), two.owned())).toEqual([...SHARDS].sort());
  leader.stop.abort();
});

test('No shard ever has two owners while processes without shards and replicas come and go', async () => {
  let [alone, shared] = [0, 0];
  for (let seed = 1; seed <= 6; seed++) {
    const world = aWorld();
    const random = createSeededRandom(seed);
    const draw = (count: number) => Math.floor(random.float() * count);
    const replicas: ReturnType<typeof aReplica>[] = [];
    const leaders: ReturnType<typeof aLeader>[] = [];
    const fates = [
      (turn: number) => replicas.push(aReplica(world, `replica-${seed}-${turn}`, () => random.float() * 400)),
      (turn: number) => leaders.push(aLeader(world, `leader-${seed}-${turn}`)),
      () => leaders[draw(leaders.length)]?.stop.abort(),
      () => replicas[draw(replicas.length)]?.stop.abort(),
      () => replicas[draw(replicas.length)]?.clock.freeze(),
      () => Object.assign(replicas[draw(replicas.length)]?.link ?? {}, { state: 'cut' }),
      () => replicas.forEach(({ clock, link }) => void [clock.thaw(), Object.assign(link, { state: 'up' })]),
    ];
    for (let turn = 0; turn < 60; turn++) {
      fates[draw(fates.length)]?.(turn);
      for (let step = draw(20); step >= 0; step--) {
        for (const { membership, inHand } of replicas) {
          const shard = SHARDS[draw(SHARDS.length)] ?? '';
          if (membership.owns(shard)) inHand.add(shard);
          if (draw(3) === 0) inHand.clear();
        }
        await world.clock.advance(random.float() * 1_500);
        const held = [...replicas, ...leaders].flatMap(({ holds }) => holds());
        expect(held.length, `seed ${seed}, turn ${turn}`).toBe(new Set(held).size);
        if (leaders.some(({ isLeader }) => isLeader())) alone++;
        else if (held.length > 0) shared++;
      }
    }
    for (const { stop } of [...replicas, ...leaders]) stop.abort();
  }
  expect([alone > 100, shared > 100]).toEqual([true, true]);
});

test('Replicas never overwrite the Lease of a leader that has taken it since they looked, and end', async () => {
  const world = aWorld();
  const one = aReplica(world, 'one');
  await world.clock.advance(20_000);
  const patch = world.api.patch.bind(world.api);
  let isTaken = false;
  world.api.patch = async (resource, ref, body, options) => {
    if (ref.name === LEADER && !isTaken) {
      isTaken = true;
      await patch(resource, ref, { spec: { holderIdentity: 'leader' } });
    }
    return patch(resource, ref, body, options);
  };
  await world.clock.advance(5_000);
  expect(world.api.all(LEASES).find(({ metadata }) => metadata.name === LEADER)?.['spec']).toMatchObject({
    holderIdentity: 'leader',
  });
  expect([isTaken, one.state.ended, one.holds()]).toEqual([true, true, []]);
});
