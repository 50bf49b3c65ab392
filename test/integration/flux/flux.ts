import { mkdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ControlPlane } from '../../../tools/control-plane/control-plane.ts';
import { freePort } from '../../../tools/control-plane/free-port.ts';
import { Guard, type GuardedProcess } from '../../../tools/control-plane/guard.ts';
import { goModule } from '../../../tools/go-module.ts';
import type { TestNode } from '../../chart/node.ts';
import { startNodeCluster } from '../../chart/node-cluster.ts';
import { waitUntil } from '../../support/control-plane.ts';
import { FOREIGN_KINDS } from '../../support/foreign-kinds.ts';
import { builtController, CONTROLLERS, type ControllerName } from './controllers.ts';
import { type GitServer, startGitServer } from './git-server.ts';

/** Flux on a control plane of its own, with a stand-in for a node, and Git repositories. */
export interface Flux {
  readonly controlPlane: ControlPlane;
  readonly node: TestNode;
  readonly git: GitServer;
  /** Runs kubectl, which must succeed. */
  kubectl(...args: readonly string[]): Promise<string>;
  apply(text: string): Promise<void>;
  /** Has Flux look at one of its objects now; resolves when it has. */
  reconcile(kind: FluxKind, name: string): Promise<void>;
  /** Has Flux fetch a repository; resolves when it has applied this commit and the Kustomization is ready. */
  synced(kustomization: string, repository: string, commit: string): Promise<void>;
  /** The same for a commit that Flux must find wrong; resolves with Flux's message. */
  refused(kustomization: string, repository: string, commit: string): Promise<string>;
  logs(controller: ControllerName): string;
  stop(): Promise<void>;
}

export type FluxKind = 'gitrepository' | 'kustomization' | 'helmrelease';

interface FluxStatus {
  readonly lastHandledReconcileAt?: string;
  readonly lastAppliedRevision?: string;
  readonly lastAttemptedRevision?: string;
  readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message: string }[];
}

export const NAMESPACE = 'flux-system';
/** Flux leaves what this field manager has set. */
export const MANAGER = 'flux-client-side-apply';
const WAIT_MS = 120_000;
const ACCOUNT = { namespace: NAMESPACE, name: 'flux' };

/** Builds what is missing, which takes a while, and starts everything. */
export async function startFlux(): Promise<Flux> {
  const log = (line: string) => console.log(line);
  const binaries = new Map<ControllerName, string>();
  for (const name of CONTROLLERS) binaries.set(name, await builtController(name, { log }));
  const cluster = await startNodeCluster('flux', { audit: true });
  const { folder, controlPlane, kubectl } = cluster;
  for (const name of ['git', 'artifacts']) mkdirSync(join(folder, name));
  const guard = new Guard(tmpdir());
  const git = await startGitServer(join(folder, 'git'));

  await kubectl('create', 'namespace', NAMESPACE);
  await kubectl('create', 'serviceaccount', ACCOUNT.name, `--namespace=${NAMESPACE}`);
  // As Flux installs itself.
  const subject = `--serviceaccount=${NAMESPACE}:${ACCOUNT.name}`;
  await kubectl('create', 'clusterrolebinding', 'flux', '--clusterrole=cluster-admin', subject);
  for (const kind of ['GitRepository', 'Kustomization', 'HelmRelease'] as const) {
    const definitions = join(await goModule(FOREIGN_KINDS[kind]), 'config/crd/bases');
    await kubectl('apply', '--server-side', `--filename=${definitions}`);
  }
  const kubeconfig = await controlPlane.kubeconfigFor(ACCOUNT);
  const storage = `127.0.0.1:${await freePort()}`;
  const flags: Readonly<Record<ControllerName, readonly string[]>> = {
    'source-controller': [
      `--storage-path=${join(folder, 'artifacts')}`,
      `--storage-addr=${storage}`,
      `--storage-adv-addr=${storage}`,
      '--requeue-dependency=2s',
    ],
    'kustomize-controller': ['--requeue-dependency=2s'],
    'helm-controller': ['--requeue-dependency=2s'],
  };
  const processes = new Map<ControllerName, GuardedProcess>();
  for (const [name, command] of binaries) {
    const process = await guard.start({
      name,
      command,
      args: ['--watch-all-namespaces', '--metrics-addr=0', '--health-addr=0', ...flags[name]],
      env: { PATH: globalThis.process.env['PATH'], HOME: folder, KUBECONFIG: kubeconfig, RUNTIME_NAMESPACE: NAMESPACE },
    });
    processes.set(name, process);
  }

  const inFlux = `--namespace=${NAMESPACE}`;
  const statusOf = async (kind: FluxKind, name: string) => {
    const { status } = JSON.parse(await kubectl('get', kind, name, inFlux, '--output=json'));
    return (status ?? {}) as FluxStatus;
  };
  let calls = 0;
  const reconcile = async (kind: FluxKind, name: string) => {
    const call = `call-${calls++}`;
    const annotation = `reconcile.fluxcd.io/requestedAt=${call}`;
    await kubectl('annotate', kind, name, inFlux, '--overwrite', `--field-manager=${MANAGER}`, annotation);
    const isDone = async () => (await statusOf(kind, name)).lastHandledReconcileAt === call;
    await waitUntil(isDone, { what: `Flux has looked at ${kind} ${name}`, timeoutMs: WAIT_MS });
  };
  const until = async (name: string, repository: string, status: string, revision: (of: FluxStatus) => boolean) => {
    await reconcile('gitrepository', repository);
    let last: FluxStatus = {};
    const found = async () => {
      last = await statusOf('kustomization', name);
      const ready = last.conditions?.find(({ type }) => type === 'Ready');
      return revision(last) && ready?.status === status ? ready.message : undefined;
    };
    return waitUntil(found, { what: `${name} is Ready=${status}`, timeoutMs: WAIT_MS }).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${JSON.stringify(last, undefined, 2)}`);
    });
  };

  return {
    controlPlane,
    node: cluster.node,
    git,
    kubectl,
    reconcile,
    synced: async (name, repository, commit) =>
      void (await until(name, repository, 'True', (of) => of.lastAppliedRevision?.endsWith(commit) === true)),
    refused: (name, repository, commit) =>
      until(name, repository, 'False', (of) => of.lastAttemptedRevision?.endsWith(commit) === true),
    apply: (text) => cluster.apply(text),
    logs: (name) => readFileSync(processes.get(name)?.log ?? '', 'utf8'),
    stop: async () => {
      try {
        await guard.stop();
        await git.close();
      } finally {
        await cluster.stop();
      }
    },
  };
}
