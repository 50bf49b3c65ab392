import { hasSentinel } from '../faults/sentinels.ts';
import type { Cluster, World } from './state.ts';

/** The cluster object of answers as JSON (Resources and their fields, Cluster). */
export function renderCluster(world: World, cluster: Cluster): string {
  cluster.rendered ??= JSON.stringify(clusterObject(world, cluster));
  return cluster.rendered;
}

function clusterObject(world: World, cluster: Cluster): Record<string, unknown> {
  const { dialect } = world;
  const odd = cluster.status === 'running' && hasSentinel(cluster.id, 'oddStatus');
  return {
    id: cluster.id,
    serverCount: cluster.serverCount,
    storageSizeGB: cluster.storageSizeGB,
    isFree: cluster.isFree,
    status: odd ? 'maintaining' : cluster.status,
    createdAt: cluster.createdAt,
    ...ownershipFields(world, cluster),
    version: cluster.version,
    provider: cluster.provider,
    region: cluster.region,
    machineType: cluster.machineType,
    storageType: dialect.storageTypeNames[cluster.storageType] ?? cluster.storageType,
    // "empty for a suspended cluster in the examples"
    servers: cluster.status === 'suspended' ? [] : cluster.servers.map(({ address, status }) => ({ address, status })),
    ...(addsFields(world) ? { labels: {}, maintenanceWindow: null } : {}),
  };
}

function ownershipFields(world: World, cluster: Cluster): Record<string, string> {
  const { ownership } = world.knobs;
  const form = ownership === 'dialect' ? world.dialect.ownership : ownership;
  return {
    ...(form === 'organization' || form === 'both' ? { organization: cluster.teamID, project: cluster.spaceID } : {}),
    ...(form === 'team' || form === 'both' ? { teamID: cluster.teamID, spaceID: cluster.spaceID } : {}),
  };
}

export function addsFields(world: World): boolean {
  const { extraFields } = world.knobs;
  return extraFields === 'dialect' ? world.dialect.unknownKeys : extraFields === 'some';
}
