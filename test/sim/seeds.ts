import { type Fault, OF_SEVERAL } from './faults.ts';
import { isStruck, type Plan, planOf, shrink } from './plan.ts';
import { play, type Run } from './run.ts';
import { SCENARIOS, scenarioNamed } from './scenarios.ts';

/** How many seeds CI plays each time. */
export const PLAYED = 2_000;
/** Seeds taken at different times of a day are far apart, and all are short enough to copy by hand. */
const SEEDS = 1_000_000_000;

const ends = new Map<string, string>();

/** Returns how a scenario ends when nothing goes wrong and nothing takes time. */
async function expectedEnd(scenario: string): Promise<string> {
  const known = ends.get(scenario);
  if (known !== undefined) return known;
  const { end } = await play({ scenario, strikes: [] });
  ends.set(scenario, end);
  return end;
}

/** Plays a plan, and expects it to end as its scenario does without faults. */
export async function playPlan(plan: Plan): Promise<Run> {
  return play(plan, isStruck(plan) ? await expectedEnd(plan.scenario) : undefined);
}

/** Returns the seed to begin with at this time: none that CI has played. */
export function seedOf(nowMs: number): number {
  return PLAYED + 1 + (Math.floor(nowMs / 10) % (SEEDS - PLAYED));
}

/** Plays what the seed stands for. */
export function playSeed(seed: number): Promise<Run> {
  const plan = planOf(
    seed,
    SCENARIOS.map(({ name }) => name),
  );
  const { without = [], hasSeveral = false } = scenarioNamed(plan.scenario);
  const isMeant = (fault: Fault) => !without.includes(fault) && (hasSeveral || !OF_SEVERAL.has(fault));
  return playPlan({ ...plan, strikes: plan.strikes.filter(({ fault }) => isMeant(fault)) });
}

/** Plays the smallest plan that still breaks one of the same invariants. */
export async function shrunk({ plan, violations }: Run): Promise<Run> {
  const broken = new Set(violations.map(({ invariant }) => invariant));
  const smallest = await shrink(plan, async (smaller) => {
    const run = await playPlan(smaller);
    return run.violations.some(({ invariant }) => broken.has(invariant));
  });
  return playPlan(smallest);
}
