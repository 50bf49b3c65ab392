import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { adminKubeconfig, waitUntil } from '../support/control-plane.ts';
import { cluster, secret, space, tokenSecret, wholeSpace } from '../support/manifests.ts';
import { type OperatorProcess, spawnOperator, startOperator } from '../support/operator.ts';
import { createNamespace, installOperator } from '../support/operator-bench.ts';
import { accountWith, rulesWithoutSecretLists } from '../support/operator-rights.ts';
import { startCloud } from '../support/served-cloud.ts';
import { createSite } from '../support/site.ts';
import { type Api, openApi } from './api.ts';

/* `--secrets=get`: an operator that may neither list nor watch Secrets does everything that one with these rights does. */

let api: Api;

beforeAll(async () => {
  api = await openApi(adminKubeconfig());
  await installOperator(api);
});

afterAll(() => api?.close());

/** A namespace with a cloud, and the operator's account there, without the rights to list and watch Secrets. */
async function aSite() {
  const namespace = `by-name-${randomUUID().slice(0, 8)}`;
  await createNamespace(api, namespace);
  const kubeconfig = await accountWith(namespace, 'mooring', rulesWithoutSecretLists);
  const cloud = await startCloud();
  onTestFinished(() => cloud.close());
  let operator: OperatorProcess | undefined;
  const site = createSite(api, namespace, cloud, () => operator?.logs() ?? '');
  const start = async () => {
    const started = await startOperator({ kubeconfig, namespaces: [namespace], args: ['--secrets=get'] });
    operator = started;
    onTestFinished(async () => void (await started.stop()));
    return started;
  };
  return { site, kubeconfig, namespace, start };
}

test('a cluster becomes Ready, its login is rotated, and it is destroyed, without a list or watch of Secrets', async () => {
  const { site, start } = await aSite();
  const operator = await start();
  await site.apply(...wholeSpace(site.cloud), cluster({ deletionPolicy: 'Delete' }));
  await site.ready();
  const before = (await site.secret())?.data['password'];
  await site.annotate('orders', { 'mooring.dev/rotate-at': 'now' });
  await waitUntil(async () => (await site.secret())?.data['password'] !== before, { what: 'the password is another' });
  await site.ready();
  // The Secrets that its deletion needs are protected, and can be found again.
  const kept = ['cloud-admin', 'cloud-write', 'factory-login'];
  await waitUntil(async () => (await site.get('DatabaseSpace'))?.status?.keptSecrets?.join() === kept.join(), {
    what: 'the space names the Secrets that it keeps',
  });
  await site.remove('DatabaseCluster', 'orders');
  await site.gone('DatabaseCluster');
  expect(await site.secret()).toBeUndefined();
  await waitUntil(async () => (await site.get('DatabaseSpace'))?.status?.keptSecrets === undefined, {
    what: 'the space keeps no Secret any more',
  });

  expect(await operator.metric('mooring_kube_requests_total', { resource: 'secrets', verb: /list|watch/ })).toBe(0);
  expect(await operator.metric('mooring_kube_requests_total', { resource: 'secrets', verb: 'get' })).toBeGreaterThan(0);
  expect(operator.logs()).not.toContain('forbidden');
});

test('a changed token is noticed at the next look at the space, a lost login on request', async () => {
  const { site, start } = await aSite();
  await start();
  await site.apply(...wholeSpace(site.cloud), cluster());
  await site.ready();
  await site.apply(secret('cloud-write', { clientID: 'write-id', clientSecret: 'wrong' }));
  await site.until('DatabaseSpace', { reason: 'CredentialsInvalid' });
  await site.apply(tokenSecret('write'), space(site.cloud, { pollInterval: '2s' }));
  await site.until('DatabaseSpace', { status: 'True' });
  await site.ready();

  await site.remove('Secret', 'orders-admin');
  await site.annotate('orders', { 'mooring.dev/reconcile-at': 'now' });
  await site.until('DatabaseCluster', { reason: 'AdminLoginLost' });
});

test('a Secret that is no longer named is released, even by a process that never saw it named', async () => {
  const { site, start } = await aSite();
  const first = await start();
  await site.apply(...wholeSpace(site.cloud), cluster({ deletionPolicy: 'Delete' }));
  await site.ready();
  await waitUntil(async () => (await site.get('DatabaseSpace'))?.status?.keptSecrets?.includes('cloud-admin'), {
    what: 'the Secret is kept',
  });
  await first.stop();
  await site.apply(
    secret('cloud-all', { clientID: 'admin-id', clientSecret: 'admin-secret-0123456789' }),
    space(site.cloud, { apiTokens: [{ level: 'admin', secretRef: { name: 'cloud-all' } }] }),
  );
  await start();
  await waitUntil(
    async () => (await site.get('DatabaseSpace'))?.status?.keptSecrets?.join() === 'cloud-all,factory-login',
    { what: 'only the Secrets that are named are kept' },
  );
  await site.remove('Secret', 'cloud-admin');
  await waitUntil(async () => (await site.secret('cloud-admin')) === undefined, { what: 'the Secret is gone' });
});

test('without --secrets=get these rights are not enough, and the operator names the flag', async () => {
  const { kubeconfig, namespace } = await aSite();
  const operator = spawnOperator({ kubeconfig, namespaces: [namespace] });
  onTestFinished(async () => void (await operator.stop()));
  await waitUntil(() => /Cannot watch secrets.*lacks a right.*--secrets=get/.test(operator.logs()), {
    what: 'it says what it lacks',
  });
});
