import type { ConditionUpdate } from '../../../kube/condition.ts';
import { ready, reconciling, stalled } from '../../../kube/summary.ts';
import { missingFor } from '../../elapsed.ts';
import { earlier } from '../../verification.ts';
import type { DatabaseSeen, DatabaseStep, DatabaseSubject } from '../observation.ts';
import { hasSchema, owns } from '../observation.ts';
import {
  countOf,
  type DatabaseDecision,
  type DatabaseStatusPatch,
  NO_SCHEMA,
  SCHEMA_NOT_MANAGED,
  schemaApplied,
  schemaPending,
  synced,
} from '../present.ts';
import { TRY_AGAIN_MS } from './observe-sources.ts';
import { appliedAfter, namesOf, planSchema, type SchemaPlan } from './schema-plan.ts';

type SchemaSeen = Extract<DatabaseSeen['schema'], { schema: 'seen' }>;

/** The last rule. The database exists and is ours: applies its schema, then reports Ready. */
export function decideSchema(subject: DatabaseSubject, seen: DatabaseSeen, nowMs: number): DatabaseDecision {
  const { schema } = seen;
  if (!hasSchema(subject)) return done(subject, seen, SCHEMA_NOT_MANAGED, NO_SCHEMA);
  switch (schema.schema) {
    case 'notLooked':
      return { conditions: [...reconciling('CheckingSchema', 'The schema is checked next'), schemaPending(subject)] };
    case 'sourceMissing': {
      const say = schema.lasting ? stalled : reconciling;
      const [applied] = subject.status.appliedSchema ?? [];
      const message = `${schema.message}. What was applied before stays as it is`;
      return {
        conditions: [
          ...say(schema.reason, applied === undefined ? schema.message : message),
          synced('False', schema.reason, schema.message),
        ],
        ...(schema.lasting ? { retry: 'slowly' } : missingFor(schema.forMs, 'slowly')),
      };
    }
    case 'seen':
      return looked(subject, seen, schema, nowMs);
    default:
      return schema satisfies never;
  }
}

function looked(subject: DatabaseSubject, seen: DatabaseSeen, schema: SchemaSeen, nowMs: number): DatabaseDecision {
  const plan = planSchema(subject.status, schema.sources, schema.found);
  if (plan === undefined) return asApplied(subject, seen, schema, nowMs);
  const { name, identity } = seen;
  const { checkedSchema } = subject.status;
  const checked = checkedSchema?.hash === plan.digest ? checkedSchema : undefined;
  const pending = pendingOf(plan);
  if (checked?.outcome === 'Succeeded') {
    const message = `The dry run of ${namesOf(plan)} succeeded, so the schema is being applied`;
    return {
      conditions: [...reconciling('ApplyingSchema', message), pending],
      steps: [{ do: 'ApplySchema', name, identity, plan }],
    };
  }
  const steps: readonly DatabaseStep[] = [{ do: 'TrySchema', name, identity, plan }];
  if (checked !== undefined) {
    const message = `The schema stays as it was, because this was refused: ${checked.message}. Correct the sources: what has changed is tried at once, and the same again every ${TRY_AGAIN_MS / 60_000} minutes`;
    const conditions = [...stalled('SchemaRefused', message), synced('False', 'SchemaRefused', message)];
    // That it is tried again is no news: what is Stalled must not look as if it went on, every few minutes.
    if (schema.tryAgainInMs <= 0) return { conditions, steps };
    // The database's existence is checked at least as often as for one that is Ready.
    return { conditions, announces: steps, requeueAfterMs: earlier(schema.tryAgainInMs, seen.checkInMs) };
  }
  const summary =
    plan.because === 'drift'
      ? reconciling('SchemaDrifted', `${pending.message}: all sources are run again`)
      : reconciling('CheckingSchema', `Schema sources are tried in a transaction without effect: ${namesOf(plan)}`);
  return { conditions: [...summary, pending], steps };
}

function pendingOf(plan: SchemaPlan): ConditionUpdate {
  return plan.because === 'drift'
    ? synced('False', 'SchemaDrifted', "The server's schema was changed elsewhere since the sources were applied")
    : synced('False', 'SchemaPending', `Not applied yet: ${namesOf(plan)}`);
}

/** All sources are applied. Anything else in the schema was defined by others, and defining cannot remove it. */
function asApplied(subject: DatabaseSubject, seen: DatabaseSeen, schema: SchemaSeen, nowMs: number): DatabaseDecision {
  const { appliedSchema, schemaHash = schema.found } = subject.status;
  const isForeign = schema.found !== schemaHash;
  const condition = isForeign
    ? synced(
        'False',
        'SchemaDiffers',
        `${countOf(schema.sources.length)} applied, but the server's schema differs from what it was then, even after they were run again: it holds definitions from elsewhere. Undefine them, or add them to the sources`,
      )
    : schemaApplied(schema.sources.length);
  return done(subject, seen, condition, {
    appliedSchema: appliedAfter(appliedSchema, schema.sources, [], nowMs),
    schemaHash,
    foreignSchemaHash: isForeign ? schema.found : null,
  });
}

function done(
  subject: DatabaseSubject,
  seen: DatabaseSeen,
  condition: ConditionUpdate,
  status: DatabaseStatusPatch,
): DatabaseDecision {
  const schema = hasSchema(subject) ? ', and its schema is applied' : '';
  const message = `Database "${seen.name}" is on the server of DatabaseCluster "${seen.cluster}"${schema}`;
  return {
    hold: !owns(subject),
    conditions: [...ready('DatabaseReady', message), condition],
    status: { operation: null, ...status },
    requeueAfterMs: seen.checkInMs,
  };
}
