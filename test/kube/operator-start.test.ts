import { randomUUID } from 'node:crypto';
import { expect, it, onTestFinished } from 'vitest';
import { adminKubeconfig, waitUntil } from '../support/control-plane.ts';
import { cluster, wholeSpace } from '../support/manifests.ts';
import { startOperator } from '../support/operator.ts';
import { createNamespace, installOperator } from '../support/operator-bench.ts';
import { startCloud } from '../support/served-cloud.ts';
import { createSite } from '../support/site.ts';
import { openApi } from './api.ts';

it('a starting operator says which of its namespaces do not exist, and works in the others', async () => {
  const api = await openApi(adminKubeconfig());
  onTestFinished(() => api.close());
  const kubeconfig = await installOperator(api);
  const [namespace, absent] = [`there-${randomUUID().slice(0, 8)}`, `absent-${randomUUID().slice(0, 8)}`];
  await createNamespace(api, namespace);
  const operator = await startOperator({ kubeconfig, namespaces: [absent, namespace] });
  onTestFinished(async () => void (await operator.stop()));
  const warnings = () =>
    operator
      .logs()
      .split('\n')
      .filter((line) => line.includes(' does not exist: '));
  await waitUntil(() => warnings().length > 0, { what: 'it says so' });
  const message = `Namespace ${absent} does not exist: nothing happens in it until it does. Check --namespaces (MOORING_NAMESPACES)`;
  expect(warnings().map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({ level: 'warn', msg: message }),
  ]);
});

it('a starting operator looks at spaces first, so that no cluster reports waiting for one', async () => {
  const api = await openApi(adminKubeconfig());
  onTestFinished(() => api.close());
  const kubeconfig = await installOperator(api);
  const namespace = `start-${randomUUID().slice(0, 8)}`;
  await createNamespace(api, namespace);
  const cloud = await startCloud();
  onTestFinished(() => cloud.close());
  const site = createSite(api, namespace, cloud);
  await site.apply(...wholeSpace(cloud), cluster());

  const operator = await startOperator({ kubeconfig, namespaces: [namespace] });
  onTestFinished(async () => void (await operator.stop()));
  await site.ready();
  const reasons = (await site.events()).filter(({ regarding }) => regarding === 'DatabaseCluster/orders');
  expect(reasons.map(({ reason }) => reason)).not.toContain('WaitingForSpace');
});
