import { describe, expect, it } from 'vitest';
import { firstAbout, mostInOneSecond } from '../../bench/measure/journal.ts';

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

describe('firstAbout()', () => {
  const entry = (at: number, method: string, cluster: string) => {
    return { at, method, space: 'production', cluster, deploys: false, status: 200 };
  };
  /** As they were answered. */
  const journal = [
    entry(10, 'GET', 'orders'),
    entry(40, 'PATCH', 'orders'),
    entry(30, 'GET', 'orders'),
    entry(20, 'GET', ''),
    entry(25, 'GET', 'users'),
  ];

  it('finds what arrived first from then on, about this cluster', () => {
    expect(firstAbout(journal, 'orders', 11).at).toBe(30);
    expect(firstAbout(journal, 'orders', 10).at).toBe(10);
    expect(firstAbout(journal, 'orders', 11, ({ method }) => method === 'PATCH').at).toBe(40);
  });

  it('says so where there was none', () => {
    expect(() => firstAbout(journal, 'users', 26)).toThrow('not asked about users');
  });
});
