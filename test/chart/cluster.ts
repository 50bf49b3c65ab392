import { GROUP } from '../../src/base/group.ts';
import { definitions } from '../../src/kinds/definitions.ts';
import { run } from '../../tools/control-plane/run.ts';
import { shellSetup } from '../../tools/control-plane/shell-setup.ts';
import { type Api, openApi } from '../kube/api.ts';
import { waitUntil } from '../support/control-plane.ts';
import { createHelm, mustHelm } from '../support/helm.ts';
import { ROOT } from '../support/readme.ts';
import type { ServedCloud } from '../support/served-cloud.ts';
import { startNodeCluster } from './node-cluster.ts';
import type { PodProcess } from './pod-process.ts';

/** Our resources, for kubectl. */
export const KINDS = definitions.map(({ plural }) => `${plural}.${GROUP}`);

/** A control plane of its own with a stand-in for a node. The chart installs objects that a cluster can have only once. */
export interface ChartCluster {
  /** Removed at the end. */
  readonly folder: string;
  /** The control plane's own kubeconfig. */
  readonly directory: string;
  readonly api: Api;
  /** Runs a command that must succeed. Resolves to its output. */
  kubectl(...args: readonly string[]): Promise<string>;
  /** Runs a shell command as in a terminal in the checkout. It must succeed, too. */
  shell(commands: string): Promise<string>;
  helm(args: readonly string[], values?: unknown): Promise<string>;
  apply(text: string, namespace: string): Promise<void>;
  makeNamespace(name: string, ...labels: readonly string[]): Promise<string>;
  list(namespace: string, ...kinds: readonly string[]): Promise<readonly Listed[]>;
  /** Waits until every object of ours there is Ready. */
  allReady(namespace: string): Promise<void>;
  /** Returns the resource version of each object of ours, and of each Secret. */
  versions(namespace: string): Promise<ReadonlyMap<string, string>>;
  /** All processes of pods, in the order of their starts. */
  processes(): readonly PodProcess[];
  operators(): readonly PodProcess[];
  stop(): Promise<void>;
}

export interface Listed {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly uid: string; readonly resourceVersion: string };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message: string }[];
  };
}

export async function startChartCluster(): Promise<ChartCluster> {
  const helm = await createHelm();
  const cluster = await startNodeCluster('chart', { audit: true });
  const { controlPlane, node, kubectl, folder } = cluster;
  const { kubeconfig, directory } = controlPlane;
  const api = await openApi(kubeconfig);
  const operators = () =>
    node.processes.filter(({ pod }) => pod.metadata.labels?.['app.kubernetes.io/component'] === 'operator');
  const list = async (namespace: string, ...kinds: readonly string[]) => {
    const text = await kubectl('get', kinds.join(','), `--namespace=${namespace}`, '--output=json');
    return (JSON.parse(text) as { readonly items: readonly Listed[] }).items;
  };
  return {
    folder,
    directory,
    api,
    kubectl,
    operators,
    list,
    processes: () => node.processes,
    shell: async (commands) => {
      const { code, stdout, stderr } = await run('sh', ['-e', '-c', `${shellSetup(controlPlane)}\n${commands}`], {
        cwd: ROOT,
      });
      if (code !== 0) throw new Error(`${commands} failed: ${stderr}`);
      return stdout;
    },
    helm: (args, values) => mustHelm(helm, args, { kubeconfig, values }),
    apply: (text, namespace) => cluster.apply(text, `--namespace=${namespace}`),
    makeNamespace: async (name, ...labels) => {
      await kubectl('create', 'namespace', name);
      if (labels.length > 0) await kubectl('label', 'namespace', name, ...labels);
      return name;
    },
    allReady: async (namespace) => {
      let waiting: readonly string[] = [];
      const isReady = async () => {
        const objects = await list(namespace, ...KINDS);
        waiting = objects.flatMap((object) => {
          const ready = object.status?.conditions?.find(({ type }) => type === 'Ready');
          return ready?.status === 'True' ? [] : [`${object.kind} ${object.metadata.name}: ${ready?.message}`];
        });
        return objects.length > 0 && waiting.length === 0;
      };
      await waitUntil(isReady, { what: 'all are Ready', timeoutMs: 60_000 }).catch((error: unknown) => {
        throw new Error(`${String(error)}\n${waiting.join('\n')}\n${operators().at(-1)?.logs().slice(-5_000)}`);
      });
    },
    versions: async (namespace) => {
      const objects = await list(namespace, 'secrets', ...KINDS);
      return new Map(
        objects.map(({ kind, metadata: { name, uid, resourceVersion } }) => [
          `${kind}/${name}`,
          `${uid} ${resourceVersion}`,
        ]),
      );
    },
    stop: async () => {
      try {
        await api.close();
      } finally {
        await cluster.stop();
      }
    },
  };
}

/** Waits until a new operator leads, has looked at all these objects, and has nothing more to do. */
export async function lookedAtAll(
  operator: PodProcess | undefined,
  versions: ReadonlyMap<string, string>,
): Promise<void> {
  const objects = [...versions.keys()].filter((key) => !key.startsWith('Secret/')).length;
  const isDone = async () => {
    const text = await (await fetch(`http://${operator?.targets().get('8080')}/metrics`)).text();
    const sum = (name: string) =>
      [...text.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'gm'))]
        .map(([, value]) => Number(value))
        .reduce((total, value) => total + value, 0);
    const passes = sum('controller_runtime_reconcile_total');
    return sum('mooring_leader') === 1 && passes >= objects && sum('workqueue_depth') === 0;
  };
  await waitUntil(isDone, { what: 'the operator has looked at everything' });
}

const READS =
  /^(exchangeToken|get|list|listVersions|signIn|version|health|closeTransaction|openTransaction)$|^(list|get)[A-Z]/;

/** Returns how often each operation that changes something was requested from cloud and servers. */
export function changes(cloud: ServedCloud): Readonly<Record<string, number>> {
  const { byOperation } = cloud.simulator.inspect().counters;
  return Object.fromEntries(Object.entries(byOperation).filter(([operation]) => !READS.test(operation)));
}
