/*
 * When, and how urgently, to look at an object that a list or watch brings for the first time. Most objects found at a start are in order
 * and wait behind everything else (WithLowPriorityWhenUnchanged). Backoff is not in memory after a start, but follows from the status: an
 * object that has been stalled for some time, and that nobody has changed since, is tried again within about that time, one to ten
 * minutes. So a restart does not try all stalled objects at once, and repeated restarts try the same few, by uid: but see Kind.restless.
 */

import { fractionOf } from '../base/random.ts';
import { isAsked } from '../kube/annotations.ts';
import { findStatusCondition, isStatusConditionTrue } from '../kube/condition.ts';
import type { ObjectMeta } from '../kube/object.ts';
import type { StatusBase } from './kind.ts';
import type { Priority } from './workqueue.ts';

/** Limits of how late an object that was stalled comes back after a start. */
const [MIN_REST_MS, MAX_REST_MS] = [60_000, 600_000];

/** Returns the priority and delay, as above, of an object with this metadata and status. `restless`: as its kind says. */
export function initialPriority(
  metadata: ObjectMeta,
  status: StatusBase,
  nowMs: number,
  restless = false,
): { readonly priority: Priority; readonly delayMs: number } {
  const unheard = status.observedGeneration !== (metadata.generation ?? 0) || isAsked(metadata, status);
  if (unheard) return { priority: 'high', delayMs: 0 };
  const stalled = findStatusCondition(status.conditions, 'Stalled');
  if (stalled?.status === 'True' && !restless) {
    const forMs = nowMs - Date.parse(stalled.lastTransitionTime) || 0;
    return { priority: 'low', delayMs: fractionOf(metadata.uid) * Math.min(MAX_REST_MS, Math.max(MIN_REST_MS, forMs)) };
  }
  return { priority: isStatusConditionTrue(status.conditions, 'Ready') ? 'low' : 'normal', delayMs: 0 };
}
