/** Gives other work of the process a turn. */
export type YieldNow = () => Promise<void>;

/** Time as a dependency: the system's in production, virtual in simulation. Nothing else may read time or start timers. */
export interface Clock {
  /** Wall-clock time in milliseconds since the Unix epoch. It can jump; use `monotonic` to measure durations. */
  now(): number;
  /** Milliseconds since an arbitrary start; never goes back. */
  monotonic(): number;
  /** Calls `run` once after `delayMs` (0 or more). Returns a function that cancels it. */
  after(delayMs: number, run: () => void): () => void;
  /** Absent: a turn is one round of the event loop. */
  readonly yieldNow?: YieldNow;
}

/** The longest delay that the platform's timers take; longer ones would fire at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after: (delayMs, run) => {
    const timer = setTimeout(run, Math.min(Math.max(delayMs, 0), MAX_TIMER_MS));
    return () => clearTimeout(timer);
  },
};

/** Resolves after `delayMs`, or at once when `signal` aborts: callers check the signal afterwards, so no exception is needed. */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = () => {
      cancel();
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const cancel = clock.after(delayMs, done);
    signal?.addEventListener('abort', done);
  });
}
