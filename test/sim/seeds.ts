import { type Plan, planOf, shrink } from './plan.ts';
import { play, type Run } from './run.ts';
import { SCENARIOS } from './scenarios.ts';

const ends = new Map<string, string>();

/** What a scenario ends in when nothing goes wrong and nothing takes time. */
async function expectedEnd(scenario: string): Promise<string> {
  const known = ends.get(scenario);
  if (known !== undefined) return known;
  const { end } = await play({ scenario, strikes: [] });
  ends.set(scenario, end);
  return end;
}

/** Plays a plan, and holds it to the end that its scenario has without faults. */
export async function playPlan(plan: Plan): Promise<Run> {
  return play(plan, plan.strikes.length === 0 ? undefined : await expectedEnd(plan.scenario));
}

/** Plays what the seed stands for. */
export function playSeed(seed: number): Promise<Run> {
  const plan = planOf(
    seed,
    SCENARIOS.map(({ name }) => name),
  );
  const without = SCENARIOS.find(({ name }) => name === plan.scenario)?.without ?? [];
  return playPlan({ ...plan, strikes: plan.strikes.filter(({ fault }) => !without.includes(fault)) });
}

/** The smallest plan that still breaks one of the same invariants. */
export async function shrunk({ plan, violations }: Run): Promise<Run> {
  const broken = new Set(violations.map(({ invariant }) => invariant));
  const smallest = await shrink(plan, async (smaller) => {
    const run = await playPlan(smaller);
    return run.violations.some(({ invariant }) => broken.has(invariant));
  });
  return playPlan(smallest);
}
