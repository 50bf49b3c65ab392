import { parseDuration } from '../base/duration.ts';
import { GROUP } from '../base/group.ts';
import { digestOf } from '../database/logins.ts';
import { ROTATE_AT } from '../kube/annotations.ts';
import type { Failure } from '../kube/failure.ts';
import type { ObjectMeta } from '../kube/object.ts';
import type { Refusal } from './password-tries.ts';
import type { Login } from './secrets.ts';

/** Annotations of a Secret with a coming password. */
export const NEXT_ANNOTATIONS = {
  /** The asking for a new one that it answers. */
  answers: `${GROUP}/next-password-answers`,
  /**
   * As `markOf`, of the generated one that was written; empty: there is none. Absent where only versions before it wrote the
   * Secret. One of those leaves it as it is when it writes a coming password, which then looks as if somebody else had.
   */
  mark: `${GROUP}/next-password-mark`,
} as const;

/** Tells the coming password that was written here from one that somebody else wrote. Of one that was generated nobody can guess it from that. */
export function markOf(generated: Login): string {
  return digestOf(generated);
}

/** Whether somebody else wrote the coming password. `mark`: what the Secret says. */
export function isForeign(coming: Login, mark: string | undefined): boolean {
  return mark !== undefined && mark !== markOf(coming);
}

/** When the password was replaced, and which asking for it that answered: for the status. */
export interface Rotation {
  readonly lastRotation: string;
  readonly lastHandledRotateAt: string | null;
}

/** An object whose status tells of its rotations. */
interface Rotated {
  readonly metadata: ObjectMeta;
  readonly status: { readonly lastRotation?: string | undefined; readonly lastHandledRotateAt?: string | undefined };
}

/** Of a first password, which is as new as can be. */
export function rotationAt({ metadata }: Pick<Rotated, 'metadata'>, nowMs: number): Rotation {
  return {
    lastRotation: new Date(nowMs).toISOString(),
    lastHandledRotateAt: metadata.annotations?.[ROTATE_AT] ?? null,
  };
}

/**
 * For the status, as the coming password has become the one in use; undefined: the first one is told of when it was verified.
 * `answers`: as NEXT_ANNOTATIONS say. What was asked for after the coming one was written asks for another one.
 */
export function rotated(
  { metadata, status }: Rotated,
  answers: string | undefined,
  nowMs: number,
): Partial<Rotation> | undefined {
  if (status.lastRotation === undefined) return undefined;
  const isAsked = metadata.annotations?.[ROTATE_AT] !== undefined;
  const handled = answers === undefined && isAsked ? {} : { lastHandledRotateAt: answers ?? null };
  return { lastRotation: new Date(nowMs).toISOString(), ...handled };
}

/**
 * For the status: a last rotation that is yet to come was written by a clock that was ahead, and counts as now. Written anew
 * where passwords are replaced by themselves, as none would be before that time otherwise. `every`: a duration.
 */
export function correctedRotation(
  { status }: Pick<Rotated, 'status'>,
  every: string | undefined,
  nowMs: number,
): Partial<Pick<Rotation, 'lastRotation'>> {
  const isAhead = status.lastRotation !== undefined && Date.parse(status.lastRotation) > nowMs;
  return isAhead && every !== undefined ? { lastRotation: new Date(nowMs).toISOString() } : {};
}

/** When the password is to be replaced by itself, in wall-clock milliseconds; undefined: never. `every`: a duration. */
export function rotationDueMs({ status }: Pick<Rotated, 'status'>, every: string | undefined): number | undefined {
  const { lastRotation } = status;
  // Not secured yet: the first password is as new as can be.
  return lastRotation === undefined || every === undefined
    ? undefined
    : Date.parse(lastRotation) + parseDuration(every);
}

/** In how many milliseconds the password is to be replaced; 0 or less: now; undefined: not by itself. `every`: a duration. */
export function untilRotation(
  { metadata, status }: Rotated,
  every: string | undefined,
  nowMs: number,
): number | undefined {
  if (status.lastRotation === undefined) return undefined;
  const asked = metadata.annotations?.[ROTATE_AT];
  if (asked !== undefined && asked !== status.lastHandledRotateAt) return 0;
  const due = rotationDueMs({ status: { ...status, ...correctedRotation({ status }, every, nowMs) } }, every);
  return due === undefined ? undefined : due - nowMs;
}

/** What becomes of a rotation: `inMs` as `untilRotation` says. One that is due waits where a refusal stands, which is told. */
export function rotationNow(
  inMs: number | undefined,
  refusal: Refusal | undefined,
): { readonly begins: boolean; readonly stands: Failure | undefined; readonly againInMs: number | undefined } {
  const isDue = inMs !== undefined && inMs <= 0;
  if (!isDue || refusal === undefined) return { begins: isDue, stands: undefined, againInMs: inMs };
  return { begins: false, stands: refusal.failure, againInMs: refusal.forMs };
}
