import { destroys } from '../kinds/databasecluster/decide-deletion.ts';
import { databaseClusterDefinition } from '../kinds/databasecluster/schema.ts';
import { clusterKeyOf } from '../kinds/server/access.ts';
import { nodeName } from '../plugin/node-name.ts';
import { clustersOf, databasesOf, type PlannedObject, usersOf } from './objects.ts';
import type { Outcome, Plan } from './outcome.ts';

/** What a deleted object leaves behind; undefined if steps of the plan destroy it or the cluster that it is on. */
export function staysOf(planned: PlannedObject, steps: Plan['steps']): string | undefined {
  const destroyed = (kind: string, key: string) =>
    steps.some(({ name, weight, fails }) => name === nodeName(kind, key) && weight === 'destroys' && fails !== true);
  if (destroyed(planned.definition.kind, planned.key)) return undefined;
  const onServer = (each: Parameters<typeof clusterKeyOf>[0], what: string) =>
    destroyed(databaseClusterDefinition.kind, clusterKeyOf(each)) ? undefined : `${what} stays on the server`;
  for (const { status } of clustersOf([planned]))
    return status.createdAt === undefined ? undefined : `cluster "${status.clusterID}" stays in the cloud`;
  for (const user of usersOf([planned]))
    return user.status.username === undefined ? undefined : onServer(user, `user "${user.status.username}"`);
  for (const database of databasesOf([planned]))
    return database.status.name === undefined ? undefined : onServer(database, `database "${database.status.name}"`);
  return undefined;
}

/** What will be destroyed once a waiting deletion finishes; undefined if it would be kept, or a step of its own destroys it. */
export function laterOf(planned: PlannedObject, own: Outcome['steps']): string | undefined {
  if (own.some(({ weight, fails }) => weight === 'destroys' && fails !== true)) return undefined;
  for (const { spec, status } of clustersOf([planned])) {
    return destroys(spec) && status.createdAt !== undefined
      ? `destroy cluster "${status.clusterID}" and its data`
      : undefined;
  }
  for (const { spec, status } of usersOf([planned]))
    return spec.deletionPolicy === 'Delete' && status.username ? `delete user "${status.username}"` : undefined;
  for (const { spec, status } of databasesOf([planned]))
    return spec.deletionPolicy === 'Delete' && status.name
      ? `delete database "${status.name}" and its data`
      : undefined;
  return undefined;
}
