/** The spec of a DatabaseCluster with required fields only. */
export const CLUSTER_SPEC = {
  spaceRef: { name: 'production' },
  provider: 'gcp',
  region: 'europe-west2',
  machineType: 'c2d-highcpu-4',
  storageSizeGB: 100,
  version: '3.5.0',
};
