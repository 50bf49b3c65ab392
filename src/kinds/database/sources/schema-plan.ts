import type { DatabaseStatus } from '../schema.ts';
import { hashOf } from './schema-digest.ts';

/* Decides which schema sources must run, from digests only. */

/** A schema source as it is now. */
export interface SourceSeen {
  /** configmap/<name>/<key>, or inline/<position from 0>. */
  readonly source: string;
  /** Digest of its text. */
  readonly hash: string;
  /** The ConfigMap's resource version. */
  readonly resourceVersion?: string;
}

export interface SchemaPlan {
  /** new: nothing has been applied so far. drift: the server's schema was changed elsewhere. */
  readonly because: 'new' | 'changed' | 'drift';
  /** All sources in the spec. */
  readonly sources: readonly SourceSeen[];
  /** Positions, from 0, of the sources that are run. */
  readonly run: readonly number[];
  /** Identifies what is run and on which schema: the same digest means the same try. */
  readonly digest: string;
}

type Applied = NonNullable<DatabaseStatus['appliedSchema']>;

/** Returns what must run so that the schema is as the sources say; undefined: nothing. `found`: digest of the server's schema. */
export function planSchema(
  status: Pick<DatabaseStatus, 'appliedSchema' | 'schemaHash' | 'foreignSchemaHash'>,
  sources: readonly SourceSeen[],
  found: string,
): SchemaPlan | undefined {
  const { appliedSchema: applied = [], schemaHash, foreignSchemaHash } = status;
  const differs = schemaHash !== undefined && found !== schemaHash && found !== foreignSchemaHash;
  const all = sources.map((_, position) => position);
  const changed = unapplied(applied, sources);
  if (changed.length === 0 && !differs) return undefined;
  // While sources are unapplied, a schema that differs may come from them, committed without an answer, and from nobody else.
  const because = applied.length === 0 ? 'new' : changed.length > 0 ? 'changed' : 'drift';
  const run = differs ? all : changed;
  const digest = hashOf(JSON.stringify([found, run.map((position) => idOf(sources[position]))]));
  return { because, sources, run, digest };
}

/** Returns `status.appliedSchema` after `run` was carried out; if that is empty, the old one with the current versions. */
export function appliedAfter(
  before: Applied | undefined,
  sources: readonly SourceSeen[],
  run: readonly number[],
  nowMs: number,
): Applied {
  const now = new Date(nowMs).toISOString();
  return sources.map((seen, position) => {
    const { source, hash, resourceVersion } = seen;
    const since = run.includes(position) ? undefined : before?.find((other) => idOf(other) === idOf(seen))?.appliedAt;
    return { source, hash, appliedAt: since ?? now, ...(resourceVersion === undefined ? {} : { resourceVersion }) };
  });
}

/** Returns the names of the sources that the plan runs, for people. */
export function namesOf({ sources, run }: Pick<SchemaPlan, 'sources' | 'run'>): string {
  return run.map((position) => sources[position]?.source).join(', ');
}

/** Each that was applied stands for one source: a text that is there again may define what one before it has undefined. */
function unapplied(applied: Applied, sources: readonly SourceSeen[]): readonly number[] {
  const left = applied.map(idOf);
  return sources.flatMap((seen, position) => {
    const index = left.indexOf(idOf(seen));
    if (index >= 0) left.splice(index, 1);
    return index < 0 ? [position] : [];
  });
}

/** The position of an inline text in the list does not matter. */
function idOf(seen: Pick<SourceSeen, 'source' | 'hash'> | undefined): string {
  return `${seen?.source.replace(/^inline\/\d+$/, 'inline')} ${seen?.hash}`;
}
