import { expect, test } from 'vitest';
import { virtualClock } from '../sandbox/virtual-clock.ts';
import { Seldom } from './seldom.ts';

test('Seldom has each thing told once in its time', async () => {
  const clock = virtualClock();
  const told = new Seldom(clock, 60_000);
  expect([told.isDue('a'), told.isDue('a'), told.isDue('b')]).toEqual([true, false, true]);
  await clock.advance(59_999);
  expect(told.isDue('a')).toBe(false);
  await clock.advance(1);
  expect([told.isDue('a'), told.isDue('a')]).toEqual([true, false]);
});
