import type { Clock } from '../base/clock.ts';
import { Buckets } from '../base/collections/buckets.ts';
import { Recent } from '../base/collections/recent.ts';
import { TransientError } from '../base/errors.ts';
import { objectKey } from '../kube/object.ts';
import { type Secrets, writersInWords } from './secrets.ts';

/** More changes of one Secret than any person needs within minutes: ten rotations. */
const MOST = 20;
/** How often it is changed from then on. */
const EVERY_MS = 30_000;
/** Of more replacements the oldest never ended, for instance as the Secret went first. */
const MOST_BEGUN = 10_000;

/**
 * Another controller may change a Secret back each time that Mooring changes it. Neither gives in, and what changes a Secret is at once
 * looked at: so they would set each other's pace, many times a second. Returns Secrets whose `patch` throws TransientError
 * SecretContested if there were so many changes of one Secret that somebody must be doing that. Nothing else is held back, nor is the
 * end of a password's replacement that was begun: the server may have the new one, and then the published one does not work.
 */
export function paced(secrets: Secrets, clock: Clock): Secrets {
  // One fewer: what is asked is whether another one may be made now.
  const buckets = new Buckets({ clock, intervalMs: EVERY_MS, burst: MOST - 1 });
  const begun = new Recent<string, true>(MOST_BEGUN);
  return {
    ...secrets,
    async patch(namespace, name, read, changes) {
      const key = objectKey(namespace, name);
      const nextPassword = changes.data?.['nextPassword'];
      const isEnd = nextPassword === null && begun.peek(key) === true;
      const waitMs = isEnd ? 0 : buckets.waitMs(key);
      if (waitMs > 0) throw contested(namespace, name, waitMs);
      buckets.take(key);
      // Before it is known whether the change was made: its answer may be lost.
      if (typeof nextPassword === 'string') begun.set(key, true);
      const version = await secrets.patch(namespace, name, read, changes);
      if (nextPassword === null) begun.delete(key);
      return version;
    },
  };
}

function contested(namespace: string, name: string, retryAfterMs: number): TransientError {
  const message = `Secret "${name}" in namespace "${namespace}" was changed by Mooring ${MOST} times within minutes, as something else changes it back each time: Mooring sets it right every half a minute only. Stop whatever that is: ${writersInWords(namespace, name)}`;
  return new TransientError('SecretContested', message, { retryAfterMs });
}
