import { FAULT_NAMES, type Fault, FOR_REPLICAS, strikes } from './faults.ts';
import type { Plan } from './plan.ts';
import { play, type Run } from './run.ts';
import { scenarioNamed } from './scenarios.ts';

/** Whether this fault at this effect is among those to be played. */
export type Choice = (fault: Fault, at: number) => boolean;

/** Faults that depend on the very effect that they strike. */
const OF_THE_EFFECT: ReadonlySet<Fault> = new Set<Fault>([
  'crashBefore',
  'crashAfter',
  'lostAnswer',
  'lateLanding',
  'serverError',
  'reset',
  'conflict',
]);
const OTHERS_EVERY = 3;

/** Those whose place matters. */
export const BY_PLACE: Choice = (fault) => OF_THE_EFFECT.has(fault);

/** Those whose place matters, and of the others each at every third effect: what `npm test` plays. */
export const SOME: Choice = (fault, at) =>
  OF_THE_EFFECT.has(fault) || (at + FAULT_NAMES.indexOf(fault)) % OTHERS_EVERY === 0;

/** Plays a plan without faults, and then with every fault at every effect. */
export async function* playEvery(base: Plan, chosen: Choice = () => true): AsyncGenerator<Run> {
  const clean = await play(base);
  yield clean;
  if (clean.violations.length > 0) return;
  const { without = [] } = scenarioNamed(base.scenario);
  for (const effect of clean.effects) {
    for (const fault of FAULT_NAMES) {
      if (without.includes(fault) || !strikes(effect, fault) || !chosen(fault, effect.index)) continue;
      if ((base.replicas ?? 1) === 1 && FOR_REPLICAS.has(fault)) continue;
      yield await play({ ...base, strikes: [{ at: effect.index, fault }] }, clean.end);
    }
  }
}
