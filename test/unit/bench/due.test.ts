import { expect, it } from 'vitest';
import { dueAtMost, listsAtMost } from '../../bench/scenarios/quiet.ts';

it('A space is due once in nine tenths of its interval', () => {
  expect([0, 1, 54, 55, 108].map((seconds) => listsAtMost(seconds, 60))).toEqual([0, 1, 1, 2, 2]);
});

it('A login is due for two sign-ins in each interval, and chance may have it so in a part of it', () => {
  expect(dueAtMost(0, 600)).toBe(0);
  expect(dueAtMost(100, 600, 600)).toBe(2 * (100 + 20));
  expect(dueAtMost(100, 60, 600)).toBe(Math.ceil(2 * (10 + 2 * Math.sqrt(10))));
});
