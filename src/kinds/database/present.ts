import type { ConditionUpdate } from '../../kube/condition.ts';
import { particulars } from '../../kube/summary.ts';
import type { Decision, StatusPatch } from '../../runtime/kind.ts';
import { type DatabaseSeen, type DatabaseStep, type DatabaseSubject, hasSchema } from './observation.ts';
import type { DatabaseStatus } from './schema.ts';

export type DatabaseDecision = Decision<DatabaseStatus, DatabaseStep>;
export type DatabaseStatusPatch = StatusPatch<DatabaseStatus>;

/** One question; undefined: it does not decide, so ask the next. */
export type Rule = (subject: DatabaseSubject, seen: DatabaseSeen, nowMs: number) => DatabaseDecision | undefined;

/** The schema's status fields when none is applied or none is wanted. */
export const NO_SCHEMA = {
  appliedSchema: null,
  schemaHash: null,
  foreignSchemaHash: null,
  checkedSchema: null,
} as const satisfies DatabaseStatusPatch;

/** Nothing on the server is this object's. */
export const NOTHING_OURS = {
  ...NO_SCHEMA,
  name: null,
  cluster: null,
  operation: null,
} as const satisfies DatabaseStatusPatch;

export function synced(status: ConditionUpdate['status'], reason: string, message: string): ConditionUpdate {
  return { type: 'Synced', status, reason, message };
}

export const SCHEMA_NOT_MANAGED = synced(
  'True',
  'SchemaNotManaged',
  'The spec names no schema sources, so the schema is not checked',
);

const SOURCES_CHANGED = synced(
  'Unknown',
  'SchemaPending',
  'The schema sources may have changed since they were applied: they are compared, and applied, as soon as the server can be worked on',
);

/** Returns the condition of a schema that is as that many sources say. */
export function schemaApplied(sources: number): ConditionUpdate {
  return synced('True', 'SchemaApplied', `${countOf(sources)} applied, and the server's schema has not changed since`);
}

export function countOf(sources: number): string {
  return sources === 1 ? 'The schema source is' : `All ${sources} schema sources are`;
}

/** Returns the condition of a schema that was as the spec said, going by the spec and its sources alone. */
export function schemaBySources({ spec }: DatabaseSubject, areSourcesChanged: boolean): ConditionUpdate {
  if (!hasSchema({ spec })) return SCHEMA_NOT_MANAGED;
  return areSourcesChanged ? SOURCES_CHANGED : schemaApplied(spec.schema?.length ?? 0);
}

/** Returns the condition beside the summary until the schema can be looked at. */
export function schemaPending(subject: DatabaseSubject): ConditionUpdate {
  if (!hasSchema(subject)) return SCHEMA_NOT_MANAGED;
  return synced(
    'False',
    'SchemaPending',
    "The schema is applied once the database exists and is known to be this object's",
  );
}

/** Returns the conditions beside the summary as they are: nothing new was learned about them. */
export function asBefore({ status }: DatabaseSubject): readonly ConditionUpdate[] {
  return particulars(status.conditions ?? []);
}
