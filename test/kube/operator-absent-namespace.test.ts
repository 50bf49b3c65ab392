import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { policyRules } from '../../src/rbac.ts';
import { adminKubeconfig, waitUntil } from '../support/control-plane.ts';
import { cluster } from '../support/manifests.ts';
import { spawnOperator } from '../support/operator.ts';
import { createNamespace, installOperator } from '../support/operator-bench.ts';
import { accountWith, grantInCluster } from '../support/operator-rights.ts';
import { createSite } from '../support/site.ts';
import { type Api, openApi } from './api.ts';

let api: Api;

beforeAll(async () => {
  api = await openApi(adminKubeconfig());
  await installOperator(api);
});

afterAll(() => api?.close());

test('an operator waits for a namespace in which it has no Role, says why, and goes on if it may see that there is none', async () => {
  const id = randomUUID().slice(0, 8);
  const [namespace, absent] = [`present-${id}`, `absent-${id}`];
  await createNamespace(api, namespace);
  const kubeconfig = await accountWith(namespace, 'mooring', policyRules);
  const operator = spawnOperator({ kubeconfig, namespaces: [namespace, absent] });
  onTestFinished(async () => void (await operator.stop()));
  const { health } = await operator.addresses;
  const readyz = async () => (await fetch(`http://${health}/readyz`)).text();
  const reason = `databasespaces, .* in namespace ${absent}: .*forbidden.* \\(403\\): .*If namespace ${absent} was deleted`;
  await waitUntil(async () => new RegExp(reason).test(await readyz()), { what: 'it says what it waits for' });
  const site = createSite(api, namespace, undefined, operator.logs);
  await site.apply(cluster());
  expect((await site.get('DatabaseCluster'))?.status?.conditions).toBeUndefined();

  const rules = [{ apiGroups: [''], resources: ['namespaces'], resourceNames: [absent], verbs: ['get'] }];
  const revoke = await grantInCluster({ namespace, name: 'mooring' }, rules);
  onTestFinished(revoke);
  await site.until('DatabaseCluster', { reason: 'SpaceNotFound' });
  expect(await readyz()).not.toContain(absent);
});
