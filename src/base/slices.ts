import { yieldToEventLoop } from './pace.ts';

/**
 * Does the work for each item, in order. After each `size` items other work gets a turn, so that thousands do not hold everything
 * up; with fewer, all is done when this returns.
 */
export async function inSlices<T>(items: Iterable<T>, size: number, work: (item: T) => void): Promise<void> {
  let done = 0;
  for (const item of items) {
    if (done > 0 && done % size === 0) await yieldToEventLoop();
    work(item);
    done++;
  }
}
