import { afterAll, beforeAll, expect, test } from 'vitest';
import { ownRules, policyRules } from '../../src/rbac.ts';
import { type Api, installCrds, openApi } from '../kube/api.ts';
import { adminKubeconfig, makeNamespace, waitUntil } from '../support/control-plane.ts';
import { startKubeProxy } from '../support/kube-proxy.ts';
import { startOperator } from '../support/operator.ts';
import { accountWith } from '../support/operator-rights.ts';

/** So long that a process that only polls would not notice within this test. */
const ARGS = [
  '--leader-elect',
  '--leader-elect-lease-duration=30m',
  '--leader-elect-renew-deadline=20m',
  '--leader-elect-retry-period=10m',
];

let api: Api;

beforeAll(async () => {
  api = await openApi(adminKubeconfig());
  await installCrds(api);
});

afterAll(() => api?.close());

test('a standby hears at once that the acting operator has stopped, and takes its place', async ({
  onTestFinished,
}) => {
  const namespace = await makeNamespace();
  const kubeconfig = await accountWith(namespace, 'operator', [...policyRules, ...ownRules]);
  const start = async (name: string) => {
    // The requests through the proxy show the namespace of the Lease.
    const proxy = await startKubeProxy(kubeconfig, `${namespace}-${name}`, (_, pass) => pass(), namespace);
    onTestFinished(() => proxy.close());
    const operator = await startOperator({ kubeconfig: proxy.kubeconfig, namespaces: [namespace], args: ARGS });
    onTestFinished(() => operator.kill());
    const watches = () =>
      operator.metric('mooring_kube_requests_total', { verb: 'watch', resource: 'leases', code: '200' });
    const { health } = await operator.addresses;
    const probe = async (path: string) => {
      const response = await fetch(`http://${health}${path}`);
      return `${response.status} ${await response.text()}`;
    };
    return { ...operator, leads: async () => (await operator.metric('mooring_leader')) === 1, watches, probe };
  };
  const leader = await start('leader');
  await waitUntil(leader.leads, { what: 'the first one leads' });
  const standby = await start('standby');
  await waitUntil(async () => (await standby.watches()) > 0, { what: 'the other one watches the Lease' });
  expect(await standby.leads()).toBe(false);
  expect([await leader.probe('/livez'), await standby.probe('/livez')]).toEqual(['200 ok\n', '200 ok\n']);
  expect([await leader.probe('/readyz'), await standby.probe('/readyz')]).toEqual([
    '200 ok: acts\n',
    '200 ok: stands by\n',
  ]);
  expect(await leader.stop()).toBe(0);
  await waitUntil(standby.leads, { what: 'the other one leads' });
  expect(await standby.stop()).toBe(0);
});
