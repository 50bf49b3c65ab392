import { expect, test } from 'vitest';
import { manualClock } from '../../test/support/clock.ts';
import { Pace, yieldToEventLoop } from './pace.ts';

test('Pace is due once its time has passed, and again that long after a rest', async () => {
  const clock = manualClock();
  let rests = 0;
  const pace = new Pace(
    clock,
    async () => {
      rests++;
    },
    5,
  );
  expect(pace.due).toBe(false);
  clock.advance(5);
  expect(pace.due).toBe(true);
  await pace.rest();
  expect([pace.due, rests]).toEqual([false, 1]);
});

test('yieldToEventLoop() lets waiting timers and I/O run', async () => {
  let ran = false;
  setImmediate(() => {
    ran = true;
  });
  await yieldToEventLoop();
  expect(ran).toBe(true);
});
