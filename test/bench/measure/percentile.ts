/** Returns the value that a share `p` (0 to 1) of all values does not exceed (nearest rank). Throws if there are no values. */
export function percentile(values: readonly number[], p: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const value = sorted[Math.max(0, Math.ceil(p * sorted.length) - 1)];
  if (value === undefined) throw new Error('A percentile of no values');
  return value;
}
