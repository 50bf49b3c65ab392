import { expect, test } from 'vitest';
import { comesBefore, type Hold } from './claim.ts';

const claimant = (name: string, hold: Hold, creationTimestamp: string, meta: object = {}) => ({
  hold,
  metadata: { name, namespace: 'shop', uid: `uid of ${name}`, resourceVersion: '1', creationTimestamp, ...meta },
});
const me = claimant('me', 'wants', '2026-01-02T00:00:00Z');
const leaving = { deletionTimestamp: '2026-01-03T00:00:00Z' };

test.each([
  ['nobody else', [], undefined],
  ['itself', [{ ...me }], undefined],
  ['an older one', [claimant('a', 'wants', '2026-01-01T00:00:00Z')], 'shop/a'],
  ['a younger one', [claimant('a', 'wants', '2026-01-03T00:00:00Z')], undefined],
  ['a younger one that has it', [claimant('a', 'has', '2026-01-03T00:00:00Z')], 'shop/a'],
  ['an older one that cannot have it', [claimant('a', 'cannot', '2026-01-01T00:00:00Z')], undefined],
  ['one of the same second, whose uid is less', [claimant('a', 'wants', '2026-01-02T00:00:00Z')], 'shop/a'],
  ['one of the same second, whose uid is greater', [claimant('z', 'wants', '2026-01-02T00:00:00Z')], undefined],
  [
    'one that has begun and one that has it',
    [claimant('a', 'begun', '2026-01-01T00:00:00Z'), claimant('b', 'has', '2026-01-03T00:00:00Z')],
    'shop/b',
  ],
  [
    'one that is being deleted',
    [claimant('a', 'has', '2026-01-01T00:00:00Z', { ...leaving, finalizers: ['mooring.dev/user'] })],
    'shop/a',
  ],
  [
    'one that only a finalizer of somebody else still keeps',
    [claimant('a', 'has', '2026-01-01T00:00:00Z', { ...leaving, finalizers: ['example.com/backup'] })],
    undefined,
  ],
])('Among claimants of one thing, beside %s', (_what, others, first) => {
  expect(comesBefore(me, others, ({ hold }) => hold)).toBe(first);
});
