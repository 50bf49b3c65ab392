import type { Clock } from './clock.ts';

/** Either clock is read in whole milliseconds or less: rounding must not add up. */
const STEP_MS = 100;

/**
 * Begins now. The returned function says how many milliseconds have passed, by whichever clock moved further since it was last
 * called: the monotonic one stands still while a machine is suspended, and the wall clock may be set back. If both happen, less
 * is missed the more often it is called.
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
