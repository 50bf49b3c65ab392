import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { backoffMs } from './backoff.ts';

test('backoffMs() is at least half of the doubled delay, at most all of it, and never more than the longest', () => {
  fc.assert(
    fc.property(fc.nat(5_000), fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (attempt, chance) => {
      const delay = backoffMs({ initialMs: 100, maxMs: 30_000 }, attempt, {
        float: () => chance,
        bytes: () => new Uint8Array(),
      });
      const ceiling = Math.min(30_000, 100 * 2 ** attempt);
      expect(delay).toBeGreaterThanOrEqual(ceiling / 2);
      expect(delay).toBeLessThanOrEqual(ceiling);
    }),
    { seed: 1 },
  );
});
