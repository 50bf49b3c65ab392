import type { PassResult } from './passes.ts';

const WINDOW_MINUTES = 5;
const WINDOW_MS = WINDOW_MINUTES * 60_000;
/** Passes of one key, whatever it hears of. Twice as many as any run of the correct operator has needed. */
const MOST_PASSES = 150;
/**
 * Failed passes in a row. Their pauses are drawn between a second and a ceiling that doubles up to five minutes, and changes
 * that the key hears of in between lead to a few more. 26 were seen.
 */
const MOST_FAILED = 40;
/**
 * The same once the ceiling is at its highest: two or three are usual. In an outage passes are told to come back with the next
 * probe, of which there is one every 30 seconds: 19 were seen, of a cluster that was replaced during one.
 */
const MOST_FAILED_LATE = 25;
/** Passes that have not settled for long, even those that wait for something to come up: pauses are 30 s at most. 41 were seen. */
const MOST_SOON = 55;

/** Passes in a row, without a good one among them. */
interface Row {
  readonly since: number;
  readonly at: number[];
  /** Passes that came after the row had already lasted `WINDOW_MINUTES`. */
  readonly late: number[];
}

interface Passes {
  readonly all: number[];
  /** Passes that fail, and do not wait for something that comes up by itself. */
  failed: Row | undefined;
  /** Passes that do not settle. */
  unsettled: Row | undefined;
}

/** Counts the passes of each key: failed ones must come ever later, and no key may be reconciled all the time. */
export class HotKeys {
  readonly #passes = new Map<string, Passes>();

  /** Returns why this pass of the key comes too soon, or undefined. */
  problem(key: string, result: PassResult, nowMs: number, isSoon: boolean): string | undefined {
    const passes = this.#passes.get(key) ?? { all: [], failed: undefined, unsettled: undefined };
    this.#passes.set(key, passes);
    const isSettled = result === 'success' || result === 'requeue_after';
    const { failed, unsettled } = passes;
    passes.failed = result === 'error' && !isSoon ? grown(failed, nowMs) : undefined;
    passes.unsettled = isSettled ? undefined : grown(unsettled, nowMs);
    const all = countIn(passes.all, nowMs);
    const counts: readonly (readonly [count: number | undefined, most: number, what: string])[] = [
      [all, MOST_PASSES, 'passes'],
      [passes.failed?.at.length, MOST_FAILED, 'passes that fail'],
      [passes.failed?.late.length, MOST_FAILED_LATE, 'passes that have failed for long'],
      [passes.unsettled?.late.length, MOST_SOON, 'passes that have not settled for long'],
    ];
    const [count, , what] = counts.find(([found = 0, most]) => found > most) ?? [];
    return count === undefined ? undefined : `${count} ${what} of ${key} in ${WINDOW_MINUTES} minutes`;
  }
}

function grown(known: Row | undefined, nowMs: number): Row {
  const row = known ?? { since: nowMs, at: [], late: [] };
  countIn(row.at, nowMs);
  if (nowMs - row.since > WINDOW_MS) countIn(row.late, nowMs);
  return row;
}

/** Adds the moment, and returns how many there are in the window before it. */
function countIn(moments: number[], nowMs: number): number {
  moments.push(nowMs);
  while ((moments[0] ?? nowMs) < nowMs - WINDOW_MS) moments.shift();
  return moments.length;
}
