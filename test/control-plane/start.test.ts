import { existsSync } from 'node:fs';
import { afterEach, describe, expect, test } from 'vitest';
import type { ControlPlane } from '../../tools/control-plane/control-plane.ts';
import { answers } from '../../tools/control-plane/ready.ts';
import { run } from '../../tools/control-plane/run.ts';
import { startControlPlane } from '../../tools/control-plane/start.ts';
import { kubeconfigFor, kubectl, makeNamespace, mustKubectl, waitUntil } from '../support/control-plane.ts';
import { isAlive } from '../support/processes.ts';

describe('the shared control plane', () => {
  test('answers /readyz under a certificate that its kubeconfig trusts', async () => {
    expect(await mustKubectl(['get', '--raw', '/readyz'])).toBe('ok');
  });

  test('reports the pinned version, not v0.0.0', async () => {
    const { serverVersion } = JSON.parse(await mustKubectl(['version', '--output=json']));
    expect(serverVersion.gitVersion).toMatch(/^v1\.\d+\.\d+/);
  });

  test('denies a service account what no role grants, and allows it once one does', async () => {
    const namespace = await makeNamespace();
    await mustKubectl(['create', 'serviceaccount', 'reader', `--namespace=${namespace}`]);
    const kubeconfig = await kubeconfigFor({ namespace, name: 'reader' });
    const list = () => kubectl(['get', 'configmaps', `--namespace=${namespace}`], { kubeconfig });

    const denied = await list();
    expect(denied.code).toBe(1);
    expect(denied.stderr).toContain(
      `User "system:serviceaccount:${namespace}:reader" cannot list resource "configmaps"`,
    );

    await mustKubectl(['create', 'role', 'read', '--verb=list', '--resource=configmaps', `--namespace=${namespace}`]);
    const subject = `--serviceaccount=${namespace}:reader`;
    await mustKubectl(['create', 'rolebinding', 'read', '--role=read', subject, `--namespace=${namespace}`]);
    await waitUntil(async () => (await list()).code === 0, { what: 'the role to take effect' });
  });

  test('deletes namespaces with everything in them', async () => {
    const namespace = await makeNamespace();
    await mustKubectl(['create', 'configmap', 'one', `--namespace=${namespace}`]);
    await mustKubectl(['delete', 'namespace', namespace, '--timeout=30s']);
    expect((await kubectl(['get', 'namespace', namespace])).stderr).toContain('not found');
  });
});

describe('startControlPlane()', () => {
  const started: ControlPlane[] = [];
  const start = async () => {
    const controlPlane = await startControlPlane();
    started.push(controlPlane);
    return controlPlane;
  };
  afterEach(async () => {
    await Promise.all(started.splice(0).map((controlPlane) => controlPlane.stop()));
  });

  const namespaces = async ({ kubectl: command, kubeconfig, directory }: ControlPlane) => {
    const env = { ...process.env, KUBECACHEDIR: directory };
    const args = [`--kubeconfig=${kubeconfig}`, 'get', 'namespaces', '--output=name'];
    return (await run(command, args, { env })).stdout.trim().split('\n');
  };

  test('starts several at once that know nothing of each other', async () => {
    const [one, other] = await Promise.all([start(), start()]);
    expect(one.server).not.toBe(other.server);
    const create = [`--kubeconfig=${one.kubeconfig}`, 'create', 'namespace', 'only-here'];
    await run(one.kubectl, create, { env: { ...process.env, KUBECACHEDIR: one.directory } });
    expect(await namespaces(one)).toContain('namespace/only-here');
    expect(await namespaces(other)).not.toContain('namespace/only-here');
  });

  test('keeps the data when the API server crashes and comes back on the same address', async () => {
    const controlPlane = await start();
    const env = { ...process.env, KUBECACHEDIR: controlPlane.directory };
    const kubeconfig = `--kubeconfig=${controlPlane.kubeconfig}`;
    await run(controlPlane.kubectl, [kubeconfig, 'create', 'namespace', 'kept'], { env });
    await controlPlane.killApiServer();
    expect(await answers({ url: `${controlPlane.server}/readyz`, certificates: '' })).toBe(false);
    await controlPlane.restartApiServer();
    expect(await namespaces(controlPlane)).toContain('namespace/kept');
  });

  test('leaves neither process nor folder behind after stop, which may be called again', async () => {
    const controlPlane = await start();
    const pids = Object.values(controlPlane.pids());
    expect(pids.length).toBeGreaterThan(0);
    await controlPlane.stop();
    await controlPlane.stop();
    expect(pids.filter(isAlive)).toEqual([]);
    expect(controlPlane.pids()).toEqual({});
    expect(existsSync(controlPlane.directory)).toBe(false);
  });

  test('ends what it has started when its signal aborts', async () => {
    const aborted = new AbortController();
    const reason = new Error('changed my mind');
    const starting = startControlPlane({ signal: aborted.signal });
    setImmediate(() => aborted.abort(reason));
    await expect(starting).rejects.toBe(reason);
  });
});
