import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ControlPlane } from '../../../tools/control-plane/control-plane.ts';
import { run } from '../../../tools/control-plane/run.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface KubectlOptions {
  /** Its standard input, for `--filename=-`. */
  readonly input?: string;
  readonly signal?: AbortSignal;
}

/** kubectl against the demo's cluster. Resolves to what it printed; throws what it complained of. */
export type Kubectl = (args: readonly string[], options?: KubectlOptions) => Promise<string>;

const KUBECTL_TIMEOUT_MS = 60_000;

export function createKubectl(controlPlane: ControlPlane, env: Environment): Kubectl {
  return async (args, options = {}) => {
    const { code, stdout, stderr } = await run(controlPlane.kubectl, args, {
      env: { ...env, ...variables(controlPlane) },
      timeoutMs: KUBECTL_TIMEOUT_MS,
      ...options,
    });
    if (code !== 0) throw new Error(`kubectl ${args[0]} failed: ${stderr.trim()}`);
    return stdout;
  };
}

/** kubectl's cache is the demo's too: nothing is left in the user's home. */
function variables({ kubeconfig, directory }: ControlPlane) {
  return { KUBECONFIG: kubeconfig, KUBECACHEDIR: join(directory, 'kubectl-cache') };
}

/** The line for a shell that makes `kubectl` mean this one and this cluster, and `kubectl mooring` this checkout. */
export function shellSetup(controlPlane: ControlPlane, env: Environment): string {
  const present = (env['PATH'] ?? '').split(delimiter);
  const folders = [dirname(fileOfProject('bin/kubectl-mooring')), dirname(controlPlane.kubectl)];
  const missing = folders.filter((folder) => !present.includes(folder)).map(quoted);
  const settings = Object.entries(variables(controlPlane)).map(([name, value]) => `${name}=${quoted(value)}`);
  return `export ${[...settings, ...(missing.length === 0 ? [] : [`PATH=${missing.join(':')}:$PATH`])].join(' ')}`;
}

function quoted(text: string): string {
  return /^[\w./:@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The path of a file of this project, such as `deploy/base/rbac.yaml`. */
export function fileOfProject(path: string): string {
  return fileURLToPath(new URL(`../../../${path}`, import.meta.url));
}
