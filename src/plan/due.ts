import { limited, type Outcome, type Plan } from './outcome.ts';

/** The plan without what is due anyway. */
export function ownOf<P extends Pick<Plan, 'outcomes' | 'steps'>>(plan: P): P {
  const others = new Set(plan.outcomes.filter(({ alsoDue }) => alsoDue).map(({ name }) => name));
  return limited(plan, (name) => !others.has(name));
}

/** Reports whether there is something to say about the outcome. */
export function isTold({ change, steps, end }: Outcome): boolean {
  return change !== 'none' || steps.length > 0 || end?.ready !== 'True';
}

/**
 * Marks what is due anyway: outcomes of objects not asked about that would be the same without the changes asked for.
 * `baseline`: the plan without those changes, made only if there is something to compare.
 */
export async function markDue(
  plan: Plan,
  asked: ReadonlySet<string>,
  baseline: () => Promise<Pick<Plan, 'outcomes'>>,
): Promise<Plan> {
  const isDoubtful = (outcome: Outcome) => !asked.has(outcome.name) && isTold(outcome);
  if (!plan.outcomes.some(isDoubtful)) return plan;
  const before = new Map((await baseline()).outcomes.map((outcome) => [outcome.name, gist(outcome)]));
  const isDue = (outcome: Outcome) => isDoubtful(outcome) && before.get(outcome.name) === gist(outcome);
  return { ...plan, outcomes: plan.outcomes.map((each) => (isDue(each) ? { ...each, alsoDue: true } : each)) };
}

function gist({ steps, end }: Outcome): string {
  return JSON.stringify([steps.map(({ description, fails }) => [description, fails]), end?.ready, end?.reason]);
}
