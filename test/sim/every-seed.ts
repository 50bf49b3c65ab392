import { describe, expect, it } from 'vitest';
import { playSeed, shrunk } from './seeds.ts';

/** Seeds per test, so that progress shows. */
const AT_A_TIME = 100;
/** Ends a run that hangs. Long enough for a busy machine. */
const TIMEOUT_MS = 600_000;

/** Seeds `first` to `last`, which make whole hundreds. */
export function describeEverySeed(first: number, last: number): void {
  const begins = Array.from({ length: (last + 1 - first) / AT_A_TIME }, (_, index) => first + index * AT_A_TIME);
  describe('Whatever goes wrong, and in whatever order, no invariant breaks', () => {
    it.each(begins.map((begin) => [begin, begin + AT_A_TIME - 1] as const))(
      'Seeds %i to %i',
      async (begin, end) => {
        for (let seed = begin; seed <= end; seed++) {
          const run = await playSeed(seed);
          if (run.violations.length > 0) expect.fail((await shrunk(run)).report);
        }
      },
      TIMEOUT_MS,
    );
  });
}
