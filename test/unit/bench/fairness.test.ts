import { describe, expect, it } from 'vitest';
import { jain, servedWhileContended } from '../../bench/measure/fairness.ts';

describe('jain()', () => {
  it('is 1 where all have the same, and 1/n where one has everything', () => {
    expect(jain([3, 3, 3, 3])).toBe(1);
    expect(jain([0, 7, 0, 0])).toBe(0.25);
    expect(jain([1, 2, 3])).toBeCloseTo(36 / 42);
  });

  it('refuses to judge where nothing was shared', () => {
    expect(() => jain([])).toThrow('Nothing');
    expect(() => jain([0, 0])).toThrow('Nothing');
  });
});

describe('servedWhileContended()', () => {
  const served = (who: string, ...times: readonly number[]) => times.map((at) => ({ who, at }));

  it('counts until the first one has all that it wanted: afterwards the others have the rest to themselves', () => {
    const turns = [...served('a', 1, 4, 5, 6, 7), ...served('b', 2, 8), ...served('c', 3, 4)];
    expect(servedWhileContended(turns, ['a', 'b', 'c'])).toEqual([2, 1, 2]);
  });

  it('shows who was served first, and whole', () => {
    const turns = [...served('noisy', 1, 2, 3, 4), ...served('quiet', 5, 6)];
    expect(servedWhileContended(turns, ['noisy', 'quiet'])).toEqual([4, 0]);
  });

  it('refuses to judge where somebody was never served', () => {
    expect(() => servedWhileContended(served('a', 1), ['a', 'b'])).toThrow('b was never served');
  });
});
