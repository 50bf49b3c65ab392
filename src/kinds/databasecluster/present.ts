import type { ConditionUpdate } from '../../kube/condition.ts';
import type { Decision, StatusPatch } from '../../runtime/kind.ts';
import { differences } from './differences.ts';
import type { ClusterStep, ClusterSubject, SpaceSeen } from './observation.ts';
import type { DatabaseClusterStatus } from './schema.ts';

export type ClusterDecision = Decision<DatabaseClusterStatus, ClusterStep>;
export type ClusterStatusPatch = StatusPatch<DatabaseClusterStatus>;

/** What the status shows of a cluster. Its identity (createdAt) is not in it: that is recorded once, when it is known. */
export function shown(seen: Pick<SpaceSeen, 'cluster' | 'endpoint'>): ClusterStatusPatch {
  const { cluster, endpoint } = seen;
  if (cluster === undefined) return { state: null, servers: null, observed: null };
  const { machineType, storageSizeGB, serverCount, provider, region } = cluster;
  return {
    state: cluster.status,
    clusterID: cluster.id,
    version: cluster.version ?? null,
    observed: { machineType, storageSizeGB, serverCount, provider, region },
    servers: cluster.servers,
    endpoint: endpoint ?? null,
  };
}

/** The conditions beside the summary, from what is known now. */
export function clusterConditions(
  subject: ClusterSubject,
  seen: SpaceSeen,
  verified?: { readonly secured: ConditionUpdate; readonly available: ConditionUpdate },
): readonly ConditionUpdate[] {
  const kept = (type: string): ConditionUpdate | undefined =>
    subject.status.conditions?.find((condition) => condition.type === type);
  return [
    synced(subject, seen),
    verified?.secured ??
      kept('CredentialsSecured') ?? {
        type: 'CredentialsSecured',
        status: 'False',
        reason: 'NotYet',
        message: 'The login that new clusters come with is not retired yet',
      },
    verified?.available ?? available(seen),
  ];
}

function available(seen: SpaceSeen): ConditionUpdate {
  const reason = seen.endpoint === undefined ? 'NoServer' : 'NotVerified';
  const message =
    seen.endpoint === undefined
      ? `No server runs: the cloud's word for the cluster is "${seen.cluster?.status ?? 'missing'}"`
      : `The login was not tried yet at ${seen.endpoint}`;
  return { type: 'Available', status: 'False', reason, message };
}

function synced(subject: ClusterSubject, seen: SpaceSeen): ConditionUpdate {
  const type = 'Synced';
  if (seen.cluster === undefined) {
    return {
      type,
      status: 'False',
      reason: 'ClusterMissing',
      message: `There is no cluster "${seen.id}" in ${seen.place}`,
    };
  }
  const differing = differences(subject, seen.cluster);
  if (differing.length > 0) {
    const list = differing
      .map(({ field, desired, observed }) => `${field} is ${observed}, should be ${desired}`)
      .join('; ');
    return { type, status: 'False', reason: 'Differs', message: `Cluster "${seen.id}": ${list}` };
  }
  const backup = 'Backup settings cannot be read back: what the cloud accepted last is in status.backup';
  return {
    type,
    status: 'True',
    reason: 'AsSpecified',
    message: `Every field that the cloud reports equals the spec. ${backup}`,
  };
}
