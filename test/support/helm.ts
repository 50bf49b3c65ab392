import { join } from 'node:path';
import { inject } from 'vitest';
import { type RunResult, run } from '../../tools/control-plane/run.ts';
import { builtHelm } from '../../tools/helm/helm.ts';
import { ROOT } from './readme.ts';

export const CHART = join(ROOT, 'charts/mooring');
/** The timeout of a hook that may have to build helm first. */
export const HELM_BUILD_MS = 600_000;

export interface HelmOptions {
  readonly kubeconfig?: string;
  /** Values, for `--values=-`. */
  readonly values?: unknown;
}

/** Runs helm to its end; a failure is a result, not an exception. */
export type Helm = (args: readonly string[], options?: HelmOptions) => Promise<RunResult>;

/** The pinned helm, isolated from the user's settings, repositories and clusters. */
export async function createHelm(): Promise<Helm> {
  const helm = await builtHelm({ log: (line) => console.log(line) });
  const home = join(inject('controlPlane').directory, 'helm');
  const outer = Object.entries(process.env).filter(([name]) => !/^(HELM_|KUBECONFIG$)/.test(name));
  const folders = { HELM_CACHE_HOME: home, HELM_CONFIG_HOME: home, HELM_DATA_HOME: home };
  return (args, { kubeconfig = join(home, 'none'), values } = {}) =>
    run(helm, values === undefined ? args : [...args, '--values=-'], {
      env: { ...Object.fromEntries(outer), ...folders, KUBECONFIG: kubeconfig },
      ...(values === undefined ? {} : { input: JSON.stringify(values) }),
      timeoutMs: 180_000,
    });
}

/** Runs helm, which must succeed; returns its output. */
export async function mustHelm(helm: Helm, args: readonly string[], options: HelmOptions = {}): Promise<string> {
  const { code, stdout, stderr } = await helm(args, options);
  if (code !== 0) throw new Error(`helm ${args.join(' ')} failed: ${stderr.trim()}`);
  return stdout;
}
