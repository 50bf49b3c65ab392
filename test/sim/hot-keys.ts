import type { PassResult } from './passes.ts';

const WINDOW_MINUTES = 5;
const WINDOW_MS = WINDOW_MINUTES * 60_000;
/** Of one key, whatever it is told of meanwhile: most that a run of the operator as it is was seen to need are half of it. */
const MOST_PASSES = 150;
/**
 * Passes that fail one after the other: their pauses are drawn between a second and a ceiling that doubles up to five minutes,
 * and what is told to the key meanwhile leads to some more. 26 were seen.
 */
const MOST_FAILED = 40;
/** The same, once they have failed for so long that the ceiling is at its highest: two or three are usual, 8 were seen. */
const MOST_FAILED_LATE = 12;
/** Those that come to nothing for long, be it that they wait for what comes up by itself: the pause is 30 s at most. 27 were seen. */
const MOST_SOON = 40;

/** Passes without one between them that was well. */
interface Row {
  readonly since: number;
  readonly at: number[];
  /** Those that came when it had gone on for `WINDOW_MINUTES` already. */
  readonly late: number[];
}

interface Passes {
  readonly all: number[];
  /** That fail, and wait for nothing that comes up by itself. */
  failed: Row | undefined;
  /** That come to nothing. */
  unsettled: Row | undefined;
}

/** Counts the passes of each key: those that fail come ever later, and no key is looked at all the time. */
export class HotKeys {
  readonly #passes = new Map<string, Passes>();

  /** What is wrong with this pass of the key having come now; undefined: nothing. */
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
      [passes.unsettled?.late.length, MOST_SOON, 'passes that have come to nothing for long'],
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

/** Adds the moment, and says how many there were in the time before it. */
function countIn(moments: number[], nowMs: number): number {
  moments.push(nowMs);
  while ((moments[0] ?? nowMs) < nowMs - WINDOW_MS) moments.shift();
  return moments.length;
}
