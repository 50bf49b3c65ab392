import { parseSpecInPart, parseStatus } from '../../kube/definition.ts';
import type { KubeObject } from '../../kube/object.ts';
import { currentID } from './observation.ts';
import { type ClusterRecord, clusterRecordOf } from './record.ts';
import { databaseClusterDefinition } from './schema.ts';

/** Something in the cloud is, or may be, this object's. */
export function mayExist({ status }: Pick<ClusterRecord, 'status'>): boolean {
  return status.createdAt !== undefined || status.clusterID !== undefined || status.operation !== undefined;
}

export interface HeldRecord extends ClusterRecord {
  /** What becomes of the cluster with its object cannot be read. */
  readonly isEndUnknown?: boolean;
}

/**
 * Reads a DatabaseCluster, also one whose spec cannot be read any more, if something in the cloud may be its own: that is so
 * still, and nobody else may take it. Of its spec all counts that can be read. It has the id that it has, and wants no other.
 */
export function heldRecordOf(object: KubeObject | undefined): HeldRecord | undefined {
  const record = clusterRecordOf(object);
  if (record !== undefined || object === undefined) return record;
  const { metadata } = object;
  const status = parseStatus(databaseClusterDefinition, object.status);
  const parsed = mayExist({ status }) ? parseSpecInPart(databaseClusterDefinition, object.spec) : undefined;
  if (parsed === undefined) return undefined;
  const { value, unread } = parsed;
  const clusterID = currentID({ metadata, spec: value, status });
  return { metadata, spec: { ...value, clusterID }, status, isEndUnknown: unread.has('deletionPolicy') };
}
