import { GROUP, VERSION } from '../../src/base/group.ts';

export const NAMESPACE = 'bench';
const apiVersion = `${GROUP}/${VERSION}`;

/** The space that clusters are in, unless a scenario needs several. */
export const SPACE = 'production';

/** Returns the ids of `count` spaces. */
export function spaceNames(count: number): readonly string[] {
  return [SPACE, ...Array.from({ length: count - 1 }, (_, index) => `space-${index + 2}`)];
}

export interface Intervals {
  readonly pollInterval: string;
  readonly verifyIntervalS: number;
}

/** Returns the namespace, a DatabaseSpace for each id, and their Secrets for the simulated cloud. */
export function spaceManifests(
  baseURL: string,
  { pollInterval, verifyIntervalS }: Intervals,
  spaces: readonly string[],
): string {
  const secret = (name: string, stringData: Record<string, string>) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace: NAMESPACE },
    stringData,
  });
  /** Names as createTeam() of the simulator makes them. */
  const tokenName = (space: string, level: string) => (space === SPACE ? level : `${space}-${level}`);
  const tokens = (space: string) =>
    ['write', 'admin'].map((level) => ({ level, secretRef: { name: `cloud-${tokenName(space, level)}` } }));
  const items = [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } },
    ...spaces.flatMap((space) =>
      ['write', 'admin'].map((level) => {
        const token = tokenName(space, level);
        return secret(`cloud-${token}`, { clientID: `${token}-id`, clientSecret: `${token}-secret-0123456789` });
      }),
    ),
    secret('factory-login', { username: 'admin', password: 'password' }),
    ...spaces.map((space) => ({
      apiVersion,
      kind: 'DatabaseSpace',
      metadata: { name: space, namespace: NAMESPACE },
      spec: {
        baseURL,
        teamID: 'acme',
        spaceID: space,
        apiTokens: tokens(space),
        defaultCredentialsSecretRef: { name: 'factory-login' },
        serverURL: 'http://{host}:{port}',
        pollInterval,
        verifyInterval: `${verifyIntervalS}s`,
      },
    })),
  ];
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
}

/** How many API tokens a space has. A process exchanges each once when it starts. */
export const TOKENS = 2;
/** The default. Each login is verified this often, with one sign-in that must work and one that must not. */
export const VERIFY_INTERVAL_S = 600;

export function userManifest(name: string, cluster: string) {
  return {
    apiVersion,
    kind: 'DatabaseUser',
    metadata: { name, namespace: NAMESPACE },
    spec: { clusterRef: { name: cluster } },
  };
}

export function clusterManifest(name: string, space = SPACE) {
  return {
    apiVersion,
    kind: 'DatabaseCluster',
    metadata: { name, namespace: NAMESPACE },
    spec: {
      spaceRef: { name: space },
      provider: 'gcp',
      region: 'europe-west2',
      machineType: 'c2d-highcpu-4',
      storageSizeGB: 100,
      version: 'latest',
    },
  };
}
