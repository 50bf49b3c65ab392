const SECOND_MS = 1000;

/** Of things that happened at these times, in milliseconds: the most in one second, whenever that begins. */
export function mostInOneSecond(times: readonly number[]): number {
  const sorted = times.toSorted((a, b) => a - b);
  let first = 0;
  let most = 0;
  for (const [index, at] of sorted.entries()) {
    while (at - (sorted[first] ?? at) >= SECOND_MS) first++;
    most = Math.max(most, index - first + 1);
  }
  return most;
}
