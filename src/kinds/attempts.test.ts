import { expect, test } from 'vitest';
import { virtualClock } from '../sandbox/virtual-clock.ts';
import { Attempts, isTriedAgain } from './attempts.ts';
import { DatabaseMemory } from './database/world.ts';
import { ClusterMemory } from './databasecluster/world.ts';

test.each([
  ['cluster', ClusterMemory],
  ['database', DatabaseMemory],
])(
  'The calls made for a %s are known until it is gone, even if another replica had it in between',
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

test.each([
  ['failed, and nobody has changed the object since', { observedGeneration: 2, lastError: {} }, true],
  ['failed before somebody changed the object', { observedGeneration: 1, lastError: {} }, false],
  ['did not fail', { observedGeneration: 2 }, false],
])('isTriedAgain() knows a retry of something that %s', (_what, status, again) => {
  expect(isTriedAgain({ metadata: { generation: 2 }, status })).toBe(again);
});
