import type { AnyObject } from './api.ts';
import { compareVersions } from './object.ts';

/**
 * Reports whether a person or another controller changed something that a pass goes by; only we write the status. `own`: our finalizer,
 * which only we set. While it is set, other finalizers do not matter.
 */
export function isNews(before: AnyObject | undefined, after: AnyObject | undefined, own?: string): boolean {
  const isHeld = own !== undefined && after?.metadata.finalizers?.includes(own) === true;
  return differs(before, after, isHeld);
}

/**
 * As `isNews`, for other objects that refer to this one: until it is deleted, they need not hear of its finalizers, of which we set and
 * remove one ourselves.
 */
export function isNewsToOthers(before: AnyObject | undefined, after: AnyObject | undefined): boolean {
  return differs(before, after, after?.metadata.deletionTimestamp === undefined);
}

function differs(before: AnyObject | undefined, after: AnyObject | undefined, exceptFinalizers: boolean): boolean {
  if (before === undefined || after === undefined) return true;
  const seen = ({ metadata: { uid, generation, deletionTimestamp, finalizers, annotations, labels } }: AnyObject) =>
    JSON.stringify([uid, generation, deletionTimestamp, exceptFinalizers || finalizers, annotations, labels]);
  return seen(before) !== seen(after);
}

/**
 * Reports whether this is a later version of the same object. Not if another one has its name, or if it went back to an earlier version,
 * as after the server was restored from a backup: what was found out about it since may be wrong, though what was done is done.
 */
export function isSuccessor({ metadata: before }: AnyObject, after: AnyObject | undefined): boolean {
  return after?.metadata.uid === before.uid && !(compareVersions(after.metadata, before) < 0);
}
