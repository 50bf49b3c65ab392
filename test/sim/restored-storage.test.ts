import { expect, test } from 'vitest';
import { playEvery } from './every.ts';
import { THOROUGHLY } from './every-fault.ts';
import type { Invariant } from './invariants.ts';

/*
 * etcd is restored from a snapshot while the operator works. What it did for an object that the snapshot does not know, or that it knows
 * as it was before, may break promises, and nobody can tell. But it must find its way back: it goes by what the API server shows now,
 * ends its work or says why not, and never repeats itself for ever.
 */

/** What may be broken by the loss of writes. */
const LOST: ReadonlySet<Invariant> = new Set([
  'one cluster an object',
  'written down first',
  'held by a finalizer',
  'nothing ended unasked',
  'others left alone',
  'no identity confused',
  'one owner a name',
  'factory login retired',
  'told once',
  // What is looked at again is looked at later than after other faults.
  'quiet at rest',
]);

const PLAYED = [
  ...THOROUGHLY,
  'rename',
  'clone',
  'suspend-resume',
  'recreated',
  'move-secret',
  'user-move-secret',
  'two-users-at-once',
];

test.each(PLAYED)(
  'The operator finds its way back after etcd was restored at any effect: %s',
  { timeout: 600_000 },
  async (name) => {
    const wrong: string[] = [];
    for await (const { violations, report } of playEvery({ scenario: name, strikes: [] }, () => ['restored']))
      if (violations.some(({ invariant }) => !LOST.has(invariant))) wrong.push(report);
    expect(wrong.slice(0, 2).join('\n')).toBe('');
  },
);

/** Reasons of Ready if the write that is lost was that of the only Secret that knew the password. */
const WITHOUT_PASSWORD = /Ready=False\/(?:DefaultLoginRefused|AdminLoginRefused|AdminLoginLost)/;

test.each(['deploy', 'recreated', 'two-spaces', 'clone', 'rename', 'move-secret', 'user', 'database'])(
  'Nothing that the operator did is taken for that of another if etcd has all but the last write: %s',
  { timeout: 600_000 },
  async (name) => {
    const wrong: string[] = [];
    for await (const { plan, end, violations, report } of playEvery({ scenario: name, strikes: [] }, () => [
      'restoredNewest',
    ])) {
      const objects: readonly string[] = JSON.parse(end).objects;
      const isWell = objects.every((object) => object.includes('Ready=True/') || WITHOUT_PASSWORD.test(object));
      if (!isWell || violations.length > 0) wrong.push(`${JSON.stringify(plan.strikes)}: ${end} ${report}`);
    }
    expect(wrong.slice(0, 2).join('\n')).toBe('');
  },
);
