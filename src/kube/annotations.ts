import { GROUP } from '../base/group.ts';
import type { ObjectMeta } from './object.ts';

/* What a person says to the operator about one object of any kind, besides its spec. */

/** `true`: nothing is changed for it. */
export const PAUSED = `${GROUP}/paused`;
/** Any new value: it is looked at now. */
export const RECONCILE_AT = `${GROUP}/reconcile-at`;
/** `true`: when it is deleted, all is left as it is. */
export const ABANDON = `${GROUP}/abandon`;

/** Whether a person asked for a look, and no pass has told since. */
export function isAsked(
  { annotations }: ObjectMeta,
  { lastHandledReconcileAt = '' }: { readonly lastHandledReconcileAt?: string | undefined },
): boolean {
  return (annotations?.[RECONCILE_AT] ?? '') !== lastHandledReconcileAt;
}

export function isPaused({ annotations }: ObjectMeta): boolean {
  return annotations?.[PAUSED] === 'true';
}
