import { type Effect, EVERYWHERE, type Fault, NOTHING_ALONE, OF_SEVERAL, strikes } from './faults.ts';
import type { Plan } from './plan.ts';
import { READ_FAULTS_OF, type Read, type ReadFault, strikesRead, worthStriking } from './reads.ts';
import { play, type Run } from './run.ts';
import { scenarioNamed } from './scenarios.ts';

/** Plays a plan without faults, and then with every fault, or those of `faultsAt`, at every effect. */
export async function* playEvery(
  base: Plan,
  faultsAt: (effect: Effect, clean: Run) => Iterable<Fault> = () => EVERYWHERE,
): AsyncGenerator<Run> {
  const clean = await play(base);
  yield clean;
  if (clean.violations.length > 0) return;
  const { without = [], hasSeveral = false } = scenarioNamed(base.scenario);
  for (const effect of clean.effects) {
    for (const fault of faultsAt(effect, clean)) {
      if (without.includes(fault) || !strikes(effect, fault)) continue;
      if (OF_SEVERAL.has(fault) && !hasSeveral) continue;
      if ((base.replicas ?? 1) === 1 && NOTHING_ALONE.has(fault)) continue;
      yield await play({ ...base, strikes: [{ at: effect.index, fault }] }, clean.end);
    }
  }
}

/** Plays a plan, and then again with every fault at every look. */
export async function* playEveryRead(base: Plan): AsyncGenerator<Run> {
  yield* playReads(base, ({ to }) => READ_FAULTS_OF[to]);
}

/** Plays a plan, and then again with these faults at its looks. */
export async function* playReads(base: Plan, faultsAt: (read: Read) => readonly ReadFault[]): AsyncGenerator<Run> {
  const clean = await play(base);
  yield clean;
  if (clean.violations.length > 0) return;
  for (const read of worthStriking(clean.reads))
    for (const fault of faultsAt(read).filter((each) => strikesRead(read, each)))
      yield await play({ ...base, reads: [{ at: read.index, fault }] }, clean.end);
}
