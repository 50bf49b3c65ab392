import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import type { ControlPlane } from './control-plane.ts';
import { Guard } from './guard.ts';
import { readCluster, runKubectl, serviceAccountKubeconfig } from './kubeconfig.ts';

/**
 * A cluster that the user named with a kubeconfig: nothing is started or stopped. Objects are created in it, and only the
 * file's current context is used. Throws if the file is missing or its API server does not answer.
 */
export async function useExisting(kubeconfigPath: string, kubectl: string): Promise<ControlPlane> {
  const kubeconfig = resolve(kubeconfigPath);
  if (!existsSync(kubeconfig)) throw new Error(`Cannot use kubeconfig "${kubeconfig}": no such file`);
  const guard = new Guard(tmpdir());
  const access = { kubectl, kubeconfig, directory: guard.directory };
  try {
    const { server } = await readCluster(access);
    await runKubectl(access, ['get', '--raw', '/readyz']);
    const refuse = async () => {
      throw new Error(`Cannot stop or start the API server ${server}: it belongs to kubeconfig "${kubeconfig}"`);
    };
    return {
      ...access,
      origin: `the cluster of kubeconfig ${kubeconfig}`,
      server,
      pids: () => guard.pids(),
      kubeconfigFor: (account) => serviceAccountKubeconfig(access, account),
      killApiServer: refuse,
      restartApiServer: refuse,
      stop: () => guard.stop(),
    };
  } catch (error) {
    await guard.stop();
    throw error;
  }
}
