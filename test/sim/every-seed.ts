import { describe, expect, it } from 'vitest';
import { playSeed, shrunk } from './seeds.ts';

/** So many at a time, so that it is seen how far they are. */
const AT_A_TIME = 100;
/** Ends what hangs, also on a machine that has much else to do. */
const TIMEOUT_MS = 600_000;

/** Seeds `first` to `last`, which make whole hundreds. */
export function describeEverySeed(first: number, last: number): void {
  const begins = Array.from({ length: (last + 1 - first) / AT_A_TIME }, (_, index) => first + index * AT_A_TIME);
  describe('Whatever comes before what, and whatever goes wrong, no invariant breaks', () => {
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
