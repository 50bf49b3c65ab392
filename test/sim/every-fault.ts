import { describe, expect, it } from 'vitest';
import { playEvery } from './every.ts';
import type { Fault } from './faults.ts';
import { type Plan, textOf } from './plan.ts';
import type { Scenario } from './scenario.ts';

const SHOWN = 3;
/** Ends what hangs, also on a machine that has much else to do. */
const TIMEOUT_MS = 1_200_000;

/** Each of the scenarios, with every fault at each of its effects, or with `faults`; and with what else is planned. */
export function describeEveryFault(
  scenarios: readonly Scenario[],
  { faults, ...planned }: Pick<Plan, 'replicas' | 'shards'> & { readonly faults?: ReadonlySet<Fault> } = {},
): void {
  describe('Every fault at every step', () => {
    it.each(scenarios.map(({ name }) => name))(
      '%s ends as it does without faults, and does no harm on the way',
      async (scenario) => {
        const reports: string[] = [];
        const failed: string[] = [];
        let runs = 0;
        for await (const { plan, violations, report } of playEvery({ ...planned, scenario, strikes: [] }, faults)) {
          runs++;
          if (violations.length === 0) continue;
          failed.push(textOf(plan));
          if (reports.length < SHOWN) reports.push(report);
        }
        expect(failed, `${failed.length} of ${runs} runs fail:\n${reports.join('\n\n')}`).toEqual([]);
        expect(runs).toBeGreaterThan(faults?.size ?? 10);
      },
      TIMEOUT_MS,
    );
  });
}
