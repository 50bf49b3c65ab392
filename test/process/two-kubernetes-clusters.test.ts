import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Api, openApi } from '../kube/api.ts';
import { adminKubeconfig, makeNamespace, waitUntil } from '../support/control-plane.ts';
import { createDesk, type Desk } from '../support/kubectl-bench.ts';
import { startOperator } from '../support/operator.ts';
import { installOperator } from '../support/operator-bench.ts';
import { startSimulatedCloud } from '../support/simulated-cloud.ts';

/*
 * Two Kubernetes clusters, each with an operator, and one space in the cloud. They see of each other only what the cloud
 * shows. Here they are two operators that watch one namespace each.
 */

let api: Api;
let kubeconfig: string;

beforeAll(async () => {
  api = await openApi(adminKubeconfig());
  kubeconfig = await installOperator(api);
});

afterAll(() => api?.close());

async function twoDesks(onTestFinished: (run: () => Promise<void>) => void): Promise<readonly [Desk, Desk]> {
  const cloud = await startSimulatedCloud(['production']);
  onTestFinished(() => cloud.close());
  const desk = async () => {
    const namespace = await makeNamespace();
    const operator = await startOperator({ kubeconfig, namespaces: [namespace] });
    onTestFinished(async () => void (await operator.stop()));
    return createDesk(api, { namespace, id: 'orders', spaceID: 'production', cloud }, operator.logs);
  };
  return [await desk(), await desk()];
}

test('the second one learns that the id is not its own, and touches nothing, even when its object is deleted', async ({
  onTestFinished,
}) => {
  const [first, second] = await twoDesks(onTestFinished);
  await Promise.all([first, second].map((desk) => desk.begin({ deletionPolicy: 'Delete' })));
  const readyOf = async (desk: Desk) => (await desk.get('DatabaseCluster'))?.status?.conditions?.[0]?.status;
  const isOver = async () => (await Promise.all([first, second].map(readyOf))).toSorted().join() === 'False,True';
  await waitUntil(isOver, { what: 'one has it, the other has not' });
  const [owner, other] = (await readyOf(first)) === 'True' ? [first, second] : [second, first];
  await other.until('DatabaseCluster', {
    status: 'False',
    reason: 'ClusterIDInUse',
    message: /created \S+, but not by this object/,
  });
  expect(await owner.cloud.count('updateUser', 'orders')).toBe(1);
  await other.remove('DatabaseCluster', 'orders');
  await other.gone('DatabaseCluster');
  await owner.ready();
  expect(await owner.cloud.cluster('orders')).toMatchObject({ status: 'running' });
});

test('one that adopts a cluster managed elsewhere does not know the login, and leaves it alone', async ({
  onTestFinished,
}) => {
  const [first, second] = await twoDesks(onTestFinished);
  await first.begin();
  await first.ready();
  await second.begin({ adoptionPolicy: 'IfExists' });
  await second.until('DatabaseCluster', {
    status: 'False',
    reason: 'DefaultLoginRefused',
    message: /existingSecretRef/,
  });
  expect(await second.secret()).toBeUndefined();
  expect(await first.cloud.count('updateUser', 'orders')).toBe(1);
  await first.annotate('orders', { 'mooring.dev/reconcile-at': 'now' });
  await first.ready();
});
