import { fileURLToPath } from 'node:url';
import type { ControlPlane } from '../../../tools/control-plane/control-plane.ts';
import { run } from '../../../tools/control-plane/run.ts';
import { kubectlVariables } from '../../../tools/control-plane/shell-setup.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface KubectlOptions {
  /** Its standard input, for `--filename=-`. */
  readonly input?: string;
  readonly signal?: AbortSignal;
}

/** Runs kubectl against the demo's cluster. Resolves to what it printed; throws what it complained about. */
export type Kubectl = (args: readonly string[], options?: KubectlOptions) => Promise<string>;

const KUBECTL_TIMEOUT_MS = 60_000;

export function createKubectl(controlPlane: ControlPlane, env: Environment): Kubectl {
  return async (args, options = {}) => {
    const { code, stdout, stderr } = await run(controlPlane.kubectl, args, {
      env: { ...env, ...kubectlVariables(controlPlane) },
      timeoutMs: KUBECTL_TIMEOUT_MS,
      ...options,
    });
    if (code !== 0) throw new Error(`kubectl ${args[0]} failed: ${stderr.trim()}`);
    return stdout;
  };
}

/** Returns the path of a file of this project, such as `deploy/base/rbac.yaml`. */
export function fileOfProject(path: string): string {
  return fileURLToPath(new URL(`../../../${path}`, import.meta.url));
}
