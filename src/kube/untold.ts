import { messageOf } from '../base/errors.ts';
import { type AnyObject, isConflict, isNotFound, isRefused } from './api.ts';
import { statusOf } from './status-patch.ts';

/** What a status cannot report because it could not be written in full: an Event does. */
export interface Untold {
  readonly reason: string;
  readonly message: string;
  /** Fields of the status that were dropped; undefined: all of it was refused. */
  readonly missing?: readonly string[];
}

const INSTALL = 'install those of this version with mooring crds | kubectl apply --server-side -f -';

/** Checks the answer to a status patch: the API server drops what the CRD does not know. Undefined: everything stayed. */
export function droppedFrom(patch: object, answer: AnyObject): Untold | undefined {
  const kept = new Set(Object.keys(statusOf(answer)));
  const dropped = Object.entries(patch).flatMap(([field, value]) =>
    value === null || value === undefined || kept.has(field) ? [] : [field],
  );
  if (dropped.length === 0) return undefined;
  const message =
    `${dropped.map((field) => `status.${field}`).join(', ')} was written, but is missing: the CustomResourceDefinitions are of an earlier version of Mooring, or ` +
    `something in this cluster removes it. Whatever needs it does not go on: ${INSTALL}`;
  return { reason: 'StatusIncomplete', message, missing: dropped };
}

/** Reports whether the status has any of these dropped fields: by now they are known, or the rest is reported again. */
export function tells(object: AnyObject, fields: readonly string[]): boolean {
  const status = statusOf(object);
  return fields.some((field) => Object.hasOwn(status, field));
}

/** Judges a status patch that failed. Undefined: the next one may succeed, or there is nobody to tell. */
export function refusedWith(error: unknown): Untold | undefined {
  if (!isRefused(error) || isConflict(error) || isNotFound(error)) return undefined;
  const message =
    `The API server refuses this object's status, so it shows how things were before: ${messageOf(error)}. If a right is missing, ` +
    `the chart and deploy/ of this version grant it; if the CustomResourceDefinitions are of another version, ${INSTALL}`;
  return { reason: 'StatusRefused', message };
}
