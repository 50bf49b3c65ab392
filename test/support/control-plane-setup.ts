import type { TestProject } from 'vitest/node';
import type { Kubectl } from '../../tools/control-plane/kubeconfig.ts';
import { runKubectl } from '../../tools/control-plane/kubeconfig.ts';
import { startControlPlane } from '../../tools/control-plane/start.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The control plane that all tests of the project "cluster" share. */
    controlPlane: Kubectl;
  }
}

/** A label on namespaces of tests, so that only these are deleted from a borrowed cluster. */
export const TEST_LABEL = 'mooring.dev/test';

/** Starts one control plane for all test files (vitest's globalSetup) and ends it after the last. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const controlPlane = await startControlPlane({ controllerManager: true, log: (line) => console.log(line) });
  const { kubectl, kubeconfig, directory } = controlPlane;
  const access = { kubectl, kubeconfig, directory };
  project.provide('controlPlane', access);
  return async () => {
    await runKubectl(access, ['delete', 'namespaces', `--selector=${TEST_LABEL}`, '--wait=false']);
    await controlPlane.stop();
  };
}
