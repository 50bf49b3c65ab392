import { recordReader } from '../../kube/record.ts';
import type { ClusterSubject } from './observation.ts';
import { databaseClusterDefinition } from './schema.ts';

/** A DatabaseCluster as other objects see it: others of its kind, and those on its server. */
export type ClusterRecord = Pick<ClusterSubject, 'metadata' | 'spec' | 'status'>;

/** Reads a DatabaseCluster; undefined: there is none, or its spec cannot be read. */
export const clusterRecordOf = recordReader(databaseClusterDefinition);
