import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { API_VERSION } from '../../src/base/group.ts';
import { type RunResult, run } from '../../tools/control-plane/run.ts';
import { adminKubeconfig, applyYaml, kubeconfigFor, mustKubectl } from '../support/control-plane.ts';
import { cluster, type Manifest, user, wholeSpace } from '../support/manifests.ts';
import { type OperatorBench, startBench, type TestContext } from '../support/operator-bench.ts';
import type { Site } from '../support/site.ts';

/* What people type: the commands of the kubectl plugin, against the operator and a cloud. */

const PLUGIN = fileURLToPath(new URL('../../bin/kubectl-mooring', import.meta.url));

let bench: OperatorBench;

beforeAll(async () => {
  bench = await startBench(8);
});

afterAll(() => bench?.close());

interface As {
  readonly kubeconfig?: string;
  readonly input?: string;
}

function mooring({ namespace }: Site, args: readonly string[], as: As = {}): Promise<RunResult> {
  const { kubeconfig = adminKubeconfig(), input } = as;
  const whole = [PLUGIN, ...args, '--kubeconfig', kubeconfig, '--namespace', namespace];
  return run(process.execPath, whole, input === undefined ? {} : { input });
}

const database: Manifest = {
  apiVersion: API_VERSION,
  kind: 'Database',
  metadata: { name: 'orders' },
  spec: {
    clusterRef: { name: 'orders' },
    schema: [{ inline: 'define attribute name, value string; entity person, owns name;' }],
  },
};

/** A site with a space, a cluster, a user and a database that are Ready. */
async function settled(context: TestContext): Promise<Site> {
  const site = await bench.site(context);
  await site.apply(...wholeSpace(site.cloud), cluster(), user(), database);
  await site.ready();
  await mustKubectl(['wait', '--for=condition=Ready', 'dbu/app', 'dbd/orders', '--timeout=30s', '-n', site.namespace]);
  return site;
}

/** Everything that a write would change: versions of objects, and changes of the cloud and its servers. */
async function footprint(site: Site): Promise<string> {
  const kinds = 'dbs,dbc,dbu,dbd,secrets,configmaps';
  const objects = await mustKubectl([
    'get',
    kinds,
    '-n',
    site.namespace,
    '-o',
    'jsonpath={.items[*].metadata.resourceVersion}',
  ]);
  const changes = [
    'deploy',
    'update',
    'destroy',
    'suspend',
    'resume',
    'clone',
    'createUser',
    'updateUser',
    'deleteUser',
  ];
  return JSON.stringify([objects, changes.map((operation) => site.cloud.tookEffect(operation))]);
}

// Each command is a process of its own.
describe.concurrent('kubectl mooring', { timeout: 180_000 }, () => {
  test('status shows the tree, and what blocks what', async (context) => {
    const site = await bench.site(context);
    await site.apply(cluster(), user());
    await site.until('DatabaseCluster', { reason: 'SpaceNotFound' });
    const blocked = await mooring(site, ['status']);
    expect(blocked.code).toBe(1);
    expect(blocked.stdout).toMatch(/DatabaseSpace .*production +- +NotThere/);
    expect(blocked.stdout).toMatch(/DatabaseUser .*app .*DatabaseSpace .*production is not there/);

    await site.apply(...wholeSpace(site.cloud));
    await site.ready();
    await mustKubectl(['wait', '--for=condition=Ready', 'dbu/app', '--timeout=30s', '-n', site.namespace]);
    const { code, stdout } = await mooring(site, ['status']);
    expect(code).toBe(0);
    expect(stdout.split('\n').filter((line) => line.includes(' True '))).toHaveLength(3);
    const json = JSON.parse((await mooring(site, ['status', '-o', 'json'])).stdout) as { items: { ready: string }[] };
    expect(json.items.map(({ ready }) => ready)).toEqual(['True', 'True', 'True']);
  });

  test('explain says what is there, what is missing, and what to do', async (context) => {
    const site = await settled(context);
    await site.apply(cluster({ storageSizeGB: 50 }));
    await site.until('DatabaseCluster', { reason: 'StorageCannotShrink' });
    const { code, stdout } = await mooring(site, ['explain', 'dbc/orders']);
    expect(code).toBe(0);
    expect(stdout).toContain('Ready is False StorageCannotShrink');
    expect(stdout).toContain('What to do\n  Set storageSizeGB to what the cluster has, or more');
    expect(stdout).toContain('storageSizeGB is 100, should be 50');
  });

  test('plan shows what the operator then does, and writes nothing', async (context) => {
    const site = await settled(context);
    const before = await footprint(site);
    const wanted = { ...cluster({ storageSizeGB: 200 }), kind: 'DatabaseCluster' };
    const input = [wanted, user({}, {}, 'report')].map((each) => JSON.stringify(each)).join('\n---\n');
    const { code, stdout, stderr } = await mooring(site, ['plan', '--filename', '-', '--exit-code'], { input });
    expect(stderr).toBe('');
    expect(code).toBe(2);
    expect(stdout).toContain('storageSizeGB: 100 → 200');
    expect(stdout).toMatch(/1\. \$ update cluster "orders"/);
    expect(stdout).toMatch(/create user "report"/);
    expect(stdout).not.toMatch(/password.* [a-zA-Z0-9]{32}/);

    const gone = await mooring(site, ['plan', '--delete', 'dbu/app', '--exit-code']);
    expect(gone.code).toBe(3);
    expect(gone.stdout).toContain('delete user "app"');
    expect((await mooring(site, ['plan', '--exit-code'])).code).toBe(0);
    expect(await footprint(site)).toBe(before);
  });

  test('export writes what changes nothing when it is applied', async (context) => {
    const site = await settled(context);
    site.cloud.simulator.deployForeign({ id: 'legacy' });
    const { code, stdout } = await mooring(site, ['export', 'production', '--unmanaged']);
    expect(code).toBe(0);
    expect(stdout).toContain('adoptionPolicy: MustExist');
    const before = await footprint(site).then((text) => JSON.parse(text)[1]);
    await applyYaml(stdout);
    await site.until('DatabaseCluster', { status: 'True', reason: 'Observed' }, 'legacy');
    expect(await footprint(site).then((text) => JSON.parse(text)[1])).toEqual(before);
  });

  test('rotate, suspend, resume, pause and unpause wait for the outcome', async (context) => {
    const site = await settled(context);
    const before = (await site.secret('app-connection'))?.data['password'];
    expect(await mooring(site, ['rotate', 'dbu/app'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('✓ Rotated'),
    });
    expect((await site.secret('app-connection'))?.data['password']).not.toBe(before);
    expect(await mooring(site, ['suspend', 'dbc/orders'])).toMatchObject({ code: 0 });
    expect((await site.get('DatabaseCluster'))?.status?.state).toBe('suspended');
    expect(await mooring(site, ['resume', 'dbc/orders'])).toMatchObject({ code: 0 });
    expect((await site.get('DatabaseCluster'))?.status?.state).toBe('running');
    expect(await mooring(site, ['pause', 'dbc/orders'])).toMatchObject({ code: 0 });
    await site.apply(cluster({ storageSizeGB: 300 }));
    await site.until('DatabaseCluster', { reason: 'Paused' });
    expect(await mooring(site, ['unpause', 'dbc/orders'])).toMatchObject({ code: 0 });
    await site.until('DatabaseCluster', { status: 'True' });
    expect(await mooring(site, ['suspend', 'dbu/app'])).toMatchObject({ code: 2 });
  });

  test('query and shell use the login of a DatabaseUser', async (context) => {
    const site = await settled(context);
    const write = "insert $p isa person, has name 'Ada';";
    expect(await mooring(site, ['query', 'orders', write, '--type', 'write'])).toMatchObject({ code: 0 });
    const { stdout } = await mooring(site, ['query', 'orders', 'match $p isa person, has name $n;']);
    expect(stdout).toContain('Ada');
    const input =
      "\\begin write\ninsert $p isa person, has name 'Eve';\n\n\\rollback\nmatch $p isa person;\n\n\\quit\n";
    const typed = await mooring(site, ['shell', 'orders'], { input });
    expect(typed.stdout).toContain('Discarded.');
    expect(typed.stdout).toContain('1 row');
  });

  test('works with narrow rights, and says which one is missing', async (context) => {
    const site = await settled(context);
    const { namespace } = site;
    const rules = [{ apiGroups: ['mooring.dev'], resources: ['*'], verbs: ['get', 'list'] }];
    const rbac = 'rbac.authorization.k8s.io';
    const subjects = [{ kind: 'ServiceAccount', name: 'viewer', namespace }];
    await applyYaml(
      [
        { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'viewer', namespace } },
        { apiVersion: `${rbac}/v1`, kind: 'Role', metadata: { name: 'viewer', namespace }, rules },
        {
          apiVersion: `${rbac}/v1`,
          kind: 'RoleBinding',
          metadata: { name: 'viewer', namespace },
          roleRef: { apiGroup: rbac, kind: 'Role', name: 'viewer' },
          subjects,
        },
      ]
        .map((each) => JSON.stringify(each))
        .join('\n---\n'),
    );
    const kubeconfig = await kubeconfigFor({ namespace, name: 'viewer' });
    expect(await mooring(site, ['status'], { kubeconfig })).toMatchObject({ code: 0 });
    expect(await mooring(site, ['explain', 'dbc/orders'], { kubeconfig })).toMatchObject({ code: 0 });
    const input = JSON.stringify(cluster({ storageSizeGB: 200 }));
    const planned = await mooring(site, ['plan', '-f', '-'], { kubeconfig, input });
    expect(planned.stdout).toContain('storageSizeGB: 100 → 200');
    expect(planned.stdout).toMatch(/Note: DatabaseCluster .* was not checked by the API server: .*cannot patch/);
    expect(planned.stdout).toMatch(/Note: The cloud of DatabaseSpace .* was not asked.*cannot get resource "secrets"/);
    const refused = await mooring(site, ['rotate', 'dbu/app'], { kubeconfig });
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(/cannot patch resource "databaseusers".*\n.*lack a right/);
    const everywhere = await mooring(site, ['status', '--all-namespaces'], { kubeconfig });
    expect(everywhere).toMatchObject({ code: 1, stderr: expect.stringContaining('cannot list resource') });
  });

  test('answers wrong input with what is right', async (context) => {
    const site = await bench.site(context);
    const answers = await Promise.all(
      [
        ['explain', 'pod/x'],
        ['explain'],
        ['status', '--wath'],
        ['plan', '-f', 'nowhere.yaml'],
        ['explain', 'dbc/none'],
      ].map(async (args) => {
        const { code, stderr } = await mooring(site, args);
        return `${code} ${stderr.split('\n')[0]}`;
      }),
    );
    expect(answers).toEqual([
      '2 There is no kind "pod": use databasespace or dbs, databasecluster or dbc, databaseuser or dbu, database or dbd',
      '2 Name one object, such as databasecluster/orders, not ""',
      "2 Unknown option '--wath'",
      "2 nowhere.yaml cannot be read: ENOENT: no such file or directory, open 'nowhere.yaml'",
      `1 DatabaseCluster ${site.namespace}/none is not there`,
    ]);
    const input = JSON.stringify(cluster({ storageSizeGB: 5 }));
    const invalid = await mooring(site, ['plan', '-f', '-'], { input });
    expect(invalid).toMatchObject({ code: 1, stderr: expect.stringContaining('spec.storageSizeGB') });
  });
});
