import { messageOf } from '../base/errors.ts';
import { isRecord } from '../base/is-record.ts';
import { type AnyObject, isConflict, isNotFound, isRefused } from './api.ts';
import { statusOf } from './status-patch.ts';

/** What a status cannot report because it could not be written in full: an Event does. */
export interface Untold {
  readonly reason: string;
  readonly message: string;
  /** Paths of the status's fields that were dropped, also inside others; undefined: all of it was refused. */
  readonly missing?: readonly string[];
}

/** Definitions that are there already mostly have another field manager, such as Helm: without force the API server refuses. */
export const INSTALL =
  'install those of this version, with its chart or with mooring crds | kubectl apply --server-side --force-conflicts -f -';

/** Checks the answer to a status patch: the API server drops what the CRD does not know. Undefined: everything stayed. */
export function droppedFrom(patch: object, answer: AnyObject): Untold | undefined {
  const dropped = [...new Set(pathsMissing(patch, statusOf(answer)))];
  if (dropped.length === 0) return undefined;
  const message =
    `${dropped.map((field) => `status.${field}`).join(', ')} was written, but is missing: the CustomResourceDefinitions are of an earlier version of Mooring, or ` +
    `something in this cluster removes it. Whatever needs it does not go on: ${INSTALL}`;
  return { reason: 'StatusIncomplete', message, missing: dropped };
}

/** Returns the paths of fields that were to be stored and were not. Lists are stored as a whole. */
function pathsMissing(written: unknown, stored: unknown): readonly string[] {
  if (Array.isArray(written) && Array.isArray(stored))
    return written.flatMap((each, index) => pathsMissing(each, stored[index]));
  if (!isRecord(written) || !isRecord(stored)) return [];
  return Object.entries(written).flatMap(([field, value]) => {
    if (value === null || value === undefined) return [];
    if (!Object.hasOwn(stored, field)) return [field];
    return pathsMissing(value, stored[field]).map((path) => `${field}.${path}`);
  });
}

/**
 * Reports whether the status has any of these dropped fields, or no longer has what one of them was in: by now they are known, or the
 * rest is reported again.
 */
export function tells(object: AnyObject, fields: readonly string[]): boolean {
  return fields.some((path) => hasPath(statusOf(object), path.split('.')));
}

function hasPath(value: unknown, [field, ...inside]: readonly string[]): boolean {
  if (field === undefined) return true;
  if (Array.isArray(value)) return value.some((each) => hasPath(each, [field, ...inside]));
  if (!isRecord(value)) return false;
  return Object.hasOwn(value, field) ? hasPath(value[field], inside) : inside.length > 0;
}

/** Judges a status patch that failed. Undefined: the next one may succeed, or there is nobody to tell. */
export function refusedWith(error: unknown): Untold | undefined {
  if (!isRefused(error) || isConflict(error) || isNotFound(error)) return undefined;
  const message =
    `The API server refuses this object's status, so it shows how things were before: ${messageOf(error)}. If a right is missing, ` +
    `the chart and deploy/ of this version grant it; if the CustomResourceDefinitions are of another version, ${INSTALL}`;
  return { reason: 'StatusRefused', message };
}
