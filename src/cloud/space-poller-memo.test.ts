import { getHeapStatistics } from 'node:v8';
import { expect, test } from 'vitest';
import { aClient } from '../../test/support/cloud.ts';
import type { ScriptedAnswer } from '../../test/support/http.ts';
import { HttpError } from '../base/transport.ts';
import { virtualClock } from '../sandbox/virtual-clock.ts';
import { createSeededRandom } from '../simulator/seeded-random.ts';
import type { Cluster } from './schema.ts';
import { SpacePoller } from './space-poller.ts';

/* What the poller makes of Lists that show clusters byte for byte as the List before: with the client, from the bytes on. */

const INTERVAL_MS = 60_000;

function shown(id: string, status: string, changes: object = {}) {
  const servers = status === 'running' ? [{ address: `${id}.test:443`, status }] : [];
  return { id, status, createdAt: 1, servers, ...changes };
}

/** A poller of a space whose Lists a test sets; each takes `listMs`, and shows what was true when it was requested. */
function aPoller(listMs = 0) {
  const clock = virtualClock();
  const space: { answer: ScriptedAnswer } = { answer: { status: 200, body: [] } };
  const askedAt: number[] = [];
  const { client } = aClient(
    async () => {
      const { answer } = space;
      askedAt.push(clock.monotonic());
      if (listMs > 0) await new Promise<void>((resolve) => clock.after(listMs, resolve));
      return answer;
    },
    ['read'],
    { clock },
  );
  const read: string[] = [];
  const changed: string[] = [];
  const poller = new SpacePoller(
    {
      clock,
      random: createSeededRandom(1),
      onClusters: (ids) => changed.push(...ids),
      onListed: () => {},
      client: {
        listAs: (memo, keep, signal) => {
          const counted = (cluster: Cluster) => {
            read.push(cluster.id);
            return keep(cluster);
          };
          return client.listAs(memo, counted, signal);
        },
      },
    },
    INTERVAL_MS,
  );
  /** Lists; returns which clusters were read for it, and which it reported. */
  const list = async (...clusters: readonly object[]) => {
    space.answer = { status: 200, body: clusters };
    const listing = poller.refresh();
    await clock.advance(listMs);
    await listing;
    return { read: read.splice(0), changed: changed.splice(0) };
  };
  const learn = (id: string, status: string, askedAt = clock.monotonic()) =>
    poller.learn(id, asCluster(shown(id, status)), askedAt);
  const statusOf = (id: string) => poller.get(id)?.status;
  return { clock, space, poller, list, learn, statusOf, read, changed, askedAt };
}

/** As the schema reads it. */
function asCluster({ id, status, createdAt, servers }: ReturnType<typeof shown>): Cluster {
  const unknown = { version: undefined, provider: undefined, region: undefined, machineType: undefined };
  const none = { storageType: undefined, storageSizeGB: undefined, serverCount: undefined, isFree: undefined };
  return { id, status, createdAt, ...unknown, ...none, servers };
}

const NOTHING = { read: [], changed: [] };

test('SpacePoller reads only the clusters of a List that differ from the List before', async () => {
  const { list, poller, statusOf } = aPoller();
  const [a, b, c] = ['a', 'b', 'c'].map((id) => shown(id, 'running'));
  expect(await list(a ?? {}, b ?? {})).toEqual({ read: ['a', 'b'], changed: ['a', 'b'] });
  expect(await list(b ?? {}, a ?? {})).toEqual(NOTHING);
  const suspended = shown('a', 'suspended');
  expect(await list(b ?? {}, suspended, c ?? {})).toEqual({ read: ['a', 'c'], changed: ['a', 'c'] });
  expect(await list(suspended, c ?? {})).toEqual({ read: [], changed: ['b'] });
  expect([['a', 'b', 'c'].map(statusOf), ['a', 'b'].map((id) => poller.has(id))]).toEqual([
    ['suspended', undefined, 'running'],
    [true, false],
  ]);
  expect(await list(suspended, c ?? {}, b ?? {})).toEqual({ read: ['b'], changed: ['b'] });
});

test('SpacePoller reports nothing about a cluster that the cloud writes in another way with the same meaning', async () => {
  const { list } = aPoller();
  await list(shown('a', 'running'));
  expect(await list(shown('a', 'running', { zone: 'b' }))).toEqual({ read: ['a'], changed: [] });
});

test('SpacePoller goes by a List that again shows what it showed before a single call was answered', async () => {
  const { list, learn, statusOf, changed, clock, poller } = aPoller();
  const a = shown('a', 'running');
  await list(a);
  await clock.advance(1_000);
  learn('a', 'suspending');
  expect([statusOf('a'), changed.splice(0)]).toEqual(['suspending', ['a']]);
  await clock.advance(1_000);
  // It was suspended and resumed meanwhile.
  expect([await list(a), statusOf('a')]).toEqual([{ read: [], changed: ['a'] }, 'running']);

  await clock.advance(1_000);
  poller.learn('a', undefined, clock.monotonic());
  expect([statusOf('a'), changed.splice(0)]).toEqual([undefined, ['a']]);
  await clock.advance(1_000);
  expect([await list(a), statusOf('a')]).toEqual([{ read: [], changed: ['a'] }, 'running']);
});

test('SpacePoller does not let its memory of an older List undo what was reported since the new one was requested', async () => {
  const { list, learn, statusOf, clock, space, poller, changed } = aPoller(5_000);
  const [a, b] = [shown('a', 'running'), shown('b', 'running')];
  await list(a, b);
  space.answer = { status: 200, body: [a, b] };
  const listing = poller.refresh();
  await clock.advance(1_000);
  learn('a', 'suspending');
  poller.learn('b', undefined, clock.monotonic());
  changed.length = 0;
  await clock.advance(4_000);
  await listing;
  expect([statusOf('a'), statusOf('b'), changed]).toEqual(['suspending', undefined, []]);
  // The one after it knows more, and is requested later.
  expect(await list(a, b)).toEqual({ read: [], changed: ['a', 'b'] });
});

test.each<[string, ScriptedAnswer]>([
  [
    'breaks off',
    { status: 200, chunks: [Buffer.from('[{"id":"a","status":"suspended"},')], breaks: new HttpError('lost', 'x') },
  ],
  ['is not JSON in one place', { status: 200, body: `[${JSON.stringify(shown('a', 'suspended'))},{"id":b}]` }],
  ['ends too early', { status: 200, body: `[${JSON.stringify(shown('a', 'suspended'))}` }],
])('SpacePoller knows the same after a List that %s as before it', async (_, answer) => {
  const { list, statusOf, space, poller, read } = aPoller();
  const [a, b] = [shown('a', 'running'), shown('b', 'running')];
  await list(a, b);
  space.answer = answer;
  await poller.refresh();
  read.length = 0;
  expect([poller.error, statusOf('a'), statusOf('b')]).toEqual([expect.any(Error), 'running', 'running']);
  expect([await list(a, b), poller.error]).toEqual([NOTHING, undefined]);
  expect(await list(shown('a', 'suspended'), b)).toEqual({ read: ['a'], changed: ['a'] });
});

test('SpacePoller goes by the clusters of a List that make sense, and treats none as gone as long as one makes none', async () => {
  const { list, statusOf, poller, clock } = aPoller();
  const [a, b, bad] = [shown('a', 'running'), shown('b', 'running'), { status: 'running' }];
  expect(await list(a, bad)).toEqual({ read: ['a'], changed: ['a'] });
  expect([statusOf('a'), poller.listedAtMs, poller.error]).toEqual(['running', undefined, expect.any(Error)]);
  await list(a, b);
  const listedAtMs = clock.now();
  expect([poller.listedAtMs, poller.error]).toEqual([listedAtMs, undefined]);
  await clock.advance(1_000);
  expect(await list(bad, shown('a', 'suspending'))).toEqual({ read: ['a'], changed: ['a'] });
  expect([statusOf('a'), statusOf('b')]).toEqual(['suspending', 'running']);
  expect(poller.listedAtMs).toBe(listedAtMs);
  expect(poller.error).toMatchObject({ kind: 'badAnswer', message: expect.stringContaining('at 0.id') });
  // Nobody could tell whether it is the one that is missing.
  expect(await list(shown('a', 'suspending'))).toEqual({ read: [], changed: ['b'] });
  expect([statusOf('b'), poller.error]).toEqual([undefined, undefined]);
});

test('SpacePoller backs off as after a failure if a List is incomplete, and does not let it undo what was reported since', async () => {
  const { list, learn, statusOf, clock, space, poller, askedAt } = aPoller(5_000);
  await list(shown('a', 'running'));
  space.answer = { status: 200, body: [shown('a', 'running'), { id: 7 }] };
  const listing = poller.refresh();
  await clock.advance(1_000);
  learn('a', 'suspending');
  await clock.advance(4_000);
  await listing;
  expect(statusOf('a')).toBe('suspending');
  askedAt.length = 0;
  await clock.advance(600_000);
  poller.stop();
  expect(askedAt.length).toBeGreaterThan(8);
  expect(askedAt.length).toBeLessThan(30);
});

test('SpacePoller hurries for a cluster in transition, even if another cluster of the List makes no sense', async () => {
  const { list, clock, poller, askedAt } = aPoller();
  poller.follow('a');
  await list(shown('a', 'starting'), { id: 7 });
  expect(poller.isPartial).toBe(true);
  askedAt.length = 0;
  await clock.advance(20_000);
  expect(askedAt.length).toBeGreaterThan(8);
  await list(shown('a', 'running'), { id: 7 });
  askedAt.length = 0;
  await clock.advance(20_000);
  poller.stop();
  expect(askedAt.length).toBeLessThan(3);
});

test('SpacePoller does not hurry for what a List may have hidden, as the next one says no more', async () => {
  const { list, clock, poller, askedAt, statusOf } = aPoller();
  poller.follow('a');
  await list(shown('a', 'destroying'), shown('b', 'running'));
  await list({ ...shown('b', 'running'), status: 7 });
  askedAt.length = 0;
  await clock.advance(300_000);
  expect([statusOf('a'), askedAt.length]).toEqual(['destroying', expect.toSatisfy((count: number) => count < 15)]);
  poller.stop();
});

test('SpacePoller goes by the last of two clusters that a List shows under one id, each time', async () => {
  const { list, statusOf } = aPoller();
  const [one, other] = [shown('a', 'running'), shown('a', 'suspended')];
  expect([await list(one, other), statusOf('a')]).toEqual([{ read: ['a', 'a'], changed: ['a'] }, 'suspended']);
  expect([await list(one, other), statusOf('a')]).toEqual([{ read: [], changed: ['a'] }, 'suspended']);
  expect([await list(other, one, one), statusOf('a')]).toEqual([{ read: [], changed: ['a'] }, 'running']);
});

test('SpacePoller hurries for a cluster that stays in transition, in growing steps, until it is settled', async () => {
  const { list, poller, clock, space, askedAt } = aPoller();
  poller.follow('a');
  await list(shown('a', 'starting'));
  await clock.advance(60_000);
  const steps = askedAt.slice(1).map((at, index) => at - (askedAt[index] ?? 0));
  expect([steps[0], steps.every((step, index) => step >= (steps[index - 1] ?? 0) - 0.001)]).toEqual([750, true]);
  expect(Math.max(...steps)).toBeGreaterThan(5_000);
  space.answer = { status: 200, body: [shown('a', 'running')] };
  await clock.advance(15_000);
  askedAt.length = 0;
  await clock.advance(50_000);
  poller.stop();
  expect(askedAt.length).toBeLessThanOrEqual(1);
});

test('SpacePoller makes next to no garbage of a List that shows what the one before did', async () => {
  const count = 2_000;
  const { poller, space, read } = aPoller();
  const clusters = Array.from({ length: count }, (_, index) => shown(`cluster-${index}`, 'running'));
  const bytes = Buffer.from(JSON.stringify(clusters));
  space.answer = { status: 200, chunks: [bytes.subarray(0, 100_000), bytes.subarray(100_000)] };
  const allocated = () => getHeapStatistics().total_allocated_bytes;
  const perCluster = async () => {
    const before = allocated();
    await poller.refresh();
    return (allocated() - before) / count;
  };
  const first = await perCluster();
  const further = [await perCluster(), await perCluster(), await perCluster()];
  poller.stop();
  expect([read.length, poller.error]).toEqual([count, undefined]);
  expect(Math.min(...further)).toBeLessThan(first / 5);
});
