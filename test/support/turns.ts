import type { Clock } from '../../src/base/clock.ts';
import { virtualClock } from '../../src/sandbox/virtual-clock.ts';

/**
 * Counts how often long work yields, with a clock that advances by a millisecond each time it is read. So the count shows how often
 * the work checks whether it should yield, and does not depend on anything else, least of all on how busy the machine is.
 */
export function countedTurns(): {
  readonly clock: Clock;
  readonly turns: () => number;
} {
  let now = 0;
  let turns = 0;
  const yieldNow = async () => {
    turns++;
  };
  return { clock: { ...virtualClock(), monotonic: () => ++now, yieldNow }, turns: () => turns };
}
