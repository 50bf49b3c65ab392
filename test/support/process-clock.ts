import type { Clock } from '../../src/base/clock.ts';

/** One process's view of time: its wall clock may be off, and while it is frozen none of its timers runs. */
export interface ProcessClock extends Clock {
  freeze(): void;
  thaw(): void;
  /** Resolves at once unless frozen, otherwise on `thaw`. */
  running(): Promise<void>;
  /** Moves its wall clock; measured durations are not affected. */
  jump(ms: number): void;
  /** Acts like a machine that was suspended: this much of the time that passed is missing from its monotonic clock. */
  lose(ms: number): void;
}

export function processClock(clock: Clock, skewMs = 0): ProcessClock {
  let frozen = false;
  let held: (() => void)[] = [];
  let skew = skewMs;
  let lost = 0;
  return {
    now: () => clock.now() + skew,
    monotonic: () => clock.monotonic() - lost,
    after: (delayMs, run) => {
      let cancelled = false;
      const runUnlessCancelled = () => {
        if (!cancelled) run();
      };
      const cancel = clock.after(delayMs, () => {
        if (frozen) held.push(runUnlessCancelled);
        else run();
      });
      return () => {
        cancelled = true;
        cancel();
      };
    },
    freeze: () => {
      frozen = true;
    },
    thaw: () => {
      frozen = false;
      const due = held;
      held = [];
      for (const run of due) run();
    },
    running: () => new Promise((resolve) => (frozen ? held.push(resolve) : resolve())),
    jump: (ms) => {
      skew += ms;
    },
    lose: (ms) => {
      lost += ms;
    },
  };
}
