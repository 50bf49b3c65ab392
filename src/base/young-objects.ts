import { getHeapSpaceStatistics } from 'node:v8';
import { type Clock, sleep } from './clock.ts';
import { type YieldNow, yieldToEventLoop } from './pace.ts';

/** The flag of V8 with which the image starts Node: young objects then take up to 2 MiB, unless old ones are being marked. */
export const SMALL_HEAP_FLAG = '--optimize-for-size';
const MUCH_BYTES = 4 * 2 ** 20;
const PAUSE_MS = 1;
/** Marking takes 20 to 40 ms. If it takes longer, other processes have the cores. */
const MAX_PAUSES = 50;

/**
 * Gives other work a turn, and V8 the time to finish. While it marks old objects, in threads of its own, it collects no young ones: long
 * work that went on meanwhile, as at a start with thousands of objects, would add more to the memory than it needs otherwise.
 */
export function yieldToCollector(clock: Clock, youngBytes: () => number = usedByYoung): YieldNow {
  return async () => {
    await yieldToEventLoop();
    for (let pause = 0; pause < MAX_PAUSES && youngBytes() > MUCH_BYTES; pause++) await sleep(clock, PAUSE_MS);
  };
}

/** Takes some two microseconds. */
function usedByYoung(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_used_size ?? 0;
}
