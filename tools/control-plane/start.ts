import { join } from 'node:path';
import { type BinariesOptions, builtBinaries, builtKubectl, installedBinaries } from './binaries.ts';
import type { ControlPlane, Log } from './control-plane.ts';
import { useExisting } from './existing.ts';
import { findGo, mustHaveGo } from './go-command.ts';
import { findDocker, startKind } from './kind.ts';
import { startLocal } from './local.ts';
import { findOnPath, isExecutable } from './run.ts';
import { moduleText, readVersions } from './versions.ts';

export interface StartOptions {
  /** Also run the controllers that delete namespaces and collect garbage. Default false. */
  readonly controllerManager?: boolean;
  /** A kubeconfig whose cluster is used instead of starting one. Default: the variable MOORING_TEST_KUBECONFIG. */
  readonly kubeconfig?: string;
  /**
   * Record each request of a service account in auditFile() of the control plane's directory. The control plane is then
   * started on this machine, whatever else is available. Default false.
   */
  readonly audit?: boolean;
  /** kube-apiserver's `--feature-gates`, such as `WatchList=false`; also started on this machine then. Default: its own. */
  readonly featureGates?: string;
  /** Receives one line for each thing that takes time. Default: nothing is logged. */
  readonly log?: Log;
  /** Cancels the start, and ends everything started so far. */
  readonly signal?: AbortSignal;
  /** Default: this process's. */
  readonly env?: NodeJS.ProcessEnv;
}

/**
 * Starts a Kubernetes API server with RBAC, and returns once it answers. Uses an explicitly named kubeconfig, or else installed
 * binaries (KUBEBUILDER_ASSETS, PATH), or else kind in Docker, or else pinned binaries built with Go. The user's own kubeconfig
 * is never read or written unless it was named. If there is no way, or a start fails, throws with the remedy.
 */
export async function startControlPlane(options: StartOptions = {}): Promise<ControlPlane> {
  const { controllerManager = false, audit = false, featureGates, env = process.env, log = () => {}, signal } = options;
  const found: BinariesOptions = { controllerManager, env, log, signal };
  const local = { log, signal, audit, featureGates };
  const mustBeLocal = audit || featureGates !== undefined;
  const named = options.kubeconfig ?? env['MOORING_TEST_KUBECONFIG'];
  if (named !== undefined && named !== '' && !mustBeLocal) return useExisting(named, await anyKubectl(found));

  const installed = installedBinaries(found);
  if (installed) return startLocal(installed, local);

  const docker = await findDocker(env);
  const kind = findOnPath('kind', env['PATH']);
  const go = findGo(env, docker, goVersion());
  if (docker !== undefined && kind !== undefined && !mustBeLocal) {
    try {
      return await startKind({ docker, kind, env, log, signal });
    } catch (error) {
      signal?.throwIfAborted();
      if (!go) throw error;
      log(`${error instanceof Error ? error.message : String(error)}\nContinuing without kind`);
    }
  }
  const needGo = mustHaveGo(go, noWay());
  return startLocal(await builtBinaries(needGo, found), local);
}

async function anyKubectl(options: BinariesOptions): Promise<string> {
  const { env } = options;
  const asset = join(env['KUBEBUILDER_ASSETS'] ?? '', 'kubectl');
  const kubectl = isExecutable(asset) ? asset : findOnPath('kubectl', env['PATH']);
  if (kubectl !== undefined) return kubectl;
  const go = findGo(env, await findDocker(env), goVersion());
  const needGo = mustHaveGo(
    go,
    'Cannot use the named cluster: kubectl is not on PATH. Install kubectl, or Go to build it',
  );
  return builtKubectl(needGo, options);
}

function goVersion(): string {
  return readVersions(moduleText('go.mod')).go;
}

function noWay(): string {
  return [
    'Cannot start a Kubernetes API server: this machine has none of the binaries, no Docker that answers, and no Go.',
    'Do one of these:',
    `  - install Go ${goVersion()} or later: the binaries are built once, in about 5 minutes`,
    '  - start Docker (with kind on PATH a kind cluster is used, otherwise Go runs in Docker)',
    '  - set KUBEBUILDER_ASSETS to a folder with etcd, kube-apiserver and kubectl ("setup-envtest use")',
    '  - name a cluster that may be used for this: --kubeconfig <file>, or MOORING_TEST_KUBECONFIG',
  ].join('\n');
}
