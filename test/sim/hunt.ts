import { playEvery } from './every.ts';
import { parsePlan } from './plan.ts';
import type { Run } from './run.ts';
import { playPlan } from './seeds.ts';

export interface Catch {
  readonly run: Run;
  /** How many were played until then. */
  readonly runs: number;
}

/** The first run that breaks an invariant; undefined: none does. Of a plan without strikes, every fault is tried. */
export async function hunt(plans: readonly string[]): Promise<Catch | undefined> {
  let runs = 0;
  for (const plan of plans.map(parsePlan)) {
    const all = plan.strikes.length > 0 ? [await playPlan(plan)] : playEvery(plan);
    for await (const run of all) {
      runs++;
      if (run.violations.length > 0) return { run, runs };
    }
  }
  return undefined;
}
