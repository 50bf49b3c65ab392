import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type Api, openApi } from '../../kube/api.ts';
import { type KubernetesCluster, startKubernetesCluster } from '../../support/kubernetes-cluster.ts';
import { cluster, database, user } from '../../support/manifests.ts';
import { readDocument, shellBlocks } from '../../support/readme.ts';
import { countChanges, type SimulatedCloud, startSimulatedCloud } from '../../support/simulated-cloud.ts';
import { createSite, type Kind, type Site } from '../../support/site.ts';
import { modifierFiles, rulesOfGuide, type Saved, veleroBackup, veleroRestore } from '../../support/velero.ts';
import { buildVelero, startVelero, type VeleroBuild, type VeleroServer } from './velero.ts';

/*
 * What docs/guides/disaster-recovery.md says about Velero, by Velero itself. The tests follow one another: a backup while Mooring
 * runs, copies in the same Kubernetes cluster, and restores in a new one.
 */

const KINDS: readonly Kind[] = ['DatabaseSpace', 'DatabaseCluster', 'DatabaseUser', 'Database'];
const STATUS = 'databasespaces,databaseclusters,databaseusers,databases'.replaceAll(/(?=,)|$/g, '.mooring.dev');

let build: VeleroBuild;
let cloud: SimulatedCloud;
let folder: string;
let done: readonly number[];
/** The passwords of the backup, by Secret. */
const passwords = new Map<string, string>();
let old: KubernetesCluster;
let velero: VeleroServer;
let api: Api;
let fresh: KubernetesCluster;
let veleroAfterwards: VeleroServer;
let apiAfterwards: Api;

async function allReady(site: Site<SimulatedCloud>): Promise<void> {
  for (const kind of KINDS) await site.until(kind, { status: 'True' });
}

/** Nothing was changed in the cloud, and the Secrets have the passwords of the backup, which work. */
async function expectUntouched(site: Site<SimulatedCloud>): Promise<void> {
  expect(await countChanges(cloud)).toEqual(done);
  const endpoint = (await site.get('DatabaseCluster'))?.status?.endpoint ?? '';
  for (const [name, saved] of passwords) {
    const { username = '', password } = (await site.secret(name))?.data ?? {};
    expect(password, name).toBe(saved);
    expect(await cloud.signIn(endpoint, username, saved), name).toBe(200);
  }
}

async function modifiers(where: KubernetesCluster, name: string, file: string): Promise<void> {
  const path = join(folder, `${name}.yaml`);
  writeFileSync(path, file);
  await where.kubectl(['create', 'configmap', name, '--namespace=velero', `--from-file=modifiers.yaml=${path}`]);
}

beforeAll(async () => {
  build = await buildVelero();
  folder = mkdtempSync(join(tmpdir(), 'velero-'));
  cloud = await startSimulatedCloud(['production']);
  old = await startKubernetesCluster('shop');
  api = await openApi(old.controlPlane.kubeconfig);
  velero = await startVelero(build, old, folder);
  const operator = await old.start();
  const site = createSite(api, 'shop', cloud, operator.logs);
  // A cluster that its object may destroy: its space protects its Secrets.
  await old.apply([...cloud.manifests('production'), cluster({ deletionPolicy: 'Delete' })]);
  await old.apply([user(), database({ schema: [{ inline: 'define entity order;' }] })]);
  await allReady(site);
  // So that the generation in the backup differs from that of a new object.
  await old.apply([cluster({ deletionPolicy: 'Delete', storageSizeGB: 200 })]);
  await site.until('DatabaseCluster', { status: 'True' });
  await site.until('DatabaseSpace', { status: 'True' });
  await velero.backup('nightly', 'shop');
  await operator.stop();
  for (const name of ['orders-admin', 'app-connection'])
    passwords.set(name, (await site.secret(name))?.data['password'] ?? '');
  done = await countChanges(cloud);
  const [withStatus = '', without = ''] = modifierFiles();
  await modifiers(old, 'with-status', withStatus);
  await modifiers(old, 'without', without);
});

afterAll(async () => {
  await Promise.all([api?.close(), apiAfterwards?.close()]);
  await Promise.all([velero?.stop(), veleroAfterwards?.stop()]);
  await Promise.all([old?.controlPlane.stop(), fresh?.controlPlane.stop(), cloud?.close()]);
  rmSync(folder, { recursive: true, force: true });
});

/** What differs between any two restores is left out. */
function essence(objects: readonly Saved[]): readonly object[] {
  return objects
    .filter(({ metadata }) => metadata.labels?.['velero.io/backup-name'] !== undefined)
    .map(({ metadata, ...rest }) => {
      const { uid: _, resourceVersion: __, creationTimestamp: ___, namespace: ____, ...kept } = metadata;
      return { ...rest, metadata: { ...kept, labels: { ...metadata.labels, 'velero.io/restore-name': 'any' } } };
    });
}

test.each(['withStatus', 'without'] as const)('restores as the tests that imitate it do: %s', async (kind) => {
  const withStatus = kind === 'withStatus';
  const [really, imitated] = [`really-${kind.toLowerCase()}`, `imitated-${kind.toLowerCase()}`];
  await old.kubectl(['create', 'namespace', imitated]);
  const flags = [
    `--namespace-mappings=shop:${really}`,
    `--resource-modifier-configmap=${withStatus ? 'with-status' : 'without'}`,
  ];
  await velero.restore(really, 'nightly', ...flags, ...(withStatus ? [`--status-include-resources=${STATUS}`] : []));
  const restore = { withStatus, rules: rulesOfGuide()[kind] };
  const run = (args: readonly string[]) => old.kubectl(args);
  await veleroRestore(api, imitated, await veleroBackup(api, 'shop'), restore, run);
  const found = essence(await veleroBackup(api, really));
  expect(found.map((object) => (object as Saved).kind)).toEqual([
    ...['Secret', 'Secret', 'Secret', 'Secret', 'Secret', 'Secret'],
    ...['DatabaseCluster', 'Database', 'DatabaseSpace', 'DatabaseUser'],
  ]);
  expect(found).toEqual(essence(await veleroBackup(api, imitated)));
});

test('beside the living originals, copies do nothing, and nothing of the originals goes with them', async () => {
  const operator = await old.start(['shop', 'copy']);
  onTestFinished(async () => void (await operator.stop()));
  const copy = createSite(api, 'copy', cloud, operator.logs);
  const flags = ['--namespace-mappings=shop:copy', '--resource-modifier-configmap=with-status'];
  await velero.restore('copy', 'nightly', ...flags, `--status-include-resources=${STATUS}`);
  // Where Velero puts the status over what Mooring has written, Mooring looks again within a minute.
  const until = (kind: Kind, reason: string) => copy.until(kind, { reason }, undefined, 90_000);
  expect((await until('DatabaseCluster', 'ClusterIDClaimed')).status?.conditions?.[0]?.message).toMatch(
    /"shop\/orders"/,
  );
  await until('DatabaseUser', 'WaitingForCluster');
  await until('Database', 'WaitingForCluster');
  await old.kubectl(['delete', 'namespace', 'copy', '--timeout=60s']);
  const original = createSite(api, 'shop', cloud, operator.logs);
  await allReady(original);
  await expectUntouched(original);
});

test('in a new Kubernetes cluster, the guide’s commands bring all objects back as they were', async () => {
  await velero.stop();
  await old.controlPlane.stop();
  fresh = await startKubernetesCluster('shop');
  apiAfterwards = await openApi(fresh.controlPlane.kubeconfig);
  veleroAfterwards = await startVelero(build, fresh, folder);
  await veleroAfterwards.knows('nightly');
  const here = 'test/integration/velero/velero.test.ts';
  const block = shellBlocks(readDocument('docs/guides/disaster-recovery.md')).find((each) => each.test === here);
  writeFileSync(join(folder, 'modifiers.yaml'), modifierFiles()[0] ?? '');
  await fresh.shell(`PATH="${dirname(build.command)}:$PATH"\n${block?.commands}`, folder);
  await veleroAfterwards.mustHaveRestored();
  const operator = await fresh.start();
  onTestFinished(async () => void (await operator.stop()));
  const site = createSite(apiAfterwards, 'shop', cloud, operator.logs);
  await allReady(site);
  await expectUntouched(site);
});

test('without status, but with the guide’s rules, all is taken over as it is', async () => {
  await modifiers(fresh, 'without', modifierFiles()[1] ?? '');
  const flags = ['--namespace-mappings=shop:second', '--resource-modifier-configmap=without'];
  await veleroAfterwards.restore('second', 'nightly', ...flags);
  // It does not see the objects of the test before.
  const operator = await fresh.start(['second']);
  onTestFinished(async () => void (await operator.stop()));
  const site = createSite(apiAfterwards, 'second', cloud, operator.logs);
  await allReady(site);
  await expectUntouched(site);
});

test('if Mooring works meanwhile, objects go on as before, too', async () => {
  const operator = await fresh.start(['third']);
  onTestFinished(async () => void (await operator.stop()));
  await modifiers(fresh, 'with-status', modifierFiles()[0] ?? '');
  const flags = ['--namespace-mappings=shop:third', '--resource-modifier-configmap=with-status'];
  await veleroAfterwards.restore('third', 'nightly', ...flags, `--status-include-resources=${STATUS}`);
  // It would look by itself within a minute.
  await fresh.kubectl(['annotate', 'mooring', '--all', '--namespace=third', 'mooring.dev/reconcile-at=now']);
  const site = createSite(apiAfterwards, 'third', cloud, operator.logs);
  await allReady(site);
  await expectUntouched(site);
});
