import { confirm } from '../confirm.ts';
import type { OpenServer } from '../server/access.ts';
import type { DatabaseStep, DatabaseSubject } from './observation.ts';
import type { DatabaseStatusPatch } from './present.ts';
import { DATABASES } from './resource.ts';
import { appliedAfter, namesOf, type SchemaPlan, schemaDigest } from './schema-plan.ts';
import { readTexts, type SourceText } from './sources.ts';
import { type Refusal, runInTransaction } from './transaction.ts';
import type { DatabaseWorld } from './world.ts';

/** Tries the sources: they run in a transaction that is then closed without effect. */
export async function trySchema(
  world: DatabaseWorld,
  subject: DatabaseSubject,
  access: OpenServer,
  { name, plan }: Extract<DatabaseStep, { do: 'TrySchema' }>,
  signal: AbortSignal,
): Promise<DatabaseStatusPatch> {
  const texts = await textsOf(world, subject, plan, signal);
  if (texts === undefined) return {};
  const refusal = await runInTransaction(world, access, name, texts, 'close', signal);
  world.memory.schemaTried(subject.key, world.clock.now());
  return { checkedSchema: checked(plan, refusal) };
}

/** Runs the sources once more, after a dry run that succeeded, and commits them. */
export async function applySchema(
  world: DatabaseWorld,
  subject: DatabaseSubject,
  access: OpenServer,
  { name, plan }: Extract<DatabaseStep, { do: 'ApplySchema' }>,
  signal: AbortSignal,
): Promise<DatabaseStatusPatch> {
  const texts = await textsOf(world, subject, plan, signal);
  if (texts === undefined) return {};
  await confirm(world.api, DATABASES, subject, signal);
  const { servers, clock, memory } = world;
  const refusal = await runInTransaction(world, access, name, texts, 'commit', signal);
  if (refusal !== undefined) {
    memory.schemaTried(subject.key, clock.now());
    return { checkedSchema: checked(plan, refusal) };
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
  { configMaps }: DatabaseWorld,
  subject: DatabaseSubject,
  { sources, run }: SchemaPlan,
  signal: AbortSignal,
): Promise<readonly SourceText[] | undefined> {
  const texts = await readTexts(configMaps, subject, run, signal);
  if ('reason' in texts) return undefined;
  const same = run.every((position, index) => texts[index]?.hash === sources[position]?.hash);
  return same ? texts : undefined;
}

function checked(plan: SchemaPlan, refusal: Refusal | undefined): DatabaseStatusPatch['checkedSchema'] {
  const { digest: hash } = plan;
  return refusal === undefined
    ? { hash, outcome: 'Succeeded', message: `A dry run of ${namesOf(plan)} succeeded` }
    : { hash, outcome: 'Failed', message: `${refusal.source}: ${refusal.message}` };
}
