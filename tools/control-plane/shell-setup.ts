import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ControlPlane } from './control-plane.ts';

/** The folder with this checkout's `kubectl mooring` and `mooring`. */
const BIN = fileURLToPath(new URL('../../bin', import.meta.url));

/** Makes kubectl use this cluster and keep its cache in the cluster's folder, so that nothing is left in the user's home. */
export function kubectlVariables({ kubeconfig, directory }: ControlPlane) {
  return { KUBECONFIG: kubeconfig, KUBECACHEDIR: join(directory, 'kubectl-cache') };
}

/**
 * The line for a shell that makes `kubectl` use this kubectl and this cluster, and `kubectl mooring` this checkout.
 *
 * @param path The PATH of such a shell, as far as it is known.
 */
export function shellSetup(controlPlane: ControlPlane, path = ''): string {
  const present = path.split(delimiter);
  const missing = [BIN, dirname(controlPlane.kubectl)].filter((folder) => !present.includes(folder)).map(quoted);
  const settings = Object.entries(kubectlVariables(controlPlane)).map(([name, value]) => `${name}=${quoted(value)}`);
  return `export ${[...settings, ...(missing.length === 0 ? [] : [`PATH=${missing.join(':')}:$PATH`])].join(' ')}`;
}

function quoted(text: string): string {
  return /^[\w./:@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
