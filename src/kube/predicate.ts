import type { AnyObject } from './api.ts';

/**
 * Reports whether a person or another controller changed something that a pass goes by; only we write the status. `own`: our finalizer,
 * which only we set. While it is set, other finalizers do not matter.
 */
export function isNews(before: AnyObject | undefined, after: AnyObject | undefined, own?: string): boolean {
  if (before === undefined || after === undefined) return true;
  const isHeld = own !== undefined && after.metadata.finalizers?.includes(own) === true;
  const seen = ({ metadata: { uid, generation, deletionTimestamp, finalizers, annotations, labels } }: AnyObject) =>
    JSON.stringify([uid, generation, deletionTimestamp, isHeld || finalizers, annotations, labels]);
  return seen(before) !== seen(after);
}
