import { instant } from '../base/instant.ts';

/** All condition types that Mooring reports, for any kind. Others belong to other controllers. */
const OWN_TYPES: ReadonlySet<string> = new Set([
  'Ready',
  'Reconciling',
  'Stalled',
  'Synced',
  'Available',
  'CredentialsSecured',
  'CredentialsValid',
]);

/** metav1.Condition, each with its own observedGeneration. */
export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  /** A stable CamelCase word. */
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration?: number | undefined;
  /** RFC 3339, whole seconds. */
  readonly lastTransitionTime: string;
}

/** A condition as a decision states it: what is true now, without when that began. */
export interface ConditionUpdate extends Pick<Condition, 'type' | 'status' | 'reason' | 'message'> {
  /** Reported as a warning, whatever its status. Not written into the condition. */
  readonly warning?: true;
}

/** Returns the condition of this type, or undefined. Like apimachinery's function of that name. */
export function findStatusCondition<C extends Pick<Condition, 'type'>>(
  conditions: readonly C[] | undefined,
  type: string,
): C | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/** Reports whether there is a condition of this type that is `True`. Like apimachinery's function of that name. */
export function isStatusConditionTrue(
  conditions: readonly Pick<Condition, 'type' | 'status'>[] | undefined,
  type: string,
): boolean {
  return findStatusCondition(conditions, type)?.status === 'True';
}

/**
 * Returns the message of the condition of this type that already says the same in this generation; undefined if none does. While calls
 * are held back during an outage there is nothing new to say: what was found stays, and is not written with each try.
 */
export function toldBefore(
  conditions: readonly Condition[] | undefined,
  { type, reason, generation }: { readonly type: string; readonly reason: string; readonly generation: number },
): string | undefined {
  const before = findStatusCondition(conditions, type);
  return before?.reason === reason && before.observedGeneration === generation ? before.message : undefined;
}

/** metav1.Condition allows 32,768. A person reads less, and status must not grow without bound. */
const MAX_MESSAGE_LENGTH = 1024;

/** So much of the end of a message stays, however long it is: what went wrong comes first, and what to do about it last. */
export const KEPT_END = 400;

/**
 * Returns the conditions after an update: those of `updates`, in their order, then those of other controllers. Our own are dropped if not
 * named: conditions such as Stalled exist only while true. `lastTransitionTime` is kept while `status` stays the same. A condition of
 * `previous` that is passed on as it is was not judged again, and keeps its own generation.
 */
export function setConditions(
  previous: readonly Condition[],
  updates: readonly ConditionUpdate[],
  generation: number,
  nowMs: number,
): Condition[] {
  const own = updates.filter(isOwn).map((update) => {
    const before = findStatusCondition(previous, update.type);
    const lastTransitionTime = before?.status === update.status ? before.lastTransitionTime : instant(nowMs);
    return {
      type: update.type,
      status: update.status,
      reason: update.reason,
      message: shorten(update.message),
      observedGeneration: update === before ? before.observedGeneration : generation,
      lastTransitionTime,
    };
  });
  return [...own, ...previous.filter((condition) => !isOwn(condition))];
}

/** Reports whether it is one of Mooring's own types. */
export function isOwn({ type }: Pick<Condition, 'type'>): boolean {
  return OWN_TYPES.has(type);
}

/**
 * Returns a message for a status: of bounded length, without its middle if it is longer, and without half a character, which the API
 * server would not keep as it is.
 */
export function shorten(message: string): string {
  if (message.length <= MAX_MESSAGE_LENGTH) return message;
  const begin = message.slice(0, MAX_MESSAGE_LENGTH - KEPT_END - 1);
  return `${begin.toWellFormed()}…${message.slice(-KEPT_END).toWellFormed()}`;
}
