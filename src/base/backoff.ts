import type { Random } from './random.ts';

export interface Backoff {
  /** Delay before the first retry, in milliseconds. */
  readonly initialMs: number;
  /** The longest delay, in milliseconds. */
  readonly maxMs: number;
}

/** The longest possible delay before retry number `attempt` (from 0): doubled each time up to the maximum. */
export function ceilingMs({ initialMs, maxMs }: Backoff, attempt: number): number {
  return Math.min(maxMs, initialMs * 2 ** Math.min(attempt, 30));
}

/**
 * The delay before retry number `attempt` (from 0): doubled each time up to the maximum, then drawn uniformly from its upper
 * half, so that callers that failed together do not come back together, and none comes back at once.
 */
export function backoffMs(backoff: Backoff, attempt: number, random: Random): number {
  const ceiling = ceilingMs(backoff, attempt);
  return ceiling / 2 + (ceiling / 2) * random.float();
}
