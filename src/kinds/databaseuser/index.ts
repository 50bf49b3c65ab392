import { objectKey } from '../../kube/object.ts';
import type { Kind } from '../../runtime/kind.ts';
import { clusterKeyOf } from '../server/access.ts';
import { actOnUser } from './act.ts';
import { decideUser } from './decide.ts';
import { connectionSecretName, owns, type UserObservation, type UserStep } from './observation.ts';
import { observeUser } from './observe.ts';
import { claimOf, recordOf } from './records.ts';
import { DATABASE_USERS, USER_FINALIZER } from './resource.ts';
import { type DatabaseUserSpec, type DatabaseUserStatus, databaseUserDefinition } from './schema.ts';
import type { UserWorld } from './world.ts';

export function databaseUserKind(
  world: UserWorld,
): Kind<DatabaseUserSpec, DatabaseUserStatus, UserObservation, UserStep> {
  return {
    definition: databaseUserDefinition,
    resource: DATABASE_USERS,
    finalizer: USER_FINALIZER,
    record: recordOf,
    references(subject) {
      const { metadata, spec, status } = subject;
      const names = [
        connectionSecretName(subject),
        spec.passwordSecretRef?.name,
        status.binding?.name,
        status.connection?.secretName,
      ];
      return [
        `databaseclusters/${clusterKeyOf(subject)}`,
        claimOf(subject),
        ...names.flatMap((name) =>
          name === undefined ? [] : [`secrets/${objectKey(metadata.namespace ?? '', name)}`],
        ),
      ];
    },
    group: clusterKeyOf,
    // The finalizer is set only from the first step on: from then on there may be a Secret, and a user on the server.
    holds: () => true,
    owns,
    observe: (subject, signal) => observeUser(world, subject, signal),
    decide: decideUser,
    act: (subject, step, signal) => actOnUser(world, subject, step, signal),
    describe,
    forget: (key, why) => {
      if (why !== 'wentBack') world.memory.forget(key);
    },
  };
}

function describe(step: UserStep): string {
  switch (step.do) {
    case 'PrepareNext':
      return `write a new password to the connection Secret${step.isOnly ? '' : ', beside the one that works'}`;
    case 'CopySecret':
      return `write the connection Secret again, with the passwords of Secret "${step.from}"`;
    case 'CreateUser':
      return `create user "${step.username}"`;
    case 'PutPassword':
      return `set the password of user "${step.username}" on the server`;
    case 'PromotePassword':
      return 'make the new password the one in the connection Secret';
    case 'WriteSecret':
      return 'correct the connection Secret';
    case 'ReplaceSecret':
      return 'write the connection Secret again, with the type that it should have';
    case 'RetireSecret':
      return `delete the former connection Secret "${step.name}"`;
    case 'DeleteUser':
      return `delete user "${step.username}"`;
    case 'TellLeft':
      return 'report that the user stays on the server';
    default:
      return step satisfies never;
  }
}
