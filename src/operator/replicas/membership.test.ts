import { expect, test, vi } from 'vitest';
import { aReplica, aWorld, NAMESPACE, SHARDS, sorted } from '../../../test/support/replicas.ts';
import { sleep } from '../../base/clock.ts';
import { KubeError } from '../../kube/api.ts';
import { LEASES, leaseRecord, newLease } from '../../kube/lease.ts';
import { createSeededRandom } from '../../simulator/seeded-random.ts';
import { ownerOf } from './owners.ts';

// The time of many replicas, in hours.
vi.setConfig({ testTimeout: 30_000 });

test('A replica on its own owns all shards', async () => {
  const world = aWorld();
  const one = aReplica(world, 'one');
  await world.clock.advance(3_000);
  expect([one.owned(), one.failures]).toEqual([SHARDS, []]);
  await world.clock.advance(3_600_000);
  expect(one.owned()).toEqual(SHARDS);
});

test('A replica that never heard that its Lease was created begins all the same', async () => {
  const world = aWorld();
  const one = aReplica(world, 'one');
  one.link.state = 'deafToWrites';
  await world.clock.advance(1_000);
  expect(world.leases()).toEqual(['mooring-replica-one']);
  one.link.state = 'up';
  await world.clock.advance(12_000);
  expect([one.owned(), one.state.ended]).toEqual([SHARDS, false]);
});

test('A replica whose Lease cannot be created tries again at each retry period, and nothing else', async () => {
  const world = aWorld();
  const { create } = { create: world.api.create.bind(world.api) };
  const one = aReplica(world, 'one');
  world.api.create = () => Promise.reject(new KubeError('busy', { status: 500 }));
  await world.clock.advance(5_000);
  expect([one.failures.length, one.state.ended, world.leases()]).toEqual([3, false, []]);
  world.api.create = create;
  await world.clock.advance(3_000);
  expect([one.owned(), one.failures.length]).toEqual([SHARDS, 3]);
});

test('A replica that is told to stop before it has a Lease gives none back', async () => {
  const world = aWorld();
  world.api.create = () => Promise.reject(new KubeError('busy', { status: 500 }));
  const one = aReplica(world, 'one');
  await world.clock.advance(100);
  one.stop.abort();
  await world.clock.advance(100);
  expect([one.state.ended, one.failures.length]).toEqual([true, 1]);
});

test('A replica whose Lease was taken before it heard of having one ends', async () => {
  const world = aWorld();
  const one = aReplica(world, 'one');
  one.link.state = 'deafToWrites';
  await world.clock.advance(1_000);
  one.clock.freeze();
  const two = aReplica(world, 'two');
  await world.clock.advance(20_000);
  expect(two.owned()).toEqual(SHARDS);
  one.link.state = 'up';
  one.clock.thaw();
  await world.clock.advance(20_000);
  expect([one.state.ended, one.holds(), two.owned()]).toEqual([true, [], SHARDS]);
});

test('A replica gives its Lease back at once even if the answer to its last renewal was lost', async () => {
  const world = aWorld();
  const [one, two] = [aReplica(world, 'one'), aReplica(world, 'two')];
  await world.clock.advance(20_000);
  one.link.state = 'deafToWrites';
  await world.clock.advance(2_500);
  one.link.state = 'up';
  one.stop.abort();
  await world.clock.advance(6_000);
  await one.ended;
  await world.clock.advance(3_000);
  expect(two.owned()).toEqual(SHARDS);
});

test('A replica renews in time after a request that hung, even if each answer takes half a second', async () => {
  const world = aWorld();
  let latencyMs = 0;
  const one = aReplica(world, 'one', () => latencyMs);
  await world.clock.advance(21_500);
  latencyMs = 250;
  one.link.state = 'cut';
  await world.clock.advance(4_000);
  one.link.state = 'up';
  for (let step = 0; step < 100; step++) {
    await world.clock.advance(100);
    expect(one.owned()).toEqual(SHARDS);
  }
});

test('A Lease that somebody stole still counts as that of its replica until it expires', async () => {
  const world = aWorld();
  const [one, two] = [aReplica(world, 'one'), aReplica(world, 'two')];
  await world.clock.advance(20_000);
  const [ref, spec] = [{ namespace: NAMESPACE, name: 'mooring-replica-two' }, { holderIdentity: 'somebody' }];
  const lost = two.owned();
  two.clock.freeze();
  await world.api.patch(LEASES, ref, { spec });
  await world.clock.advance(9_000);
  expect(one.owned().some((shard) => lost.includes(shard))).toBe(false);
  two.clock.thaw();
  await world.clock.advance(4_000);
  expect([two.state.ended, two.holds()]).toEqual([true, []]);
  await world.clock.advance(20_000);
  expect(one.owned()).toEqual(SHARDS);
});

test.each([2, 3])('%d replicas share the shards between them', async (count) => {
  const world = aWorld();
  const all = ['one', 'two', 'three'].slice(0, count).map((name) => aReplica(world, name));
  await world.clock.advance(20_000);
  expect(sorted(...all.map(({ owned }) => owned()))).toEqual([...SHARDS].sort());
  for (const { owned } of all) expect(owned().length).toBeGreaterThan(SHARDS.length / count / 2);
});

test('A new replica takes only its own shards, once they are released', async () => {
  const world = aWorld();
  const [one, two] = [aReplica(world, 'one'), aReplica(world, 'two')];
  await world.clock.advance(20_000);
  const before = [one, two].map(({ owned }) => owned());
  const busy = before[0]?.find((shard) => ownerOf(shard, ['one', 'three', 'two']) === 'three') ?? '';
  one.inHand.add(busy);
  const three = aReplica(world, 'three');
  await world.clock.advance(60_000);
  // It is promised to the third one, and nobody begins it while the first one is still working there.
  expect([one, two, three].map(({ membership }) => membership.owns(busy))).toEqual([false, false, false]);
  one.inHand.delete(busy);
  await world.clock.advance(10_000);
  expect(three.membership.owns(busy)).toBe(true);
  expect(sorted(one.owned(), two.owned(), three.owned())).toEqual([...SHARDS].sort());
  for (const [index, { owned }] of [one, two].entries())
    expect(owned().filter((shard) => !before[index]?.includes(shard))).toEqual([]);
});

test('A replica goes on with the shards that it keeps while it gives others away', async () => {
  const world = aWorld();
  const one = aReplica(world, 'one', () => 100);
  await world.clock.advance(20_000);
  const kept = SHARDS.filter((shard) => ownerOf(shard, ['one', 'two']) === 'one');
  const two = aReplica(world, 'two', () => 100);
  while (two.owned().length === 0) {
    await world.clock.advance(50);
    expect(one.owned()).toEqual(expect.arrayContaining(kept));
  }
  expect(one.owned()).toEqual(kept);
});

test('A replica begins nothing in shards that it is about to give away, even before it hears that this is published', async () => {
  const world = aWorld();
  const one = aReplica(world, 'one', () => 500);
  await world.clock.advance(20_000);
  expect(one.owned()).toEqual(SHARDS);
  // It has not yet seen that an earlier replica is gone, and so does not claim what that one had.
  const views = [
    ['one', 'two'],
    ['gone', 'two'],
  ] as const;
  const given = SHARDS.filter((shard) => views.map((view) => ownerOf(shard, view)).join() === 'two,gone');
  const lease = newLease('mooring-replica-two', leaseRecord('two', 15_000, 0), { 'mooring.dev/members': 'gone,two' });
  await world.api.create(LEASES, NAMESPACE, lease);
  const view = () =>
    world.api.all(LEASES).find(({ metadata }) => metadata.name === 'mooring-replica-one')?.metadata.annotations?.[
      'mooring.dev/members'
    ];
  for (let step = 0; step < 200 && view() !== 'one,two'; step++) await world.clock.advance(50);
  expect([view(), given.length > 0]).toEqual(['one,two', true]);
  expect(given.filter((shard) => one.membership.owns(shard))).toEqual([]);
});

test('A replica begins nothing in the shards of one that is gone before its own Lease says that they are its', async () => {
  const world = aWorld();
  const [one, two] = [aReplica(world, 'one', () => 500), aReplica(world, 'two')];
  await world.clock.advance(20_000);
  const said = () => {
    const lease = world.api.all(LEASES).find(({ metadata }) => metadata.name === 'mooring-replica-one');
    return lease?.metadata.annotations?.['mooring.dev/members']?.split(',') ?? [];
  };
  expect(said()).toEqual(['one', 'two']);
  two.stop.abort();
  // Another one that joins at this moment goes by what the Lease says.
  for (let step = 0; step < 400 && one.owned().length < SHARDS.length; step++) {
    await world.clock.advance(50);
    expect(one.owned().filter((shard) => ownerOf(shard, said()) !== 'one')).toEqual([]);
  }
  expect(one.owned()).toEqual(SHARDS);
});

test('Running work in one shard holds up no other shard', async () => {
  const world = aWorld();
  const one = aReplica(world, 'one');
  await world.clock.advance(20_000);
  const moving = SHARDS.filter((shard) => ownerOf(shard, ['one', 'two']) === 'two');
  const [hangs = ''] = moving;
  one.inHand.add(hangs);
  const two = aReplica(world, 'two');
  await world.clock.advance(10_000);
  expect(two.owned()).toEqual(moving.filter((shard) => shard !== hangs));
  one.clock.freeze();
  await world.clock.advance(30_000);
  expect(two.owned()).toEqual(SHARDS);
});

test('A replica that is told to stop while it joins holds up nobody', async () => {
  const world = aWorld();
  const one = aReplica(world, 'one');
  await world.clock.advance(20_000);
  const two = aReplica(world, 'two', () => 500);
  await world.clock.advance(1_200);
  two.stop.abort();
  await world.clock.advance(6_000);
  expect([two.state.ended, one.owned()]).toEqual([true, SHARDS]);
});

test('A replica that stops gives its shards to the others within seconds, and they keep theirs', async () => {
  const world = aWorld();
  const [one, two, three] = [aReplica(world, 'one'), aReplica(world, 'two'), aReplica(world, 'three')];
  await world.clock.advance(20_000);
  const before = [one.owned(), two.owned()];
  three.stop.abort();
  await world.clock.advance(6_000);
  expect(three.state.ended).toBe(true);
  expect(sorted(one.owned(), two.owned())).toEqual([...SHARDS].sort());
  expect(
    [one.owned(), two.owned()].map((owned, index) => before[index]?.every((shard) => owned.includes(shard))),
  ).toEqual([true, true]);
  await world.clock.advance(30_000);
  expect(world.leases().length).toBe(2);
});

test('The others wait for a dead replica as long as its Lease lasts, and then remove the Lease', async () => {
  const world = aWorld();
  const [one, two] = [aReplica(world, 'one'), aReplica(world, 'two')];
  await world.clock.advance(20_000);
  two.clock.freeze();
  await world.clock.advance(9_000);
  expect(one.owned().length).toBeLessThan(SHARDS.length);
  await world.clock.advance(15_000);
  expect(one.owned()).toEqual(SHARDS);
  await world.clock.advance(30_000);
  expect(world.leases()).toHaveLength(1);
  two.clock.thaw();
  expect([two.holds(), two.membership.isMember()]).toEqual([[], false]);
  await world.clock.advance(10_000);
  expect(two.state.ended).toBe(true);
});

test('The shards of a dead replica are taken over within 20 s, whenever each replica renews', async () => {
  for (let phase = 0; phase < 2_000; phase += 100) {
    const world = aWorld();
    const one = aReplica(world, 'one', () => 20);
    await world.clock.advance(2_100 + phase);
    const two = aReplica(world, 'two', () => 20);
    await world.clock.advance(20_000 + ((phase * 7) % 2_000));
    expect(sorted(one.owned(), two.owned())).toEqual([...SHARDS].sort());
    two.clock.freeze();
    await world.clock.advance(20_000);
    expect(one.owned(), `${phase}`).toEqual(SHARDS);
    one.stop.abort();
  }
});

test.each(['refused', 'never answered'])(
  'If removing the Lease of an ended replica is %s, it stays, without other effects',
  async (how) => {
    const world = aWorld();
    const [one, two, three] = [aReplica(world, 'one'), aReplica(world, 'two'), aReplica(world, 'three')];
    await world.clock.advance(20_000);
    const refusal = new KubeError('Denied by an admission webhook', { status: 403 });
    world.api.delete = () => (how === 'refused' ? Promise.reject(refusal) : new Promise(() => {}));
    three.stop.abort();
    await world.clock.advance(60_000);
    expect([one.state.ended, two.state.ended, sorted(one.owned(), two.owned())]).toEqual([
      false,
      false,
      [...SHARDS].sort(),
    ]);
    expect(one.failures).toContainEqual(how === 'refused' ? refusal : new Error('No answer in time'));
  },
);

test.each(['refused', 'never answered'])(
  "While taking a dead replica's Lease is %s, only its own shards wait",
  async (how) => {
    const world = aWorld();
    const [one, two] = [aReplica(world, 'one'), aReplica(world, 'two')];
    await world.clock.advance(20_000);
    const before = one.owned();
    const patch = world.api.patch.bind(world.api);
    world.api.patch = (...args) => {
      if (args[1].name !== 'mooring-replica-two') return patch(...args);
      return how === 'refused' ? Promise.reject(new KubeError('Denied', { status: 403 })) : new Promise(() => {});
    };
    two.clock.freeze();
    await world.clock.advance(60_000);
    expect([one.state.ended, one.owned()]).toEqual([false, before]);
    expect(one.failures.length).toBeLessThan(6);
    world.api.patch = patch;
    await world.clock.advance(20_000);
    expect(one.owned()).toEqual(SHARDS);
  },
);

test('The Lease of a replica that renews it at the last moment is not taken', async () => {
  const world = aWorld();
  const [, two] = [aReplica(world, 'one'), aReplica(world, 'two')];
  await world.clock.advance(20_000);
  const patch = world.api.patch.bind(world.api);
  let renewals = 0;
  world.api.patch = async (resource, ref, body, options) => {
    const { holderIdentity } = (body as { readonly spec?: { readonly holderIdentity?: string } }).spec ?? {};
    if (ref.name === 'mooring-replica-two' && holderIdentity === '' && renewals++ === 0)
      await patch(resource, ref, { spec: { renewTime: '2026-11-20T12:00:00.000000Z' } });
    return patch(resource, ref, body, options);
  };
  two.clock.freeze();
  const holder = () => world.api.all(LEASES).find(({ metadata }) => metadata.name === 'mooring-replica-two')?.['spec'];
  for (let step = 0; step < 30 && renewals === 0; step++) await world.clock.advance(1_000);
  expect([renewals, holder()]).toMatchObject([1, { holderIdentity: 'two' }]);
});

test('A replica that cannot renew stops by itself, before another one may start', async () => {
  const world = aWorld();
  const [one, two] = [aReplica(world, 'one'), aReplica(world, 'two')];
  await world.clock.advance(20_000);
  const lost = two.owned();
  two.link.state = 'cut';
  await world.clock.advance(12_000);
  expect([two.owned(), one.owned().some((shard) => lost.includes(shard))]).toEqual([[], false]);
  await world.clock.advance(10_000);
  expect([one.owned(), two.state.ended]).toEqual([SHARDS, true]);
});

test('A renewal counts from when it was asked for, however late it is answered', async () => {
  const world = aWorld();
  const one = aReplica(world, 'one');
  await world.clock.advance(20_000);
  let askedAt = 0;
  const patch = world.api.patch.bind(world.api);
  world.api.patch = async (...args) => {
    askedAt = world.clock.monotonic();
    const answer = await patch(...args);
    await sleep(world.clock, 4_000);
    return answer;
  };
  await world.clock.advance(6_100);
  one.link.state = 'cut';
  expect(world.clock.monotonic() - askedAt).toBeGreaterThan(4_000);
  await world.clock.advance(askedAt + 9_900 - world.clock.monotonic());
  expect(one.owned()).toEqual(SHARDS);
  await world.clock.advance(100);
  expect(one.holds()).toEqual([]);
});

test('A replica that found its time to be over owns nothing until it has renewed, even if its clock is set back', async () => {
  const world = aWorld();
  const one = aReplica(world, 'one');
  await world.clock.advance(20_000);
  one.clock.jump(45_000);
  expect(one.membership.isMember()).toBe(false);
  one.clock.jump(-45_000);
  expect([one.membership.isMember(), one.owned()]).toEqual([false, []]);
  await world.clock.advance(3_000);
  expect([one.owned(), one.state.ended]).toEqual([SHARDS, false]);
});

test('A replica whose Lease a person deletes ends, and the others wait as long as if it had died', async () => {
  const world = aWorld();
  const [one, two] = [aReplica(world, 'one'), aReplica(world, 'two')];
  await world.clock.advance(20_000);
  world.api.remove(LEASES, { namespace: NAMESPACE, name: 'mooring-replica-two' });
  await world.clock.advance(4_000);
  expect([two.state.ended, one.owned().length < SHARDS.length]).toEqual([true, true]);
  await world.clock.advance(20_000);
  expect(one.owned()).toEqual(SHARDS);
});

test('A dead replica whose Lease was given ten hours by somebody, and is then deleted, is waited for no longer than others', async () => {
  const world = aWorld();
  const [one, two] = [aReplica(world, 'one'), aReplica(world, 'two')];
  await world.clock.advance(20_000);
  two.clock.freeze();
  const ref = { namespace: NAMESPACE, name: 'mooring-replica-two' };
  await world.api.patch(LEASES, ref, { spec: { leaseDurationSeconds: 36_000 } });
  await world.clock.advance(20_000);
  expect(one.owned().length).toBeLessThan(SHARDS.length);
  world.api.remove(LEASES, ref);
  await world.clock.advance(14_000);
  expect(one.owned().length).toBeLessThan(SHARDS.length);
  await world.clock.advance(6_000);
  expect(one.owned()).toEqual(SHARDS);
});

test.each([
  { edit: 'frees', spec: { holderIdentity: '' } },
  { edit: 'shortens', spec: { leaseDurationSeconds: 1 } },
  { edit: 'removes the duration from', spec: { leaseDurationSeconds: null } },
  { edit: 'removes everything from', spec: null },
  { edit: 'gives back', spec: { holderIdentity: '', leaseDurationSeconds: 1 } },
])('Nobody takes the shards of a replica that acts or is cut off when a person $edit its Lease', async ({ spec }) => {
  for (const state of ['up', 'cut'] as const) {
    const world = aWorld();
    const [one, two] = [aReplica(world, 'one'), aReplica(world, 'two')];
    await world.clock.advance(20_900);
    two.link.state = state;
    await world.api.patch(LEASES, { namespace: NAMESPACE, name: 'mooring-replica-two' }, { spec });
    // It has never seen that Lease held.
    const three = aReplica(world, 'three');
    for (let step = 0; step < 400; step++) {
      const held = [one, two, three].flatMap(({ holds }) => holds());
      expect(held.length, `step ${step}`).toBe(new Set(held).size);
      await world.clock.advance(100);
    }
    expect(sorted(one.owned(), two.owned(), three.owned())).toEqual([...SHARDS].sort());
  }
});

test.each([null, '', 'garbage'])('A replica whose view a person changes to %j keeps its shards', async (members) => {
  const world = aWorld();
  const one = aReplica(world, 'one');
  await world.clock.advance(20_900);
  const ref = { namespace: NAMESPACE, name: 'mooring-replica-one' };
  await world.api.patch(LEASES, ref, { metadata: { annotations: { 'mooring.dev/members': members } } });
  const two = aReplica(world, 'two');
  for (let step = 0; step < 200; step++) {
    expect(one.holds().filter((shard) => two.holds().includes(shard))).toEqual([]);
    await world.clock.advance(100);
  }
  expect(sorted(one.owned(), two.owned())).toEqual([...SHARDS].sort());
});

test('A replica that missed the last renewals waits a whole lease duration after it finds a Lease deleted', async () => {
  const world = aWorld();
  const one = aReplica(world, 'one');
  await world.clock.advance(1_900);
  const two = aReplica(world, 'two');
  await world.clock.advance(18_200);
  one.link.state = 'cut';
  await world.clock.advance(6_000);
  world.api.remove(LEASES, { namespace: NAMESPACE, name: 'mooring-replica-two' });
  two.link.state = 'cut';
  await world.clock.advance(900);
  one.link.state = 'up';
  for (let step = 0; step < 300; step++) {
    expect(one.holds().filter((shard) => two.holds().includes(shard))).toEqual([]);
    await world.clock.advance(100);
  }
  expect(one.owned()).toEqual(SHARDS);
});

test('No shard ever has two owners, whatever freezes, is cut off, comes or goes, and each has one in the end', async () => {
  for (let seed = 1; seed <= 6; seed++) {
    const world = aWorld();
    const random = createSeededRandom(seed);
    const draw = (count: number) => Math.floor(random.float() * count);
    let born = 0;
    let latencyMs = 800;
    const replica = () => aReplica(world, `replica-${seed}-${born++}`, () => random.float() * latencyMs);
    const alive = [replica(), replica(), replica()];
    const everybody = [...alive];
    const hire = (index: number) => {
      const next = replica();
      alive[index] = next;
      everybody.push(next);
    };
    const doubled = () => {
      const held = everybody.flatMap(({ holds }) => holds());
      return held.filter((shard, index) => held.indexOf(shard) !== index);
    };
    for (let turn = 0; turn < 80; turn++) {
      const index = draw(alive.length);
      const one = alive[index] ?? replica();
      if (draw(4) === 0) latencyMs = [10, 800, 1_400][draw(3)] ?? 0;
      switch (draw(11)) {
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
          one.link.state = 'deafToWrites';
          break;
        case 4:
          one.stop.abort();
          hire(index);
          break;
        case 5:
          one.link.state = 'blind';
          break;
        default:
          one.clock.thaw();
          one.link.state = 'up';
      }
      if (alive[index] === one && one.state.ended) hire(index);
      for (let step = draw(20); step >= 0; step--) {
        // Each replica begins and ends work for what it owns.
        for (const each of alive) {
          const shard = SHARDS[draw(SHARDS.length)] ?? '';
          if (each.membership.owns(shard)) each.inHand.add(shard);
          for (const begun of each.inHand) if (draw(3) === 0) each.inHand.delete(begun);
        }
        await world.clock.advance(random.float() * 1_500);
        expect(doubled(), `seed ${seed}, turn ${turn}`).toEqual([]);
      }
    }
    for (const [index, each] of alive.entries()) {
      each.stop.abort();
      each.inHand.clear();
      hire(index);
    }
    latencyMs = 800;
    await world.clock.advance(60_000);
    expect(sorted(...alive.map(({ owned }) => owned())), `seed ${seed}`).toEqual([...SHARDS].sort());
    for (const each of everybody) each.stop.abort();
  }
});

test('A replica that cannot look at the others keeps its shards, and a new one takes none of them', async () => {
  const world = aWorld();
  const one = aReplica(world, 'one');
  await world.clock.advance(20_000);
  one.link.state = 'blind';
  await world.clock.advance(60_000);
  const two = aReplica(world, 'two');
  await world.clock.advance(60_000);
  expect([one.owned(), two.owned(), one.failures.length > 0]).toEqual([SHARDS, [], true]);
  one.link.state = 'up';
  await world.clock.advance(10_000);
  expect(sorted(one.owned(), two.owned())).toEqual([...SHARDS].sort());
  expect(two.owned().length).toBeGreaterThan(0);
});

test.each([2_000, 2_700])(
  'Replicas share the shards on while each request takes %d ms, and so does a leader',
  async (tripMs) => {
    const world = aWorld();
    let latencyMs = 0;
    const [one, two] = [aReplica(world, 'one', () => latencyMs), aReplica(world, 'two', () => latencyMs)];
    await world.clock.advance(20_000);
    const before = [one.owned(), two.owned()];
    latencyMs = tripMs / 2;
    for (let step = 0; step < 600; step++) {
      await world.clock.advance(100);
      expect([one.owned(), two.owned()]).toEqual(before);
    }
    two.stop.abort();
    await world.clock.advance(60_000);
    expect([one.owned(), two.state.ended, one.state.ended]).toEqual([SHARDS, true, false]);
  },
);

test.each([0, 2_000, 2_400])(
  'Replicas start, share the shards and hand them over if each request takes %d ms',
  async (tripMs) => {
    const world = aWorld();
    const one = aReplica(world, 'one', () => tripMs / 2);
    await world.clock.advance(30_000);
    expect(one.owned()).toEqual(SHARDS);
    const two = aReplica(world, 'two', () => tripMs / 2);
    for (let step = 0; step < 600; step++) {
      expect(one.holds().filter((shard) => two.holds().includes(shard))).toEqual([]);
      await world.clock.advance(100);
    }
    expect(sorted(one.owned(), two.owned())).toEqual([...SHARDS].sort());
    expect(two.owned().length).toBeGreaterThan(0);
  },
);
