import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ControlPlane, Log } from './control-plane.ts';
import { Guard } from './guard.ts';
import { readCluster, runKubectl, serviceAccountKubeconfig } from './kubeconfig.ts';
import { until } from './ready.ts';
import { findOnPath, run } from './run.ts';
import { lastLines } from './tail.ts';

export interface KindOptions {
  /** Paths of the two commands. */
  readonly docker: string;
  readonly kind: string;
  readonly env: NodeJS.ProcessEnv;
  readonly log: Log;
  readonly signal?: AbortSignal | undefined;
}

const RESTART_TIMEOUT_MS = 120_000;

/** The path of docker, if it is installed and its engine answers. */
export async function findDocker(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const docker = findOnPath('docker', env['PATH']);
  if (docker === undefined) return undefined;
  const { code } = await run(docker, ['info', '--format={{.ServerVersion}}'], { env, timeoutMs: 5_000 });
  return code === 0 ? docker : undefined;
}

/** A one-node cluster in Docker with its own kubeconfig file; deleted at `stop` or when this process dies. */
export async function startKind({ docker, kind, env, log, signal }: KindOptions): Promise<ControlPlane> {
  const name = `mooring-${randomBytes(4).toString('hex')}`;
  const node = `${name}-control-plane`;
  const guard = new Guard(tmpdir());
  const { directory } = guard;
  const kubeconfig = join(directory, 'admin.kubeconfig');
  const cluster = ['cluster', `--name=${name}`, `--kubeconfig=${kubeconfig}`];
  const stop = () => void guard.stop();
  signal?.addEventListener('abort', stop);
  try {
    guard.atEnd({ command: kind, args: ['delete', ...cluster], env });
    log('Creating a cluster with kind (about 1 min, the first time longer)');
    const create = await guard.start({ name: 'kind', command: kind, args: ['create', ...cluster, '--wait=120s'], env });
    const { code } = await create.exited;
    signal?.throwIfAborted();
    if (code !== 0) throw new Error(`Cannot create a cluster with kind. The last lines:\n${lastLines(create.log)}`);
    const kubectl = findOnPath('kubectl', env['PATH']) ?? (await kubectlOfNode(docker, node, directory));
    const access = { kubectl, kubeconfig, directory };
    return {
      ...access,
      origin: `kind cluster ${name} in Docker`,
      server: (await readCluster(access)).server,
      pids: () => guard.pids(),
      kubeconfigFor: (account) => serviceAccountKubeconfig(access, account),
      killApiServer: async (killSignal = 'SIGKILL') => {
        await mustRun(docker, ['exec', node, 'pkill', `-${killSignal}`, '-x', 'kube-apiserver']);
      },
      // The node's kubelet restarts it by itself.
      restartApiServer: () =>
        until(() => isReady(access), { what: `API server of ${node} not ready`, timeoutMs: RESTART_TIMEOUT_MS }),
      stop: () => guard.stop(),
    };
  } catch (error) {
    await guard.stop();
    throw error;
  } finally {
    signal?.removeEventListener('abort', stop);
  }
}

/** Copies kubectl from the node's image, which runs here only on Linux. */
async function kubectlOfNode(docker: string, node: string, directory: string): Promise<string> {
  if (process.platform !== 'linux') throw new Error('Cannot use kind: kubectl is not on PATH. Install kubectl');
  const path = join(directory, 'kubectl');
  await mustRun(docker, ['cp', `${node}:/usr/bin/kubectl`, path]);
  return path;
}

async function isReady(access: { kubectl: string; kubeconfig: string; directory: string }): Promise<boolean> {
  try {
    return (await runKubectl(access, ['get', '--raw', '/readyz'])) === 'ok';
  } catch {
    return false;
  }
}

async function mustRun(command: string, args: readonly string[]): Promise<void> {
  const { code, stderr } = await run(command, args);
  if (code !== 0) throw new Error(`${command} ${args[0]} failed: ${stderr.trim()}`);
}
