import type { JournalEntry } from '../limited-cloud.ts';

const SECOND_MS = 1000;

/** Returns the largest number of these times, in milliseconds, within any one second. */
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

/** Returns the first request about the cluster that arrived at this time or later. Throws if there was none. */
export function firstAbout(
  journal: readonly JournalEntry[],
  cluster: string,
  sinceMs: number,
  matches: (entry: JournalEntry) => boolean = () => true,
): JournalEntry {
  const found = journal
    .filter((entry) => entry.cluster === cluster && entry.at >= sinceMs && matches(entry))
    .toSorted((one, other) => one.at - other.at)[0];
  if (found === undefined) throw new Error(`The cloud was not asked about ${cluster}`);
  return found;
}
