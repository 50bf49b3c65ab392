import { randomUUID } from 'node:crypto';
import { expect, it, onTestFinished } from 'vitest';
import { adminKubeconfig } from '../support/control-plane.ts';
import { cluster, wholeSpace } from '../support/manifests.ts';
import { startOperator } from '../support/operator.ts';
import { createNamespace, installOperator } from '../support/operator-bench.ts';
import { startCloud } from '../support/served-cloud.ts';
import { createSite } from '../support/site.ts';
import { openApi } from './api.ts';

it('an operator that starts looks at spaces first, so that no cluster has to say that it waits for one', async () => {
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
