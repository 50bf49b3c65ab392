import { isAsked, LET_GO } from './annotations.ts';
import { type Condition, type ConditionUpdate, findStatusCondition } from './condition.ts';
import type { Failure } from './failure.ts';
import type { ObjectMeta } from './object.ts';

/** The conditions that summarize an object, in kstatus terms; each kind adds its own after them. */

/** What fails for so short a time is no news about an object that is Ready: a single call may fail, or be slow. */
export const PASSING_MS = 5_000;

/** Reason of Ready while the first look takes long. */
export const OBSERVING = 'Observing';

/** The desired state is reached. */
export function ready(reason: string, message: string): readonly ConditionUpdate[] {
  return [{ type: 'Ready', status: 'True', reason, message }];
}

/** Work goes on, or waits for another object: nothing is wrong. */
export function reconciling(reason: string, message: string): readonly ConditionUpdate[] {
  return [
    { type: 'Ready', status: 'Unknown', reason, message },
    { type: 'Reconciling', status: 'True', reason, message },
  ];
}

/** The look at an object that is `deleting`, or new, waits for an answer of the other side. */
export function waitingForAnswer(deleting: boolean): readonly ConditionUpdate[] {
  const [reason, what] = deleting ? ['Deleting', 'is being deleted'] : [OBSERVING, 'has no status yet'];
  return reconciling(reason, `This object ${what}: waiting for an answer from the cloud or a server`);
}

/** Something fails before it ever worked, and is being tried again: nothing is wrong yet, but people should hear of it. */
export function retrying(reason: string, message: string): readonly ConditionUpdate[] {
  return reconciling(reason, message).map((condition) => ({ ...condition, warning: true }));
}

/** Something that worked no longer does; it is being tried again. */
export function failing(reason: string, message: string): readonly ConditionUpdate[] {
  return [
    { type: 'Ready', status: 'False', reason, message },
    { type: 'Reconciling', status: 'True', reason, message },
  ];
}

/** A person must act. */
export function stalled(reason: string, message: string): readonly ConditionUpdate[] {
  return [
    { type: 'Ready', status: 'False', reason, message },
    { type: 'Stalled', status: 'True', reason, message },
  ];
}

/** The spec cannot be read: nothing is done for the object, and nothing is undone. */
export function invalidSpec(message: string, deleting: boolean): readonly ConditionUpdate[] {
  const goes = `${message}. This object is being deleted, and is removed once that is corrected. ${LET_GO}`;
  return stalled('InvalidSpec', deleting ? goes : message);
}

/** Reports whether the object is Ready in its current generation and nobody asks for more. */
export function isReady(
  metadata: ObjectMeta,
  status: {
    readonly conditions?: readonly Condition[] | undefined;
    readonly lastHandledReconcileAt?: string | undefined;
  },
): boolean {
  const ready = findStatusCondition(status.conditions, 'Ready');
  const isTrue = ready?.status === 'True' && ready.observedGeneration === (metadata.generation ?? 0);
  return isTrue && !isAsked(metadata, status);
}

/** For an object that is being deleted, and that only finalizers of others keep: what else was said of it may no longer be true. */
export const RELEASED: readonly ConditionUpdate[] = [
  {
    type: 'Ready',
    status: 'Unknown',
    reason: 'Released',
    message:
      'Mooring does not look after this object any more. It is being deleted, and is only there because finalizers of others keep it: ' +
      'see metadata.finalizers',
  },
];

const SUMMARY: ReadonlySet<string> = new Set(['Ready', 'Reconciling', 'Stalled']);

export function isSummary({ type }: Pick<Condition, 'type'>): boolean {
  return SUMMARY.has(type);
}

/** Returns the conditions without the summary. */
export function particulars(conditions: readonly ConditionUpdate[]): readonly ConditionUpdate[] {
  return conditions.filter((condition) => !isSummary(condition));
}

/** Returns the conditions after a failure: the summary reports it, the rest stays as decided. */
export function failed(
  decided: readonly ConditionUpdate[],
  { lasting, planned, reason, message }: Pick<Failure, 'lasting' | 'planned' | 'reason' | 'message'>,
): readonly ConditionUpdate[] {
  const again = planned ? reconciling : retrying;
  const summary = lasting === 'terminal' ? stalled : again;
  return [...summary(reason, message), ...particulars(decided)];
}
