import { type AddressInfo, createServer } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Api, openApi } from '../kube/api.ts';
import { adminKubeconfig, makeNamespace, waitUntil } from '../support/control-plane.ts';
import type { Gate } from '../support/gate.ts';
import { cluster, wholeSpace } from '../support/manifests.ts';
import { spawnOperator, startOperator } from '../support/operator.ts';
import { installOperator } from '../support/operator-bench.ts';
import { startCloud } from '../support/served-cloud.ts';
import { createSite } from '../support/site.ts';

let api: Api;
let kubeconfig: string;

beforeAll(async () => {
  api = await openApi(adminKubeconfig());
  kubeconfig = await installOperator(api);
});

afterAll(() => api?.close());

test('told to stop, the operator ends with 0, but only after the deploy under way is answered and written down', async (context) => {
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<void>();
  const gate: Gate = async (what, pass) => {
    const outcome = await pass();
    if (what === 'POST /clusters/deploy') {
      asked.resolve();
      await answer.promise;
    }
    return outcome;
  };
  const namespace = await makeNamespace();
  const cloud = await startCloud({ gate });
  context.onTestFinished(() => cloud.close());
  const site = createSite(api, namespace, cloud);
  await site.apply(...wholeSpace(cloud), cluster());
  const operator = await startOperator({ kubeconfig, namespaces: [namespace] });
  await asked.promise;
  const stopped = operator.stop();
  expect((await site.get('DatabaseCluster'))?.status?.createdAt).toBeUndefined();
  answer.resolve();
  const answeredAt = performance.now();
  expect(await stopped).toBe(0);
  expect(performance.now() - answeredAt).toBeLessThan(3_000);
  const { status } = (await site.get('DatabaseCluster')) ?? {};
  expect(status?.createdAt).toBeDefined();
  expect(status?.operation).toBeUndefined();
});

test.for([
  ['an unknown flag', ['--frobnicate'], 2, /frobnicate/],
  ['a concurrency of none', ['--concurrency=0'], 2, /--concurrency \(MOORING_CONCURRENCY\) must be a whole number/],
  ['a kubeconfig that does not exist', ['--kubeconfig=/nowhere/kubeconfig'], 1, /\/nowhere\/kubeconfig/],
] as const)('with %s it says so and ends', async ([, args, code, message]) => {
  const operator = spawnOperator({ kubeconfig, namespaces: ['default'], args });
  await waitUntil(operator.hasEnded, { what: 'it ends' });
  expect(await operator.stop()).toBe(code);
  expect(operator.logs()).toMatch(message);
});

test('with a port that is in use it says so and ends', async (context) => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  context.onTestFinished(() => void taken.close());
  const address = `127.0.0.1:${(taken.address() as AddressInfo).port}`;
  const args = ['--metrics-address=127.0.0.1:0', `--health-address=${address}`];
  const operator = spawnOperator({ kubeconfig, namespaces: ['default'], args });
  await waitUntil(operator.hasEnded, { what: 'it ends' });
  expect(await operator.stop()).toBe(1);
  expect(operator.logs()).toContain(
    `${address} is in use (EADDRINUSE): end what listens there, or name another port with --health-address (MOORING_HEALTH_ADDRESS)`,
  );
});
