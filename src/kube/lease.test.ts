import { expect, test } from 'vitest';
import { manualClock } from '../../test/support/clock.ts';
import { isFree, type LeaseSpec, lastsMs, renewLimitMs, renewPauseMs, Term } from './lease.ts';

test('Term lasts as long as it says, by whichever clock is ahead, and stays over once it is', () => {
  const clock = manualClock();
  let aheadMs = 0;
  const term = new Term({ ...clock, now: () => clock.now() + aheadMs }, { renewDeadlineMs: 10_000 });
  clock.advance(9_950);
  expect(term.remainingMs).toBe(50);
  aheadMs = 60;
  expect(term.remainingMs).toBe(0);
  aheadMs = 0;
  expect(term.remainingMs).toBe(0);
});

test.each([
  [0, 5_000, 2_000],
  [10_000, 5_000, 2_000],
  [8_000, 5_000, 2_000],
  [4_000, 2_500, 1_000],
  [1_000, 625, 500],
])('With %i ms left a try to renew takes so long at most, and the next one comes so soon', (leftMs, tryMs, pauseMs) => {
  expect([renewLimitMs(10_000, leftMs), renewPauseMs(2_000, leftMs)]).toEqual([tryMs, pauseMs]);
});

test.each<[LeaseSpec, boolean, boolean]>([
  [{ holderIdentity: '', leaseDurationSeconds: 1 }, true, true],
  [{ holderIdentity: '', leaseDurationSeconds: 15 }, true, false],
  [{ holderIdentity: 'a', leaseDurationSeconds: 1 }, true, false],
  [{ leaseDurationSeconds: 1 }, true, true],
  [{}, true, false],
  [{}, false, true],
  [{ holderIdentity: 'a' }, false, false],
])('A Lease with %j, whose holder was seen: %s, is free: %s', (spec, wasSeen, free) => {
  expect(isFree(spec, wasSeen)).toBe(free);
  expect(lastsMs(spec, wasSeen, 15_000)).toBe(free ? Number.NEGATIVE_INFINITY : 15_000);
});

test.each<[LeaseSpec | undefined, number]>([
  [undefined, 15_000],
  [{ holderIdentity: 'a', leaseDurationSeconds: 5 }, 15_000],
  [{ holderIdentity: 'a', leaseDurationSeconds: 60 }, 60_000],
])('Somebody may act by a Lease with %j for %i ms', (spec, ms) => {
  expect(lastsMs(spec, true, 15_000)).toBe(ms);
});
