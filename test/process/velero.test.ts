import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type Api, openApi } from '../kube/api.ts';
import { adminKubeconfig, makeNamespace, waitUntil } from '../support/control-plane.ts';
import { createDesk, type Desk } from '../support/kubectl-bench.ts';
import { database, user } from '../support/manifests.ts';
import { startOperator } from '../support/operator.ts';
import { installOperator } from '../support/operator-bench.ts';
import { countChanges, type SimulatedCloud, startSimulatedCloud } from '../support/simulated-cloud.ts';
import type { Kind } from '../support/site.ts';
import { type Restore, rulesOfGuide, type Saved, veleroBackup, veleroRestore } from '../support/velero.ts';

/*
 * What docs/guides/disaster-recovery.md says about Velero: one backup, restored as Velero does it, with and without status. All
 * tests use the same cloud, where nothing was lost. No operator works where the backup was taken.
 */

const KINDS: readonly Kind[] = ['DatabaseSpace', 'DatabaseCluster', 'DatabaseUser', 'Database'];

let api: Api;
let kubeconfig: string;
let cloud: SimulatedCloud;
let backup: readonly Saved[];
let done: readonly number[];

const rules = rulesOfGuide();

/** A namespace with an operator, which ends with the test, or on request. */
async function startDesk(namespace: string) {
  const operator = await startOperator({ kubeconfig, namespaces: [namespace] });
  const place = { namespace, id: 'orders', spaceID: 'production', cloud };
  return { operator, desk: createDesk(api, place, operator.logs) };
}

beforeAll(async () => {
  api = await openApi(adminKubeconfig());
  kubeconfig = await installOperator(api);
  cloud = await startSimulatedCloud(['production']);
  const namespace = await makeNamespace();
  const { desk, operator } = await startDesk(namespace);
  // An object whose cluster can be destroyed protects the space's Secrets.
  await desk.begin({ deletionPolicy: 'Delete' });
  await desk.apply(user(), database({ schema: [{ inline: 'define entity order;' }] }));
  for (const kind of KINDS) await desk.until(kind, { status: 'True' });
  // So that the generation in the backup differs from that of a new object.
  await desk.patch({ storageSizeGB: 200 });
  await desk.ready();
  await desk.kubectl('patch', 'databaseuser', 'app', '--type=merge', '--patch={"spec":{"rotateEvery":"720h"}}');
  await desk.until('DatabaseUser', { status: 'True' });
  const isHeld = async () => (await desk.get('DatabaseSpace'))?.status?.keptSecrets?.length === 3;
  await waitUntil(isHeld, { what: "the space's Secrets are held" });
  await operator.stop();
  backup = await veleroBackup(api, namespace);
  done = await countChanges(cloud);
}, 120_000);

afterAll(async () => {
  await cloud?.close();
  await api?.close();
});

/** Restores the backup into a namespace of its own. Mooring starts when all of it is there. */
async function restored(restore: Restore): Promise<Desk> {
  const namespace = await makeNamespace();
  await veleroRestore(api, namespace, backup, restore);
  const { desk, operator } = await startDesk(namespace);
  onTestFinished(async () => void (await operator.kill()));
  return desk;
}

async function expectUntouched(desk: Desk): Promise<void> {
  expect(await countChanges(cloud)).toEqual(done);
  for (const name of ['orders-admin', 'app-connection']) {
    const before = backup.find((object) => object.kind === 'Secret' && object.metadata.name === name);
    const { username = '', password = '' } = (await desk.secret(name))?.data ?? {};
    expect(before?.['data']).toMatchObject({ password: Buffer.from(password).toString('base64') });
    const endpoint = (await desk.get('DatabaseCluster'))?.status?.endpoint ?? '';
    expect(await cloud.signIn(endpoint, username, password)).toBe(200);
  }
}

async function removeAll(desk: Desk): Promise<void> {
  for (const kind of KINDS.toReversed()) {
    const [name = ''] = await desk.names(kind);
    await desk.remove(kind, name);
    await desk.gone(kind, name);
  }
}

test('with their status, objects go on as before', { timeout: 120_000 }, async () => {
  const desk = await restored({ withStatus: true, rules: rules.withStatus });
  for (const kind of KINDS) await desk.until(kind, { status: 'True' });
  await expectUntouched(desk);
});

test('if Mooring works meanwhile, the status is put over what it has written, and objects go on as before', {
  timeout: 120_000,
}, async () => {
  const namespace = await makeNamespace();
  const { desk, operator } = await startDesk(namespace);
  onTestFinished(async () => void (await operator.kill()));
  const onCreated = async (name: string) => {
    const kind = KINDS.find((each) => each === name);
    if (kind === undefined) return;
    const isTold = async () => ((await desk.get(kind))?.status?.observedGeneration ?? -1) > 0;
    await waitUntil(isTold, { what: `Mooring has written to ${kind}` });
  };
  await veleroRestore(api, namespace, backup, { withStatus: true, rules: rules.withStatus, onCreated });
  // It would look by itself within a minute.
  await desk.kubectl('annotate', 'mooring', '--all', 'mooring.dev/reconcile-at=now');
  for (const kind of KINDS) await desk.until(kind, { status: 'True' });
  await expectUntouched(desk);
});

test('without status, existing clusters are left alone, and reported as somebody else’s', {
  timeout: 120_000,
}, async () => {
  const desk = await restored({ rules: rules.withStatus });
  await desk.until('DatabaseCluster', { status: 'False', reason: 'ClusterIDInUse', message: /not by this object/ });
  await desk.until('DatabaseUser', { reason: 'WaitingForCluster' });
  expect(await countChanges(cloud)).toEqual(done);
  // It is not deleted with its object either, although the manifest says Delete.
  await desk.remove('DatabaseCluster', 'orders');
  await desk.gone('DatabaseCluster');
  expect(await countChanges(cloud)).toEqual(done);
});

test('a Secret that is restored with its finalizer stays until that is removed', {
  timeout: 120_000,
}, async () => {
  const desk = await restored({ withStatus: true });
  for (const kind of KINDS) await desk.until(kind, { status: 'True' });
  await expectUntouched(desk);
  await desk.kubectl('annotate', 'mooring', '--all', 'mooring.dev/abandon=true');
  await removeAll(desk);
  await desk.kubectl('delete', 'secret', 'cloud-write', '--wait=false');
  expect(await desk.kubectl('get', 'secret', 'cloud-write', '--output=jsonpath={.metadata.finalizers}')).toMatch(
    /^\["mooring\.dev\/space-[-0-9a-f]+"\]$/,
  );
  await desk.kubectl('patch', 'secret', 'cloud-write', '--type=merge', '--patch={"metadata":{"finalizers":null}}');
  const isGone = async () => (await desk.secret('cloud-write')) === undefined;
  await waitUntil(isGone, { what: 'it is gone' });
  expect(await countChanges(cloud)).toEqual(done);
});

// The cluster is gone afterwards.
test('without status, but with the adoptionPolicy of the guide, all is taken over as it is, and can be deleted', {
  timeout: 120_000,
}, async () => {
  const desk = await restored({ rules: rules.without });
  for (const kind of KINDS) await desk.until(kind, { status: 'True' });
  await expectUntouched(desk);
  await removeAll(desk);
  expect(await cloud.cluster('orders')).toBeUndefined();
  await desk.kubectl('delete', 'secret', 'cloud-read', 'cloud-write', 'cloud-admin', 'factory-login', '--timeout=20s');
});

test('without status, no empty cluster is created in place of one that is gone', { timeout: 120_000 }, async () => {
  const before = await countChanges(cloud);
  const desk = await restored({ rules: rules.without });
  await desk.until('DatabaseCluster', { status: 'False', reason: 'ClusterNotFound' });
  expect(await countChanges(cloud)).toEqual(before);
});
