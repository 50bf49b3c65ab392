import { readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { expect } from 'vitest';
import type { ControlPlane } from '../../tools/control-plane/control-plane.ts';
import { run } from '../../tools/control-plane/run.ts';
import { startControlPlane } from '../../tools/control-plane/start.ts';
import { type OperatorProcess, startOperator } from './operator.ts';
import { ROOT } from './readme.ts';

/** A Kubernetes cluster of a test's own, with Mooring's definitions and roles, which can be thrown away. */
export interface KubernetesCluster {
  readonly controlPlane: ControlPlane;
  /** For processes that a person would start. */
  readonly env: NodeJS.ProcessEnv;
  /** Runs kubectl in the cluster's namespace, and returns its output. */
  kubectl(args: readonly string[], input?: string): Promise<string>;
  /** Runs a command as a person does in a terminal. */
  shell(commands: string, cwd: string): Promise<void>;
  apply(objects: readonly object[]): Promise<void>;
  /** Starts an operator with the rights of `deploy/base`, for these namespaces. */
  start(namespaces?: readonly string[]): Promise<OperatorProcess>;
}

const RBAC = ['namespace', 'rbac'].map((name) => join(ROOT, `deploy/base/${name}.yaml`));

/** Objects as one manifest. */
export function list(items: readonly object[]): string {
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
}

/** `namespace` is created, and is the one that kubectl uses. */
export async function startKubernetesCluster(namespace: string): Promise<KubernetesCluster> {
  const controlPlane = await startControlPlane({
    controllerManager: true,
    env: { ...process.env, MOORING_TEST_KUBECONFIG: '' },
    log: (line) => console.log(line),
  });
  const env = {
    ...process.env,
    KUBECONFIG: controlPlane.kubeconfig,
    KUBECACHEDIR: join(controlPlane.directory, 'cache'),
  };
  const kubectl = async (args: readonly string[], input = '') => {
    const { code, stdout, stderr } = await run(controlPlane.kubectl, args, { env, input });
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')} failed: ${stderr}`);
    return stdout;
  };
  await kubectl(['config', 'set-context', '--current', `--namespace=${namespace}`]);
  const path = [dirname(controlPlane.kubectl), process.env['PATH']].join(delimiter);
  const shell = async (commands: string, cwd: string) => {
    const { code, stdout, stderr } = await run('sh', ['-e', '-c', commands], { env: { ...env, PATH: path }, cwd });
    expect(code, `${commands}\n${stdout}${stderr}`).toBe(0);
  };
  await kubectl(['apply', '--server-side', `--filename=${join(ROOT, 'crds')}`]);
  for (const file of RBAC) await kubectl(['apply', '--filename=-'], readFileSync(file, 'utf8'));
  await kubectl(['create', 'namespace', namespace]);
  const kubeconfig = await controlPlane.kubeconfigFor({ namespace: 'mooring-system', name: 'mooring' });
  return {
    controlPlane,
    env,
    kubectl,
    shell,
    apply: async (objects) => void (await kubectl(['apply', '--server-side', '--filename=-'], list(objects))),
    start: (namespaces = [namespace]) => startOperator({ kubeconfig, namespaces }),
  };
}
