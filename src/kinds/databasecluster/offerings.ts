/** What the cloud offers, from the Cluster Management API, "Machine types and regions". These tables grow there. */

interface MachineType {
  readonly provider: string;
  readonly name: string;
  /** A free cluster may run on it. */
  readonly free: boolean;
  readonly regions: readonly string[];
}

const GCP = ['europe-west2', 'europe-west3', 'us-west4', 'us-east1'];
const AWS_C7G = ['eu-west-2'];
const AWS_C8G = ['us-west-2', 'us-east-1', 'eu-central-1'];

export const machineTypes: readonly MachineType[] = [
  { provider: 'gcp', name: 'c2d-highcpu-2', free: true, regions: GCP },
  { provider: 'gcp', name: 'c2d-highcpu-4', free: false, regions: GCP },
  { provider: 'gcp', name: 'c2d-highcpu-8', free: false, regions: GCP },
  { provider: 'gcp', name: 'c2d-highcpu-16', free: false, regions: GCP },
  { provider: 'aws', name: 'c7g.large', free: true, regions: AWS_C7G },
  { provider: 'aws', name: 'c7g.xlarge', free: false, regions: AWS_C7G },
  { provider: 'aws', name: 'c7g.2xlarge', free: false, regions: AWS_C7G },
  { provider: 'aws', name: 'c7g.4xlarge', free: false, regions: AWS_C7G },
  { provider: 'aws', name: 'c8g.large', free: true, regions: AWS_C8G },
  { provider: 'aws', name: 'c8g.xlarge', free: false, regions: AWS_C8G },
  { provider: 'aws', name: 'c8g.2xlarge', free: false, regions: AWS_C8G },
  { provider: 'aws', name: 'c8g.4xlarge', free: false, regions: AWS_C8G },
];

/** The storage types of each provider, the default one first. */
export const storageTypes: Readonly<Record<string, readonly string[]>> = {
  gcp: ['standard-rwo'],
  aws: ['gp2-csi'],
};

/** The storage type to ask for if the spec names none; undefined for a provider that we do not know. */
export function defaultStorageType(provider: string): string | undefined {
  return storageTypes[provider]?.[0];
}
