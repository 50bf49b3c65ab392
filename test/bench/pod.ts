import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { load, loadAll } from 'js-yaml';
import { bundle } from '../../tools/image/bundle.ts';
import type { Program } from './child.ts';
import { gcFiles } from './measure/gc.ts';

/** Modules to load before the operator. */
const HOOKS = ['pod-login.mjs', 'event-loop.mjs', 'gc.mjs'].map((name) => new URL(name, import.meta.url).href);
const DEPLOYMENT = fileURLToPath(new URL('../../deploy/base/operator.yaml', import.meta.url));
const DOCKERFILE = fileURLToPath(new URL('../../Dockerfile', import.meta.url));
/** The contents of the image's /app, for this process only: several benchmarks may run at once. */
const APP = fileURLToPath(new URL(`../../.mooring/app-${process.pid}`, import.meta.url));
const MAIN = join(APP, 'dist/main.js');
const COMPILE_CACHE = join(APP, 'compile-cache');

/** Bundled once for all scenarios: they measure the same program, even if files change meanwhile. */
let bundled: Promise<void> | undefined;

function bundleOnce(): Promise<void> {
  if (bundled === undefined) {
    bundled = bundle(APP);
    process.once('exit', () => rmSync(APP, { recursive: true, force: true }));
  }
  return bundled;
}

/** Flags for what a process on this machine lacks: in a pod the cloud is reached by TLS, not on loopback. */
export const POD_FLAGS = ['--allow-http'] as const;

/** Returns a command of `mooring`, bundled as in the image. */
export function inPod(args: readonly string[], env: NodeJS.ProcessEnv): Program {
  const flags = imageFlags(readFileSync(DOCKERFILE, 'utf8'));
  return { name: `mooring ${args[0]}`, command: process.execPath, args: [...flags, MAIN, ...args], env };
}

/**
 * Bundles the operator, and returns the environment that its image and deploy/base give to its container. There is no
 * kubeconfig, as that needs a library which no pod loads and which takes more memory than ten thousand objects. `folder`: for the
 * files of the login, and the pauses of the garbage collector.
 */
export async function podEnvironment(kubeconfig: string, folder: string): Promise<NodeJS.ProcessEnv> {
  await bundleOnce();
  const { clusters, users, contexts } = load(readFileSync(kubeconfig, 'utf8')) as Kubeconfig;
  const login = join(folder, 'login');
  mkdirSync(login, { recursive: true, mode: 0o700 });
  const certificates = clusters[0]?.cluster['certificate-authority-data'] ?? '';
  const files = {
    token: users[0]?.user.token ?? '',
    'ca.crt': Buffer.from(certificates, 'base64').toString('utf8'),
    namespace: contexts[0]?.context.namespace ?? '',
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(login, name), text, { mode: 0o600 });
  const { hostname, port } = new URL(clusters[0]?.cluster.server ?? '');
  const options = [
    ...HOOKS.map((hook) => `--import=${hook}`),
    nodeOptions(readFileSync(DEPLOYMENT, 'utf8')),
    process.env['NODE_OPTIONS'],
  ];
  const env = {
    ...process.env,
    ...imageEnvironment(readFileSync(DOCKERFILE, 'utf8')),
    KUBERNETES_SERVICE_HOST: hostname,
    KUBERNETES_SERVICE_PORT: port,
    MOORING_BENCH_LOGIN: login,
    MOORING_BENCH_GC: gcFiles(folder),
    NODE_COMPILE_CACHE: COMPILE_CACHE,
    NODE_OPTIONS: options.filter((option) => option !== undefined).join(' '),
  };
  // The image contains Node's compile cache. Without it, compiling would take time and memory here.
  const { command, args } = inPod(['controller', '--help'], env);
  spawnSync(command, args, { env, stdio: 'ignore' });
  return env;
}

interface Kubeconfig {
  readonly clusters: readonly {
    readonly cluster: { readonly server: string; readonly 'certificate-authority-data'?: string };
  }[];
  readonly users: readonly { readonly user: { readonly token: string } }[];
  readonly contexts: readonly { readonly context: { readonly namespace?: string } }[];
}

interface Deployment {
  readonly kind: 'Deployment';
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly containers: readonly {
          readonly env: readonly { readonly name: string; readonly value: string }[];
          readonly resources: { readonly limits: { readonly memory: string } };
        }[];
      };
    };
  };
}

/** Returns the environment of the image's last stage. */
export function imageEnvironment(dockerfile: string): Readonly<Record<string, string>> {
  const line = /^ENV (.*)$/m.exec(dockerfile.slice(dockerfile.lastIndexOf('\nFROM ')))?.[1];
  if (line === undefined) throw new Error('The last stage of the Dockerfile has no ENV');
  return Object.fromEntries(line.split(' ').map((each) => each.split('=', 2) as [string, string]));
}

/** Returns the flags that the image starts Node with. */
export function imageFlags(dockerfile: string): readonly string[] {
  const line = /^ENTRYPOINT (.*)$/m.exec(dockerfile)?.[1];
  if (line === undefined) throw new Error('The Dockerfile has no ENTRYPOINT');
  return (JSON.parse(line) as readonly string[]).slice(1, -1);
}

/** Returns Node's options from the Deployment. A share of the container's limit becomes a number: outside there is no limit. */
export function nodeOptions(manifest: string): string {
  const objects = loadAll(manifest) as readonly (Deployment | { readonly kind: unknown } | null)[];
  const isDeployment = (object: (typeof objects)[number]): object is Deployment => object?.kind === 'Deployment';
  const container = objects.find(isDeployment)?.spec.template.spec.containers[0];
  const options = container?.env.find(({ name }) => name === 'NODE_OPTIONS')?.value ?? '';
  const [share, percent] = /--max-old-space-size-percentage=(\d+)/.exec(options) ?? [];
  const limit = /^(\d+)Mi$/.exec(container?.resources.limits.memory ?? '')?.[1];
  if (share === undefined || limit === undefined) throw new Error('The Deployment does not limit the heap');
  return options.replace(share, `--max-old-space-size=${Math.floor((Number(limit) * Number(percent)) / 100)}`);
}
