import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SERVICE_ACCOUNT } from '../../src/kube/connection/in-pod.ts';
import { freePort } from '../../tools/control-plane/free-port.ts';
import { jailed } from '../image/jail.ts';
import type { Tree } from '../image/tree.ts';
import type { Api } from '../kube/api.ts';
import type { Container, Pod } from './pod.ts';

/** A pod's one container as a process. */
export interface PodProcess {
  readonly pod: Pod;
  /** The process id of the container. */
  readonly pid: number;
  logs(): string;
  /** Probes the container, and returns the part of a core/v1 PodStatus that others read. */
  status(): Promise<object>;
  /** Real addresses of the pod's ports: `8081` → `127.0.0.1:39211`. */
  targets(): ReadonlyMap<string, string>;
  /** Sends SIGTERM, and after the grace period SIGKILL. Resolves to the exit code. */
  end(graceSeconds: number): Promise<number | null>;
}

export interface PodProcessOptions {
  readonly api: Api;
  readonly pod: Pod;
  /** The image: the container gets a copy of its files. */
  readonly image: Tree;
  /** The API server's base URL. */
  readonly server: string;
  /** The folder for the copy. */
  readonly folder: string;
  /** Where the ports of Services lead. */
  readonly targets: ReadonlyMap<string, string>;
}

/** Starts the pod's only container. Throws if its manifest has something that is not known here. */
export async function startPodProcess({
  api,
  pod,
  image,
  server,
  folder,
  targets,
}: PodProcessOptions): Promise<PodProcess> {
  const [container, ...others] = pod.spec.containers;
  if (container === undefined || others.length > 0) throw new Error('Only pods with one container can be run');
  const root = join(folder, pod.metadata.uid);
  execFileSync('cp', ['--archive', '--link', image.root, root]);
  writeFileSync(join(root, 'etc/hosts'), '127.0.0.1 localhost\n');
  for (const { name, mountPath } of container.volumeMounts ?? []) {
    const secretName = pod.spec.volumes?.find((volume) => volume.name === name)?.secret?.secretName;
    if (mountPath === SERVICE_ACCOUNT) await mountAccount(api, pod, root);
    else if (secretName !== undefined)
      await mountSecret(api, pod.metadata.namespace, secretName, join(root, mountPath));
    else throw new Error(`What volume ${name} is, is not known here`);
  }

  const ports = new Map<string, { readonly asked: number; readonly given: number }>();
  for (const { name, containerPort } of container.ports ?? [])
    ports.set(name, { asked: containerPort, given: await freePort() });
  const { hostname, port } = new URL(server);
  const readOnly = container.securityContext?.readOnlyRootFilesystem === true;
  const args = (container.args ?? []).map((arg) => withPorts(arg, [...ports.values()], targets));
  const [command = '', ...rest] = jailed({ root, readOnly }, [...(container.command ?? image.command), ...args]);
  const child = spawn(command, rest, {
    env: {
      PATH: process.env['PATH'],
      ...image.env,
      KUBERNETES_SERVICE_HOST: hostname,
      KUBERNETES_SERVICE_PORT: port,
      ...Object.fromEntries((container.env ?? []).map(({ name, value = '' }) => [name, value])),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'close');
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  return {
    pod,
    pid: child.pid ?? 0,
    logs: () => output,
    targets: () => new Map([...ports.values()].map(({ asked, given }) => [String(asked), `127.0.0.1:${given}`])),
    status: async () => {
      if (hasEnded()) return endedStatus(container, child.exitCode ?? 137);
      const { path, port: name } = container.readinessProbe?.httpGet ?? {};
      const isReady = path === undefined || (await answers(`http://127.0.0.1:${ports.get(name ?? '')?.given}${path}`));
      return runningStatus(container, isReady);
    },
    end: async (graceSeconds) => {
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), graceSeconds * 1000);
      await ended;
      clearTimeout(timer);
      return child.exitCode;
    },
  };
}

/** Rewrites `--health-address=:8081` and `http://mooring.a.svc:8081/readyz` to the machine's own ports. */
function withPorts(
  arg: string,
  ports: readonly { readonly asked: number; readonly given: number }[],
  targets: ReadonlyMap<string, string>,
): string {
  const own = ports.find(({ asked }) => arg.endsWith(`=:${asked}`));
  if (own !== undefined) return arg.replace(/:\d+$/, `127.0.0.1:${own.given}`);
  return arg.replace(/[\w.-]+\.svc:(\d+)/, (name, port: string) => targets.get(port) ?? name);
}

/** Writes what the kubelet puts where a pod looks for its service account: a token for this pod alone. */
async function mountAccount(api: Api, { metadata, spec }: Pod, root: string): Promise<void> {
  const { namespace, name, uid } = metadata;
  const account = `/api/v1/namespaces/${namespace}/serviceaccounts/${spec.serviceAccountName}/token`;
  const boundObjectRef = { apiVersion: 'v1', kind: 'Pod', name, uid };
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { boundObjectRef } };
  const token = await api.send('POST', account, request);
  const authority = await api.send('GET', `/api/v1/namespaces/${namespace}/configmaps/kube-root-ca.crt`);
  const { status } = token.body as { status?: { token?: string } };
  const { data } = authority.body as { data?: Readonly<Record<string, string>> };
  const files = { token: status?.token, namespace, 'ca.crt': data?.['ca.crt'] };
  mkdirSync(join(root, SERVICE_ACCOUNT), { recursive: true });
  for (const [file, text] of Object.entries(files)) {
    if (text === undefined)
      throw new Error(`The service account of pod ${name} has no ${file}: ${token.causes.join('; ')}`);
    writeFileSync(join(root, SERVICE_ACCOUNT, file), text);
  }
}

async function mountSecret(api: Api, namespace: string, name: string, folder: string): Promise<void> {
  const { body } = await api.send('GET', `/api/v1/namespaces/${namespace}/secrets/${name}`);
  const { data = {} } = body as { data?: Readonly<Record<string, string>> };
  mkdirSync(folder, { recursive: true });
  for (const [file, text] of Object.entries(data)) writeFileSync(join(folder, file), Buffer.from(text, 'base64'));
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).ok;
  } catch {
    return false;
  }
}

function runningStatus({ name, image }: Container, ready: boolean): object {
  const status = ready ? 'True' : 'False';
  const startedAt = new Date(0).toISOString().replace('.000', '');
  return {
    phase: 'Running',
    conditions: [
      { type: 'PodScheduled', status: 'True' },
      { type: 'Initialized', status: 'True' },
      { type: 'ContainersReady', status },
      { type: 'Ready', status },
    ],
    containerStatuses: [
      { name, image, imageID: image, ready, started: true, restartCount: 0, state: { running: { startedAt } } },
    ],
  };
}

function endedStatus({ name, image }: Container, exitCode: number): object {
  return {
    phase: exitCode === 0 ? 'Succeeded' : 'Failed',
    conditions: [
      { type: 'ContainersReady', status: 'False' },
      { type: 'Ready', status: 'False' },
    ],
    containerStatuses: [
      {
        name,
        image,
        imageID: image,
        ready: false,
        started: false,
        restartCount: 0,
        state: { terminated: { exitCode } },
      },
    ],
  };
}
