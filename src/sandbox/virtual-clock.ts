import type { Clock } from '../base/clock.ts';
import { Heap } from '../base/collections/heap.ts';

/** Time that moves only when told to, and lets everything that follows from one moment happen before the next. */
export interface VirtualClock extends Clock {
  /** Moves time by `ms`, or until `signal` aborts: timers run in order, and between two of them everything that waits for nothing else. */
  advance(ms: number, signal?: AbortSignal): Promise<void>;
  /** Moves time from timer to timer until `done`; throws after `limitMs`, naming what it waited for. */
  runUntil(done: () => boolean, what: string, limitMs?: number): Promise<void>;
  /** Lets everything happen that waits for no timer. */
  settle(): Promise<void>;
  /** How many timers are waiting. */
  readonly timers: () => number;
}

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
  /** Neither run nor cancelled. */
  waits: boolean;
}

const HOUR_MS = 3_600_000;

export function virtualClock(startMs = 1_700_000_000_000): VirtualClock {
  const heap = new Heap<Timer>((one, other) => one.at < other.at || (one.at === other.at && one.order < other.order));
  let elapsed = 0;
  let order = 0;
  let waiting = 0;

  const stepTo = async (end: number): Promise<boolean> => {
    await settle();
    const timer = popUntil(heap, end);
    if (timer === undefined) return false;
    elapsed = Math.max(elapsed, timer.at);
    timer.waits = false;
    waiting--;
    timer.run();
    return true;
  };
  return {
    now: () => startMs + elapsed,
    monotonic: () => elapsed,
    after: (delayMs, run) => {
      const timer: Timer = { at: elapsed + Math.max(delayMs, 0), order: order++, run, waits: true };
      heap.push(timer);
      waiting++;
      return () => {
        if (timer.waits) waiting--;
        timer.waits = false;
      };
    },
    advance: async (ms, signal) => {
      const end = elapsed + ms;
      while (!signal?.aborted && (await stepTo(end)));
      if (signal?.aborted) return;
      elapsed = end;
      await settle();
    },
    runUntil: async (done, what, limitMs = HOUR_MS) => {
      const end = elapsed + limitMs;
      await settle();
      while (!done()) {
        if (!(await stepTo(end)) && !done()) throw new Error(`Waited in vain for ${limitMs} ms: ${what}`);
        await settle();
      }
    },
    settle,
    timers: () => waiting,
  };
}

/** Microtasks run out before an immediate; some chains pass through the platform's queues more than once. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** The earliest timer that is due by `end`; undefined: none is. */
function popUntil(timers: Heap<Timer>, end: number): Timer | undefined {
  for (let first = timers.peek(); first !== undefined && first.at <= end; first = timers.peek()) {
    timers.pop();
    if (first.waits) return first;
  }
  return undefined;
}
