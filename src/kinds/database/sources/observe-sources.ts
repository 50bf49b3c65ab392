import { ApiError } from '../../../http/api-error.ts';
import { existsByGetOrList } from '../exists.ts';
import { type DatabaseSubject, hasSchema, type SchemaObservation } from '../observation.ts';
import type { Work } from '../work.ts';
import type { DatabaseWorld } from '../world.ts';
import { readSources } from './read-sources.ts';
import { schemaDigest } from './schema-digest.ts';

/** How long after the server refused schema sources the same ones are tried again: its data may have changed. */
export const TRY_AGAIN_MS = 600_000;

/** Looks at the sources and at the schema of a database that is ours; `gone`: there is no such database any more. */
export async function observeSources(work: Work): Promise<SchemaObservation | 'gone'> {
  const { world, subject, access, name, signal } = work;
  if (!hasSchema(subject)) return { schema: 'notLooked' };
  const sources = await readSources(world.configMaps, subject, signal);
  const { servers, memory, clock } = world;
  if ('reason' in sources)
    return { schema: 'sourceMissing', ...sources, forMs: memory.sourceless.begin(subject, clock.monotonic()) };
  memory.sourceless.forget(subject.key);
  let text: string;
  try {
    text = await servers.asAdmin(access, (client, token) => client.getSchema(token, name, signal), signal);
  } catch (error) {
    // The List may be older than a deletion by somebody else; servers then answer 404 or 400.
    const isMissing = error instanceof ApiError && (error.kind === 'notFound' || error.kind === 'invalid');
    if (isMissing && !(await existsByGetOrList(work))) return 'gone';
    throw error;
  }
  return { schema: 'seen', sources, found: schemaDigest(text), tryAgainInMs: tryAgainInMs(world, subject) };
}

function tryAgainInMs({ memory, clock }: DatabaseWorld, { key, lookNow }: DatabaseSubject): number {
  const triedAtMs = memory.schemaTriedAtMs(key);
  const nowMs = clock.now();
  // If the wall clock was set back, how long ago it was is no longer known.
  if (lookNow || triedAtMs === undefined || triedAtMs > nowMs) return 0;
  return triedAtMs + TRY_AGAIN_MS - nowMs;
}
