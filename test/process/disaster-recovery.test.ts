import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startKubernetesCluster } from '../support/kubernetes-cluster.ts';
import { cluster, type Manifest, secret, user, wholeSpace } from '../support/manifests.ts';
import { readDocument, shellBlocks } from '../support/readme.ts';
import { startCloud } from '../support/served-cloud.ts';

/*
 * Uses the commands of docs/guides/disaster-recovery.md: everything is exported, the control plane is thrown away, and the export
 * is applied to a new one. The cloud notices nothing.
 */

const NAMESPACE = 'shop';
interface Exported extends Manifest {
  readonly data: Readonly<Record<string, string>>;
}

const database: Manifest = {
  apiVersion: 'mooring.dev/v1alpha1',
  kind: 'Database',
  metadata: { name: 'orders' },
  spec: { clusterRef: { name: 'orders' }, schema: [{ inline: 'define entity order;' }] },
};

const MUTATING = [
  'deploy',
  'clone',
  'update',
  'destroy',
  'suspend',
  'resume',
  'createDatabase',
  'deleteDatabase',
  'createUser',
  'deleteUser',
];

test('A new control plane takes over from the old one, and changes no cluster', { timeout: 240_000 }, async () => {
  const cloud = await startCloud({ knobs: { provisionMs: [300, 300] } });
  onTestFinished(() => cloud.close());

  const old = await startKubernetesCluster(NAMESPACE);
  onTestFinished(() => old.controlPlane.stop());
  const before = await old.start();
  onTestFinished(async () => void (await before.kill()));
  const own = secret('own', { password: 'a-password-of-my-own' });
  const mine = user({ passwordSecretRef: { name: 'own' } }, {}, 'mine');
  const all = [...wholeSpace(cloud), own, cluster(), user(), user({}, {}, 'lost'), mine, database];
  await old.apply(all);
  const kinds = 'databaseclusters,databaseusers,databases';
  await old.kubectl(['wait', '--for=condition=Ready', kinds, '--all', '--timeout=60s']);
  await before.stop();
  // One connection Secret is lost on the way.
  await old.kubectl(['delete', 'secret', 'lost-connection']);
  const folder = mkdtempSync(join(tmpdir(), 'disaster-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [save = '', restore = ''] = shellBlocks(readDocument('docs/guides/disaster-recovery.md'))
    .filter(({ test: how }) => how === 'in order' || how === 'test/process/disaster-recovery.test.ts')
    .map(({ commands }) => commands);
  await old.shell(save, folder);
  const files = readdirSync(join(folder, 'backup'));
  expect(files.map((name) => statSync(join(folder, 'backup', name)).mode & 0o077)).toEqual(files.map(() => 0));
  const secretsOf = async (where: typeof old): Promise<readonly Exported[]> =>
    JSON.parse(await where.kubectl(['get', 'secrets', '--output=json'])).items;
  const kept = await secretsOf(old);
  await old.controlPlane.stop();
  const done = MUTATING.map((operation) => cloud.tookEffect(operation));
  const passwords = cloud.tookEffect('updateUser');

  const fresh = await startKubernetesCluster(NAMESPACE);
  onTestFinished(() => fresh.controlPlane.stop());
  await fresh.shell(restore, folder);
  const after = await fresh.start();
  onTestFinished(async () => void (await after.kill()));
  await fresh.kubectl(['wait', '--for=condition=Ready', kinds, '--all', '--timeout=20s']).catch(async (e) => {
    throw new Error(
      String(e) +
        (await fresh.kubectl(['get', 'databases', '-oyaml'])) +
        readFileSync(join(folder, 'backup/objects.yaml'), 'utf8').slice(-2500),
    );
  });

  expect(MUTATING.map((operation) => cloud.tookEffect(operation))).toEqual(done);
  // Nobody knew the password of the user whose Secret was lost, so it has a new one. All others were left alone.
  expect(cloud.tookEffect('updateUser')).toBe(passwords + 1);
  const now = new Map((await secretsOf(fresh)).map(({ metadata, data }) => [metadata.name, data]));
  for (const { metadata, data } of kept)
    expect(now.get(metadata.name)?.['password'], metadata.name).toBe(data['password']);
  const status = await fresh.kubectl(['get', 'dbc/orders', '--output=jsonpath={.status.endpoint}']);
  for (const name of ['app', 'lost', 'mine']) {
    const { username = '', password = '' } = now.get(`${name}-connection`) ?? {};
    const [as, by] = [username, password].map((text) => Buffer.from(text, 'base64').toString());
    expect(await cloud.signIn(status, as ?? '', by ?? ''), name).toBe(200);
  }
});
