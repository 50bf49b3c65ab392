import { type Clock, sleep } from '../base/clock.ts';
import type { WorkQueue } from '../runtime/workqueue.ts';

/** How long clusters wait for the first look at their spaces: a cloud that hangs must not hold up everything. */
export const FIRST_LOOK_MS = 2_000;

/** Clusters are judged by the List of their space. Before it, all that can be said is that they wait for it. */
export async function firstLook(
  spaces: Pick<WorkQueue, 'depth' | 'processing'>,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const deadline = clock.monotonic() + FIRST_LOOK_MS;
  while ((spaces.depth > 0 || spaces.processing.size > 0) && clock.monotonic() < deadline && !signal.aborted) {
    await sleep(clock, 10, signal);
  }
}
