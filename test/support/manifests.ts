import { API_VERSION } from '../../src/base/group.ts';
import type { ServedCloud } from './served-cloud.ts';

/** A Kubernetes object as it is applied. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
  readonly [field: string]: unknown;
}

type Fields = Readonly<Record<string, unknown>>;
type Annotations = Readonly<Record<string, string>>;

export function secret(name: string, stringData: Readonly<Record<string, string>>): Manifest {
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name }, type: 'Opaque', stringData };
}

/** An API token of the simulator's space `production`. */
export function tokenSecret(level: 'read' | 'write' | 'admin'): Manifest {
  return secret(`cloud-${level}`, { clientID: `${level}-id`, clientSecret: `${level}-secret-0123456789` });
}

export function factorySecret({ factory }: ServedCloud): Manifest {
  return secret('factory-login', factory);
}

/** Space `production` with a token for writing and one for destroying. */
export function space(cloud: Pick<ServedCloud, 'baseURL'>, spec: Fields = {}): Manifest {
  return {
    apiVersion: API_VERSION,
    kind: 'DatabaseSpace',
    metadata: { name: 'production' },
    spec: {
      baseURL: cloud.baseURL,
      teamID: 'acme',
      spaceID: 'production',
      apiTokens: [
        { level: 'write', secretRef: { name: 'cloud-write' } },
        { level: 'admin', secretRef: { name: 'cloud-admin' } },
      ],
      defaultCredentialsSecretRef: { name: 'factory-login' },
      serverURL: 'http://{host}:{port}',
      pollInterval: '1s',
      verifyInterval: '0s',
      ...spec,
    },
  };
}

export function cluster(spec: Fields = {}, annotations: Annotations = {}, name = 'orders'): Manifest {
  return {
    apiVersion: API_VERSION,
    kind: 'DatabaseCluster',
    metadata: { name, annotations },
    spec: {
      spaceRef: { name: 'production' },
      provider: 'gcp',
      region: 'europe-west2',
      machineType: 'c2d-highcpu-4',
      storageSizeGB: 100,
      version: 'latest',
      ...spec,
    },
  };
}

export function user(spec: Fields = {}, annotations: Annotations = {}, name = 'app'): Manifest {
  return {
    apiVersion: API_VERSION,
    kind: 'DatabaseUser',
    metadata: { name, annotations },
    spec: { clusterRef: { name: 'orders' }, ...spec },
  };
}

export function database(spec: Fields = {}, annotations: Annotations = {}, name = 'orders'): Manifest {
  return {
    apiVersion: API_VERSION,
    kind: 'Database',
    metadata: { name, annotations },
    spec: { clusterRef: { name: 'orders' }, ...spec },
  };
}

export function configMap(name: string, data: Readonly<Record<string, string>>): Manifest {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data };
}

/** Everything that the space needs to be Ready, including the space itself. */
export function wholeSpace(cloud: ServedCloud, spec: Fields = {}): readonly Manifest[] {
  return [tokenSecret('write'), tokenSecret('admin'), factorySecret(cloud), space(cloud, spec)];
}
