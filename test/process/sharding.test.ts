import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ownRules, policyRules } from '../../src/rbac.ts';
import { LEASES } from '../../src/runtime/leader-election.ts';
import { installCrds, openApi } from '../kube/api.ts';
import { adminKubeconfig, makeNamespace, mustKubectl, waitUntil } from '../support/control-plane.ts';
import { cluster, secret, space, wholeSpace } from '../support/manifests.ts';
import { type OperatorProcess, startOperator } from '../support/operator.ts';
import { accountWith } from '../support/operator-rights.ts';
import { startCloud } from '../support/served-cloud.ts';
import { createSite } from '../support/site.ts';

const ARGS = [
  '--shard-by-space',
  '--leader-elect-lease-duration=6s',
  '--leader-elect-renew-deadline=4s',
  '--leader-elect-retry-period=500ms',
];
const SPACES = ['production', 'staging'];

test('two operators on a real API server share the spaces, and one takes over those of the other that is killed', {
  timeout: 120_000,
}, async ({ onTestFinished }) => {
  const api = await openApi(adminKubeconfig());
  onTestFinished(() => api.close());
  await installCrds(api);
  const namespace = await makeNamespace();
  // The rights that the chart gives for this, and no others: nobody else's Lease could be taken or removed without them.
  const kubeconfig = inNamespace(await accountWith(namespace, 'operator', [...policyRules, ...ownRules]), namespace);
  const cloud = await startCloud({ knobs: { provisionMs: [100, 100] } });
  onTestFinished(() => cloud.close());
  const site = createSite(api, namespace, cloud);
  const token = { clientID: 'staging-admin-id', clientSecret: 'staging-admin-secret-0123456789' };
  const apiTokens = [{ level: 'admin', secretRef: { name: 'cloud-staging' } }];
  const staging = { ...space(cloud, { spaceID: 'staging', apiTokens }), metadata: { name: 'staging' } };
  await site.apply(...wholeSpace(cloud), secret('cloud-staging', token), staging);
  await site.apply(cluster(), cluster({ spaceRef: { name: 'staging' } }, {}, 'bills'));

  const start = async () => {
    const operator = await startOperator({ kubeconfig, namespaces: [namespace], args: ARGS });
    onTestFinished(() => operator.kill());
    return operator;
  };
  const [one, two] = await Promise.all([start(), start()]);
  const spacesOf = async (operator: OperatorProcess) => {
    const text = await operator.metricsText();
    return SPACES.filter((name) =>
      text.includes(`last_observed_timestamp_seconds{namespace="${namespace}",name="${name}"}`),
    );
  };
  const leases = async () =>
    (await mustKubectl(['get', LEASES.plural, `--namespace=${namespace}`, '--output=name'])).trim().split('\n');

  await site.ready();
  await site.ready('bills');
  const isShared = async () => {
    const all = [...(await spacesOf(one)), ...(await spacesOf(two))];
    return all.length === SPACES.length && new Set(all).size === SPACES.length;
  };
  await waitUntil(isShared, { what: 'each space has one owner' });
  expect(cloud.tookEffect('deploy')).toBe(2);

  const [dying, living] = (await spacesOf(one)).includes('production') ? [one, two] : [two, one];
  await dying.kill();
  await site.apply(cluster({ machineType: 'c2d-highcpu-8' }));
  await site.ready();
  await waitUntil(async () => (await spacesOf(living)).length === SPACES.length, { what: 'the other one has both' });
  await waitUntil(async () => (await leases()).length === 1, { what: 'the Lease of the dead one is removed' });
  expect(cloud.tookEffect('deploy')).toBe(2);
  expect(await living.stop()).toBe(0);
});

/** The same kubeconfig with this namespace in its context, as a pod has its own. */
function inNamespace(kubeconfig: string, namespace: string): string {
  const path = `${kubeconfig}-own`;
  const text = readFileSync(kubeconfig, 'utf8').replace('"context": {', `"context": { "namespace": "${namespace}",`);
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}
