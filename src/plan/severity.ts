import { ownOf } from './due.ts';
import type { Plan } from './outcome.ts';

/**
 * How grave a plan is, for --exit-code, without what is due anyway. `destroys`: data or access is gone for good, now or later:
 * what belongs to an object that still exists at the end, such as a user on a suspended cluster, is destroyed later without
 * another plan. `fails`: a step does not succeed, or an object ends in a bad state that waiting does not mend. Merely waiting
 * for another object is none of these.
 */
export function severityOf(plan: Pick<Plan, 'outcomes' | 'steps'>): 'nothing' | 'changes' | 'destroys' | 'fails' {
  const { outcomes, steps } = ownOf(plan);
  if (outcomes.some(({ later }) => later !== undefined) || steps.some(({ weight }) => weight === 'destroys'))
    return 'destroys';
  if (steps.some(({ fails }) => fails) || outcomes.some(({ end }) => end?.ready === 'False')) return 'fails';
  // An object that goes although nobody asks for that here was deleted before.
  const isChanged = ({ change, end }: Plan['outcomes'][number]) => change !== 'none' || end === undefined;
  return steps.length > 0 || outcomes.some(isChanged) ? 'changes' : 'nothing';
}
