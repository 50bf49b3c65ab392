import type { Plan } from './plan.ts';

/**
 * How grave a plan is, for --exit-code. `destroys`: data or access is gone for good, also if that waits: what belongs to an
 * object that is still there at the end, such as a user on a suspended cluster, goes later, without a further plan.
 */
export function severityOf({ outcomes, steps }: Pick<Plan, 'outcomes' | 'steps'>): 'nothing' | 'changes' | 'destroys' {
  const waits = outcomes.some(({ change, end }) => change === 'delete' && end !== undefined);
  if (waits || steps.some(({ weight }) => weight === 'destroys')) return 'destroys';
  return steps.length > 0 || outcomes.some(({ change }) => change !== 'none') ? 'changes' : 'nothing';
}
