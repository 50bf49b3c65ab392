import { createHash } from 'node:crypto';
import { parseDuration } from '../base/duration.ts';
import { GROUP } from '../base/group.ts';
import { digestOf } from '../database/logins.ts';
import { ROTATE_AT } from '../kube/annotations.ts';
import type { Failure } from '../kube/failure.ts';
import type { ObjectMeta } from '../kube/object.ts';
import type { Refusal } from './password-tries.ts';
import type { Login } from './secrets.ts';

/** Annotations of a Secret whose password is replaced. */
export const ROTATION_ANNOTATIONS = {
  /** The request for a new password that it answers. */
  answers: `${GROUP}/next-password-answers`,
  /**
   * The `markOf` of the generated coming password; empty: there is none. Absent if only versions before this annotation wrote the
   * Secret. Such a version leaves the mark as it is when it writes a coming password, which then looks like somebody else's.
   */
  mark: `${GROUP}/next-password-mark`,
  /** Once it was replaced: a `recordOf` that. */
  made: `${GROUP}/rotation`,
} as const;

/** Tells a coming password that was written here from one that somebody else wrote. It does not help to guess a generated one. */
export function markOf(generated: Login): string {
  return digestOf(generated);
}

/** Whether somebody else wrote the coming password. `mark`: the one in the Secret. */
export function isForeign(coming: Login, mark: string | undefined): boolean {
  return mark !== undefined && mark !== markOf(coming);
}

/** The status and Secrets note a request. All annotations of an object may have 256 KiB together. */
const MAX_NOTED_LENGTH = 1024;

/** A person's request for a new password as it is noted: the annotation's value, or the digest of a long one. */
export function rotationAsked({ annotations }: Pick<ObjectMeta, 'annotations'>): string | undefined {
  const value = annotations?.[ROTATE_AT];
  return value === undefined ? undefined : noted(value);
}

/** Whether the last request was not acted on yet. Versions before noted a long value as it is. */
export function awaitsRotation({ metadata, status }: Rotated): boolean {
  const asked = rotationAsked(metadata);
  const { lastHandledRotateAt: handled } = status;
  return asked !== undefined && (handled === undefined || asked !== noted(handled));
}

/** What a message adds for whoever asked for a new password, which waits; '': nobody did. */
export function rotationWaits(object: Rotated, until: string): string {
  return awaitsRotation(object) ? `; the new password that annotation ${ROTATE_AT} asks for is made once ${until}` : '';
}

function noted(value: string): string {
  if (value.length <= MAX_NOTED_LENGTH) return value;
  return `sha256:${createHash('sha256').update(value).digest('hex')}`;
}

/** For the status: when the password was replaced, and which request that answered. */
export interface Rotation {
  readonly lastRotation: string;
  readonly lastHandledRotateAt: string | null;
}

/** An object whose status records its rotations. */
export interface Rotated {
  readonly metadata: ObjectMeta;
  readonly status: { readonly lastRotation?: string | undefined; readonly lastHandledRotateAt?: string | undefined };
}

/** The rotation for a first password, which is as new as can be. */
export function rotationAt({ metadata }: Pick<Rotated, 'metadata'>, nowMs: number): Rotation {
  return {
    lastRotation: new Date(nowMs).toISOString(),
    lastHandledRotateAt: rotationAsked(metadata) ?? null,
  };
}

/**
 * For the status, after the coming password became the one in use. Undefined: it is the first one, which is recorded once it is
 * verified. `answers`: as in ROTATION_ANNOTATIONS. A request made after the coming password was written asks for yet another one.
 */
export function rotated(
  { metadata, status }: Rotated,
  answers: string | undefined,
  nowMs: number,
): Partial<Rotation> | undefined {
  if (status.lastRotation === undefined) return undefined;
  const isAsked = rotationAsked(metadata) !== undefined;
  const handled = answers === undefined && isAsked ? {} : { lastHandledRotateAt: answers ?? null };
  return { lastRotation: new Date(nowMs).toISOString(), ...handled };
}

/**
 * For the status: a last rotation in the future was written by a clock that was ahead, and counts as now. It is corrected only
 * if passwords are replaced on a schedule, as none would be replaced before that time otherwise. `every`: a duration.
 */
export function correctedRotation(
  { status }: Pick<Rotated, 'status'>,
  every: string | undefined,
  nowMs: number,
): Partial<Pick<Rotation, 'lastRotation'>> {
  const isAhead = status.lastRotation !== undefined && Date.parse(status.lastRotation) > nowMs;
  return isAhead && every !== undefined ? { lastRotation: new Date(nowMs).toISOString() } : {};
}

/** When the password is due to be replaced by schedule, in wall-clock milliseconds; undefined: never. `every`: a duration. */
export function rotationDueMs({ status }: Pick<Rotated, 'status'>, every: string | undefined): number | undefined {
  const { lastRotation } = status;
  // Not secured yet: the first password is as new as can be.
  return lastRotation === undefined || every === undefined
    ? undefined
    : Date.parse(lastRotation) + parseDuration(every);
}

/** In how many milliseconds the password must be replaced; 0 or less: now; undefined: not by schedule. `every`: a duration. */
export function untilRotation(
  { metadata, status }: Rotated,
  every: string | undefined,
  nowMs: number,
): number | undefined {
  if (status.lastRotation === undefined) return undefined;
  if (awaitsRotation({ metadata, status })) return 0;
  const due = rotationDueMs({ status: { ...status, ...correctedRotation({ status }, every, nowMs) } }, every);
  return due === undefined ? undefined : due - nowMs;
}

/** Whether a rotation begins. `inMs`: from `untilRotation`. One that is due waits while a refusal stands, and `stands` says so. */
export function rotationNow(
  inMs: number | undefined,
  refusal: Refusal | undefined,
): { readonly begins: boolean; readonly stands: Failure | undefined; readonly againInMs: number | undefined } {
  const isDue = inMs !== undefined && inMs <= 0;
  if (!isDue || refusal === undefined) return { begins: isDue, stands: undefined, againInMs: inMs };
  return { begins: false, stands: refusal.failure, againInMs: refusal.forMs };
}
