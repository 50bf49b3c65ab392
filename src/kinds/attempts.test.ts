import { expect, test } from 'vitest';
import { ApiError } from '../http/api-error.ts';
import { virtualClock } from '../sandbox/virtual-clock.ts';
import { Attempts, isTriedAgain, type WrittenDown } from './attempts.ts';
import { DatabaseMemory } from './database/world.ts';
import { ClusterMemory } from './databasecluster/world.ts';

test.each([
  ['cluster', ClusterMemory],
  ['database', DatabaseMemory],
])(
  'The calls made for a %s are known until it is gone, even if another replica had it in between, or it went back to what it was',
  async (_, Memory) => {
    const clock = virtualClock();
    const memory = new Memory('me', () => 0);
    const operation = { by: 'me', startedAt: new Date(clock.now()).toISOString() };
    const unanswered = () => Promise.reject(new Error('No answer'));
    expect(memory.attempts.neverMade('shop/orders', operation)).toBe(true);
    await expect(memory.attempts.make('shop/orders', operation, clock, unanswered)).rejects.toThrow('No answer');
    expect(memory.attempts.neverMade('shop/orders', operation)).toBe(false);
    memory.forget('shop/orders', 'released');
    expect(memory.attempts.neverMade('shop/orders', operation)).toBe(false);
    memory.forget('shop/orders', 'wentBack');
    expect(memory.attempts.neverMade('shop/orders', operation)).toBe(false);
    memory.forget('shop/orders', 'deleted');
    expect(memory.attempts.neverMade('shop/orders', operation)).toBe(true);
  },
);

test('A call that was recorded before another process had the object may have been made by that process while it had it', async () => {
  const clock = virtualClock();
  let sinceMs = clock.now();
  const attempts = new Attempts('me', () => sinceMs);
  const operation = { by: 'me', startedAt: new Date(clock.now()).toISOString() };
  const seen = () => [attempts.neverMade('shop/orders', operation), attempts.lastMadeAtMs('shop/orders', operation)];
  expect(seen()).toEqual([true, undefined]);
  await clock.advance(60_000);
  attempts.forget('shop/orders', 'released');
  sinceMs = clock.now();
  expect(seen()).toEqual([false, sinceMs]);
  const later = { by: 'me', startedAt: new Date(sinceMs).toISOString() };
  expect(attempts.neverMade('shop/orders', later)).toBe(true);
  await clock.advance(60_000);
  const madeAtMs = clock.now();
  await attempts.make('shop/orders', operation, clock, async () => {});
  expect(seen()).toEqual([false, madeAtMs]);
  await clock.advance(60_000);
  sinceMs = clock.now();
  expect(seen()).toEqual([false, sinceMs]);
});

test('A call that was recorded here was certainly never made, even if the wall clock was set back since this process began to act', async () => {
  const clock = virtualClock();
  const startedAt = new Date(clock.now() - 3_600_000).toISOString();
  const attempts = new Attempts('me', () => clock.now());
  expect(attempts.neverMade('shop/orders', { by: 'me', startedAt })).toBe(true);
  expect(attempts.lastMadeAtMs('shop/orders', { by: 'me', startedAt })).toBeUndefined();
  expect(attempts.neverMade('shop/orders', { by: 'another', startedAt })).toBe(false);
});

test('An object that went back to what it was may name a call that was made before the last one', async () => {
  const clock = virtualClock();
  const attempts = new Attempts('me', () => 0);
  const [first, second, third] = [0, 1, 2].map((s) => ({
    by: 'me',
    startedAt: new Date(clock.now() + s * 1_000).toISOString(),
  })) as [WrittenDown, WrittenDown, WrittenDown];
  await attempts.make('shop/orders', second, clock, async () => {});
  const unmade = () => [first, second, third].map((operation) => attempts.neverMade('shop/orders', operation));
  // Without a restore only a clock that was set back can make a new call look older.
  expect(unmade()).toEqual([true, false, true]);
  attempts.forget('shop/orders', 'wentBack');
  expect(unmade()).toEqual([false, false, true]);
  attempts.forget('shop/orders', 'deleted');
  expect(unmade()).toEqual([true, true, true]);
  // Nothing of the former object counts for another one of its name.
  await attempts.make('shop/orders', second, clock, async () => {});
  expect(unmade()).toEqual([true, false, true]);
});

test.each([
  ['failed, and nobody has changed the object since', { observedGeneration: 2, lastError: {} }, true],
  ['failed before somebody changed the object', { observedGeneration: 1, lastError: {} }, false],
  ['did not fail', { observedGeneration: 2 }, false],
])('isTriedAgain() knows a retry of something that %s', (_what, status, again) => {
  expect(isTriedAgain({ metadata: { generation: 2 }, status })).toBe(again);
});

test('A call that was done is known as done for the same operation, even if it is made again and refused', async () => {
  const clock = virtualClock();
  const attempts = new Attempts('me', () => 0);
  const operation = { by: 'me', startedAt: new Date(clock.now()).toISOString() };
  const about = {
    api: 'server',
    operation: 'createDatabase',
    phrase: 'create',
    what: 'no',
    status: 400,
    idempotent: false,
  } as const;
  const refused = () => Promise.reject(new ApiError({ ...about, kind: 'invalid' }));
  await expect(attempts.make('shop/orders', operation, clock, refused)).rejects.toThrow();
  expect(attempts.doneAtMs('shop/orders', operation)).toBeUndefined();
  await attempts.make('shop/orders', operation, clock, async () => {
    await clock.advance(1_000);
  });
  const doneAtMs = clock.now();
  await clock.advance(1_000);
  await expect(attempts.make('shop/orders', operation, clock, refused)).rejects.toThrow();
  expect(attempts.doneAtMs('shop/orders', operation)).toBe(doneAtMs);
  expect(attempts.doneAtMs('shop/orders', { ...operation, startedAt: 'later' })).toBeUndefined();
});

test.each([
  ['that it will not do it', 'invalid', true, true],
  ['that it will not do it, after it may have done it before', 'invalid', false, false],
  ['that it cannot do it now', 'unavailable', true, false],
  ['nothing that anybody understands', undefined, true, false],
] as const)('An answer that says %s is a final no to the call only if that is sure', (_what, kind, never, final) => {
  const attempts = new Attempts('me', () => 0);
  const operation = { by: never ? 'me' : 'another', startedAt: '2026-01-01T00:00:00.000Z' };
  const about = {
    api: 'server',
    operation: 'createDatabase',
    phrase: 'create',
    what: 'no',
    idempotent: false,
  } as const;
  const error = kind === undefined ? new Error('What?') : new ApiError({ ...about, kind });
  expect(attempts.isRefusal('shop/orders', operation, error)).toBe(final);
});
