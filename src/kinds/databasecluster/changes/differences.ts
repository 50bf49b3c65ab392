import type { Cluster } from '../../../cloud/schema.ts';
import { desiredID } from '../identity.ts';
import type { Backup, ClusterSubject } from '../observation.ts';

export interface Difference {
  readonly field: string;
  readonly desired: string;
  readonly observed: string;
}

/**
 * Where the cluster differs from the spec, for fields that the spec sets and the cloud reports. storageType is not compared,
 * as it may come back under another name.
 */
export function differences({ metadata, spec, status }: ClusterSubject, cluster: Cluster): readonly Difference[] {
  const pairs: readonly (readonly [string, unknown, unknown])[] = [
    ['clusterID', desiredID({ metadata, spec }), cluster.id],
    ['state', spec.state, stateOf(cluster)],
    ['machineType', spec.machineType, cluster.machineType],
    ['storageSizeGB', spec.storageSizeGB, cluster.storageSizeGB],
    ['provider', spec.provider, cluster.provider],
    ['region', spec.region, cluster.region],
    ['serverCount', spec.serverCount, cluster.serverCount],
    ['isFree', spec.isFree, cluster.isFree],
    ['version', spec.version === 'latest' ? undefined : spec.version, cluster.version],
  ];
  return [
    ...pairs
      .filter(([, desired, observed]) => desired !== undefined && observed !== undefined && desired !== observed)
      .map(([field, desired, observed]) => ({ field, desired: String(desired), observed: String(observed) })),
    ...(backupPending({ spec, status }) ? [backupDifference({ spec, status })] : []),
  ];
}

/** Fields that the spec sets and the cloud could change but does not report. Nobody knows whether they differ, so they are left alone. */
export function unreported({ spec }: Pick<ClusterSubject, 'spec'>, cluster: Cluster): readonly string[] {
  const fields = ['machineType', 'storageSizeGB'] as const;
  return fields.filter((field) => spec[field] !== undefined && cluster[field] === undefined);
}

/** For people: each field with what it is and what it should be. */
export function inWords(list: readonly Difference[]): string {
  return list.map(({ field, desired, observed }) => `${field} is ${observed}, should be ${desired}`).join('; ');
}

/** Likewise, if it cannot become what it should be. */
export function asFound(list: readonly Difference[]): string {
  return list.map(({ field, desired, observed }) => `${field} is ${observed}, the spec says ${desired}`).join('; ');
}

/** The state in the spec's words, also for a new cluster; for any other cluster on its way, the cloud's word. */
function stateOf(cluster: Cluster): string {
  if (cluster.status === 'running' || cluster.status === 'starting') return 'Running';
  if (cluster.status === 'suspended') return 'Suspended';
  return cluster.status;
}

/** Fields in `differences` that an update can change; the others are fixed when a cluster is created. */
export const UPDATABLE: ReadonlySet<string> = new Set(['clusterID', 'state', 'machineType', 'storageSizeGB', 'backup']);

export function backupOf(spec: ClusterSubject['spec']): Backup | undefined {
  return spec.backup === undefined
    ? undefined
    : { frequency: spec.backup.frequency, retentionDays: spec.backup.retentionDays ?? 7 };
}

/** What a deploy asks for: the spec's settings, or what the schema promises if there are none. */
export function backupToDeploy(spec: ClusterSubject['spec']): Backup {
  return backupOf(spec) ?? { frequency: spec.isFree ? 'disabled' : 'daily', retentionDays: 7 };
}

/** Whether the cloud has yet to accept the backup settings of the spec. Nobody can tell of a cluster that was only ever observed. */
export function backupPending({ spec, status }: Pick<ClusterSubject, 'spec' | 'status'>): boolean {
  const desired = backupOf(spec);
  if (desired === undefined) return false;
  if (status.backup === undefined && spec.managementPolicy === 'Observe') return false;
  // A free cluster that somebody else created has no backups, and without a payment method the cloud accepts no change of it ("Update").
  if (status.backup === undefined && spec.isFree && desired.frequency === 'disabled') return false;
  return status.backup?.frequency !== desired.frequency || status.backup.retentionDays !== desired.retentionDays;
}

function backupDifference({ spec, status }: Pick<ClusterSubject, 'spec' | 'status'>): Difference {
  const text = (backup: ClusterSubject['status']['backup']) =>
    backup === undefined ? 'unknown' : `${backup.frequency}, kept ${backup.retentionDays} days`;
  return { field: 'backup', desired: text(backupOf(spec)), observed: text(status.backup) };
}
