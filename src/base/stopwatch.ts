import type { Clock } from './clock.ts';

/** Either clock is read in whole milliseconds or less: what that adds is not to add up. */
const STEP_MS = 100;

/**
 * Begins now. Tells how many milliseconds have passed, by whichever clock says more since it was last asked: the monotonic one
 * stands still while a machine is suspended, and the wall clock may be set back. The more often it is asked, the less is missed where
 * both happen.
 */
export function stopwatch(clock: Clock): () => number {
  let elapsedMs = 0;
  let at = { monotonic: clock.monotonic(), wall: clock.now() };
  return () => {
    const now = { monotonic: clock.monotonic(), wall: clock.now() };
    const passedMs = Math.max(now.monotonic - at.monotonic, now.wall - at.wall);
    if (passedMs < STEP_MS) return elapsedMs + passedMs;
    elapsedMs += passedMs;
    at = now;
    return elapsedMs;
  };
}
