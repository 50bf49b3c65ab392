import type { SpaceConnection } from '../../databasespace/connection/connection.ts';
import { currentID, desiredID, mayExist } from '../identity.ts';
import type { ClusterSubject } from '../observation.ts';
import { type ClusterRecord, sourceRecordOf } from '../record.ts';
import type { ClusterWorld } from '../world.ts';
import { claimantsOf } from './claimants.ts';
import { neverCreates } from './decide-absent.ts';

/**
 * The names of the objects that wait for one another because each is to be cloned from the next, and the last from the subject, which
 * comes first; undefined: there is no such circle.
 */
export function circleOf(
  world: ClusterWorld,
  subject: ClusterSubject,
  { poller }: Pick<SpaceConnection, 'poller'>,
): readonly string[] | undefined {
  const first = subject.metadata.name;
  const names = [first];
  let next = sourceOf(world, subject);
  while (next !== undefined && isToBeCloned(next) && !poller.has(currentID(next))) {
    const { name } = next.metadata;
    if (name === first) return names;
    // A circle that the subject only leads to.
    if (names.includes(name)) return undefined;
    names.push(name);
    next = sourceOf(world, next);
  }
  return undefined;
}

/** Whether there is no cluster of the object's yet, and it can come about by cloning only. */
function isToBeCloned(record: ClusterRecord): boolean {
  const { metadata, spec } = record;
  const mayCreate = metadata.deletionTimestamp === undefined && neverCreates(record) === undefined;
  return spec.cloneFrom !== undefined && mayCreate && !mayExist(record);
}

/** The object that is to be cloned, which is known only in the same namespace. */
function sourceOf(world: ClusterWorld, record: Pick<ClusterRecord, 'metadata' | 'spec'>): ClusterRecord | undefined {
  const { clusterID } = record.spec.cloneFrom ?? {};
  if (clusterID === undefined) return sourceRecordOf(world, record);
  return claimantsOf(world, record, clusterID).find(
    (other) => other.metadata.namespace === record.metadata.namespace && desiredID(other) === clusterID,
  );
}
