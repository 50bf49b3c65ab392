import { type Found, mutationTable, write, written } from './document.ts';
import type { Catch } from './hunt.ts';
import { importMutated, type Mutation } from './mutate.ts';
import { MUTATIONS } from './mutations.ts';
import { textOf } from './plan.ts';

/**
 * Plays the operator with each deliberate mistake until an invariant breaks. Returns whether each was found, and whether the
 * document says by what. `update` writes that into the document. `only` names some mutations; then the document does not count.
 */
export async function huntMutations(only: readonly string[], update: boolean): Promise<boolean> {
  const found: Found[] = [];
  for (const mutation of MUTATIONS) {
    if (only.length > 0 && !only.includes(mutation.name)) continue;
    const begin = process.cpuUsage();
    const caught = await huntOne(mutation);
    const { user, system } = process.cpuUsage(begin);
    console.log(
      `${mutation.name}: ${caught === undefined ? 'NOT FOUND' : said(caught)} (${((user + system) / 1e6).toFixed(1)} s)`,
    );
    if (caught !== undefined) found.push(foundBy(mutation, caught));
  }
  if (only.length > 0) return found.length === only.length;
  if (found.length < MUTATIONS.length) return false;
  const table = mutationTable(found);
  if (update) write('mutations', table);
  if (written('mutations') === table) return true;
  console.log('docs/reliability.md is out of date. Update it: npm run sim -- --mutations --update');
  return false;
}

/** Returns a player of the operator with that mistake. Throws an Error if there is none of that name. */
export async function playerWith(name: string): Promise<typeof import('./seeds.ts')> {
  const mutation = MUTATIONS.find((each) => each.name === name);
  if (mutation === undefined)
    throw new Error(`There is no mutation "${name}". There are ${MUTATIONS.map((each) => each.name).join(', ')}`);
  // The type is that of the module itself: only what it imports is another.
  return (await importMutated(mutation, './seeds.ts')) as typeof import('./seeds.ts');
}

async function huntOne(mutation: Mutation): Promise<Catch | undefined> {
  // The type is that of the module itself: only what it imports is another.
  const { hunt } = (await importMutated(mutation, './hunt.ts')) as typeof import('./hunt.ts');
  return hunt(mutation.hunt);
}

function said({ run, runs }: Catch): string {
  return `${textOf(run.plan)}, after ${runs} runs: ${run.violations[0]?.invariant}: ${run.violations[0]?.message.slice(0, 120)}`;
}

function foundBy(mutation: Mutation, { run: { plan, violations } }: Catch): Found {
  const [violation] = violations;
  if (violation === undefined) throw new Error('What was caught has a violation');
  const fault = plan.strikes[0]?.fault ?? plan.reads?.[0]?.fault ?? (plan.seed === undefined ? 'none' : 'chance');
  return { mutation, scenario: plan.scenario, fault, invariant: violation.invariant };
}
