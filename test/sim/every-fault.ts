import { describe, expect, it } from 'vitest';
import { playEvery, playReads } from './every.ts';
import { type Effect, FAULT_NAMES, type Fault } from './faults.ts';
import { type Plan, parsePlan, textOf } from './plan.ts';
import type { Read, ReadFault } from './reads.ts';
import type { Run } from './run.ts';
import type { Scenario } from './scenario.ts';

const SHOWN = 3;
/** Ends what hangs, also on a machine that has much else to do. */
const TIMEOUT_MS = 1_200_000;

interface Struck extends Pick<Plan, 'replicas' | 'shards'> {
  /** Default: all. */
  readonly faults?: Iterable<Fault>;
  /** Faults that make so nearly the same of it that one of them at each effect is enough, each in its turn. */
  readonly alike?: readonly (readonly Fault[])[];
}

/** Each of the scenarios, with every fault at each of its effects, or with `faults`; and with what else is planned. */
export function describeEveryFault(
  scenarios: readonly Scenario[],
  { faults = FAULT_NAMES, alike = [], ...planned }: Struck = {},
): void {
  const faultsAt = ({ index }: Effect) => {
    const others = new Set(alike.flatMap((sort) => sort.filter((_, at) => at !== index % sort.length)));
    return [...faults].filter((fault) => !others.has(fault));
  };
  describe('Every fault at every step', () => {
    it.each(scenarios.map(({ name }) => name))(
      '%s ends as it does without faults, and does no harm on the way',
      async (scenario) => {
        const runs = await expectGood(playEvery({ ...planned, scenario, strikes: [] }, faultsAt));
        expect(runs).toBeGreaterThan(10);
      },
      TIMEOUT_MS,
    );
  });
}

/** Each of the plans, with faults at its looks. */
export function describeEveryRead(plans: readonly string[], faultsAt: (read: Read) => readonly ReadFault[]): void {
  describe('Every fault at every look', () => {
    it.each(plans)(
      '%s ends as it does without faults, and does no harm on the way',
      async (plan) => {
        await expectGood(playReads(parsePlan(plan), faultsAt));
      },
      TIMEOUT_MS,
    );
  });
}

/** Resolves with how many there were. */
async function expectGood(runs: AsyncIterable<Run>): Promise<number> {
  const reports: string[] = [];
  const failed: string[] = [];
  let count = 0;
  for await (const { plan, violations, report } of runs) {
    count++;
    if (violations.length === 0) continue;
    failed.push(textOf(plan));
    if (reports.length < SHOWN) reports.push(report);
  }
  expect(failed, `${failed.length} of ${count} runs fail:\n${reports.join('\n\n')}`).toEqual([]);
  return count;
}
