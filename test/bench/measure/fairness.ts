/**
 * Returns Jain's index of how evenly something is shared: 1 if all have the same, 1/n if one has everything. Throws if there
 * is nothing to share, or nobody.
 */
export function jain(shares: readonly number[]): number {
  const sum = shares.reduce((total, share) => total + share, 0);
  const squares = shares.reduce((total, share) => total + share * share, 0);
  if (squares === 0) throw new Error('Nothing was shared');
  return (sum * sum) / (shares.length * squares);
}

export interface Served {
  /** Who was served. */
  readonly who: string;
  readonly at: number;
}

/**
 * Returns how often each of `all` was served while everybody was still waiting, that is until one of them had all it wanted:
 * after that, shares mean nothing. Throws if one was never served.
 */
export function servedWhileContended(served: readonly Served[], all: readonly string[]): readonly number[] {
  const lastOf = (who: string) => {
    const times = served.filter((one) => one.who === who).map(({ at }) => at);
    if (times.length === 0) throw new Error(`${who} was never served`);
    return Math.max(...times);
  };
  const end = Math.min(...all.map(lastOf));
  return all.map((who) => served.filter((one) => one.who === who && one.at <= end).length);
}
