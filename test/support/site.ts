import { API_VERSION } from '../../src/base/group.ts';
import type { Condition } from '../../src/kube/condition.ts';
import { type Api, collectionPath } from '../kube/api.ts';
import { waitUntil } from './control-plane.ts';
import type { Manifest } from './manifests.ts';
import type { ServedCloud } from './served-cloud.ts';

export type Kind = 'DatabaseSpace' | 'DatabaseCluster' | 'DatabaseUser' | 'Database';

/** A custom resource as the API server shows it. */
export interface Shown {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly generation: number;
    readonly deletionTimestamp?: string;
    readonly finalizers?: readonly string[];
  };
  readonly spec: Readonly<Record<string, unknown>>;
  readonly status?: ShownStatus;
}

export interface ShownStatus {
  readonly observedGeneration: number;
  readonly lastHandledReconcileAt?: string;
  readonly conditions?: readonly Condition[];
  readonly state?: string;
  readonly clusterID?: string;
  readonly createdAt?: string;
  readonly version?: string;
  readonly endpoint?: string;
  readonly observed?: Readonly<Record<string, unknown>>;
  readonly servers?: readonly { readonly address: string; readonly status: string }[];
  readonly operation?: { readonly type: string; readonly target: string };
  readonly drift?: readonly { readonly field: string; readonly desired: string; readonly observed: string }[];
  readonly lastError?: { readonly operation: string; readonly httpStatus?: number; readonly message: string };
  readonly clusters?: { readonly total: number; readonly managed: number };
  readonly unmanagedClusters?: readonly { readonly clusterID: string }[];
  readonly availableVersions?: readonly string[];
  readonly username?: string;
  readonly binding?: { readonly name: string };
  readonly lastHandledRotateAt?: string;
  readonly keptSecrets?: readonly string[];
}

export interface SecretShown {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly ownerReferences: readonly { readonly kind: string; readonly uid: string }[];
  readonly type: string;
  /** Decoded. */
  readonly data: Readonly<Record<string, string>>;
}

export interface EventShown {
  readonly regarding: string;
  readonly reason: string;
  readonly type: string;
  readonly note: string;
}

/** What is expected of a condition; absent fields do not matter. */
export interface Expected {
  readonly type?: string;
  readonly status?: Condition['status'];
  readonly reason?: string;
  readonly message?: RegExp;
}

/** One namespace with one cloud, as a person with access to both would use them. */
export interface Site<Cloud = ServedCloud> {
  readonly namespace: string;
  readonly cloud: Cloud;
  apply(...manifests: readonly Manifest[]): Promise<void>;
  /** The API server's objections to the manifest. */
  refused(manifest: Manifest): Promise<readonly string[]>;
  get(kind: Kind, name?: string): Promise<Shown | undefined>;
  names(kind: Kind): Promise<readonly string[]>;
  remove(kind: Kind | 'Secret' | 'ConfigMap', name: string): Promise<void>;
  /** `kind`: DatabaseCluster by default. */
  annotate(name: string, annotations: Readonly<Record<string, string>>, kind?: Kind): Promise<void>;
  secret(name?: string): Promise<SecretShown | undefined>;
  events(): Promise<readonly EventShown[]>;
  /** Waits until the condition (Ready by default) of this generation is as expected, then returns the object. */
  until(kind: Kind, expected: Expected, name?: string, timeoutMs?: number): Promise<Shown>;
  ready(name?: string): Promise<Shown>;
  gone(kind: Kind, name?: string): Promise<void>;
}

const DEFAULT_NAMES: Readonly<Record<Kind, string>> = {
  DatabaseSpace: 'production',
  DatabaseCluster: 'orders',
  DatabaseUser: 'app',
  Database: 'orders',
};

/** `logs`: the operator's logs, shown if it does not do what the test waits for. */
export function createSite<Cloud>(
  api: Api,
  namespace: string,
  cloud: Cloud,
  logs: () => string = () => '',
): Site<Cloud> {
  const core = `/api/v1/namespaces/${namespace}/secrets`;
  const pathOf = (kind: string) => {
    if (kind === 'ConfigMap') return `/api/v1/namespaces/${namespace}/configmaps`;
    return kind === 'Secret' ? core : collectionPath(kind, namespace);
  };
  const nameOf = (kind: Kind, name?: string) => name ?? DEFAULT_NAMES[kind];

  const send = (manifest: Manifest, manager: string) =>
    api.send(
      'PATCH',
      `${pathOf(manifest.kind)}/${manifest.metadata.name}?fieldManager=${manager}&force=true`,
      manifest,
    );
  const get = async (kind: Kind, name?: string): Promise<Shown | undefined> => {
    const { status, body } = await api.send('GET', `${pathOf(kind)}/${nameOf(kind, name)}`);
    return status === 404 ? undefined : (body as Shown);
  };
  const mustApply = async (manifest: Manifest, manager = 'test') => {
    const { status, causes } = await send(manifest, manager);
    if (status >= 300) throw new Error(`Cannot apply ${manifest.kind} ${manifest.metadata.name}: ${causes.join('; ')}`);
  };
  const until = async (kind: Kind, expected: Expected, name?: string, timeoutMs = 45_000): Promise<Shown> => {
    let last: Shown | undefined;
    const check = async () => {
      last = await get(kind, name);
      return last !== undefined && isAsExpected(last, expected) ? last : undefined;
    };
    const what = `${kind} ${nameOf(kind, name)}: ${JSON.stringify({ ...expected, message: expected.message?.source })}`;
    return waitUntil(check, { what, timeoutMs }).catch((error: unknown) => {
      const told = logs()
        .split('\n')
        .filter((line) => line.includes(namespace))
        .slice(-12)
        .join('\n');
      throw new Error(`${String(error)}\nIt is: ${JSON.stringify(last?.status, null, 1)}\nThe operator: ${told}`);
    });
  };

  return {
    namespace,
    cloud,
    get,
    until,
    ready: (name) => until('DatabaseCluster', { status: 'True' }, name),
    apply: async (...manifests) => {
      for (const manifest of manifests) await mustApply(manifest);
    },
    refused: async (manifest) => (await send(manifest, 'test')).causes,
    names: async (kind) => {
      const { body } = await api.send('GET', pathOf(kind));
      return (body as { items: readonly Shown[] }).items.map(({ metadata }) => metadata.name);
    },
    remove: async (kind, name) => void (await api.send('DELETE', `${pathOf(kind)}/${name}`)),
    annotate: (name, annotations, kind = 'DatabaseCluster') =>
      mustApply({ apiVersion: API_VERSION, kind, metadata: { name, annotations } }, 'annotator'),
    secret: async (name = 'orders-admin') => {
      const { status, body } = await api.send('GET', `${core}/${name}`);
      if (status === 404) return undefined;
      const {
        metadata,
        type,
        data = {},
      } = body as {
        metadata: Pick<SecretShown, 'uid' | 'resourceVersion'> & Partial<SecretShown>;
        type: string;
        data?: Record<string, string>;
      };
      const decoded = Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]);
      const { uid, resourceVersion, labels = {}, annotations = {}, ownerReferences = [] } = metadata;
      return { uid, resourceVersion, labels, annotations, ownerReferences, type, data: Object.fromEntries(decoded) };
    },
    events: async () => {
      const { body } = await api.send('GET', `/apis/events.k8s.io/v1/namespaces/${namespace}/events`);
      const { items } = body as {
        items: readonly {
          eventTime: string;
          regarding: { kind: string; name: string };
          reason: string;
          type: string;
          note: string;
        }[];
      };
      return items
        .toSorted((a, b) => (a.eventTime < b.eventTime ? -1 : 1))
        .map(({ regarding, reason, type, note }) => ({
          regarding: `${regarding.kind}/${regarding.name}`,
          reason,
          type,
          note,
        }));
    },
    gone: async (kind, name) =>
      void (await waitUntil(async () => (await get(kind, name)) === undefined, {
        what: `${kind} ${nameOf(kind, name)} is gone`,
      })),
  };
}

function isAsExpected({ metadata, status }: Shown, { type = 'Ready', ...expected }: Expected): boolean {
  const found = conditionOf(status, type);
  if (status?.observedGeneration !== metadata.generation || found === undefined) return false;
  return (
    (expected.status === undefined || expected.status === found.status) &&
    (expected.reason === undefined || expected.reason === found.reason) &&
    (expected.message === undefined || expected.message.test(found.message))
  );
}

export function conditionOf(status: ShownStatus | undefined, type = 'Ready'): Condition | undefined {
  return status?.conditions?.find((condition) => condition.type === type);
}
