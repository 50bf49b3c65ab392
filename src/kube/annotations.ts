import { GROUP, isOfGroup } from '../base/group.ts';
import { nearest } from '../base/nearest.ts';
import type { ObjectKey, ObjectMeta } from './object.ts';

/* What a person tells the operator about an object of any kind, besides its spec. */

/** `true`: nothing is changed for the object. */
export const PAUSED = `${GROUP}/paused`;
/** Any new value: the object is looked at now. */
export const RECONCILE_AT = `${GROUP}/reconcile-at`;
/** `true`: when the object is deleted, everything is left as it is. */
export const ABANDON = `${GROUP}/abandon`;
/** The end of messages about an object whose deletion waits for something. */
export const LET_GO = `To remove only this object, annotate ${ABANDON}=true`;

/* For some kinds only: */

/** A new value asks for a new password now. */
export const ROTATE_AT = `${GROUP}/rotate-at`;
/** Names, by its creation time, a cluster to treat as this object's. */
export const ACCEPT_IDENTITY = `${GROUP}/accept-identity`;

const NAMES: readonly string[] = [PAUSED, RECONCILE_AT, ABANDON, ROTATE_AT, ACCEPT_IDENTITY];

/** The kinds that heed an annotation, if not all do. */
const ONLY_FOR: Readonly<Record<string, readonly string[]>> = {
  [ROTATE_AT]: ['DatabaseCluster', 'DatabaseUser'],
  [ACCEPT_IDENTITY]: ['DatabaseCluster'],
};

/** Returns a text for people about annotations that seem to be meant for Mooring but have no effect; undefined if there are none. */
export function mistakesIn(kind: string, { annotations = {} }: Pick<ObjectMeta, 'annotations'>): string | undefined {
  const values = [PAUSED, ABANDON].flatMap((name) => {
    const value = annotations[name] ?? '';
    return ['', 'true', 'false'].includes(value)
      ? []
      : `Annotation ${name} is ${JSON.stringify(value.slice(0, 80))}, which means nothing: write "true"`;
  });
  const names = NAMES.filter((name) => ONLY_FOR[name]?.includes(kind) ?? true);
  const others = Object.keys(annotations)
    .filter((name) => isOfGroup(name) && !names.includes(name))
    .map((name) => `Annotation ${name} ${uselessness(kind, name, names)}`);
  const mistakes = [...values, ...others];
  return mistakes.length === 0 ? undefined : mistakes.join('. ');
}

function uselessness(kind: string, name: string, names: readonly string[]): string {
  const heeding = ONLY_FOR[name];
  if (heeding !== undefined) return `means nothing to a ${kind}, only to a ${heeding.join(' and a ')}`;
  // All names begin alike, so only the rest is compared.
  const rest = (each: string) => each.slice(each.lastIndexOf('/') + 1);
  const meant = nearest(rest(name), names.map(rest));
  const remedy = meant === undefined ? `the names are ${names.join(', ')}` : `write ${GROUP}/${meant} if that is meant`;
  return `means nothing: ${remedy}`;
}

/** What was reported for which object, so that each mistake is reported once while it lasts. */
export class Mistakes {
  readonly #told = new Map<ObjectKey, string>();

  /** Returns what to report now; undefined: nothing. */
  news(key: ObjectKey, kind: string, metadata: ObjectMeta): string | undefined {
    const mistakes = mistakesIn(kind, metadata);
    if (mistakes === this.#told.get(key)) return undefined;
    if (mistakes === undefined) this.#told.delete(key);
    else this.#told.set(key, mistakes);
    return mistakes;
  }

  forget(key: ObjectKey): void {
    this.#told.delete(key);
  }
}

/** Reports whether a person asked for a look that no pass has reported yet. */
export function isAsked(
  { annotations }: ObjectMeta,
  { lastHandledReconcileAt = '' }: { readonly lastHandledReconcileAt?: string | undefined },
): boolean {
  return (annotations?.[RECONCILE_AT] ?? '') !== lastHandledReconcileAt;
}

export function isPaused({ annotations }: ObjectMeta): boolean {
  return annotations?.[PAUSED] === 'true';
}
