import type { Clock } from '../../src/base/clock.ts';
import type { Random } from '../../src/base/random.ts';

export interface ManualClock extends Clock {
  /** Moves time and runs due timers on the way, in order. */
  advance(ms: number): void;
  readonly timers: () => number;
}

/** A clock that stands still until it is moved. */
export function manualClock(startMs = 1_700_000_000_000): ManualClock {
  let elapsed = 0;
  let timers: { readonly at: number; readonly run: () => void }[] = [];
  const advance = (ms: number): void => {
    const end = elapsed + ms;
    for (;;) {
      const next = timers.filter((timer) => timer.at <= end).sort((a, b) => a.at - b.at)[0];
      if (next === undefined) break;
      timers = timers.filter((timer) => timer !== next);
      elapsed = Math.max(elapsed, next.at);
      next.run();
    }
    elapsed = end;
  };
  return {
    now: () => startMs + elapsed,
    monotonic: () => elapsed,
    after: (delayMs, run) => {
      const timer = { at: elapsed + Math.max(delayMs, 0), run };
      timers.push(timer);
      return () => {
        timers = timers.filter((other) => other !== timer);
      };
    },
    advance,
    timers: () => timers.length,
  };
}

/** Randomness that is always the same. */
export const noChance: Random = { float: () => 0, bytes: (count) => new Uint8Array(count) };
