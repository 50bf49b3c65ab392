import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Api, openApi } from '../kube/api.ts';
import { adminKubeconfig, applyYaml, makeNamespace, waitUntil } from '../support/control-plane.ts';
import type { Gate } from '../support/gate.ts';
import { startKubeProxy } from '../support/kube-proxy.ts';
import { cluster, wholeSpace } from '../support/manifests.ts';
import { startOperator } from '../support/operator.ts';
import { installOperator } from '../support/operator-bench.ts';
import { RETRY_WAITS } from '../support/retry.ts';
import { startCloud } from '../support/served-cloud.ts';
import { createSite } from '../support/site.ts';
import { createTrap } from '../support/trap.ts';

/*
 * SIGSTOP stops the operator that holds the Lease in the middle of a deploy, while the answer to one of its requests is on its
 * way. Another one takes the Lease and does the work. Then the first one goes on and finds that answer: its very next act would
 * be a change.
 */
const ARGS = [
  '--leader-elect',
  '--leader-elect-lease-duration=6s',
  '--leader-elect-renew-deadline=4s',
  '--leader-elect-retry-period=500ms',
];

/** The request whose answer is on its way, and the change that would come next. */
const POINTS = [
  { what: 'PATCH databaseclusters/orders/status with operation', next: 'a deploy in the cloud' },
  { what: 'POST /clusters/deploy', next: 'a status in Kubernetes' },
  { what: 'PUT /users/admin', next: 'a Secret in Kubernetes' },
];

let api: Api;
let kubeconfig: string;

beforeAll(async () => {
  api = await openApi(adminKubeconfig());
  kubeconfig = await installOperator(api);
});

afterAll(() => api?.close());

describe.concurrent('an operator that was frozen for longer than its Lease changes nothing when it wakes up', {
  ...RETRY_WAITS,
  timeout: 120_000,
}, () => {
  test.for(POINTS)('not even $next', async ({ what }, { onTestFinished, expect }) => {
    const namespace = await makeNamespace();
    await mayElect(namespace);
    const trap = createTrap(what);
    const cloud = await startCloud({ gate: trap.gate, knobs: { provisionMs: [100, 100] } });
    onTestFinished(() => cloud.close());
    const start = async (name: string, gate: Gate) => {
      const proxy = await startKubeProxy(kubeconfig, `${namespace}-${name}`, gate, namespace);
      onTestFinished(() => proxy.close());
      const operator = await startOperator({ kubeconfig: proxy.kubeconfig, namespaces: [namespace], args: ARGS });
      onTestFinished(() => operator.kill());
      return operator;
    };
    const frozen = await start('frozen', trap.gate);
    await waitUntil(async () => (await frozen.metric('mooring_leader')) === 1, { what: 'the first one leads' });
    await start('other', (_, pass) => pass());
    const site = createSite(api, namespace, cloud);
    await site.apply(...wholeSpace(cloud), cluster());
    await waitUntil(trap.isSprung, { what: `${what} is asked for` });
    process.kill(frozen.pid, 'SIGSTOP');

    await site.ready();
    const settled = await site.get('DatabaseCluster');
    trap.watch();
    trap.release();
    // Both answers pass through this process: once this one is here, the other is waiting to be read.
    await site.get('DatabaseCluster');
    process.kill(frozen.pid, 'SIGCONT');
    await waitUntil(frozen.hasEnded, { what: 'the one that was frozen ends' });

    expect(trap.changes()).toEqual([]);
    expect(await frozen.stop()).toBe(1);
    expect(frozen.logs()).toContain('The lease was lost');
    expect(cloud.tookEffect('deploy')).toBe(1);
    expect((await site.get('DatabaseCluster'))?.status).toEqual(settled?.status);
    const { username = '', password = '', ...rest } = (await site.secret())?.data ?? {};
    expect(rest).toEqual({});
    expect(await cloud.signIn(settled?.status?.endpoint ?? '', username, password)).toBe(200);
  });
});

test('the trap notices a change', async () => {
  const trap = createTrap('POST /clusters/deploy');
  await trap.gate('PATCH databaseclusters/orders', async () => {});
  trap.watch();
  for (const what of ['GET secrets/a', 'PATCH databaseclusters/orders', 'DELETE /clusters/orders']) {
    await trap.gate(what, async () => {});
  }
  expect(trap.changes()).toEqual(['PATCH databaseclusters/orders', 'DELETE /clusters/orders']);
});

/** Lets the operator's account hold a Lease in this namespace, as in its own. */
async function mayElect(namespace: string): Promise<void> {
  const metadata = { name: 'leader-election', namespace };
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const rules = [
    { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'list', 'watch', 'create', 'patch'] },
  ];
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: metadata.name };
  const subjects = [{ kind: 'ServiceAccount', namespace: 'mooring-system', name: 'mooring' }];
  const items = [
    { apiVersion, kind: 'Role', metadata, rules },
    { apiVersion, kind: 'RoleBinding', metadata, roleRef, subjects },
  ];
  await applyYaml(JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
}
