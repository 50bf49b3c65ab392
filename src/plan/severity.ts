import { ownOf } from './due.ts';
import type { Plan } from './plan.ts';

/**
 * How grave a plan is, for --exit-code, without what is due anyway. `destroys`: data or access is gone for good, also if that
 * waits: what belongs to an object that is still there at the end, such as a user on a suspended cluster, goes later, without
 * a further plan. `fails`: something is tried and does not succeed, or an object ends with something wrong, which waiting
 * does not mend; what only waits for another object is none of these.
 */
export function severityOf(plan: Pick<Plan, 'outcomes' | 'steps'>): 'nothing' | 'changes' | 'destroys' | 'fails' {
  const { outcomes, steps } = ownOf(plan);
  if (outcomes.some(({ later }) => later !== undefined) || steps.some(({ weight }) => weight === 'destroys'))
    return 'destroys';
  if (steps.some(({ fails }) => fails) || outcomes.some(({ end }) => end?.ready === 'False')) return 'fails';
  return steps.length > 0 || outcomes.some(({ change }) => change !== 'none') ? 'changes' : 'nothing';
}
