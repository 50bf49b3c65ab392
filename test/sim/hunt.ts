import { playEvery, playEveryRead } from './every.ts';
import { isStruck, type Plan, parsePlan } from './plan.ts';
import type { Run } from './run.ts';
import { playPlan } from './seeds.ts';

export interface Catch {
  readonly run: Run;
  /** How many runs it took. */
  readonly runs: number;
}

/** Returns the first run that breaks an invariant, if any. For a plan without strikes every fault is tried, at looks last. */
export async function hunt(plans: readonly string[]): Promise<Catch | undefined> {
  let runs = 0;
  for (const plan of plans.map(parsePlan)) {
    for await (const run of isStruck(plan) ? [await playPlan(plan)] : playAll(plan)) {
      runs++;
      if (run.violations.length > 0) return { run, runs };
    }
  }
  return undefined;
}

async function* playAll(plan: Plan): AsyncGenerator<Run> {
  yield* playEvery(plan);
  yield* playEveryRead(plan);
}
