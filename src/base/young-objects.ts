import { getHeapSpaceStatistics } from 'node:v8';
import { type Clock, sleep, type YieldNow } from './clock.ts';
import { yieldToEventLoop } from './pace.ts';

/** With the image's flags for V8, young objects take up to 2 MiB, unless old ones are being marked. */
const MUCH_BYTES = 4 * 2 ** 20;
const PAUSE_MS = 1;
/** Marking takes 20 to 40 ms. */
const MAX_PAUSES = 100;

/**
 * Gives other work a turn, and V8 the time to finish. While it marks old objects, in threads of its own, it collects no young ones: long
 * work that went on meanwhile, as at a start with thousands of objects, would add more to the memory than it needs otherwise. If a rest
 * ends nothing, V8 lets young objects take that much, as it does with other flags: then twice as much is much.
 */
export function yieldToCollector(clock: Clock, youngBytes: () => number = usedByYoung): YieldNow {
  let muchBytes = MUCH_BYTES;
  return async () => {
    await yieldToEventLoop();
    for (let pauses = 0; youngBytes() > muchBytes; pauses++) {
      if (pauses === MAX_PAUSES) muchBytes = Math.max(muchBytes, 2 * youngBytes());
      else await sleep(clock, PAUSE_MS);
    }
  };
}

/** Takes some two microseconds. */
function usedByYoung(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_used_size ?? 0;
}
