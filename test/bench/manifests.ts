import { GROUP, VERSION } from '../../src/base/group.ts';

export const NAMESPACE = 'bench';
const apiVersion = `${GROUP}/${VERSION}`;

/** The namespace with a DatabaseSpace and its Secrets, as `mooring simulate` takes them. */
export function spaceManifests(baseURL: string, pollInterval: string): string {
  const secret = (name: string, stringData: Record<string, string>) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace: NAMESPACE },
    stringData,
  });
  const token = (level: string) => ({ level, secretRef: { name: `cloud-${level}` } });
  const items = [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } },
    ...['write', 'admin'].map((level) =>
      secret(`cloud-${level}`, { clientID: `${level}-id`, clientSecret: `${level}-secret-0123456789` }),
    ),
    secret('factory-login', { username: 'admin', password: 'password' }),
    {
      apiVersion,
      kind: 'DatabaseSpace',
      metadata: { name: 'production', namespace: NAMESPACE },
      spec: {
        baseURL,
        teamID: 'acme',
        spaceID: 'production',
        apiTokens: [token('write'), token('admin')],
        defaultCredentialsSecretRef: { name: 'factory-login' },
        serverURL: 'http://{host}:{port}',
        pollInterval,
        verifyInterval: `${VERIFY_INTERVAL_S}s`,
      },
    },
  ];
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
}

/** API tokens of the space: what a process exchanges once when it starts. */
export const TOKENS = 2;
/** The default: each login is tried so often, with one sign-in that must work and one that must not. */
export const VERIFY_INTERVAL_S = 600;

export function userManifest(name: string, cluster: string): object {
  return {
    apiVersion,
    kind: 'DatabaseUser',
    metadata: { name, namespace: NAMESPACE },
    spec: { clusterRef: { name: cluster } },
  };
}

export function clusterManifest(name: string): object {
  return {
    apiVersion,
    kind: 'DatabaseCluster',
    metadata: { name, namespace: NAMESPACE },
    spec: {
      spaceRef: { name: 'production' },
      provider: 'gcp',
      region: 'europe-west2',
      machineType: 'c2d-highcpu-4',
      storageSizeGB: 100,
      version: 'latest',
    },
  };
}
