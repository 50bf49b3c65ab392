import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { API_VERSION } from '../../src/base/group.ts';
import { adminKubeconfig, applyYaml, mustKubectl, waitUntil } from '../support/control-plane.ts';
import { cluster, type Manifest, user, wholeSpace } from '../support/manifests.ts';
import { MooringProcess } from '../support/mooring.ts';
import { type OperatorBench, startBench, type TestContext } from '../support/operator-bench.ts';
import { mooring } from '../support/plugin.ts';
import type { Site } from '../support/site.ts';

/* The commands of the kubectl plugin as people type them, against the operator and a cloud. */

let bench: OperatorBench;

beforeAll(async () => {
  bench = await startBench(9);
});

afterAll(() => bench?.close());

const database: Manifest = {
  apiVersion: API_VERSION,
  kind: 'Database',
  metadata: { name: 'orders' },
  spec: {
    clusterRef: { name: 'orders' },
    schema: [{ inline: 'define attribute name, value string; entity person, owns name;' }],
  },
};

/** A site with a space, a cluster, a user and a database, all Ready. */
async function settled(context: TestContext): Promise<Site> {
  const site = await bench.site(context);
  await site.apply(...wholeSpace(site.cloud), cluster(), user(), database);
  await site.ready();
  await mustKubectl(['wait', '--for=condition=Ready', 'dbu/app', 'dbd/orders', '--timeout=30s', '-n', site.namespace]);
  // The space gets it once it is needed, which may be after all are Ready.
  const held = '--for=jsonpath={.metadata.finalizers}';
  await mustKubectl(['wait', held, 'dbs/production', '--timeout=30s', '-n', site.namespace]);
  return site;
}

/** Everything that a write would change: resource versions of objects, and changes in the cloud and on its servers. */
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
    const blocked = await mooring(site.namespace, ['status']);
    expect(blocked.code).toBe(1);
    expect(blocked.stdout).toMatch(/DatabaseSpace .*production +- +NotThere/);
    expect(blocked.stdout).toMatch(/DatabaseUser .*app .*DatabaseSpace .*production does not exist/);

    await site.apply(...wholeSpace(site.cloud));
    await site.ready();
    await mustKubectl(['wait', '--for=condition=Ready', 'dbu/app', '--timeout=30s', '-n', site.namespace]);
    const { code, stdout } = await mooring(site.namespace, ['status']);
    expect(code).toBe(0);
    expect(stdout.split('\n').filter((line) => line.includes(' True '))).toHaveLength(3);
    const json = JSON.parse((await mooring(site.namespace, ['status', '-o', 'json'])).stdout) as {
      items: { ready: string; parent: string | null; createdAt: string }[];
    };
    expect(json.items.map(({ ready }) => ready)).toEqual(['True', 'True', 'True']);
    const { namespace } = site;
    expect(json.items.map(({ parent }) => parent)).toEqual([
      null,
      `DatabaseSpace ${namespace}/production`,
      `DatabaseCluster ${namespace}/orders`,
    ]);
    for (const { createdAt } of json.items) expect(Date.parse(createdAt)).not.toBeNaN();
  });

  test('explain says what exists, what is missing, and what to do', async (context) => {
    const site = await settled(context);
    await site.apply(cluster({ storageSizeGB: 50 }));
    await site.until('DatabaseCluster', { reason: 'StorageCannotShrink' });
    const { code, stdout } = await mooring(site.namespace, ['explain', 'dbc/orders']);
    expect(code).toBe(0);
    expect(stdout).toContain('Ready is False StorageCannotShrink');
    expect(stdout).toContain('What to do\n  Set storageSizeGB to what the cluster has, or more');
    expect(stdout).toContain('storageSizeGB is 100, should be 50');
  });

  test('plan shows what the operator will do, and writes nothing', async (context) => {
    const site = await settled(context);
    const before = await footprint(site);
    const wanted = { ...cluster({ storageSizeGB: 200 }), kind: 'DatabaseCluster' };
    const input = [wanted, user({}, {}, 'report')].map((each) => JSON.stringify(each)).join('\n---\n');
    const { code, stdout, stderr } = await mooring(site.namespace, ['plan', '--filename', '-', '--exit-code'], {
      input,
    });
    expect(stderr).toBe('');
    expect(code).toBe(2);
    expect(stdout).toContain('storageSizeGB: 100 → 200');
    expect(stdout).toMatch(/1\. \$ update cluster "orders"/);
    expect(stdout).toMatch(/create user "report"/);
    expect(stdout).not.toMatch(/password.* [a-zA-Z0-9]{32}/);

    const gone = await mooring(site.namespace, ['plan', '--delete', 'dbu/app', '--exit-code']);
    expect(gone.code).toBe(3);
    expect(gone.stdout).toContain('delete user "app"');
    expect((await mooring(site.namespace, ['plan', '--exit-code'])).code).toBe(0);
    expect(await footprint(site)).toBe(before);
  });

  test('plan knows what a cluster that is adopted again still has, and does not count what is due anyway', async (context) => {
    const site = await settled(context);
    const { namespace } = site;
    await mustKubectl(['delete', 'dbc/orders', '--namespace', namespace]);
    const taken = cluster({ adoptionPolicy: 'IfExists' });
    const changes = await footprint(site).then((text) => JSON.parse(text)[1]);
    const input = JSON.stringify(taken);
    const { stdout, stderr } = await mooring(namespace, ['plan', '-f', '-'], { input });
    expect(stderr).toBe('');
    expect(stdout).toBe(`+ DatabaseCluster ${namespace}/orders (create)\n    then Ready is True Running\n\n0 steps.\n`);
    await site.apply(taken);
    await site.ready();
    await mustKubectl(['wait', '--for=condition=Ready', 'dbu/app', 'dbd/orders', '--timeout=30s', '-n', namespace]);
    expect(await footprint(site).then((text) => JSON.parse(text)[1])).toEqual(changes);

    const waits = user({ passwordSecretRef: { name: 'nope' } }, {}, 'waits');
    const own = await mooring(namespace, ['plan', '-f', '-'], { input: JSON.stringify(waits) });
    expect(own.stdout).toContain('then Ready is Unknown SecretNotFound');
    await site.apply(waits);
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'nope' }, stringData: { password: 'mine' } };
    const both = [waits, secret].map((each) => JSON.stringify(each)).join('\n---\n');
    expect((await mooring(namespace, ['plan', '-f', '-'], { input: both })).stdout).toContain('create user "waits"');
    const unchanged = await mooring(namespace, ['plan', '-f', '-', '--exit-code'], { input });
    expect(unchanged.stdout).toMatch(/^Also due, for other reasons.*\n\n {2}DatabaseUser .*waits\n/);
    expect(unchanged).toMatchObject({ code: 0, stdout: expect.stringContaining('Nothing to do because of this.') });
    const space = await mooring(namespace, ['plan', '--delete', 'dbs/production', '--exit-code']);
    expect(space).toMatchObject({ code: 2, stdout: expect.not.stringContaining('destroys') });
  });

  test('export writes manifests that change nothing when applied', async (context) => {
    const site = await settled(context);
    site.cloud.simulator.deployForeign({ id: 'legacy' });
    const { code, stdout } = await mooring(site.namespace, ['export', 'production', '--unmanaged']);
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
    expect(await mooring(site.namespace, ['rotate', 'dbu/app'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('✓ Rotated'),
    });
    expect((await site.secret('app-connection'))?.data['password']).not.toBe(before);
    expect(await mooring(site.namespace, ['suspend', 'dbc/orders'])).toMatchObject({ code: 0 });
    expect((await site.get('DatabaseCluster'))?.status?.state).toBe('suspended');
    expect(await mooring(site.namespace, ['resume', 'dbc/orders'])).toMatchObject({ code: 0 });
    expect((await site.get('DatabaseCluster'))?.status?.state).toBe('running');
    expect(await mooring(site.namespace, ['pause', 'dbc/orders'])).toMatchObject({ code: 0 });
    await site.apply(cluster({ storageSizeGB: 300 }));
    await site.until('DatabaseCluster', { reason: 'Paused' });
    expect(await mooring(site.namespace, ['unpause', 'dbc/orders'])).toMatchObject({ code: 0 });
    await site.until('DatabaseCluster', { status: 'True' });
    expect(await mooring(site.namespace, ['suspend', 'dbu/app'])).toMatchObject({ code: 2 });
  });

  test('query and shell use the login of a DatabaseUser', async (context) => {
    const site = await settled(context);
    const write = "insert $p isa person, has name 'Ada';";
    expect(await mooring(site.namespace, ['query', 'orders', write, '--type', 'write'])).toMatchObject({ code: 0 });
    const { stdout } = await mooring(site.namespace, ['query', 'orders', 'match $p isa person, has name $n;']);
    expect(stdout).toContain('Ada');
    // It never answers, and Ctrl-C ends the wait.
    const { faults } = site.cloud.simulator;
    faults.add({ match: { operation: 'query' }, effect: 'hang', times: 1 });
    const args = ['query', 'orders', write, '--type=write', '--kubeconfig', adminKubeconfig(), '-n', site.namespace];
    await using hung = new MooringProcess(args);
    await waitUntil(() => faults.list().length === 0, { what: 'the server is asked' });
    hung.kill('SIGINT');
    expect(await hung.exit()).toBe(130);
    expect(hung.output).toBe('The server may still be running it, and keep what it changes.\nInterrupted.\n');
    const input =
      "\\begin write\ninsert $p isa person, has name 'Eve';\n\n\\rollback\nmatch $p isa person;\n\n\\quit\n";
    const typed = await mooring(site.namespace, ['shell', 'orders'], { input });
    expect(typed.stdout).toContain('Discarded.');
    expect(typed.stdout).toContain('1 row');
  });

  test('plan shows what is removed with a field left out of a manifest, however it was applied', async (context) => {
    const site = await settled(context);
    const { namespace } = site;
    const file = (spec: Readonly<Record<string, unknown>>) =>
      JSON.stringify({ ...cluster(spec), metadata: { name: 'orders', namespace } });
    for (const how of [[], ['--server-side', '--force-conflicts']]) {
      const apply = (spec: Readonly<Record<string, unknown>>) =>
        mustKubectl(['apply', ...how, '--filename=-'], { input: file(spec) });
      await apply({ backup: { frequency: 'hourly', retentionDays: 30 } });
      await site.until('DatabaseCluster', { status: 'True' });
      const planned = await mooring(site.namespace, ['plan', '-f', '-'], { input: file({}) });
      expect(planned.stdout, how.join()).toMatch(/backup.*: .*hourly.* → \(not set\)/);
      await apply({});
      const { spec } = (await site.get('DatabaseCluster')) ?? {};
      expect(spec).not.toHaveProperty('backup');
    }
  });

  test('plan says which fields of a server-side apply others have set', async (context) => {
    const site = await settled(context);
    const manifest = cluster({ backup: { frequency: 'hourly' } });
    const file = JSON.stringify({ ...manifest, metadata: { name: 'orders', namespace: site.namespace } });
    const apply = ['apply', '--server-side', '--filename=-'];
    await mustKubectl([...apply, '--force-conflicts'], { input: file });
    const backup = { spec: { backup: { frequency: 'daily' } } };
    const target = ['dbc/orders', `--namespace=${site.namespace}`, '--type=merge'];
    await mustKubectl(['patch', ...target, `--patch=${JSON.stringify(backup)}`]);
    const { stdout } = await mooring(site.namespace, ['plan', '-f', '-'], { input: file });
    const conflict = 'conflict with "kubectl-patch" using mooring.dev/v1alpha1: .spec.backup.frequency';
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain(
      `(--force-conflicts), which this plan assumes: Apply failed with 1 conflict: ${conflict}`,
    );
    expect(stdout).toMatch(/backup.*: .*daily.* → .*hourly/);
    await expect(mustKubectl(apply, { input: file })).rejects.toThrow(/conflict with "kubectl-patch"/);
  });

  test('Ctrl-C during a wait says what was set, and where to look', async (context) => {
    const site = await bench.site(context, { knobs: { suspendMs: [600_000, 600_000] } });
    await site.apply(...wholeSpace(site.cloud), cluster());
    await site.ready();
    const args = ['suspend', 'dbc/orders', '--kubeconfig', adminKubeconfig(), '--namespace', site.namespace];
    await using process = new MooringProcess(args);
    await process.prints('Suspending: ');
    process.kill('SIGINT');
    expect(await process.exit()).toBe(130);
    expect(process.output).toMatch(
      /✗ The wait was interrupted\.\nWhat was set stays \(state: Suspended\), and Mooring goes on with it\. Look with: kubectl mooring status databasecluster\/orders --namespace .*\n$/,
    );
    expect(process.output).not.toContain('http');
    const late = await mooring(site.namespace, ['suspend', 'dbc/orders', '--timeout=1s']);
    expect(late).toMatchObject({
      code: 124,
      stderr: expect.stringContaining('Not done in 1 s. Last progress: Suspending: '),
    });
  });
});
