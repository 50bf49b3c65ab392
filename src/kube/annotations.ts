import { GROUP, isOfGroup } from '../base/group.ts';
import { parseInstant } from '../base/instant.ts';
import { nearest } from '../base/nearest.ts';
import { type KubeObject, keyOf, type ObjectKey, type ObjectMeta } from './object.ts';
import type { Untold } from './untold.ts';

/* What a person tells the operator about an object of any kind, besides its spec. */

/** `true`: nothing is changed for the object. */
export const PAUSED = `${GROUP}/paused`;
/** Reason of Ready meanwhile, if there is something to change. */
export const PAUSED_REASON = 'Paused';
/** Any new value: the object is looked at now. */
export const RECONCILE_AT = `${GROUP}/reconcile-at`;
/** What to do after something was set right on a server, which nobody reports: an object that is Stalled looks there after half an hour. */
export const LOOK_THERE = `and then annotate this object with a new ${RECONCILE_AT}, as Mooring looks there only now and then`;
/** `true`: when the object is deleted, everything is left as it is. */
export const ABANDON = `${GROUP}/abandon`;
/** The end of messages about an object whose deletion waits for something. */
export const LET_GO = `To remove only this object, annotate ${ABANDON}=true`;

/** What people hear when an object was abandoned. */
export const ABANDONED: Untold = {
  reason: 'Abandoned',
  message: `Annotation ${ABANDON} is "true", so only this object is removed: what it stands for stays as it is, and Mooring does nothing more about it`,
};

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

interface Values {
  isValid(value: string): boolean;
  readonly remedy: string;
}

const YES_OR_NO: Values = { isValid: (value) => ['true', 'false'].includes(value), remedy: '"true"' };

/** What those annotations may say that do not take just any value. */
const VALUES: Readonly<Record<string, Values>> = {
  [PAUSED]: YES_OR_NO,
  [ABANDON]: YES_OR_NO,
  [ACCEPT_IDENTITY]: {
    isValid: isCreationTime,
    remedy: "the creation time of the cluster, such as 2026-11-20T10:00:00.000Z, as this object's message names it",
  },
};

/** A time, or, as in the status, the cloud's number if that is none. */
function isCreationTime(value: string): boolean {
  return Number.isFinite(Number(value)) || parseInstant(value) !== undefined;
}

type Annotated = Pick<ObjectMeta, 'annotations'> &
  Partial<Pick<ObjectMeta, 'name' | 'namespace' | 'deletionTimestamp'>>;

/** Returns a text for people about annotations that do not do what they seem to be meant for; undefined if there are none. */
export function mistakesIn(kind: string, metadata: Annotated): string | undefined {
  const mistakes = warningsOf(kind, metadata);
  return mistakes.length === 0 ? undefined : mistakes.map(({ message }) => message).join('. ');
}

function warningsOf(kind: string, metadata: Annotated): readonly Untold[] {
  const [ignored, disarmed] = [ignoredIn(kind, metadata), disarmedBy(kind, metadata)];
  return [
    ...(ignored === undefined ? [] : [{ reason: 'AnnotationIgnored', message: ignored }]),
    ...(disarmed === undefined ? [] : [{ reason: 'AbandonedWhenDeleted', message: disarmed }]),
  ];
}

/** About an annotation for an object that is being deleted, set before: the deletion would then look like any other. */
function disarmedBy(kind: string, metadata: Annotated): string | undefined {
  const { deletionTimestamp, name = '', namespace = '' } = metadata;
  if (!isAbandoned(metadata) || deletionTimestamp !== undefined) return undefined;
  const undo = `kubectl annotate ${kind.toLowerCase()}.${GROUP} ${name} --namespace=${namespace} ${ABANDON}-`;
  return `Annotation ${ABANDON} is "true", so deleting this object removes only the object, and leaves everything in the cloud and on servers as it is, whatever the spec says about deletion. Unless that is meant, remove the annotation: ${undo}`;
}

/** About annotations that seem to be meant for Mooring but have no effect. */
function ignoredIn(kind: string, { annotations = {} }: Annotated): string | undefined {
  const values = Object.entries(VALUES).flatMap(([name, { isValid, remedy }]) => {
    const value = annotations[name] ?? '';
    return value === '' || isValid(value) || isForOthers(kind, name)
      ? []
      : `Annotation ${name} is ${JSON.stringify(value.slice(0, 80))}, which means nothing: write ${remedy}`;
  });
  const names = NAMES.filter((name) => !isForOthers(kind, name));
  const others = Object.keys(annotations)
    .filter((name) => isOfGroup(name) && !names.includes(name))
    .map((name) => `Annotation ${name} ${uselessness(kind, name, names)}`);
  const mistakes = [...values, ...others];
  return mistakes.length === 0 ? undefined : mistakes.join('. ');
}

function isForOthers(kind: string, name: string): boolean {
  return ONLY_FOR[name]?.includes(kind) === false;
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
  /** By reason. */
  readonly #told = new Map<ObjectKey, ReadonlyMap<string, string>>();

  /** Reports what is new. Somebody who believes that the object is paused, or protected, must hear that it is not. */
  tell(kind: string, object: KubeObject | undefined, report: (object: KubeObject, news: Untold) => void): void {
    if (object === undefined) return;
    const key = keyOf(object);
    const told = this.#told.get(key);
    const warnings = warningsOf(kind, object.metadata);
    if (warnings.length === 0) this.#told.delete(key);
    else this.#told.set(key, new Map(warnings.map(({ reason, message }) => [reason, message])));
    for (const news of warnings) if (told?.get(news.reason) !== news.message) report(object, news);
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

/** Whether a deletion removes only the object. */
export function isAbandoned({ annotations }: Pick<ObjectMeta, 'annotations'>): boolean {
  return annotations?.[ABANDON] === 'true';
}
