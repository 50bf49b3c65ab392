import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../src/base/clock.ts';
import { GROUP } from '../../src/base/group.ts';
import { createUndiciTransport } from '../../src/http/undici-transport.ts';
import { DATABASE_CLUSTERS } from '../../src/kinds/databasecluster/resource.ts';
import { definitions } from '../../src/kinds/definitions.ts';
import type { KubeApi } from '../../src/kube/api.ts';
import { createKubeClient } from '../../src/kube/client.ts';
import { loadKubeConnection } from '../../src/kube/connection/config.ts';
import { ownRules } from '../../src/rbac.ts';
import type { ControlPlane, ServiceAccount } from '../../tools/control-plane/control-plane.ts';
import { type RunResult, run } from '../../tools/control-plane/run.ts';
import { startControlPlane } from '../../tools/control-plane/start.ts';
import { clusterManifest, NAMESPACE, spaceManifests, spaceNames, VERIFY_INTERVAL_S } from './manifests.ts';
import { type KubeRequests, readKubeRequests } from './measure/kube-requests.ts';
import { Tracker } from './measure/tracker.ts';
import type { Operator } from './operator.ts';
import { OperatorProcess } from './operator-process.ts';
import { type OtherCommand, OtherOperator } from './other-operator.ts';
import { podEnvironment } from './pod.ts';
import { SimulatedCloud } from './simulated-cloud.ts';

export interface SettingOptions {
  /** Such as 3s, or 3s-12s: times drawn evenly, always in the same order. */
  readonly provisionTime: string;
  /** The delay of each answer of the cloud and its servers, such as 50ms. Default: none. */
  readonly latency?: string;
  readonly pollInterval: string;
  /** Default: the default of a DatabaseSpace. */
  readonly verifyIntervalS?: number;
  /** Default: one. */
  readonly spaces?: number;
  /** The limit of the management API for all spaces together. Default: none. */
  readonly requestsPerSecond?: number;
  /** Whether the operator may share spaces between replicas. Default: false, as with the chart's own values. */
  readonly sharesSpaces?: boolean;
  /** Whether the API server keeps an audit log. Default: false, as that takes time. */
  readonly audit?: boolean;
  /** The operator to measure instead of Mooring. */
  readonly other?: OtherCommand | undefined;
  readonly log: (line: string) => void;
  readonly signal: AbortSignal;
}

/** A control plane, a simulated cloud and a space for it, all in processes of their own. The scenario starts the operator. */
export interface Setting {
  readonly cloud: SimulatedCloud;
  readonly controlPlane: ControlPlane;
  /** The name of the operator's user at the API server. */
  readonly username: string;
  /** The ids of the spaces, which are the names of their DatabaseSpaces. */
  readonly spaces: readonly string[];
  /** The API as administrator. */
  readonly api: KubeApi;
  readonly tracker: Tracker;
  readonly signal: AbortSignal;
  /** The running operator. Throws if there is none. */
  operator(): Operator;
  /** `flags`: in addition to the usual ones. `operator` returns the operator that was started last. */
  startOperator(flags?: readonly string[]): Promise<Operator>;
  kubeRequests(): Promise<KubeRequests>;
  kubectl(args: readonly string[], input?: string): Promise<RunResult>;
  /** Creates DatabaseClusters, some at a time, in the space or spread over all spaces. */
  createClusters(names: readonly string[], space?: string): Promise<void>;
  /** The last lines of the operator, to explain a failure. */
  lastWords(): readonly string[];
  stop(): Promise<void>;
}

const CONNECTIONS = 16;
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export async function startSetting(options: SettingOptions): Promise<Setting> {
  const { signal, log, audit = false } = options;
  const toEnd: (() => Promise<unknown>)[] = [];
  const stop = async () => {
    for (const end of toEnd.splice(0).reverse()) await end();
  };
  try {
    // Always a control plane of its own, even if tests were lent a cluster: others would be measured, too.
    const env = { ...process.env, MOORING_TEST_KUBECONFIG: '' };
    const controlPlane = await startControlPlane({ log, signal, env, audit });
    toEnd.push(() => controlPlane.stop());
    const spaces = spaceNames(options.spaces ?? 1);
    const { pollInterval, verifyIntervalS = VERIFY_INTERVAL_S } = options;
    const cloud = await SimulatedCloud.start({ ...options, spaces, folder: controlPlane.directory }, signal);
    toEnd.push(() => cloud.end());
    const kubectl = kubectlOf(controlPlane, signal);
    await install(kubectl, spaceManifests(cloud.baseURL, { pollInterval, verifyIntervalS }, spaces));
    if (options.sharesSpaces) await must(kubectl(['apply', '--filename=-'], JSON.stringify(replicaRights())));
    const start = await starter(options, controlPlane, kubectl);
    const { api, requests, close } = await connect(controlPlane);
    toEnd.push(close);
    const tracker = new Tracker(api, NAMESPACE);
    toEnd.push(async () => tracker.stop());

    let operator: Operator | undefined;
    return {
      cloud,
      controlPlane,
      username: `system:serviceaccount:${ACCOUNT.namespace}:${accountOf(options.other).name}`,
      spaces,
      api,
      tracker,
      signal,
      kubectl,
      operator() {
        if (operator === undefined) throw new Error('The operator was not started');
        operator.mustRun();
        return operator;
      },
      async startOperator(flags = []) {
        const started = await start(flags);
        toEnd.push(() => started.end());
        operator = started;
        return started;
      },
      kubeRequests: requests,
      createClusters: (names, space) =>
        eachOf(names, async (name, index) => {
          const manifest = clusterManifest(name, space ?? spaces[index % spaces.length]);
          await api.create(DATABASE_CLUSTERS, NAMESPACE, manifest, signal);
        }),
      lastWords: () => operator?.lastWords ?? [],
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Returns a function that starts the operator to measure. */
async function starter(
  { other, signal }: SettingOptions,
  controlPlane: ControlPlane,
  kubectl: Kubectl,
): Promise<(flags: readonly string[]) => Promise<Operator>> {
  if (other !== undefined) {
    // The rights that it needs are not known.
    const binding = `--serviceaccount=${OTHER_ACCOUNT.namespace}:${OTHER_ACCOUNT.name}`;
    await must(kubectl(['create', 'serviceaccount', OTHER_ACCOUNT.name, `--namespace=${OTHER_ACCOUNT.namespace}`]));
    await must(kubectl(['create', 'clusterrolebinding', 'other-operator', '--clusterrole=cluster-admin', binding]));
  }
  const kubeconfig = await controlPlane.kubeconfigFor(accountOf(other));
  // The namespace of the Lease, as in a pod.
  await kubectl(['config', 'set-context', '--current', '--namespace=mooring-system', `--kubeconfig=${kubeconfig}`]);
  if (other !== undefined) return () => OtherOperator.start(other, kubeconfig);
  const env = await podEnvironment(kubeconfig, controlPlane.directory);
  return (flags) => OperatorProcess.start(env, signal, flags);
}

const ACCOUNT: ServiceAccount = { namespace: 'mooring-system', name: 'mooring' };
const OTHER_ACCOUNT: ServiceAccount = { namespace: 'mooring-system', name: 'other-operator' };
const accountOf = (other: OtherCommand | undefined) => (other === undefined ? ACCOUNT : OTHER_ACCOUNT);

/** Works on all items, some at a time. */
export async function eachOf<T>(items: readonly T[], work: (item: T, index: number) => Promise<void>): Promise<void> {
  const queue = items.entries();
  const worker = async () => {
    for (const [index, item] of queue) await work(item, index);
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, worker));
}

/** The rights that the chart adds for `--shard-by-space`. */
function replicaRights(): object {
  const metadata = { name: 'mooring-replicas', namespace: ACCOUNT.namespace };
  const apiGroup = 'rbac.authorization.k8s.io';
  const rules = ownRules.map(({ why: _, when: __, ...rule }) => rule);
  const subjects = [{ kind: 'ServiceAccount', ...ACCOUNT }];
  const items = [
    { apiVersion: `${apiGroup}/v1`, kind: 'Role', metadata, rules },
    {
      apiVersion: `${apiGroup}/v1`,
      kind: 'RoleBinding',
      metadata,
      roleRef: { apiGroup, kind: 'Role', name: metadata.name },
      subjects,
    },
  ];
  return { apiVersion: 'v1', kind: 'List', items };
}

type Kubectl = Setting['kubectl'];

function kubectlOf({ kubectl, kubeconfig, directory }: ControlPlane, signal: AbortSignal): Kubectl {
  const env = { ...process.env, KUBECONFIG: kubeconfig, KUBECACHEDIR: `${directory}/kubectl-cache` };
  return (args, input) => run(kubectl, args, { env, signal, ...(input === undefined ? {} : { input }) });
}

/** Throws an Error with kubectl's message if it failed. */
async function must(running: Promise<RunResult>): Promise<void> {
  const { code, stderr } = await running;
  if (code !== 0) throw new Error(`kubectl failed: ${stderr.trim()}`);
}

async function install(kubectl: Kubectl, manifests: string): Promise<void> {
  const apply = (input: string) => must(kubectl(['apply', '--server-side', '--filename=-'], input));
  for (const { plural } of definitions) await apply(readFileSync(`${ROOT}crds/${GROUP}_${plural}.yaml`, 'utf8'));
  const names = definitions.map(({ plural }) => `${plural}.${GROUP}`);
  await must(kubectl(['wait', '--for=condition=Established', 'crd', ...names]));
  for (const name of ['namespace', 'rbac']) await apply(readFileSync(`${ROOT}deploy/base/${name}.yaml`, 'utf8'));
  await apply(manifests);
}

async function connect({ kubeconfig }: ControlPlane) {
  const connection = await loadKubeConnection(systemClock, kubeconfig);
  const transport = createUndiciTransport({ ...connection.tls, connections: CONNECTIONS + 2 });
  const api = createKubeClient({
    server: connection.server,
    transport,
    authorize: connection.authorize,
    userAgent: 'mooring-bench',
  });
  const requests = async () =>
    readKubeRequests(transport, connection.server.replace(/\/$/, ''), await connection.authorize(false));
  return { api, requests, close: () => transport.close() };
}
