import type { AnyObject } from './api.ts';

/**
 * Whether a person or another controller changed something that a pass goes by: a status is only ever written by us. `own`: a
 * finalizer beside which no other is of interest, and which only we put.
 */
export function isNews(before: AnyObject | undefined, after: AnyObject | undefined, own?: string): boolean {
  if (before === undefined || after === undefined) return true;
  const isHeld = own !== undefined && after.metadata.finalizers?.includes(own) === true;
  const seen = ({ metadata: { uid, generation, deletionTimestamp, finalizers, annotations, labels } }: AnyObject) =>
    JSON.stringify([uid, generation, deletionTimestamp, isHeld || finalizers, annotations, labels]);
  return seen(before) !== seen(after);
}
