import type { ControlPlane } from '../../tools/control-plane/control-plane.ts';
import { buildTree, type Tree } from '../image/tree.ts';
import { type Api, openApi } from '../kube/api.ts';
import type { Pod } from './pod.ts';
import { type PodProcess, startPodProcess } from './pod-process.ts';

/**
 * Stands in for kubelet and kube-proxy on a control plane without nodes: pods are bound, run as processes, probed, and ended
 * when they are deleted. All pods share the machine's network, so each port of a pod becomes a free port of the machine, and
 * names of Services lead to the pod that is ready.
 */
export interface TestNode {
  /** The processes of all pods, in the order of their starts. */
  readonly processes: readonly PodProcess[];
  stop(): Promise<void>;
}

const PERIOD_MS = 100;
const PODS = '/api/v1/pods';

/** `folder`: an empty folder for the image's files. */
export async function startNode(controlPlane: ControlPlane, folder: string): Promise<TestNode> {
  const tree = buildTree(folder);
  const api = await openApi(controlPlane.kubeconfig);
  const processes: PodProcess[] = [];
  const running = new Map<string, PodProcess>();
  const end = new AbortController();
  const failures: unknown[] = [];
  const loop = (async () => {
    while (!end.signal.aborted) {
      await Promise.all((await listPods(api)).map((pod) => keep(pod).catch((error) => failures.push(error))));
      await new Promise((resolve) => setTimeout(resolve, PERIOD_MS));
    }
  })();

  async function keep(pod: Pod): Promise<void> {
    const { uid, deletionTimestamp } = pod.metadata;
    const process = running.get(uid);
    if (pod.spec.nodeName === undefined) return bind(api, pod);
    if (process === undefined && deletionTimestamp === undefined) await start(pod, tree);
    else if (process === undefined) await remove(api, pod);
    else if (deletionTimestamp !== undefined) {
      running.delete(uid);
      await process.end(pod.spec.terminationGracePeriodSeconds);
      await remove(api, pod);
    } else await tell(api, pod, await process.status());
  }

  async function start(pod: Pod, image: Tree): Promise<void> {
    const targets = new Map([...running.values()].flatMap((process) => [...process.targets()]));
    const process = await startPodProcess({ api, pod, image, server: controlPlane.server, folder, targets });
    running.set(pod.metadata.uid, process);
    processes.push(process);
  }

  return {
    processes,
    stop: async () => {
      end.abort();
      await loop;
      await Promise.all([...running.values()].map((process) => process.end(10)));
      await api.close();
      if (failures.length > 0)
        throw new AggregateError(failures, `The node failed: ${failures.map(String).join('; ')}`);
    },
  };
}

async function listPods(api: Api): Promise<readonly Pod[]> {
  const { body } = await api.send('GET', PODS);
  return (body as { items: readonly Pod[] }).items;
}

async function bind(api: Api, { metadata: { namespace, name } }: Pod): Promise<void> {
  const target = { apiVersion: 'v1', kind: 'Node', name: 'test' };
  const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name }, target };
  await api.send('POST', `${pathOf(namespace, name)}/binding`, binding);
}

async function remove(api: Api, { metadata: { namespace, name, uid } }: Pod): Promise<void> {
  await api.send('DELETE', pathOf(namespace, name), { gracePeriodSeconds: 0, preconditions: { uid } });
}

/** Writes only what differs, like the kubelet. */
async function tell(api: Api, { metadata: { namespace, name }, status: before }: Pod, status: object): Promise<void> {
  const same = Object.entries(status).every(
    ([field, value]) => JSON.stringify(wordsOf(before?.[field])) === JSON.stringify(wordsOf(value)),
  );
  if (same) return;
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name }, status };
  await api.send('PATCH', `${pathOf(namespace, name)}/status?fieldManager=node&force=true`, pod);
}

/** Returns the types and statuses of conditions, or a plain value. */
function wordsOf(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  return value.map(({ type, status, name, ready }) => [type, status, name, ready]);
}

function pathOf(namespace: string, name: string): string {
  return `/api/v1/namespaces/${namespace}/pods/${name}`;
}
