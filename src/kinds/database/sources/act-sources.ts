import { confirm } from '../../confirm.ts';
import type { DatabaseStatusPatch } from '../present.ts';
import { DATABASES } from '../resource.ts';
import type { Work } from '../work.ts';
import { readTexts, type SourceText } from './read-sources.ts';
import { schemaDigest } from './schema-digest.ts';
import { appliedAfter, namesOf, type SchemaPlan } from './schema-plan.ts';
import { type Objection, runInTransaction } from './transaction.ts';

/** Tries the sources: they run in a transaction that is then closed without effect. */
export async function trySchema(work: Work, plan: SchemaPlan): Promise<DatabaseStatusPatch> {
  const { world, subject } = work;
  const texts = await textsOf(work, plan);
  if (texts === undefined) return {};
  const objection = await runInTransaction(work, texts, 'close');
  world.memory.schemaTried(subject.key, world.clock.now());
  return { checkedSchema: checked(plan, objection) };
}

/** Runs the sources once more, after a dry run that succeeded, and commits them. */
export async function applySchema(work: Work, plan: SchemaPlan): Promise<DatabaseStatusPatch> {
  const { world, subject, access, name, signal } = work;
  const texts = await textsOf(work, plan);
  if (texts === undefined) return {};
  await confirm(world.api, DATABASES, subject, signal);
  const { servers, clock, memory } = world;
  const objection = await runInTransaction(work, texts, 'commit');
  if (objection !== undefined) {
    memory.schemaTried(subject.key, clock.now());
    return { checkedSchema: checked(plan, objection) };
  }
  const appliedSchema = appliedAfter(subject.status.appliedSchema, plan.sources, plan.run, clock.now());
  const found = await servers
    .asAdmin(access, (client, token) => client.getSchema(token, name, signal), signal)
    // The sources are committed, and the status must say so even if this read fails: the next pass looks.
    .catch(() => undefined);
  const schemaHash = found === undefined ? undefined : schemaDigest(found);
  if (plan.because !== 'drift') return { appliedSchema, schemaHash: schemaHash ?? null, foreignSchemaHash: null };
  const corrected = schemaHash === subject.status.schemaHash;
  if (corrected) {
    const message = `The schema of database "${name}" was changed elsewhere: it matches the sources again`;
    world.onSchemaCorrected(subject.key, message);
  }
  return { appliedSchema, foreignSchemaHash: corrected ? null : (schemaHash ?? null) };
}

/** Returns the texts that the plan is about; undefined: they have changed since, so the next pass makes a new plan. */
async function textsOf(
  { world, subject, signal }: Work,
  { sources, run }: SchemaPlan,
): Promise<readonly SourceText[] | undefined> {
  const texts = await readTexts(world.configMaps, subject, run, signal);
  if ('reason' in texts) return undefined;
  const same = run.every((position, index) => texts[index]?.hash === sources[position]?.hash);
  return same ? texts : undefined;
}

function checked(plan: SchemaPlan, objection: Objection | undefined): DatabaseStatusPatch['checkedSchema'] {
  const { digest: hash } = plan;
  return objection === undefined
    ? { hash, outcome: 'Succeeded', message: `A dry run of ${namesOf(plan)} succeeded` }
    : { hash, outcome: 'Failed', message: `${objection.source}: ${objection.message}` };
}
