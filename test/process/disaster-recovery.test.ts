import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { run } from '../../tools/control-plane/run.ts';
import { startControlPlane } from '../../tools/control-plane/start.ts';
import { cluster, type Manifest, secret, user, wholeSpace } from '../support/manifests.ts';
import { startOperator } from '../support/operator.ts';
import { ROOT, readDocument, shellBlocks } from '../support/readme.ts';
import { startCloud } from '../support/served-cloud.ts';

/*
 * Uses the commands of docs/guides/disaster-recovery.md: everything is exported, the control plane is thrown away, and the export
 * is applied to a new one. The cloud notices nothing.
 */

const NAMESPACE = 'shop';
const RBAC = ['namespace', 'rbac'].map((name) => join(ROOT, `deploy/base/${name}.yaml`));

/** A Kubernetes cluster with Mooring in it. */
async function aKubernetesCluster() {
  const controlPlane = await startControlPlane({
    controllerManager: true,
    env: { ...process.env, MOORING_TEST_KUBECONFIG: '' },
  });
  const env = {
    ...process.env,
    KUBECONFIG: controlPlane.kubeconfig,
    KUBECACHEDIR: join(controlPlane.directory, 'cache'),
  };
  const kubectl = async (args: readonly string[], input = '') => {
    const { code, stdout, stderr } = await run(controlPlane.kubectl, args, { env, input });
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')} failed: ${stderr}`);
    return stdout;
  };
  await kubectl(['config', 'set-context', '--current', `--namespace=${NAMESPACE}`]);
  const path = [dirname(controlPlane.kubectl), process.env['PATH']].join(delimiter);
  /** Runs a command as a person does in a terminal. */
  const shell = async (commands: string, cwd: string) => {
    const { code, stdout, stderr } = await run('sh', ['-e', '-c', commands], { env: { ...env, PATH: path }, cwd });
    expect(code, `${commands}\n${stdout}${stderr}`).toBe(0);
  };
  const apply = (objects: readonly object[]) =>
    kubectl(['apply', '--server-side', '--namespace', NAMESPACE, '--filename=-'], list(objects));
  await kubectl(['apply', '--server-side', `--filename=${join(ROOT, 'crds')}`]);
  for (const path of RBAC) await kubectl(['apply', '--filename=-'], readFileSync(path, 'utf8'));
  await kubectl(['create', 'namespace', NAMESPACE]);
  const kubeconfig = await controlPlane.kubeconfigFor({ namespace: 'mooring-system', name: 'mooring' });
  return { controlPlane, kubectl, shell, apply, start: () => startOperator({ kubeconfig, namespaces: [NAMESPACE] }) };
}

interface Exported extends Manifest {
  readonly data: Readonly<Record<string, string>>;
}

function list(items: readonly object[]): string {
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
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

  const old = await aKubernetesCluster();
  onTestFinished(() => old.controlPlane.stop());
  const before = await old.start();
  onTestFinished(async () => void (await before.kill()));
  const own = secret('own', { password: 'a-password-of-my-own' });
  const mine = user({ passwordSecretRef: { name: 'own' } }, {}, 'mine');
  const all = [...wholeSpace(cloud), own, cluster(), user(), user({}, {}, 'lost'), mine, database];
  await old.apply(all);
  const kinds = 'databaseclusters,databaseusers,databases';
  await old.kubectl(['wait', '--for=condition=Ready', kinds, '--all', '--timeout=60s', '--namespace', NAMESPACE]);
  await before.stop();
  // One connection Secret is lost on the way.
  await old.kubectl(['delete', 'secret', 'lost-connection', '--namespace', NAMESPACE]);
  const folder = mkdtempSync(join(tmpdir(), 'disaster-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [save = '', restore = ''] = shellBlocks(readDocument('docs/guides/disaster-recovery.md'))
    .filter(({ test: how }) => how === 'in order' || how === 'test/process/disaster-recovery.test.ts')
    .map(({ commands }) => commands);
  await old.shell(save, folder);
  const files = readdirSync(join(folder, 'backup'));
  expect(files.map((name) => statSync(join(folder, 'backup', name)).mode & 0o077)).toEqual(files.map(() => 0));
  const secretsOf = async (where: typeof old): Promise<readonly Exported[]> =>
    JSON.parse(await where.kubectl(['get', 'secrets', '--output=json', '--namespace', NAMESPACE])).items;
  const kept = await secretsOf(old);
  await old.controlPlane.stop();
  const done = MUTATING.map((operation) => cloud.tookEffect(operation));
  const passwords = cloud.tookEffect('updateUser');

  const fresh = await aKubernetesCluster();
  onTestFinished(() => fresh.controlPlane.stop());
  await fresh.shell(restore, folder);
  const after = await fresh.start();
  onTestFinished(async () => void (await after.kill()));
  await fresh
    .kubectl(['wait', '--for=condition=Ready', kinds, '--all', '--timeout=20s', '--namespace', NAMESPACE])
    .catch(async (e) => {
      throw new Error(
        String(e) +
          (await fresh.kubectl(['get', 'databases', '-oyaml', '--namespace', NAMESPACE])) +
          readFileSync(join(folder, 'backup/objects.yaml'), 'utf8').slice(-2500),
      );
    });

  expect(MUTATING.map((operation) => cloud.tookEffect(operation))).toEqual(done);
  // Nobody knew the password of the user whose Secret was lost, so it has a new one. All others were left alone.
  expect(cloud.tookEffect('updateUser')).toBe(passwords + 1);
  const now = new Map((await secretsOf(fresh)).map(({ metadata, data }) => [metadata.name, data]));
  for (const { metadata, data } of kept)
    expect(now.get(metadata.name)?.['password'], metadata.name).toBe(data['password']);
  const status = await fresh.kubectl([
    'get',
    'dbc/orders',
    '--output=jsonpath={.status.endpoint}',
    '--namespace',
    NAMESPACE,
  ]);
  for (const name of ['app', 'lost', 'mine']) {
    const { username = '', password = '' } = now.get(`${name}-connection`) ?? {};
    const [as, by] = [username, password].map((text) => Buffer.from(text, 'base64').toString());
    expect(await cloud.signIn(status, as ?? '', by ?? ''), name).toBe(200);
  }
});
