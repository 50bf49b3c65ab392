import { backoffMs } from '../base/backoff.ts';
import { type Clock, sleep } from '../base/clock.ts';
import type { Random } from '../base/random.ts';
import { HttpError } from '../base/transport.ts';
import { isAlreadyExists, isConflict, KubeError } from './api.ts';

/** client-go's RetryOnConflict: `work` reads again and writes. Throws what `work` throws, or the conflict after so many tries. */
export async function retryOnConflict(tries: number, work: () => Promise<void>): Promise<void> {
  for (let tried = 1; ; tried++) {
    try {
      return await work();
    } catch (error) {
      if (!isConflict(error) || tried >= tries) throw error;
    }
  }
}

const TRIES = 12;
const BACKOFF = { initialMs: 1_000, maxMs: 10_000 };

/**
 * Writes something until it has arrived: again, up to twelve times, after no answer or one that names a time to wait, as client-go's Event
 * sink and REST client do. `write` must be harmless when done twice. Throws what it last threw; once `end` aborts, it is tried once more at most.
 */
export async function untilArrived(
  write: () => Promise<unknown>,
  { clock, random }: { readonly clock: Clock; readonly random: Random },
  end: AbortSignal,
): Promise<void> {
  for (let tried = 0; ; tried++) {
    try {
      await write();
      return;
    } catch (error) {
      // An earlier try has arrived.
      if (isAlreadyExists(error)) return;
      const askedMs = tried + 1 < TRIES && !end.aborted ? againInMs(error) : undefined;
      if (askedMs === undefined) throw error;
      await sleep(clock, Math.max(askedMs, backoffMs(BACKOFF, tried, random)), end);
    }
  }
}

/** How long to wait at least; undefined: it was refused. */
function againInMs(error: unknown): number | undefined {
  if (error instanceof HttpError) return error.isWithheld ? undefined : 0;
  return error instanceof KubeError ? error.retryAfterMs : undefined;
}
