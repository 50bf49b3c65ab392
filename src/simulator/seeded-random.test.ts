import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSeededRandom, drawMs, drawToken } from './seeded-random.ts';

describe('createSeededRandom', () => {
  it('gives the same numbers from the same seed, and others from another', () => {
    const draw = (seed: number) => {
      const random = createSeededRandom(seed);
      return [random.float(), ...random.bytes(16)];
    };
    expect(draw(1)).toEqual(draw(1));
    expect(draw(1)).not.toEqual(draw(2));
  });

  it('spreads evenly', () => {
    const random = createSeededRandom(7);
    const buckets = Array.from({ length: 10 }, () => 0);
    for (let count = 0; count < 10_000; count++) {
      const bucket = Math.floor(random.float() * 10);
      buckets[bucket] = (buckets[bucket] ?? 0) + 1;
    }
    for (const bucket of buckets) expect(Math.abs(bucket - 1000)).toBeLessThan(150);
  });
});

describe('drawMs', () => {
  it('stays within its range, ends included', () => {
    fc.assert(
      fc.property(fc.nat(1000), fc.nat(1000), fc.integer(), (min, extent, seed) => {
        const drawn = drawMs([min, min + extent], createSeededRandom(seed));
        return Number.isInteger(drawn) && drawn >= min && drawn <= min + extent;
      }),
    );
    const drawn = new Set(Array.from({ length: 100 }, (_, seed) => drawMs([1, 3], createSeededRandom(seed))));
    expect([...drawn].sort()).toEqual([1, 2, 3]);
  });
});

it('drawToken() gives tokens that a header can carry, and none twice', () => {
  const random = createSeededRandom(1);
  const tokens = Array.from({ length: 1000 }, () => drawToken('t-', random));
  expect(new Set(tokens).size).toBe(1000);
  for (const token of tokens) expect(token).toMatch(/^t-[\w-]{24}$/);
});
