import { expect, test } from 'vitest';
import { RECONCILE_AT } from '../kube/annotations.ts';
import { initialPriority } from './initial-priority.ts';

const NOW = Date.parse('2026-11-20T10:00:00Z');
const METADATA = { name: 'a', uid: 'u', resourceVersion: '1', generation: 2 };

const told = (type: string, status: 'True' | 'Unknown', atMs = NOW) => ({
  observedGeneration: 2,
  conditions: [{ type, status, reason: 'R', message: 'M', lastTransitionTime: new Date(atMs).toISOString() }],
});

test.each([
  ['is all right', {}, told('Ready', 'True'), 'low'],
  ['is under way', {}, told('Ready', 'Unknown'), 'normal'],
  ['nobody has looked at', {}, { observedGeneration: -1 }, 'high'],
  ['has changed meanwhile', { generation: 3 }, told('Ready', 'True'), 'high'],
  ['was stalled and has changed', { generation: 3 }, told('Stalled', 'True'), 'high'],
  ['a person wants looked at', { annotations: { [RECONCILE_AT]: 'now' } }, told('Ready', 'True'), 'high'],
  [
    'was looked at as asked',
    { annotations: { [RECONCILE_AT]: 'now' } },
    { ...told('Ready', 'True'), lastHandledReconcileAt: 'now' },
    'low',
  ],
] as const)('An object that %s is looked at at once, with this priority', (_, changes, status, priority) => {
  expect(initialPriority({ ...METADATA, ...changes }, status, NOW)).toEqual({ priority, delayMs: 0 });
});

test.each([
  ['for a moment', 1_000, 60_000],
  ['for five minutes', 300_000, 300_000],
  ['for days', 3 * 86_400_000, 600_000],
  ['since a time in the future', -60_000, 60_000],
])('Objects stalled %s are spread over that time, each at its own moment', (_, forMs, spreadMs) => {
  const uids = Array.from({ length: 1_000 }, (_, index) => `uid-${index}`);
  const delayOf = (uid: string) => initialPriority({ ...METADATA, uid }, told('Stalled', 'True', NOW - forMs), NOW);
  const delays = uids.map((uid) => delayOf(uid).delayMs);
  expect(Math.max(...delays)).toBeLessThan(spreadMs);
  const byTenths = Array.from(
    { length: 10 },
    (_, tenth) => delays.filter((delay) => Math.floor((delay / spreadMs) * 10) === tenth).length,
  );
  expect(Math.min(...byTenths)).toBeGreaterThan(60);
  expect(Math.max(...byTenths)).toBeLessThan(140);
  expect(uids.map((uid) => delayOf(uid).delayMs)).toEqual(delays);
});

test('A stalled object that its kind calls restless does not rest', () => {
  const status = told('Stalled', 'True', NOW - 3_600_000);
  expect(initialPriority(METADATA, status, NOW, true)).toEqual({ priority: 'normal', delayMs: 0 });
});

test('An object stalled since an unreadable time still comes back', () => {
  const { observedGeneration, conditions } = told('Stalled', 'True');
  const unreadable = conditions.map((condition) => ({ ...condition, lastTransitionTime: '' }));
  const { priority, delayMs } = initialPriority(METADATA, { observedGeneration, conditions: unreadable }, NOW);
  expect(delayMs).toBeLessThan(60_000);
  expect(priority).toBe('low');
});
