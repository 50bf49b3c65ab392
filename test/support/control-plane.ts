import { join } from 'node:path';
import { inject } from 'vitest';
import type { ServiceAccount } from '../../tools/control-plane/control-plane.ts';
import { serviceAccountKubeconfig } from '../../tools/control-plane/kubeconfig.ts';
import { until } from '../../tools/control-plane/ready.ts';
import { type RunResult, run } from '../../tools/control-plane/run.ts';
import { TEST_LABEL } from './control-plane-setup.ts';

export interface KubectlOptions {
  /** Its standard input, for `-f -`. */
  readonly input?: string;
  /** Default: that of the shared control plane's administrator. */
  readonly kubeconfig?: string;
}

/** Path of the administrator's kubeconfig for the shared control plane. */
export function adminKubeconfig(): string {
  return inject('controlPlane').kubeconfig;
}

/** Runs kubectl to its end; a failure is a result, not an exception. */
export function kubectl(args: readonly string[], options: KubectlOptions = {}): Promise<RunResult> {
  const { kubectl: command, kubeconfig: admin, directory } = inject('controlPlane');
  const { kubeconfig = admin, input } = options;
  const env = { ...process.env, KUBECONFIG: kubeconfig, KUBECACHEDIR: join(directory, 'kubectl-cache') };
  return run(command, args, { env, ...(input === undefined ? {} : { input }) });
}

/** Runs kubectl, which must succeed; returns its output. */
export async function mustKubectl(args: readonly string[], options: KubectlOptions = {}): Promise<string> {
  const { code, stdout, stderr } = await kubectl(args, options);
  if (code !== 0) throw new Error(`kubectl ${args.join(' ')} failed: ${stderr.trim()}`);
  return stdout;
}

/** Applies manifests (YAML or JSON); returns kubectl's lines. */
export function applyYaml(text: string, options: Omit<KubectlOptions, 'input'> = {}): Promise<string> {
  return mustKubectl(['apply', '--server-side', '--filename=-'], { ...options, input: text });
}

/** Creates a namespace with a new name; it is deleted when all tests have run. */
export async function makeNamespace(): Promise<string> {
  const metadata = { generateName: 'test-', labels: { [TEST_LABEL]: '' } };
  const namespace = JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata });
  const name = await mustKubectl(['create', '--filename=-', '--output=name'], { input: namespace });
  return name.trim().replace('namespace/', '');
}

/** Path of a kubeconfig with a token of this service account, which must exist. */
export function kubeconfigFor(account: ServiceAccount): Promise<string> {
  return serviceAccountKubeconfig(inject('controlPlane'), account);
}

export interface WaitOptions {
  /** What the test waits for, for the error: "cluster orders is Ready". */
  readonly what: string;
  /** Default 30 s. */
  readonly timeoutMs?: number;
}

/** Polls until `check` returns something other than undefined or false, and returns that. An error from it ends the wait. */
export async function waitUntil<T>(
  check: () => T | undefined | false | Promise<T | undefined | false>,
  { what, timeoutMs = 30_000 }: WaitOptions,
): Promise<T> {
  const found: T[] = [];
  const checkOnce = async () => {
    const value = await check();
    if (value !== undefined && value !== false) found.push(value);
    return found.length > 0;
  };
  await until(checkOnce, { what, timeoutMs, pollMs: 50 });
  for (const value of found) return value;
  throw new Error(`Waited in vain: ${what}`);
}
