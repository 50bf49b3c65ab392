/** Cluster Management API, Machine types and regions; Storage types; Limits. */

export interface MachineType {
  readonly name: string;
  readonly free: boolean;
  readonly regions: readonly string[];
}

export interface Provider {
  readonly name: string;
  readonly storageType: string;
  readonly machineTypes: readonly MachineType[];
}

const GCP_REGIONS = ['europe-west2', 'europe-west3', 'us-west4', 'us-east1'] as const;
const C7G_REGIONS = ['eu-west-2'] as const;
const C8G_REGIONS = ['us-west-2', 'us-east-1', 'eu-central-1'] as const;

const PROVIDERS: readonly Provider[] = [
  {
    name: 'gcp',
    storageType: 'standard-rwo',
    machineTypes: [
      { name: 'c2d-highcpu-2', free: true, regions: GCP_REGIONS },
      { name: 'c2d-highcpu-4', free: false, regions: GCP_REGIONS },
      { name: 'c2d-highcpu-8', free: false, regions: GCP_REGIONS },
      { name: 'c2d-highcpu-16', free: false, regions: GCP_REGIONS },
    ],
  },
  {
    name: 'aws',
    storageType: 'gp2-csi',
    machineTypes: [
      { name: 'c7g.large', free: true, regions: C7G_REGIONS },
      { name: 'c7g.xlarge', free: false, regions: C7G_REGIONS },
      { name: 'c7g.2xlarge', free: false, regions: C7G_REGIONS },
      { name: 'c7g.4xlarge', free: false, regions: C7G_REGIONS },
      { name: 'c8g.large', free: true, regions: C8G_REGIONS },
      { name: 'c8g.xlarge', free: false, regions: C8G_REGIONS },
      { name: 'c8g.2xlarge', free: false, regions: C8G_REGIONS },
      { name: 'c8g.4xlarge', free: false, regions: C8G_REGIONS },
    ],
  },
];

export const LIMITS = {
  serverCount: { min: 1, max: 9 },
  storageSizeGB: { min: 10, max: 1000 },
  freeClustersPerTeam: 1,
  free: { serverCount: 1, storageSizeGB: 10 },
  retentionDays: [7, 30],
  frequencies: ['disabled', 'hourly', 'daily'],
} as const;

/** Resources, Deploy request fields: "lowercase alphanumeric characters, optionally separated by underscores and hyphens". */
export const ID_PATTERN = /^[a-z0-9]+(?:[_-]+[a-z0-9]+)*$/;

export function providerNamed(name: string): Provider | undefined {
  return PROVIDERS.find((provider) => provider.name === name);
}

export function regionsOf(provider: Provider): readonly string[] {
  return [...new Set(provider.machineTypes.flatMap((machine) => machine.regions))];
}

/** The newest version on offer, which `latest` stands for. */
export function latestOf(versions: readonly string[]): string {
  const newest = [...versions].sort((a, b) => a.localeCompare(b, 'en', { numeric: true })).at(-1);
  if (newest === undefined) throw new Error('No database version is on offer');
  return newest;
}

/** "For database version 3.0 onwards only one server is currently possible". */
export function isSingleServerVersion(version: string): boolean {
  return Number.parseInt(version, 10) >= 3;
}
