import type { Clock } from '../../src/base/clock.ts';
import { virtualClock } from '../../src/sandbox/virtual-clock.ts';

/**
 * Counts the turns that long work gives to others, by a clock that goes on by a millisecond each time it is looked at. So the count tells
 * how often the work asks whether it is time for one, and depends on nothing else, least of all on how busy the machine is.
 */
export function countedTurns(): {
  readonly clock: Clock;
  readonly yieldNow: () => Promise<void>;
  readonly turns: () => number;
} {
  let now = 0;
  let turns = 0;
  return {
    clock: { ...virtualClock(), monotonic: () => ++now },
    yieldNow: async () => {
      turns++;
    },
    turns: () => turns,
  };
}
