import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Api, openApi } from '../kube/api.ts';
import { adminKubeconfig, makeNamespace, waitUntil } from '../support/control-plane.ts';
import { type Gate, silence } from '../support/gate.ts';
import { startKubeProxy } from '../support/kube-proxy.ts';
import { cluster, wholeSpace } from '../support/manifests.ts';
import { spawnOperator, startOperator } from '../support/operator.ts';
import { installOperator } from '../support/operator-bench.ts';
import { RETRY_WAITS } from '../support/retry.ts';
import { startCloud } from '../support/served-cloud.ts';
import { clustersIn } from '../support/simulator.ts';
import { createSite, type Site } from '../support/site.ts';

/*
 * The operator is killed at each request of a deploy. All its requests to Kubernetes, the cloud and the server pass through the
 * test, so each point is hit exactly:
 * before: the request never arrives; after: it takes effect, but its answer never comes; late: it arrives when the next process
 * makes the same request. Before a request all is as the previous one left it, so only the first is kept from arriving.
 */
type When = 'before' | 'after' | 'late';

interface Point {
  readonly what: string;
  /** Which of the requests of this name, counted from 1. */
  readonly nth?: number;
}

const CLUSTER = 'databaseclusters/orders';

/** A deploy, request by request. */
const POINTS: readonly Point[] = [
  { what: 'POST /auth' },
  { what: 'GET /clusters' },
  { what: 'PATCH databasespaces/production/status' },
  { what: `PATCH ${CLUSTER}` }, // The finalizer.
  { what: `PATCH ${CLUSTER}/status with operation` },
  { what: `GET ${CLUSTER}` },
  { what: 'POST /clusters/deploy' },
  { what: `PATCH ${CLUSTER}/status with createdAt` },
  { what: 'GET secrets/orders-admin' },
  { what: 'POST /signin' }, // With the factory login.
  { what: 'POST secrets' }, // The new password, beside the factory's.
  { what: 'PUT /users/admin' },
  { what: 'POST /signin', nth: 2 }, // With the new password.
  { what: 'PATCH secrets/orders-admin' }, // The new password takes its place.
  { what: 'POST /signin', nth: 3 }, // With the factory login, which must be refused.
  { what: `PATCH ${CLUSTER}/status with credentials` },
];

/** Requests that may take effect while the next process is already working. */
const LATE: readonly Point[] = [
  { what: 'POST /clusters/deploy' },
  { what: 'POST secrets' },
  { what: 'PUT /users/admin' },
  { what: 'PATCH secrets/orders-admin' },
  { what: `PATCH ${CLUSTER}/status with operation` },
];

// Each test starts two processes.
vi.setConfig({ maxConcurrency: 3 });

let api: Api;
let kubeconfig: string;

beforeAll(async () => {
  api = await openApi(adminKubeconfig());
  kubeconfig = await installOperator(api);
});

afterAll(() => api?.close());

describe.concurrent('killed and started again, the operator ends with one cluster and one password that works', {
  ...RETRY_WAITS,
}, () => {
  const cases = [
    ...POINTS.slice(0, 1).map((point) => ({ when: 'before' as const, nth: 1, ...point })),
    ...POINTS.map((point) => ({ when: 'after' as const, nth: 1, ...point })),
    ...LATE.map((point) => ({ when: 'late' as const, nth: 1, ...point })),
  ].map((point) => [`${point.when} ${point.what}${point.nth > 1 ? `, number ${point.nth}` : ''}`, point] as const);

  test.for(cases)('%s', async ([, { when, ...point }], { onTestFinished }) => {
    const trap = createTrap(point, when);
    const namespace = await makeNamespace();
    const cloud = await startCloud({ gate: trap.gate, knobs: { provisionMs: [100, 100] } });
    onTestFinished(() => cloud.close());
    const proxy = await startKubeProxy(kubeconfig, namespace, trap.gate);
    onTestFinished(() => proxy.close());
    const site = createSite(api, namespace, cloud);
    await site.apply(...wholeSpace(cloud), cluster());

    const first = spawnOperator({ kubeconfig: proxy.kubeconfig, namespaces: [namespace] });
    await waitUntil(trap.isSprung, { what: `${point.what} is asked for` }).finally(() => first.kill());
    const second = await startOperator({ kubeconfig: proxy.kubeconfig, namespaces: [namespace] });
    try {
      await site.ready();
      trap.release();
      await waitUntil(trap.isOver, { what: 'what was late has come' });
      await isInOrder(site);
    } finally {
      expect(await second.stop()).toBe(0);
    }
  });
});

test('the list has all requests of a deploy that change something', async ({ onTestFinished }) => {
  const seen = new Set<string>();
  const gate: Gate = (what, pass) => {
    if (!what.startsWith('GET ') && what !== 'POST events' && !what.endsWith('/status')) seen.add(what);
    return pass();
  };
  const namespace = await makeNamespace();
  const cloud = await startCloud({ gate });
  onTestFinished(() => cloud.close());
  const proxy = await startKubeProxy(kubeconfig, namespace, gate);
  onTestFinished(() => proxy.close());
  const site = createSite(api, namespace, cloud);
  await site.apply(...wholeSpace(cloud), cluster());
  const operator = await startOperator({ kubeconfig: proxy.kubeconfig, namespaces: [namespace] });
  await site.ready();
  await operator.stop();
  expect(POINTS.map(({ what }) => what)).toEqual(expect.arrayContaining([...seen]));
});

interface Trap {
  readonly gate: Gate;
  /** Resolves when the point is reached and the process may be killed. */
  isSprung(): boolean;
  /** Releases the late request, if nothing has yet. */
  release(): void;
  /** Stops holding requests. */
  isOver(): boolean;
}

function createTrap({ what: wanted, nth }: Required<Point>, when: When): Trap {
  let seen = 0;
  let sprung = false;
  let held = false;
  const released = Promise.withResolvers<void>();
  const over = Promise.withResolvers<void>();
  const gate: Gate = async (what, pass) => {
    if (what === wanted) seen++;
    if (what !== wanted || seen < nth) return pass();
    if (!sprung) {
      if (when === 'after') await pass();
      sprung = true;
      if (when !== 'late') return silence();
      held = true;
      await released.promise;
      // Nobody reads the answer, whatever it is.
      await pass().catch(() => {});
      held = false;
      over.resolve();
      return silence();
    }
    if (held) {
      released.resolve();
      await over.promise;
    }
    return pass();
  };
  return { gate, isSprung: () => sprung, release: () => released.resolve(), isOver: () => !held };
}

async function isInOrder({ cloud, ...site }: Site): Promise<void> {
  const { status, metadata } = (await site.get('DatabaseCluster')) ?? {};
  const clusters = clustersIn(cloud.simulator);
  expect(clusters).toMatchObject([{ id: 'orders', users: [{ username: 'admin', hasFactoryPassword: false }] }]);
  expect(cloud.tookEffect('deploy')).toBe(1);
  expect(Date.parse(status?.createdAt ?? '')).toBe(clusters[0]?.createdAt);
  expect(status?.operation).toBeUndefined();
  expect(metadata?.finalizers).toEqual(['mooring.dev/cluster']);

  const { username = '', password = '', ...rest } = (await site.secret())?.data ?? {};
  expect(rest).toEqual({});
  const endpoint = status?.endpoint ?? '';
  expect(await cloud.signIn(endpoint, username, password)).toBe(200);
  expect(await cloud.signIn(endpoint, cloud.factory.username, cloud.factory.password)).toBe(401);
}
