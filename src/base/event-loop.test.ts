import { expect, test } from 'vitest';
import { manualClock } from '../../test/support/clock.ts';
import { EventLoopWatch } from './event-loop.ts';

/** A loop whose timers run only while it is not blocked. */
function aLoop() {
  const clock = manualClock();
  let standingMs = 0;
  const own = { ...clock, monotonic: () => clock.monotonic() + standingMs };
  const watch = new EventLoopWatch(own);
  watch.start();
  const standStill = (ms: number) => {
    standingMs += ms;
    clock.advance(5_000);
  };
  return { clock, watch, standStill };
}

test('EventLoopWatch finds nothing wrong with a loop that runs, or was blocked for a moment', () => {
  const { clock, watch, standStill } = aLoop();
  clock.advance(3_600_000);
  for (let count = 0; count < 20; count++) standStill(500);
  expect(watch.problem()).toBeUndefined();
});

test('EventLoopWatch finds nothing wrong with a process that was frozen once, however long', () => {
  const { clock, watch, standStill } = aLoop();
  standStill(3_600_000);
  expect(watch.problem()).toBeUndefined();
  clock.advance(60_000);
  expect(watch.problem()).toBeUndefined();
});

test('EventLoopWatch reports a loop that is blocked again and again, until it no longer is', () => {
  const { clock, watch, standStill } = aLoop();
  for (let count = 0; count < 3; count++) standStill(8_000);
  expect(watch.problem()).toBe('The event loop was blocked 3 times in the last minutes, for up to 8 s');
  clock.advance(60_000);
  expect(watch.problem()).toBeUndefined();
});

test('EventLoopWatch leaves no timer when it is stopped', () => {
  const { clock, watch } = aLoop();
  clock.advance(60_000);
  watch.stop();
  expect(clock.timers()).toBe(0);
});
