import type { Random } from '../base/random.ts';

/** Randomness from a seed: the same seed gives the same run. Not for real secrets. */
export function createSeededRandom(seed: number): Random {
  let state = seed >>> 0;
  // mulberry32: 32 bits of state are enough for choosing latencies and sample ids.
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  return {
    float: () => next() / 2 ** 32,
    bytes: (count) => Uint8Array.from({ length: count }, () => next() >>> 24),
  };
}

/** An integer drawn uniformly from the range, both ends included. */
export function drawMs(range: readonly [number, number], random: Random): number {
  const [min, max] = range;
  return max <= min ? min : Math.floor(min + random.float() * (max - min + 1));
}

const TOKEN_BYTES = 18;

export function drawToken(prefix: string, random: Random): string {
  return prefix + Buffer.from(random.bytes(TOKEN_BYTES)).toString('base64url');
}
