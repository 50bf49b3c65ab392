import { join } from 'node:path';
import { cacheFolder } from './cache.ts';
import type { Log } from './control-plane.ts';
import { type GoModule, goBuild } from './go-build.ts';
import type { GoCommand, GoProgram } from './go-command.ts';
import { findOnPath, isExecutable } from './run.ts';
import { MODULE_FOLDER, moduleText, readVersions, type Versions } from './versions.ts';

export interface Binaries {
  /** Where they come from, for people to read. */
  readonly origin: string;
  readonly etcd: string;
  readonly apiServer: string;
  /** Undefined if it was not requested, or if the binaries found do not include it. */
  readonly controllerManager: string | undefined;
  readonly kubectl: string;
}

export interface BinariesOptions {
  readonly controllerManager: boolean;
  readonly env: NodeJS.ProcessEnv;
  readonly log: Log;
  readonly signal?: AbortSignal | undefined;
}

const REQUIRED = ['etcd', 'kube-apiserver', 'kubectl'] as const;
const CONTROLLER_MANAGER = 'kube-controller-manager';

/**
 * The installed binaries: in the folder KUBEBUILDER_ASSETS (the convention of envtest), or else on PATH. Undefined if there
 * are none. Throws if KUBEBUILDER_ASSETS is set but lacks one: what a user names must be right.
 */
export function installedBinaries({ controllerManager, env, log }: BinariesOptions): Binaries | undefined {
  const assets = env['KUBEBUILDER_ASSETS'];
  const inAssets = (name: string) => {
    const path = join(assets ?? '', name);
    return isExecutable(path) ? path : undefined;
  };
  const onPath = (name: string) => findOnPath(name, env['PATH']);
  const named = assets !== undefined && assets !== '';
  const find = named ? inAssets : onPath;
  const missing = REQUIRED.filter((name) => find(name) === undefined);
  if (missing.length > 0) {
    if (!named) return undefined;
    throw new Error(
      `Cannot use KUBEBUILDER_ASSETS "${assets}": it has no ${missing.join(', ')}. ` +
        'Unset it to have the binaries built, or fill it with "setup-envtest use"',
    );
  }
  const manager = controllerManager ? (find(CONTROLLER_MANAGER) ?? onPath(CONTROLLER_MANAGER)) : undefined;
  if (controllerManager && manager === undefined) {
    log(`No ${CONTROLLER_MANAGER} beside the binaries found: deleted namespaces stay in state Terminating`);
  }
  return {
    origin: named ? `the binaries in ${assets}` : 'the binaries on PATH',
    etcd: find('etcd') ?? '',
    apiServer: find('kube-apiserver') ?? '',
    controllerManager: manager,
    kubectl: find('kubectl') ?? '',
  };
}

/** The pinned binaries, built with Go into the user's cache unless they are already there. */
export async function builtBinaries(go: () => GoCommand, options: BinariesOptions): Promise<Binaries> {
  const { module, programs, versions } = pinned();
  const wanted = programs.filter(({ name }) => options.controllerManager || name !== CONTROLLER_MANAGER);
  const folder = await goBuild(module, wanted, { ...options, cache: cacheFolder(options.env), go });
  return {
    origin: `Kubernetes ${versions.kubernetes}, built with Go`,
    etcd: join(folder, 'etcd'),
    apiServer: join(folder, 'kube-apiserver'),
    controllerManager: options.controllerManager ? join(folder, CONTROLLER_MANAGER) : undefined,
    kubectl: join(folder, 'kubectl'),
  };
}

/** The pinned kubectl alone. */
export async function builtKubectl(
  go: () => GoCommand,
  options: Omit<BinariesOptions, 'controllerManager'>,
): Promise<string> {
  const { module, programs } = pinned();
  const wanted = programs.filter(({ name }) => name === 'kubectl');
  return join(await goBuild(module, wanted, { ...options, cache: cacheFolder(options.env), go }), 'kubectl');
}

function pinned(): { readonly module: GoModule; readonly programs: readonly GoProgram[]; readonly versions: Versions } {
  const versions = readVersions(moduleText('go.mod'));
  const { kubernetes, etcd } = versions;
  const [, major, minor] = /^v(\d+)\.(\d+)/.exec(kubernetes) ?? [];
  const variables = [`gitVersion=${kubernetes}`, `gitMajor=${major}`, `gitMinor=${minor}`];
  // Otherwise the binaries report v0.0.0: the server in /version, the clients in their user agent.
  const settings = ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version'].flatMap((name) =>
    variables.map((variable) => `-X ${name}.${variable}`),
  );
  const command = (name: string, about: string): GoProgram => ({
    name,
    package: `k8s.io/kubernetes/cmd/${name}`,
    version: kubernetes,
    about,
  });
  return {
    module: {
      folder: MODULE_FOLDER,
      key: `kubernetes-${kubernetes}-etcd-${etcd}`,
      ldflags: ['-s -w', ...settings].join(' '),
    },
    versions,
    programs: [
      { name: 'etcd', package: 'go.etcd.io/etcd/server/v3', version: etcd, about: '40 s' },
      command('kube-apiserver', '3 min'),
      command('kubectl', '20 s'),
      command(CONTROLLER_MANAGER, '1 min'),
    ],
  };
}
