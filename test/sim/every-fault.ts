import { describe, expect, it } from 'vitest';
import { type Choice, playEvery, SOME } from './every.ts';
import { textOf } from './plan.ts';
import type { Scenario } from './scenario.ts';

const SHOWN = 3;

/** Each of the scenarios, with faults at each of its effects. All faults: npm run sim -- --every. */
export function describeEveryFault(scenarios: readonly Scenario[], chosen: Choice = SOME): void {
  describe('Every fault at every step', () => {
    it.each(scenarios.map((scenario) => [scenario.name, scenario] as const))(
      '%s ends as it does without faults, and does no harm on the way',
      async (_name, scenario) => {
        const reports: string[] = [];
        const failed: string[] = [];
        let runs = 0;
        for await (const { plan, violations, report } of playEvery({ scenario: scenario.name, strikes: [] }, chosen)) {
          runs++;
          if (violations.length === 0) continue;
          failed.push(textOf(plan));
          if (reports.length < SHOWN) reports.push(report);
        }
        expect(failed, `${failed.length} of ${runs} runs fail:\n${reports.join('\n\n')}`).toEqual([]);
        expect(runs).toBeGreaterThan(10);
      },
      300_000,
    );
  });
}
