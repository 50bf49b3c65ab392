import { expect, test } from 'vitest';
import {
  type ConditionUpdate,
  findStatusCondition,
  isOwn,
  isStatusConditionTrue,
  setConditions,
  toldBefore,
} from './condition.ts';

const NOW_MS = Date.parse('2026-11-20T12:00:00.789Z');
const update = (type: string, status: ConditionUpdate['status'], message = 'm'): ConditionUpdate => ({
  type,
  status,
  reason: 'R',
  message,
});

test('setConditions() writes whole seconds and the generation', () => {
  expect(setConditions([], [update('Ready', 'True')], 4, NOW_MS)).toEqual([
    {
      type: 'Ready',
      status: 'True',
      reason: 'R',
      message: 'm',
      observedGeneration: 4,
      lastTransitionTime: '2026-11-20T12:00:00Z',
    },
  ]);
});

test('setConditions() keeps the time of a status that stays, even if reason and message change', () => {
  const before = setConditions([], [update('Ready', 'False')], 1, NOW_MS);
  const [same] = setConditions(before, [{ ...update('Ready', 'False', 'other'), reason: 'S' }], 2, NOW_MS + 60_000);
  expect(same).toMatchObject({ lastTransitionTime: '2026-11-20T12:00:00Z', reason: 'S', observedGeneration: 2 });
  const [other] = setConditions(before, [update('Ready', 'Unknown')], 2, NOW_MS + 60_000);
  expect(other?.lastTransitionTime).toBe('2026-11-20T12:01:00Z');
});

test('setConditions() returns exactly the named conditions, in that order', () => {
  const before = setConditions([], [update('Ready', 'False'), update('Stalled', 'True')], 1, NOW_MS);
  const after = setConditions(before, [update('Synced', 'True'), update('Ready', 'True')], 1, NOW_MS);
  expect(after.map(({ type }) => type)).toEqual(['Synced', 'Ready']);
});

test('setConditions() leaves conditions of other controllers as they are', () => {
  const theirs = { ...update('Ready', 'True'), type: 'Backup', lastTransitionTime: '2026-01-01T00:00:00Z' };
  const before = [theirs, ...setConditions([], [update('Stalled', 'True')], 1, NOW_MS)];
  const after = setConditions(before, [update('Ready', 'True')], 2, NOW_MS);
  expect(after.map(({ type }) => type)).toEqual(['Ready', 'Backup']);
  expect(after[1]).toBe(theirs);
  expect(setConditions(after, after, 3, NOW_MS)).toEqual(after);
});

test('setConditions() shortens messages that nobody would read in full, and keeps their end, which says what to do', () => {
  const remedy = `Correct it: ${'y'.repeat(380)}`;
  const [condition] = setConditions(
    [],
    [update('Ready', 'True', `It says ${'x'.repeat(5_000)}. ${remedy}`)],
    1,
    NOW_MS,
  );
  expect(condition?.message).toHaveLength(1024);
  expect(condition?.message).toMatch(/^It says x{500,}…x*\. Correct it: y{380}$/);
});

test('setConditions() cuts no character in two: the API server would store another one, and the next pass write it again', () => {
  for (const [before, after] of [
    [622, 1_000],
    [5_000, 199],
    [622, 199],
  ] as const) {
    const message = `${'x'.repeat(before)}${'𠮷'.repeat(after)}z`;
    const [condition] = setConditions([], [update('Ready', 'True', message)], 1, NOW_MS);
    expect(condition?.message.isWellFormed()).toBe(true);
    expect(condition?.message.length).toBeLessThanOrEqual(1024);
  }
});

test('findStatusCondition() and isStatusConditionTrue() look for one type, and cope with a status that has no conditions', () => {
  const conditions = [update('Ready', 'Unknown'), update('Available', 'True')];
  expect(findStatusCondition(conditions, 'Available')).toBe(conditions[1]);
  expect([findStatusCondition(conditions, 'Synced'), findStatusCondition(undefined, 'Ready')]).toEqual([
    undefined,
    undefined,
  ]);
  const isTrue = ['Ready', 'Available', 'Synced'].map((type) => isStatusConditionTrue(conditions, type));
  expect([...isTrue, isStatusConditionTrue(undefined, 'Ready')]).toEqual([false, true, false, false]);
});

test('isOwn() knows all conditions that Mooring reports', () => {
  const own = ['Ready', 'Reconciling', 'Stalled', 'Synced', 'Available', 'CredentialsSecured', 'CredentialsValid'];
  expect([...own, 'Backup'].filter((type) => isOwn({ type }))).toEqual(own);
});

test('toldBefore() returns the message of a condition of the same reason and generation', () => {
  const told = setConditions([], [update('Ready', 'False', 'As told'), update('Synced', 'True')], 2, NOW_MS);
  const about = { type: 'Ready', reason: 'R', generation: 2 };
  expect(toldBefore(told, about)).toBe('As told');
  for (const other of [{ reason: 'S' }, { generation: 3 }, { type: 'Stalled' }])
    expect(toldBefore(told, { ...about, ...other })).toBeUndefined();
  expect(toldBefore(undefined, about)).toBeUndefined();
});

test('setConditions() leaves a message whole that just fits', () => {
  const message = 'x'.repeat(1024);
  expect(setConditions([], [update('Ready', 'True', message)], 1, NOW_MS)[0]?.message).toBe(message);
});
