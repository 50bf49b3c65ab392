import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FakeCommands } from '../../test/support/fake-commands.ts';
import { startControlPlane } from './start.ts';

const BINARIES = ['etcd', 'kube-apiserver', 'kubectl', 'kube-controller-manager'];

/** The answer of kubectl for any cluster here. */
const KUBECTL = `case "$*" in
  *config*) echo '{"clusters":[{"cluster":{"server":"https://fake.example:6443"}}]}' ;;
  *token*) echo a-token ;;
  *readyz*) printf ok ;;
esac`;

/** Records that it ran and ends: enough to see which way was taken. */
const BROKEN = 'echo "it is broken"; exit 1';

let fakes: FakeCommands;
let lines: string[];

beforeEach(() => {
  fakes = new FakeCommands();
  lines = [];
});
afterEach(() => fakes.remove());

function start(env: NodeJS.ProcessEnv = {}, options: { kubeconfig?: string } = {}) {
  const log = (line: string) => lines.push(line);
  return startControlPlane({ controllerManager: true, env: { ...fakes.env, ...env }, log, ...options });
}

function addGo(
  script = 'while [ "$1" != -o ]; do shift; done; printf "#!/bin/sh\\nexit 1\\n" > "$2"; chmod +x "$2"',
): void {
  fakes.add('go', script);
}

describe('startControlPlane() takes, in this order', () => {
  test('the kubeconfig that was named, and starts nothing', async () => {
    for (const name of [...BINARIES, 'docker', 'kind', 'go']) fakes.add(name, name === 'kubectl' ? KUBECTL : BROKEN);
    const kubeconfig = join(fakes.folder, 'named');
    writeFileSync(kubeconfig, '');
    for (const way of [start({ MOORING_TEST_KUBECONFIG: kubeconfig }), start({}, { kubeconfig })]) {
      const controlPlane = await way;
      expect(controlPlane).toMatchObject({ kubeconfig, server: 'https://fake.example:6443' });
      await expect(controlPlane.killApiServer()).rejects.toThrow('it belongs to kubeconfig');
      await controlPlane.stop();
      expect(existsSync(kubeconfig)).toBe(true);
    }
    expect(fakes.calls().every((call) => call.startsWith('kubectl '))).toBe(true);
  });

  test('the folder KUBEBUILDER_ASSETS', async () => {
    const assets = new FakeCommands();
    for (const name of BINARIES) assets.add(name, BROKEN);
    for (const name of [...BINARIES, 'docker', 'kind', 'go']) fakes.add(name, BROKEN);
    await expect(start({ KUBEBUILDER_ASSETS: join(assets.folder, 'bin') })).rejects.toThrow('Cannot start etcd');
    expect(assets.calls()[0]).toBe('etcd --help');
    expect(fakes.calls()).toEqual([]);
    assets.remove();
  });

  test('the binaries on PATH', async () => {
    for (const name of [...BINARIES, 'docker', 'kind', 'go']) fakes.add(name, BROKEN);
    await expect(start()).rejects.toThrow('Cannot start etcd: it ended. Its last lines:\n  it is broken');
    expect(fakes.calls()[0]).toBe('etcd --help');
  });

  test('kind, when Docker answers', async () => {
    fakes.add('docker', '');
    fakes.add('kind', '');
    fakes.add('kubectl', KUBECTL);
    addGo();
    const controlPlane = await start();
    expect(controlPlane.server).toBe('https://fake.example:6443');
    await controlPlane.stop();
    const [create, remove] = fakes.calls().filter((call) => call.startsWith('kind '));
    expect(create).toMatch(/^kind create cluster --name=mooring-\w+ --kubeconfig=\S+\/admin\.kubeconfig --wait=120s$/);
    expect(remove).toBe(create?.replace('create', 'delete').replace(' --wait=120s', ''));
  });

  test('Go, when Docker does not answer, or kind fails', async () => {
    fakes.add('kind', BROKEN);
    addGo();
    fakes.add('docker', BROKEN);
    await expect(start()).rejects.toThrow('Cannot start etcd');
    expect(lines[0]).toMatch(/^Building etcd v\S+ with Go /);
    lines = [];
    fakes.add('docker', '');
    await expect(start()).rejects.toThrow('Cannot start etcd');
    expect(lines.join('\n')).toContain('Cannot create a cluster with kind. The last lines:\n  it is broken');
    expect(fakes.calls().filter((call) => call.startsWith('kind delete'))).toHaveLength(1);
  });

  test('binaries that were built before, even if Go is gone', async () => {
    addGo();
    await expect(start()).rejects.toThrow('Cannot start etcd');
    rmSync(join(fakes.folder, 'bin', 'go'));
    lines = [];
    await expect(start()).rejects.toThrow('Cannot start etcd');
    expect(lines).toEqual([]);
  });

  test('Go in Docker, when there is neither Go nor kind', async () => {
    fakes.add('docker', '[ "$1" != run ] || { echo "it is broken"; exit 1; }');
    await expect(start()).rejects.toThrow('Cannot build etcd. The last lines:\n  it is broken');
    expect(lines[0]).toContain('with Go in Docker');
    const container = /--name (\S+)/.exec(fakes.calls().find((call) => call.startsWith('docker run')) ?? '')?.[1];
    expect(fakes.calls()).toContain(`docker rm --force ${container}`);
  });

  test('nothing, and says what would help', async () => {
    const message = await start().catch((error: Error) => error.message);
    for (const remedy of ['Go', 'Docker', 'KUBEBUILDER_ASSETS', '--kubeconfig']) expect(message).toContain(remedy);
  });
});

describe('startControlPlane() refuses', () => {
  test('KUBEBUILDER_ASSETS without the binaries', async () => {
    addGo();
    await expect(start({ KUBEBUILDER_ASSETS: fakes.folder })).rejects.toThrow(
      `Cannot use KUBEBUILDER_ASSETS "${fakes.folder}": it has no etcd, kube-apiserver, kubectl`,
    );
  });

  test('a kubeconfig that does not exist', async () => {
    fakes.add('kubectl', KUBECTL);
    await expect(start({}, { kubeconfig: '/nowhere' })).rejects.toThrow(
      'Cannot use kubeconfig "/nowhere": no such file',
    );
  });

  test('a named cluster that does not answer', async () => {
    fakes.add('kubectl', `${KUBECTL}\ncase "$*" in *readyz*) echo "connection refused" >&2; exit 1 ;; esac`);
    const kubeconfig = join(fakes.folder, 'named');
    writeFileSync(kubeconfig, '');
    await expect(start({}, { kubeconfig })).rejects.toThrow('kubectl get failed: connection refused');
  });
});
