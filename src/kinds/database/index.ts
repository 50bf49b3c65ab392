import { objectKey } from '../../kube/object.ts';
import type { Kind } from '../../runtime/kind.ts';
import { clusterKeyOf } from '../server/access.ts';
import { actOnDatabase } from './act.ts';
import { decideDatabase } from './decide.ts';
import { type DatabaseObservation, type DatabaseStep, owns } from './observation.ts';
import { observeDatabase } from './observe.ts';
import { claimOf, recordOf } from './records.ts';
import { DATABASE_FINALIZER, DATABASES } from './resource.ts';
import { type DatabaseSpec, type DatabaseStatus, databaseDefinition } from './schema.ts';
import { namesOf } from './sources/schema-plan.ts';
import type { DatabaseWorld } from './world.ts';

export function databaseKind(
  world: DatabaseWorld,
): Kind<DatabaseSpec, DatabaseStatus, DatabaseObservation, DatabaseStep> {
  return {
    definition: databaseDefinition,
    resource: DATABASES,
    finalizer: DATABASE_FINALIZER,
    record: recordOf,
    references(subject) {
      const configMaps = (subject.spec.schema ?? []).flatMap(({ configMapKeyRef }) => configMapKeyRef?.name ?? []);
      return [
        `databaseclusters/${clusterKeyOf(subject)}`,
        claimOf(subject),
        ...[...new Set(configMaps)].map((name) => `configmaps/${objectKey(subject.metadata.namespace ?? '', name)}`),
      ];
    },
    group: clusterKeyOf,
    // The finalizer is set only when something is about to be done.
    holds: () => true,
    owns,
    observe: (subject, signal) => observeDatabase(world, subject, signal),
    decide: decideDatabase,
    act: (subject, step, signal, keep) => actOnDatabase(world, subject, step, signal, keep),
    describe,
    forget: (key, why) => world.memory.forget(key, why),
  };
}

function describe(step: DatabaseStep): string {
  switch (step.do) {
    case 'CreateDatabase':
      return `create database "${step.name}"`;
    case 'DeleteDatabase':
      return `delete database "${step.name}" and its data`;
    case 'TrySchema':
      return `try schema sources on database "${step.name}" without effect: ${namesOf(step.plan)}`;
    case 'ApplySchema':
      return `apply schema sources to database "${step.name}": ${namesOf(step.plan)}`;
    case 'TellLeft':
      return `let go of database "${step.name}", which may stay on its cluster`;
    default:
      return step satisfies never;
  }
}
