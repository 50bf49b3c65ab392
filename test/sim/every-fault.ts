import { describe, expect, it } from 'vitest';
import { playEvery, playReads } from './every.ts';
import { type Effect, EVERYWHERE, type Fault, isLogin, strikes } from './faults.ts';
import { type Plan, parsePlan, textOf } from './plan.ts';
import type { Read, ReadFault } from './reads.ts';
import type { Run } from './run.ts';
import type { Scenario } from './scenario.ts';

const SHOWN = 3;
/** Ends a run that hangs. Long enough for a busy machine. */
const TIMEOUT_MS = 1_200_000;

/**
 * Faults that leave nearly the same work. Where not all faults strike an effect, those of one sort take turns. To play all of
 * them: npm run sim -- --every.
 */
const ALIKE: readonly (readonly Fault[])[] = [
  ['lostAnswer', 'gatewayTimeout', 'truncated'],
  ['serverError', 'reset', 'unauthorized', 'forbidden', 'throttled'],
  ['flaky', 'cloudOutage', 'serverOutage'],
  ['stale', 'duplicate', 'gap', 'oldList', 'restart'],
  ['clockForward', 'clockBack'],
  ['edit', 'pause', 'meddle'],
  ['mistake', 'sleep'],
  ['delete', 'recreate'],
  ['deleteAround', 'terminate'],
];
/** The same if there is a Lease to lose. */
const ALIKE_OF_SEVERAL: readonly (readonly Fault[])[] = [...ALIKE, ['freeze', 'suspendMachine', 'stopMachine']];
/** Scenarios that others build on: all faults strike at each of their effects, and at each of their looks over HTTP. */
export const THOROUGHLY: ReadonlySet<string> = new Set([
  'deploy',
  'rotate',
  'destroy',
  'user',
  'user-rotate',
  'database',
  'database-with-schema',
]);

interface Struck extends Pick<Plan, 'replicas' | 'shards'> {
  /** The faults to strike. Default: all. */
  readonly faults?: Iterable<Fault>;
  /** Faults that are alike take turns. Default: if `faults` is not given, and only for scenarios not in THOROUGHLY. */
  readonly inTurn?: boolean;
}

/** Plays each scenario with every fault, or those in `faults`, at each of its effects. `planned` completes the plan. */
export function describeEveryFault(
  scenarios: readonly Scenario[],
  { faults, inTurn = faults === undefined, ...planned }: Struck = {},
): void {
  const faultsAt = (effect: Effect, isThorough: boolean): readonly Fault[] => {
    const sorts = planned.replicas === undefined ? ALIKE : ALIKE_OF_SEVERAL;
    const notItsTurn = sorts.flatMap((sort) => {
      const able = sort.filter((fault) => strikes(effect, fault));
      return able.filter((_, at) => at !== effect.index % able.length);
    });
    const left: ReadonlySet<Fault> = new Set(isThorough ? [] : notItsTurn);
    return [...(faults ?? EVERYWHERE)].filter((fault) => !left.has(fault));
  };
  describe('Every fault at every step', () => {
    it.each(scenarios.map(({ name }) => name))(
      '%s ends as it does without faults, and does no harm on the way',
      async (scenario) => {
        const isThorough = !inTurn || (faults === undefined && THOROUGHLY.has(scenario));
        // At rest, tokens and logins are renewed in the same way in all scenarios.
        const isAlike = (effect: Effect, { ended }: Run) => effect.index > ended.effects && isLogin(effect);
        const all = playEvery({ ...planned, scenario, strikes: [] }, (effect, clean) =>
          isThorough || !isAlike(effect, clean) ? faultsAt(effect, isThorough) : [],
        );
        expect(await expectGood(all)).toBeGreaterThan(10);
      },
      TIMEOUT_MS,
    );
  });
}

/** Plays each of the plans with faults at its looks. */
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

/** Resolves with the number of runs. */
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
  expect(failed, `${failed.length} of ${count} runs failed:\n${reports.join('\n\n')}`).toEqual([]);
  return count;
}
