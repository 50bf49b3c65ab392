import type { PassResult } from './passes.ts';

const WINDOW_MINUTES = 5;
const WINDOW_MS = WINDOW_MINUTES * 60_000;
/**
 * Of one key, whatever it is told of meanwhile: most that a run of the operator as it is was seen to need are half of it.
 * One second after each failure would be 300.
 */
const MOST_PASSES = 150;
const MOST_FAILED = 60;

/** Counts the passes of each key: those that fail come ever later, and no key is looked at all the time. */
export class HotKeys {
  readonly #passes = new Map<string, { all: number[]; failed: number[] }>();

  /** What is wrong with this pass of the key having come now; undefined: nothing. */
  problem(key: string, result: PassResult, nowMs: number): string | undefined {
    const passes = this.#passes.get(key) ?? { all: [], failed: [] };
    this.#passes.set(key, passes);
    const all = countIn(passes.all, nowMs);
    const failed = result === 'error' ? countIn(passes.failed, nowMs) : 0;
    if (all <= MOST_PASSES && failed <= MOST_FAILED) return undefined;
    const what = failed > MOST_FAILED ? `${failed} passes of ${key} that fail` : `${all} passes of ${key}`;
    return `${what} in ${WINDOW_MINUTES} minutes`;
  }
}

/** Adds the moment, and says how many there were in the time before it. */
function countIn(moments: number[], nowMs: number): number {
  moments.push(nowMs);
  while ((moments[0] ?? nowMs) < nowMs - WINDOW_MS) moments.shift();
  return moments.length;
}
