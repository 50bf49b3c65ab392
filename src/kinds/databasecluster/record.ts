import { recordReader } from '../../kube/record.ts';
import type { ClusterSubject } from './observation.ts';
import { databaseClusterDefinition } from './schema.ts';

/** A DatabaseCluster as others look at it: of its own kind, and those on its server. */
export type ClusterRecord = Pick<ClusterSubject, 'metadata' | 'spec' | 'status'>;

/** Reads a DatabaseCluster; undefined where there is none, or its spec cannot be read. */
export const clusterRecordOf = recordReader(databaseClusterDefinition);
