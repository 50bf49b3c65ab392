import { describe, expect, it } from 'vitest';
import { mostInOneSecond } from '../../bench/measure/journal.ts';

describe('mostInOneSecond()', () => {
  it('finds the second with the most, wherever it begins', () => {
    expect(mostInOneSecond([])).toBe(0);
    expect(mostInOneSecond([5])).toBe(1);
    expect(mostInOneSecond([1900, 900, 1899, 0, 1100])).toBe(3);
  });

  it('does not count what is a whole second later', () => {
    const atFifty = Array.from({ length: 200 }, (_, index) => 7 + index * 20);
    expect(mostInOneSecond(atFifty)).toBe(50);
  });
});
