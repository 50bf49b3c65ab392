import { LET_GO } from './annotations.ts';
import type { ConditionUpdate } from './condition.ts';
import type { Failure } from './failure.ts';

/** The conditions that sum an object up, in kstatus terms; each kind adds its own after them. */

/** Desired state is reached. */
export function ready(reason: string, message: string): readonly ConditionUpdate[] {
  return [{ type: 'Ready', status: 'True', reason, message }];
}

/** Work goes on, or another object is waited for: nothing is wrong. */
export function reconciling(reason: string, message: string): readonly ConditionUpdate[] {
  return [
    { type: 'Ready', status: 'Unknown', reason, message },
    { type: 'Reconciling', status: 'True', reason, message },
  ];
}

/** Something fails before it ever worked, and is being tried again: nothing is wrong yet, but people should hear of it. */
export function retrying(reason: string, message: string): readonly ConditionUpdate[] {
  return reconciling(reason, message).map((condition) => ({ ...condition, warning: true }));
}

/** Something that worked does not any more; it is being tried again. */
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

/** What the object is, and was made for, cannot be read: nothing is done for it, nor undone. */
export function invalidSpec(message: string, deleting: boolean): readonly ConditionUpdate[] {
  const goes = `${message}. This object is being deleted, and goes when that is corrected. ${LET_GO}`;
  return stalled('InvalidSpec', deleting ? goes : message);
}

const SUMMARY: ReadonlySet<string> = new Set(['Ready', 'Reconciling', 'Stalled']);

/** Without what sums up. */
export function particulars(conditions: readonly ConditionUpdate[]): readonly ConditionUpdate[] {
  return conditions.filter((condition) => !SUMMARY.has(condition.type));
}

/** What a failure makes of the conditions: the summary tells of it, the rest stands as decided. */
export function failed(
  decided: readonly ConditionUpdate[],
  { lasting, planned, reason, message }: Pick<Failure, 'lasting' | 'planned' | 'reason' | 'message'>,
): readonly ConditionUpdate[] {
  const again = planned ? reconciling : retrying;
  const summary = lasting === 'terminal' ? stalled : again;
  return [...summary(reason, message), ...particulars(decided)];
}
