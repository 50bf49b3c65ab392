import { yieldToEventLoop } from './pace.ts';

/**
 * Does the work for each item, in their order. After each `size` of them others have their turn, so that thousands do not
 * hold up all else; with fewer all is done when this returns.
 */
export async function inSlices<T>(items: Iterable<T>, size: number, work: (item: T) => void): Promise<void> {
  let done = 0;
  for (const item of items) {
    if (done > 0 && done % size === 0) await yieldToEventLoop();
    work(item);
    done++;
  }
}
