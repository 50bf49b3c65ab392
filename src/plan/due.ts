import { type Item, itemOf, nameOf, nodeName } from '../plugin/inventory.ts';
import { sourcesOf } from './copy.ts';
import type { PlannedObject } from './objects.ts';
import type { Outcome, Plan } from './plan.ts';
import { secretsOf } from './secrets.ts';

/** The plan without what is due whatever becomes of it. */
export function ownOf<P extends Pick<Plan, 'outcomes' | 'steps'>>(plan: P): P {
  const others = new Set(plan.outcomes.filter(({ alsoDue }) => alsoDue).map(({ name }) => name));
  return {
    ...plan,
    outcomes: plan.outcomes.filter(({ name }) => !others.has(name)),
    steps: plan.steps.filter(({ name }) => !others.has(name)),
  };
}

/** Whether there is something to tell of it. */
export function isTold({ change, steps, end }: Outcome): boolean {
  return change !== 'none' || steps.length > 0 || (end !== undefined && end.ready !== 'True');
}

/**
 * Marks what is due anyway: of objects that are neither asked about nor depend on one that is, and of which the same becomes
 * without what is asked. `baseline`: the plan without that, made only where there is something to compare.
 */
export async function markDue(
  plan: Plan,
  asked: ReadonlySet<string>,
  objects: readonly PlannedObject[],
  baseline: () => Promise<Plan>,
): Promise<Plan> {
  const concerned = withDependents(asked, objects);
  const isDoubtful = (outcome: Outcome) => !concerned.has(outcome.name) && isTold(outcome);
  if (!plan.outcomes.some(isDoubtful)) return plan;
  const before = new Map((await baseline()).outcomes.map((outcome) => [outcome.name, gist(outcome)]));
  const isDue = (outcome: Outcome) => isDoubtful(outcome) && before.get(outcome.name) === gist(outcome);
  return { ...plan, outcomes: plan.outcomes.map((each) => (isDue(each) ? { ...each, alsoDue: true } : each)) };
}

function gist({ steps, end }: Outcome): string {
  return JSON.stringify([steps.map(({ description, fails }) => [description, fails]), end?.ready, end?.reason]);
}

function withDependents(names: ReadonlySet<string>, objects: readonly PlannedObject[]): ReadonlySet<string> {
  const children = Map.groupBy(objects.flatMap(itemsOf), ({ parent }) => parent);
  const found = new Set(names);
  for (const name of found) for (const child of children.get(name) ?? []) found.add(nameOf(child));
  return found;
}

function itemsOf({ definition, live, wanted }: PlannedObject): readonly Item[] {
  return [live, wanted].flatMap((object) => (object === undefined ? [] : [itemOf(definition, object)]));
}

/** Objects that take something from these Secrets or ConfigMaps, as `kind namespace/name`. */
export function usersOfSources(sources: ReadonlySet<string>, objects: readonly PlannedObject[]): readonly string[] {
  const isUsed = (object: PlannedObject) =>
    [...secretsOf([object]), ...sourcesOf([object])].some((key) => sources.has(key));
  return objects.filter(isUsed).map(({ definition, key }) => nodeName(definition.kind, key));
}
