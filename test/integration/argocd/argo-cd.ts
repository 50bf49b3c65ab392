import { chmodSync, copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { freePort } from '../../../tools/control-plane/free-port.ts';
import { Guard } from '../../../tools/control-plane/guard.ts';
import { until } from '../../../tools/control-plane/ready.ts';
import { type RunResult, run } from '../../../tools/control-plane/run.ts';
import { lastLines } from '../../../tools/control-plane/tail.ts';
import { goModule, pinnedModule } from '../../../tools/go-module.ts';
import { builtTool, type GoToolOptions } from '../../../tools/go-tool.ts';
import { builtHelm } from '../../../tools/helm/helm.ts';

const FOLDER = import.meta.dirname;
const MODULE = 'github.com/argoproj/argo-cd/v3';
/** Argo CD's go.mod asks for a Go that may be newer than the one on this machine; Go then downloads it. */
const TOOLCHAIN = 'auto';
const VERIFY_SCRIPT = 'git-verify-wrapper.sh';

/** The binaries that Argo CD needs, and the folder with its manifests. */
export interface ArgoCdFiles {
  readonly argocd: string;
  readonly redis: string;
  readonly helm: string;
  readonly manifests: string;
  /** A script that its repository server runs for each revision. */
  readonly verifyScript: string;
}

/** Builds what is not in the user's cache yet. */
export async function builtArgoCd(options: GoToolOptions = {}): Promise<ArgoCdFiles> {
  process.env['GOTOOLCHAIN'] = TOOLCHAIN;
  const tool = { folder: FOLDER, module: MODULE };
  const argocd = await builtTool({ ...tool, name: 'argocd', package: `${MODULE}/cmd`, about: '10 min' }, options);
  const redis = await builtTool({ ...tool, name: 'redis', package: '.', about: '10 s' }, options);
  const helm = await builtHelm(options);
  const folder = await goModule(pinnedModule(FOLDER, MODULE));
  return {
    argocd,
    redis,
    helm,
    manifests: join(folder, 'manifests'),
    verifyScript: join(folder, `hack/${VERIFY_SCRIPT}`),
  };
}

export interface ArgoCdOptions {
  readonly files: ArgoCdFiles;
  /** The kubeconfigs of its two ServiceAccounts. */
  readonly controllerKubeconfig: string;
  readonly serverKubeconfig: string;
}

/** Argo CD's controller, repository server and API server, as processes that end with this one. */
export interface ArgoCd {
  /** A folder that is removed at the end. */
  readonly directory: string;
  /** Runs the command line, such as `app actions run …`. */
  cli(...args: readonly string[]): Promise<RunResult>;
  logs(name: 'controller' | 'repo-server' | 'server'): string;
  /** The text of the controller's metrics. */
  metrics(): Promise<string>;
  stop(): Promise<void>;
}

export async function startArgoCd({ files, controllerKubeconfig, serverKubeconfig }: ArgoCdOptions): Promise<ArgoCd> {
  const guard = new Guard(tmpdir());
  const directory = guard.directory;
  const [redis, repoServer, repoMetrics, server, serverMetrics, metrics] = await ports(6);
  const folder = (name: string) => {
    mkdirSync(join(directory, name), { recursive: true });
    return join(directory, name);
  };
  const bin = folder('bin');
  // As it comes from Go's cache, it is not executable.
  copyFileSync(files.verifyScript, join(bin, VERIFY_SCRIPT));
  chmodSync(join(bin, VERIFY_SCRIPT), 0o755);
  const env = {
    PATH: `${bin}:${dirname(files.helm)}:${process.env['PATH']}`,
    HOME: folder('home'),
    TMPDIR: folder('tmp'),
    ARGOCD_FAKE_IN_CLUSTER: 'true',
    ARGOCD_GPG_ENABLED: 'false',
    ARGOCD_GNUPGHOME: folder('gnupg'),
    ARGOCD_TLS_DATA_PATH: folder('tls'),
    ARGOCD_SSH_DATA_PATH: folder('ssh'),
    ARGOCD_PLUGINSOCKFILEPATH: folder('plugins'),
    // Otherwise an Application that somebody changed is put right only after growing pauses.
    ARGOCD_APPLICATION_CONTROLLER_SELF_HEAL_TIMEOUT_SECONDS: '1',
  };
  const start = async (name: string, component: string, args: readonly string[], more: NodeJS.ProcessEnv = {}) => {
    const line = { name, command: files.argocd, args, env: { ...env, ...more, ARGOCD_BINARY_NAME: component } };
    return guard.start(line);
  };
  const common = [`--redis=127.0.0.1:${redis}`, '--loglevel=info'];
  const repo = `--repo-server=127.0.0.1:${repoServer}`;
  try {
    await guard.start({ name: 'redis', command: files.redis, args: [`127.0.0.1:${redis}`], env });
    await start('repo-server', 'argocd-repo-server', [
      ...common,
      ...[
        '--address=127.0.0.1',
        `--port=${repoServer}`,
        '--metrics-address=127.0.0.1',
        `--metrics-port=${repoMetrics}`,
      ],
    ]);
    await start(
      'controller',
      'argocd-application-controller',
      [...common, repo, `--metrics-port=${metrics}`, '--namespace=argocd', '--app-resync=30', '--app-resync-jitter=0'],
      { KUBECONFIG: controllerKubeconfig },
    );
    await start(
      'server',
      'argocd-server',
      [
        ...[...common, repo, '--namespace=argocd', '--disable-auth', '--insecure', '--address=127.0.0.1'],
        ...[`--port=${server}`, '--metrics-address=127.0.0.1', `--metrics-port=${serverMetrics}`],
      ],
      { KUBECONFIG: serverKubeconfig },
    );
    const answers = (url: string) =>
      fetch(url).then(
        ({ ok }) => ok,
        () => false,
      );
    const isReady = async () =>
      (await answers(`http://127.0.0.1:${server}/healthz`)) && (await answers(`http://127.0.0.1:${metrics}/healthz`));
    await until(isReady, { what: 'Argo CD is ready', timeoutMs: 120_000, pollMs: 200 });
  } catch (error) {
    const ends = ['controller', 'repo-server', 'server'].map((name) => lastLines(join(directory, `${name}.log`)));
    await guard.stop();
    throw new Error(`Argo CD does not start:\n${ends.join('\n')}`, { cause: error });
  }
  return {
    directory,
    cli: (...args) =>
      run(files.argocd, [...args, `--server=127.0.0.1:${server}`, '--plaintext'], {
        env: { ...env, ARGOCD_BINARY_NAME: 'argocd' },
      }),
    logs: (name) => readFileSync(join(directory, `${name}.log`), 'utf8'),
    metrics: async () => (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text(),
    stop: () => guard.stop(),
  };
}

async function ports(count: number): Promise<readonly number[]> {
  return Promise.all(Array.from({ length: count }, freePort));
}
