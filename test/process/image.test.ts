import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { COMMANDS } from '../../src/commands/table.ts';
import { SERVICE_ACCOUNT } from '../../src/kube/connection/in-pod.ts';
import { run } from '../../tools/control-plane/run.ts';
import { runtimePackages } from '../../tools/image/licences.ts';
import { jailed } from '../image/jail.ts';
import { buildTree, sizeOf, type Tree } from '../image/tree.ts';
import { openApi } from '../kube/api.ts';
import { adminKubeconfig, waitUntil } from '../support/control-plane.ts';
import { cluster, space, wholeSpace } from '../support/manifests.ts';
import { createNamespace, installOperator } from '../support/operator-bench.ts';
import { startCloud } from '../support/served-cloud.ts';
import { createSite } from '../support/site.ts';

/*
 * Runs the image's files as a container does: read-only, as another user, without the rest of the machine, in the environment of
 * a pod, against the real API server. Only Docker's own part is not tested.
 */

let folder: string;
let tree: Tree;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'image-'));
  tree = buildTree(folder);
  mkdirSync(join(tree.root, SERVICE_ACCOUNT), { recursive: true });
}, 180_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const inImage = (command: readonly string[]) => jailed({ root: tree.root, readOnly: true }, command);

/** Runs a command of `mooring` in the image until it ends. */
async function mooring(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const [command = '', ...rest] = inImage([...tree.command, ...args]);
  return run(command, rest, { env: { PATH: process.env['PATH'], ...tree.env, ...env }, timeoutMs: 60_000 });
}

describe('the image', () => {
  test('contains what runs, and nothing for building or testing it', () => {
    const files = globSync('**/*.*', { cwd: join(tree.root, 'app') });
    expect(files).toContain('dist/main.js');
    expect(files.filter((path) => /\.([cm]?ts|map|tgz)$/.test(path))).toEqual([]);
    const code = files.filter((path) => /^node_modules\/.*\.[cm]?js$/.test(path));
    expect(code.filter((path) => !path.startsWith('node_modules/undici/'))).toEqual([]);
  });

  test('names each package in it, with its version and the text of its licence', () => {
    const cwd = join(tree.root, 'app/node_modules');
    const folders = [...new Set(runtimePackages().map(({ name }) => name))];
    expect(
      globSync('{*,@*/*}/package.json', { cwd })
        .map((path) => dirname(path))
        .toSorted(),
    ).toEqual(folders);
    const without = folders.filter((name) => !readdirSync(join(cwd, name)).some((file) => /licen[cs]e/i.test(file)));
    expect(without).toEqual([]);
  });

  test('is no larger than necessary', () => {
    // Code 3.4 MB, the same compiled 1, undici 2, names and licences of packages 1; the rest is rounding to blocks. What a new
    // package brings should show here, as each node of a cluster pulls it.
    expect(sizeOf(join(tree.root, 'app')) / 1e6).toBeLessThan(10);
  });

  test('has no shell and no package manager', () => {
    for (const name of ['sh', 'bash', 'npm', 'npx', 'apt']) {
      expect(globSync(`{bin,usr/bin,usr/local/bin,sbin,usr/sbin}/${name}`, { cwd: tree.root })).toEqual([]);
    }
  });

  test('prints what every command prints', async () => {
    expect(await mooring(['version'])).toMatchObject({ code: 0, stdout: `${versionOf('package.json')}\n`, stderr: '' });
    const crds = await mooring(['crds']);
    expect(crds.code).toBe(0);
    expect(crds.stdout).toContain('kind: CustomResourceDefinition');
  });

  test('has every command except the demo, which says where it is', async () => {
    const names = Object.keys(COMMANDS).filter((name) => name !== 'demo');
    expect(names).toContain('controller');
    for (const name of names) expect(await mooring([name, '--help']), name).toMatchObject({ code: 0, stderr: '' });
    const demo = await mooring(['demo']);
    expect([demo.code, demo.stderr]).toEqual([1, expect.stringMatching(/not part of .*: run it in a checkout/)]);
  });

  test('accepts a kubeconfig as well', async () => {
    const api = await openApi(adminKubeconfig());
    onTestFinished(() => api.close());
    await installOperator(api);
    writeFileSync(join(tree.root, 'etc/kubeconfig'), readFileSync(adminKubeconfig()));
    const { code, stderr } = await mooring(['status', '--kubeconfig=/etc/kubeconfig', '--namespace=kube-public']);
    expect({ code, stderr }).toMatchObject({ code: 0 });
  });

  test('has the page of the simulator', async () => {
    const [command = '', ...args] = inImage([...tree.command, 'simulate', '--port=0']);
    const child = spawn(command, args, { env: { PATH: process.env['PATH'], ...tree.env } });
    onTestFinished(() => void child.kill('SIGKILL'));
    const lines = createInterface({ input: child.stdout });
    let address: string | undefined;
    for await (const line of lines) {
      address = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0];
      if (address !== undefined) break;
    }
    const page = await (await fetch(`${address}/`)).text();
    expect(page).toContain('<html');
  });

  test('has a compile cache that its user can read, although nothing can be written', async () => {
    const env = {
      NODE_DEBUG_NATIVE: 'COMPILE_CACHE',
      NODE_OPTIONS: '--max-old-space-size-percentage=60',
    };
    const { code, stdout, stderr } = await mooring(['controller', '--help'], env);
    expect(code).toBe(0);
    const lines = `${stdout}${stderr}`.split('\n').filter((line) => line.startsWith('[compile cache]'));
    const accepted = lines.filter((line) => line.includes('accepted'));
    const chunks = new Set(accepted.flatMap((line) => /\/app\/dist\/[\w-]+\.js/.exec(line) ?? []));
    expect([...chunks]).toContain('/app/dist/main.js');
    expect(lines.filter((line) => /rejected|not initialized|failed/.test(line))).toEqual([]);
    // What the operator loads stays in memory, and the bundler decides what goes into one module.
    const modules = [...chunks].flatMap((chunk) =>
      [...readFileSync(join(tree.root, chunk), 'utf8').matchAll(/^\/\/ (\S+\.[cm]?[jt]s)$/gm)].map(
        ([, path = '']) => path,
      ),
    );
    expect(modules).toContain('src/operator.ts');
    const needless = /^node_modules\/(@kubernetes|js-yaml|diff|string-width)\/|^src\/(simulator|plan)\//;
    expect(modules.filter((path) => needless.test(path))).toEqual([]);
    expect(modules.filter((path) => path.includes('/locales/'))).toEqual(['node_modules/zod/v4/locales/en.js']);
  });
});

describe('a pod of the image', () => {
  test('sends nothing to loopback, which is the pod itself, and says how to allow it', async () => {
    const { site, start } = await aPod();
    await start();
    await site.apply(...wholeSpace(site.cloud), cluster());
    await site.until('DatabaseSpace', {
      reason: 'BaseURLNotAllowed',
      message: /"127\.0\.0\.1" is a loopback address, .*--allowed-networks/,
    });
    // The address behind a name shows when it is resolved.
    await site.apply(space(site.cloud, { baseURL: site.cloud.baseURL.replace('127.0.0.1', 'localhost') }));
    await site.until('DatabaseSpace', {
      reason: 'CloudUnreachable',
      message: /"localhost" is at 127\.0\.0\.1, a loopback address, .*--allowed-networks/,
    });
    expect(site.cloud.simulator.inspect().counters.total).toBe(0);
  });

  test('makes a cluster Ready with a read-only file system, as another user, and ends when told to', async () => {
    const { site, start } = await aPod();
    const pod = await start('--allowed-networks=127.0.0.0/8');
    await site.apply(...wholeSpace(site.cloud), cluster());
    await site.ready();
    const status = readFileSync(`/proc/${pod.child.pid}/status`, 'utf8');
    if (process.getuid?.() === 0) expect(status).toMatch(/^Uid:\t65532\t65532/m);
    pod.child.kill('SIGTERM');
    expect(await pod.ended).toBe(0);
    expect(pod.logs()).not.toMatch(/EROFS|EACCES|EPERM|"level":"error"/);
  });
});

function versionOf(path: string): string {
  return (JSON.parse(readFileSync(path, 'utf8')) as { readonly version: string }).version;
}

/** A namespace with a cloud, and the pod of an operator for it, with what the kubelet gives to pods. */
async function aPod() {
  const api = await openApi(adminKubeconfig());
  onTestFinished(() => api.close());
  const kubeconfig = JSON.parse(readFileSync(await installOperator(api), 'utf8'));
  const [{ cluster: access }, { user }] = [kubeconfig.clusters[0], kubeconfig.users[0]];
  const account = { token: user.token, namespace: 'mooring-system', 'ca.crt': pemOf(access) };
  for (const [name, text] of Object.entries(account)) writeFileSync(join(tree.root, SERVICE_ACCOUNT, name), text);
  writeFileSync(join(tree.root, 'etc/hosts'), '127.0.0.1 localhost\n');
  const namespace = `image-${randomUUID().slice(0, 8)}`;
  await createNamespace(api, namespace);
  const cloud = await startCloud();
  onTestFinished(() => cloud.close());
  const site = createSite(api, namespace, cloud);
  const { hostname, port } = new URL(access.server);
  const env = {
    KUBERNETES_SERVICE_HOST: hostname,
    KUBERNETES_SERVICE_PORT: port || '443',
    MOORING_NAMESPACES: namespace,
  };
  return { site, start: (...args: readonly string[]) => startPod(env, args) };
}

function pemOf(access: { readonly 'certificate-authority-data'?: string }): string {
  return Buffer.from(access['certificate-authority-data'] ?? '', 'base64').toString('utf8');
}

interface Pod {
  readonly child: ChildProcess;
  readonly ended: Promise<number | null>;
  logs(): string;
}

async function startPod(env: Readonly<Record<string, string>>, args: readonly string[]): Promise<Pod> {
  const flags = ['controller', '--metrics-address=127.0.0.1:0', '--health-address=127.0.0.1:0'];
  const [command = '', ...rest] = inImage([...tree.command, ...flags, ...args]);
  const child = spawn(command, rest, {
    env: { PATH: process.env['PATH'], ...tree.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  await waitUntil(
    () => {
      if (child.exitCode !== null) throw new Error(`The pod has ended:\n${output}`);
      return output.includes('"msg":"Work begins"');
    },
    { what: 'the pod works' },
  );
  return { child, ended, logs: () => output };
}
