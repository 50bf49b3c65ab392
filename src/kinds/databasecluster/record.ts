import { type KubeObject, type ObjectKey, objectKey } from '../../kube/object.ts';
import { recordReader } from '../../kube/record.ts';
import type { ClusterSubject } from './observation.ts';
import { databaseClusterDefinition } from './schema.ts';

/** A DatabaseCluster as other objects see it: others of its kind, and those on its server. */
export type ClusterRecord = Pick<ClusterSubject, 'metadata' | 'spec' | 'status'>;

/** Reads a DatabaseCluster; undefined: there is none, or its spec cannot be read. */
export const clusterRecordOf = recordReader(databaseClusterDefinition);

/** Returns the DatabaseCluster that `cloneFrom.clusterRef` names; undefined: none is named, or it cannot be read. */
export function sourceRecordOf(
  { cluster }: { readonly cluster: (key: ObjectKey) => KubeObject | undefined },
  { metadata, spec }: Pick<ClusterSubject, 'metadata' | 'spec'>,
): ClusterRecord | undefined {
  const name = spec.cloneFrom?.clusterRef?.name;
  return name === undefined ? undefined : clusterRecordOf(cluster(objectKey(metadata.namespace ?? '', name)));
}
