import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { load, loadAll } from 'js-yaml';
import { bundle } from '../../tools/image/bundle.ts';
import type { Program } from './child.ts';
import { gcFiles } from './measure/gc.ts';

/** Loaded before the operator. */
const HOOKS = ['pod-login.mjs', 'event-loop.mjs', 'gc.mjs'].map((name) => new URL(name, import.meta.url).href);
const DEPLOYMENT = fileURLToPath(new URL('../../deploy/base/operator.yaml', import.meta.url));
const DOCKERFILE = fileURLToPath(new URL('../../Dockerfile', import.meta.url));
/** What the image has in /app: of this process only, as several may measure at once. */
const APP = fileURLToPath(new URL(`../../.mooring/app-${process.pid}`, import.meta.url));
const MAIN = join(APP, 'dist/main.js');
const COMPILE_CACHE = join(APP, 'compile-cache');

/** Once for all scenarios: they measure the same program, whatever is edited meanwhile. */
let bundled: Promise<void> | undefined;

function bundleOnce(): Promise<void> {
  if (bundled === undefined) {
    bundled = bundle(APP);
    process.once('exit', () => rmSync(APP, { recursive: true, force: true }));
  }
  return bundled;
}

/** Flags for what a pod has and a process on this machine has not: a cloud that is reached by TLS, not on loopback. */
export const POD_FLAGS = ['--allow-http'] as const;

/** A command of `mooring` as the image has it, bundled. */
export function inPod(args: readonly string[], env: NodeJS.ProcessEnv): Program {
  const flags = imageFlags(readFileSync(DOCKERFILE, 'utf8'));
  return { name: `mooring ${args[0]}`, command: process.execPath, args: [...flags, MAIN, ...args], env };
}

/**
 * The environment of the operator's container, as its image and deploy/base make it, once the operator is bundled as there. A
 * kubeconfig would need a library that takes more memory than ten thousand objects do, and that no pod loads. `folder`: for the
 * login's files, and what the garbage collector does.
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
  // The image holds what Node compiles, which would take time and memory here.
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

/** What the image says of its container's environment: of its last stage. */
export function imageEnvironment(dockerfile: string): Readonly<Record<string, string>> {
  const line = /^ENV (.*)$/m.exec(dockerfile.slice(dockerfile.lastIndexOf('\nFROM ')))?.[1];
  if (line === undefined) throw new Error('The last stage of the Dockerfile has no ENV');
  return Object.fromEntries(line.split(' ').map((each) => each.split('=', 2) as [string, string]));
}

/** What the image says that Node is to be started with. */
export function imageFlags(dockerfile: string): readonly string[] {
  const line = /^ENTRYPOINT (.*)$/m.exec(dockerfile)?.[1];
  if (line === undefined) throw new Error('The Dockerfile has no ENTRYPOINT');
  return (JSON.parse(line) as readonly string[]).slice(1, -1);
}

/** What the Deployment has Node run with: a share of the container's limit is named as such, as a process outside has none. */
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
