import { randomUUID } from 'node:crypto';
import { type Api, openApi } from '../kube/api.ts';
import { adminKubeconfig, mustKubectl, waitUntil } from './control-plane.ts';
import { cluster, type Manifest } from './manifests.ts';
import { type OperatorProcess, startOperator } from './operator.ts';
import { createNamespace, installOperator, SPARE_PLACES, type TestContext } from './operator-bench.ts';
import { type SimulatedCloud, startSimulatedCloud } from './simulated-cloud.ts';
import { createSite, type Site } from './site.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A namespace, a space of the cloud, and kubectl. The object and cluster have the unique name `id`. */
export interface Desk extends Site<SimulatedCloud> {
  readonly id: string;
  readonly spaceID: string;
  kubectl(...args: readonly string[]): Promise<string>;
  /** The cluster's manifest, as a person would keep it in a file. */
  cluster(spec?: Fields, name?: string): Manifest;
  /** Applies the space, Secrets and a cluster with this spec. */
  begin(spec?: Fields, space?: Fields): Promise<void>;
  /** Runs `kubectl patch` on the DatabaseCluster's spec. */
  patch(spec: Fields, name?: string): Promise<void>;
}

/** On a real API server: one operator and one simulated cloud, each a separate process, for all tests of a file. */
export interface KubectlBench {
  readonly operator: OperatorProcess;
  readonly cloud: SimulatedCloud;
  readonly api: Api;
  /** `cloudFlags`: for a separate simulated cloud, if a test changes what a cloud's spaces share. Ends with the test. */
  desk(context: TestContext, cloudFlags?: readonly string[]): Promise<Desk>;
  /** Another namespace that the operator watches, such as one for the space. */
  platform(): Promise<string>;
  close(): Promise<void>;
}

/** `desks`: the maximum number of tests; `platforms`: how many of them ask for a second namespace. */
export async function startKubectlBench(desks: number, platforms = 0): Promise<KubectlBench> {
  const api = await openApi(adminKubeconfig());
  const kubeconfig = await installOperator(api);
  const prefix = `kc-${randomUUID().slice(0, 8)}`;
  const namespaces = Array.from({ length: desks + SPARE_PLACES }, (_, index) => `${prefix}-${index}`);
  const seconds = Array.from(
    { length: platforms === 0 ? 0 : platforms + SPARE_PLACES },
    (_, index) => `${prefix}-platform-${index}`,
  );
  const spaceIDs = namespaces.map((_, index) => `space-${index}`);
  const [operator, cloud] = await Promise.all([
    startOperator({ kubeconfig, namespaces: [...namespaces, ...seconds] }),
    startSimulatedCloud(spaceIDs),
  ]);
  const free = namespaces.map((namespace, index) => ({ namespace, id: `c${index}`, spaceID: spaceIDs[index] ?? '' }));
  return {
    operator,
    cloud,
    api,
    platform: async () => {
      const namespace = seconds.shift();
      if (namespace === undefined) throw new Error('The bench was started for fewer platforms');
      await createNamespace(api, namespace);
      return namespace;
    },
    desk: async ({ onTestFinished }, cloudFlags) => {
      const place = free.shift();
      if (place === undefined) throw new Error('The bench was started for fewer desks');
      const { namespace, id, spaceID } = place;
      await createNamespace(api, namespace);
      const own = cloudFlags === undefined ? undefined : await startSimulatedCloud([spaceID], cloudFlags);
      const desk = createDesk(api, { namespace, id, spaceID, cloud: own ?? cloud }, operator.logs);
      onTestFinished(async () => {
        await abandonAll(desk);
        await own?.close();
      });
      return desk;
    },
    close: async () => {
      await operator.stop();
      await cloud.close();
      await api.close();
    },
  };
}

export function createDesk(
  api: Api,
  place: { readonly namespace: string; readonly id: string; readonly spaceID: string; readonly cloud: SimulatedCloud },
  logs: () => string,
): Desk {
  const { namespace, id, spaceID, cloud } = place;
  const kubectl = (...args: readonly string[]) => mustKubectl([...args, `--namespace=${namespace}`]);
  const site = createSite(api, namespace, cloud, logs);
  const apply: Site['apply'] = async (...items) => {
    const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
    await mustKubectl(['apply', `--namespace=${namespace}`, '--filename=-'], { input: list });
  };
  const ofID = (spec: Fields = {}, name = id) => cluster(spec, {}, name);
  return {
    ...site,
    id,
    spaceID,
    kubectl,
    apply,
    cluster: ofID,
    begin: (spec, space) => apply(...cloud.manifests(spaceID, space), ofID(spec)),
    patch: async (spec, name = id) => {
      await kubectl('patch', 'databasecluster', name, '--type=merge', `--patch=${JSON.stringify({ spec })}`);
    },
    annotate: async (name, annotations) => {
      const pairs = Object.entries(annotations).map(([key, value]) => `${key}=${value}`);
      await kubectl('annotate', 'databasecluster', name, '--overwrite', ...pairs);
    },
    remove: async (kind, name) => void (await kubectl('delete', kind.toLowerCase(), name, '--wait=false')),
    get: (kind, name) => site.get(kind, named(kind, name, id)),
    until: (kind, expected, name, timeoutMs) => site.until(kind, expected, named(kind, name, id), timeoutMs),
    ready: (name = id) => site.ready(name),
    gone: (kind, name) => site.gone(kind, named(kind, name, id)),
    secret: (name = `${id}-admin`) => site.secret(name),
  };
}

const named = (kind: string, name: string | undefined, id: string) =>
  name ?? (kind === 'DatabaseCluster' ? id : undefined);

/** Keeps objects of finished tests from occupying the operator. */
async function abandonAll(desk: Desk): Promise<void> {
  const names = await desk.names('DatabaseCluster');
  if (names.length > 0) {
    await desk.kubectl('annotate', 'databaseclusters', '--all', '--overwrite', 'mooring.dev/abandon=true');
    await desk.kubectl('delete', 'databaseclusters', '--all', '--wait=false');
  }
  await desk.kubectl('delete', 'databasespaces', '--all', '--wait=false');
  const isEmpty = async () => (await desk.names('DatabaseCluster')).length === 0;
  await waitUntil(isEmpty, { what: `${desk.namespace} is empty` });
}
