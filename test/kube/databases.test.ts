import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DIALECTS } from '../../src/simulator/dialect.ts';
import { kubectl, mustKubectl, waitUntil } from '../support/control-plane.ts';
import { cluster, configMap, database, type Manifest, space, user, wholeSpace } from '../support/manifests.ts';
import { startOperator } from '../support/operator.ts';
import { installOperator, type OperatorBench, startBench, type TestContext } from '../support/operator-bench.ts';
import type { ServedCloudOptions } from '../support/served-cloud.ts';
import { clusterNamed } from '../support/simulator.ts';
import { conditionOf, type Site } from '../support/site.ts';

/*
 * Databases on the real API server, by the real operator. Nothing is verified on a schedule here (verifyInterval is 0s): unless
 * a test says otherwise, reactions to a change come from hearing of it.
 */

let bench: OperatorBench;

beforeAll(async () => {
  bench = await startBench(29);
});

afterAll(() => bench?.close());

const NAME = 'define attribute name, value string;';
const PERSON = 'define entity person, owns name;';
const fromMap = { configMapKeyRef: { name: 'orders-schema', key: 'base' } };
const SCHEMA = [fromMap, { inline: PERSON }];

async function ready(
  context: TestContext,
  spec: Record<string, unknown> = { schema: SCHEMA },
  options: ServedCloudOptions & { readonly space?: Record<string, unknown> } = {},
): Promise<Site> {
  const site = await bench.site(context, options);
  await site.apply(...wholeSpace(site.cloud, options.space), cluster(), configMap('orders-schema', { base: NAME }));
  await site.apply(database(spec));
  await site.until('Database', { status: 'True', reason: 'DatabaseReady' });
  return site;
}

/** The server of the only cluster, from the simulator. */
function onServer({ cloud }: Site) {
  return clusterNamed(cloud.simulator, 'orders');
}

const databasesOf = (site: Site) => onServer(site)?.databases.map(({ name }) => name) ?? [];
const schemaOf = (site: Site, name = 'orders') => onServer(site)?.databases.find((each) => each.name === name)?.schema;
const eventsOf = async (site: Site) => (await site.events()).filter(({ regarding }) => regarding === 'Database/orders');
const warnings = async (site: Site) => (await eventsOf(site)).filter(({ type }) => type === 'Warning');

/** Calls the server as somebody else with the admin's login. Calls must succeed. */
async function outsider(site: Site) {
  const endpoint = (await site.get('DatabaseCluster'))?.status?.endpoint ?? '';
  const call = async (path: string, body: object, token?: string) => {
    const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const headers = { 'content-type': 'application/json', ...authorization };
    const method = 'POST';
    const given = Object.keys(body).length === 0 ? {} : { body: JSON.stringify(body) };
    const response = await fetch(`${endpoint}${path}`, { method, headers, ...given });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path}: ${text}`);
    return text === '' ? {} : (JSON.parse(text) as Record<string, string>);
  };
  const { username, password } = (await site.secret())?.data ?? {};
  const { token } = await call('/v1/signin', { username, password });
  return {
    define: (query: string) =>
      call('/v1/query', { databaseName: 'orders', transactionType: 'schema', query, commit: true }, token),
    open: async (transactionType: 'schema' | 'write') => {
      const opened = await call('/v1/transactions/open', { databaseName: 'orders', transactionType }, token);
      return () => call(`/v1/transactions/${opened['transactionId']}/close`, {}, token);
    },
  };
}

/** Done by the real namespace controller, which is slow. */
async function deleteNamespace({ namespace }: Site): Promise<void> {
  await mustKubectl(['delete', 'namespace', namespace, '--wait=false']);
  const isGone = async () => (await kubectl(['get', 'namespace', namespace, '--output=name'])).code !== 0;
  await waitUntil(isGone, { what: 'the namespace is gone', timeoutMs: 80_000 }).catch(async (error: unknown) => {
    const left = await kubectl(['get', 'mooring,secrets', `--namespace=${namespace}`, '--output=yaml']);
    throw new Error(`${String(error)}\n${left.stdout.slice(0, 6_000)}`);
  });
}

describe.each(DIALECTS)('in dialect %s', (dialect) => {
  test('everything is applied by one kubectl apply, in any order, and becomes Ready without a failure', async (context) => {
    const orders: readonly ((all: readonly Manifest[]) => readonly Manifest[])[] = [
      (all) => all,
      (all) => all.toReversed(),
      (all) => all.toSorted((a, b) => (`${a.kind}${a.metadata.name}` < `${b.kind}${b.metadata.name}` ? -1 : 1)),
    ];
    for (const inOrder of orders) {
      const site = await bench.site(context, { dialect, knobs: { provisionMs: [500, 500] } });
      const all = [
        ...wholeSpace(site.cloud),
        cluster(),
        user(),
        user({}, {}, 'reader'),
        configMap('orders-schema', { base: NAME }),
        database({ schema: SCHEMA }),
        database({}, {}, 'stock'),
      ];
      const list = { apiVersion: 'v1', kind: 'List', items: inOrder(all) };
      await mustKubectl(['apply', `--namespace=${site.namespace}`, '--filename=-'], { input: JSON.stringify(list) });
      for (const name of ['orders', 'stock']) await site.until('Database', { status: 'True' }, name);
      for (const name of ['app', 'reader']) await site.until('DatabaseUser', { status: 'True' }, name);
      const failures = (await site.events()).filter(({ type }) => type !== 'Normal');
      expect(failures).toEqual([]);
      expect(databasesOf(site).toSorted()).toEqual(['orders', 'stock']);
      expect(schemaOf(site)).toContain('entity person');
      expect(onServer(site)?.openTransactions).toBe(0);
    }
  });

  test('a database is created with its schema, and its status says what was applied', async (context) => {
    const site = await ready(context, undefined, { dialect });
    const { status, metadata } = (await site.get('Database')) ?? { status: undefined, metadata: undefined };
    expect(metadata?.finalizers).toEqual(['mooring.dev/database']);
    expect(status).toMatchObject({
      name: 'orders',
      appliedSchema: [{ source: 'configmap/orders-schema/base' }, { source: 'inline/1' }],
      checkedSchema: { outcome: 'Succeeded' },
      schemaHash: expect.any(String),
    });
    expect(conditionOf(status, 'Synced')).toMatchObject({ status: 'True', reason: 'SchemaApplied' });
    expect(await warnings(site)).toEqual([]);
    const shown = await mustKubectl(['get', 'dbd', 'orders', `--namespace=${site.namespace}`, '--output=wide']);
    expect(shown).toMatch(/orders +True +DatabaseReady +orders +orders +SchemaApplied +Retain/);
  });

  test("a refused source is named, with the server's message, and the old schema stays", async (context) => {
    const site = await ready(context, undefined, { dialect });
    const before = schemaOf(site);
    await site.apply(
      database({ schema: [...SCHEMA, { inline: 'define entity company;' }, { inline: 'define nonsense' }] }),
    );
    const { status } = await site.until('Database', {
      status: 'False',
      reason: 'SchemaRefused',
      message: /inline\/3: ./,
    });
    expect(conditionOf(status, 'Stalled')).toMatchObject({ status: 'True', reason: 'SchemaRefused' });
    expect(schemaOf(site)).toBe(before);
    expect(onServer(site)?.openTransactions).toBe(0);
    await site.apply(database({ schema: [...SCHEMA, { inline: 'define entity company;' }] }));
    await site.until('Database', { status: 'True' });
    expect(schemaOf(site)).toContain('entity company');
  });

  test('a database that already exists is left alone until it may be taken over', async (context) => {
    const site = await bench.site(context, { dialect });
    await site.apply(...wholeSpace(site.cloud), cluster());
    await site.ready();
    site.cloud.simulator.createDatabase('orders', 'orders');
    await site.apply(database({ schema: [{ inline: NAME }] }));
    await site.until('Database', { status: 'False', reason: 'DatabaseExists', message: /adoptionPolicy: IfExists/ });
    expect(schemaOf(site)).toBe('');
    await site.apply(database({ schema: [{ inline: NAME }], adoptionPolicy: 'IfExists' }));
    await site.until('Database', { status: 'True' });
    expect(schemaOf(site)).toContain('attribute name');
    expect(site.cloud.simulator.count('createDatabase')).toBe(0);
  });
});

test('the sample with all fields is applied as it is', async (context) => {
  const site = await bench.site(context);
  await site.apply(...wholeSpace(site.cloud), cluster({ clusterID: 'orders' }, {}, 'reports'));
  const text = readFileSync(join(import.meta.dirname, '../../deploy/samples/database-complete.yaml'), 'utf8');
  await mustKubectl(['apply', `--namespace=${site.namespace}`, '--filename=-'], { input: text });
  const { status } = await site.until('Database', { status: 'True' }, 'reports');
  expect(conditionOf(status, 'Synced')).toMatchObject({ reason: 'SchemaApplied' });
  expect(schemaOf(site, 'reports')).toMatch(/entity report,[^;]*owns title @key/);
});

describe.concurrent('schema sources', () => {
  test('are applied within a second of the change of their ConfigMap', async (context) => {
    const site = await ready(context);
    const took: number[] = [];
    for (const added of ['age', 'weight', 'height']) {
      const begunAt = performance.now();
      await site.apply(configMap('orders-schema', { base: `${NAME} attribute ${added}, value integer;` }));
      await waitUntil(() => schemaOf(site)?.includes(`attribute ${added}`), { what: `${added} is defined` });
      took.push(performance.now() - begunAt);
    }
    expect(Math.min(...took)).toBeLessThan(1_000);
    await site.until('Database', { status: 'True' });
    expect(onServer(site)?.openTransactions).toBe(0);
  });

  test('wait for a ConfigMap, and stay applied when it is deleted', async (context) => {
    const site = await bench.site(context);
    await site.apply(...wholeSpace(site.cloud), cluster(), database({ schema: SCHEMA }));
    await site.until('Database', { status: 'Unknown', reason: 'ConfigMapNotFound', message: /"orders-schema"/ });
    await site.apply(configMap('orders-schema', { other: NAME }));
    await site.until('Database', { status: 'False', reason: 'ConfigMapKeyMissing', message: /its keys: "other"/ });
    await site.apply(configMap('orders-schema', { base: NAME }));
    await site.until('Database', { status: 'True' });
    const before = schemaOf(site);
    await site.remove('ConfigMap', 'orders-schema');
    await site.until('Database', { status: 'Unknown', reason: 'ConfigMapNotFound', message: /stays as it is/ });
    expect(schemaOf(site)).toBe(before);
    await site.apply(database());
    const { status } = await site.until('Database', { status: 'True' });
    expect(conditionOf(status, 'Synced')).toMatchObject({ reason: 'SchemaNotManaged' });
    expect(schemaOf(site)).toBe(before);
  });

  test('are tried again when somebody else releases the lock', async (context) => {
    const site = await ready(context, {});
    const close = await (await outsider(site)).open('schema');
    await site.apply(database({ schema: [{ inline: NAME }] }));
    await site.until('Database', { status: 'Unknown', reason: 'SchemaLocked' });
    await close();
    await site.until('Database', { status: 'True' });
    expect(schemaOf(site)).toContain('attribute name');
  });

  test('are run again if the schema was changed elsewhere, and that is reported and counted', async (context) => {
    const site = await ready(context, undefined, { space: { verifyInterval: '1s' } });
    const before = schemaOf(site);
    const other = await outsider(site);
    await other.define('undefine owns name from person;');
    await waitUntil(() => schemaOf(site) === before, { what: 'the schema is as it was' });
    await waitUntil(async () => (await eventsOf(site)).some(({ reason }) => reason === 'DriftCorrected'), {
      what: 'it is told',
    });
    expect((await eventsOf(site)).map(({ reason }) => reason)).toContain('SchemaDrifted');
    expect(await bench.operator.metric('mooring_drift_corrected_total', { kind: 'Database', field: 'schema' })).toBe(1);

    await other.define('define entity theirs;');
    await site.until('Database', { type: 'Synced', status: 'False', reason: 'SchemaDiffers' });
    await site.until('Database', { status: 'True' });
    expect(schemaOf(site)).toContain('entity theirs');
  });
});

describe.concurrent('a database', () => {
  test('that somebody deleted comes back with its schema, and a Warning', async (context) => {
    const site = await ready(context, undefined, { space: { verifyInterval: '1s' } });
    site.cloud.simulator.dropDatabase('orders', 'orders');
    await waitUntil(() => schemaOf(site)?.includes('entity person'), { what: 'it is back', timeoutMs: 60_000 });
    await site.until('Database', { status: 'True' });
    const note = expect.stringContaining('deleted on the server by somebody else, with its data');
    // Before that, it was looked for.
    expect(await warnings(site)).toContainEqual(expect.objectContaining({ reason: 'DatabaseVanished', note }));
  });

  test('stays when its object is deleted, and is deleted with it if asked for', async (context) => {
    const site = await ready(context, {});
    await site.apply(database({ deletionPolicy: 'Delete' }, {}, 'stock'));
    await site.until('Database', { status: 'True' }, 'stock');
    await site.remove('Database', 'orders');
    await site.remove('Database', 'stock');
    await site.gone('Database', 'orders');
    await site.gone('Database', 'stock');
    expect(databasesOf(site)).toEqual(['orders']);
    expect(site.cloud.simulator.count('deleteDatabase')).toBe(1);
  });

  test('is not deleted while transactions are open, says so, and is deleted when they end', async (context) => {
    const site = await ready(context, { deletionPolicy: 'Delete' });
    const close = await (await outsider(site)).open('write');
    await site.remove('Database', 'orders');
    await site.until('Database', { status: 'Unknown', reason: 'DatabaseInUse', message: /open transactions/ });
    expect(databasesOf(site)).toEqual(['orders']);
    await close();
    await site.gone('Database');
    expect(databasesOf(site)).toEqual([]);
  });

  test('waits quietly with its suspended cluster, and is deleted when that runs again', async (context) => {
    const site = await ready(context, { deletionPolicy: 'Delete' });
    await site.apply(cluster({ state: 'Suspended' }));
    await site.until('DatabaseCluster', { status: 'True', reason: 'Suspended' });
    await site.until('Database', { status: 'True', reason: 'ClusterSuspended' });
    await site.remove('Database', 'orders');
    await site.until('Database', { status: 'Unknown', reason: 'ClusterSuspended', message: /mooring.dev\/abandon/ });
    await site.apply(cluster());
    await site.gone('Database');
    expect(await warnings(site)).toEqual([]);
    expect(databasesOf(site)).toEqual([]);
  });

  test('that is left on a cluster whose object went first is reported', async (context) => {
    const site = await ready(context, { deletionPolicy: 'Delete' });
    await site.remove('DatabaseCluster', 'orders');
    await site.gone('DatabaseCluster');
    await site.until('Database', { status: 'Unknown', reason: 'ClusterNotFound' });
    await site.remove('Database', 'orders');
    await site.gone('Database');
    await waitUntil(async () => (await warnings(site)).length > 0, { what: 'it is told' });
    expect(await warnings(site)).toMatchObject([{ reason: 'DatabaseLeft', note: expect.stringContaining('"orders"') }]);
    expect(databasesOf(site)).toEqual(['orders']);
  });

  test('belongs to the older of two objects', async (context) => {
    const site = await ready(context, {});
    await site.apply(database({ name: 'orders', adoptionPolicy: 'IfExists', deletionPolicy: 'Delete' }, {}, 'twin'));
    const message = new RegExp(`belongs to Database "${site.namespace}/orders"`);
    await site.until('Database', { status: 'False', reason: 'DatabaseClaimed', message }, 'twin');
    await site.remove('Database', 'twin');
    await site.gone('Database', 'twin');
    expect(databasesOf(site)).toEqual(['orders']);
  });

  test('is refused to a namespace that the cluster does not admit', async (context) => {
    const [site, tenant] = [await ready(context, {}), await bench.site(context)];
    const clusterRef = { name: 'orders', namespace: site.namespace };
    await tenant.apply(database({ clusterRef, adoptionPolicy: 'IfExists', deletionPolicy: 'Delete' }));
    await tenant.apply(database({ clusterRef }, {}, 'theirs'));
    const refused = { status: 'False', reason: 'ClusterNotAllowed', message: /allowedNamespaces/ } as const;
    await tenant.until('Database', refused);
    await tenant.until('Database', refused, 'theirs');
    await tenant.remove('Database', 'orders');
    await tenant.gone('Database');
    await site.until('Database', { status: 'True' });
    expect(databasesOf(site)).toEqual(['orders']);

    await site.apply(cluster({ allowedNamespaces: { from: 'All' } }));
    await tenant.until('Database', { status: 'True' }, 'theirs');
    expect(databasesOf(site).toSorted()).toEqual(['orders', 'theirs']);
  });

  test('keeps its name and its cluster', async (context) => {
    const site = await ready(context, {});
    const namesOf = async (spec: Record<string, unknown>) => (await site.refused(database(spec))).join();
    expect(await namesOf({ name: 'other' })).toMatch(/name cannot be added/);
    expect(await namesOf({ clusterRef: { name: 'other' } })).toMatch(/clusterRef cannot change/);
    expect((await site.refused(database({}, {}, 'orders.eu'))).join()).toMatch(/set spec.name/);
    expect(await namesOf({ schema: [{}] })).toMatch(/exactly one of configMapKeyRef and inline/);
  });

  test('goes with its namespace, in whatever order that is emptied', async (context) => {
    const site = await ready(context, { deletionPolicy: 'Delete' });
    await site.apply(user(), database({}, {}, 'stock'));
    await site.until('Database', { status: 'True' }, 'stock');
    await deleteNamespace(site);
  }, 120_000);

  test('goes with its namespace even if the cluster is suspended', async (context) => {
    const site = await ready(context, { deletionPolicy: 'Delete' });
    await site.apply(cluster({ state: 'Suspended' }));
    await site.until('Database', { status: 'True', reason: 'ClusterSuspended' });
    await deleteNamespace(site);
    expect(databasesOf(site)).toEqual(['orders']);
  }, 120_000);
});

test('databases that are Ready cost nothing: no call to the server, no write', async (context) => {
  const site = await ready(context);
  await site.apply(space(site.cloud));
  const { operator } = bench;
  const writes = () =>
    operator.metric('mooring_kube_requests_total', { verb: /create|patch|delete|update/, resource: 'databases' });
  const lists = () => site.cloud.simulator.count('list');
  const after = (count: number) => waitUntil(() => lists() >= count, { what: `List number ${count}` });
  await after(lists() + 1);
  const [calls, before] = [site.cloud.callsButLists(), await writes()];
  await after(lists() + 3);
  expect(site.cloud.callsButLists() - calls).toBe(0);
  expect((await writes()) - before).toBe(0);
});

test('a new process that finds Ready databases calls no server for them and writes nothing', async (context) => {
  const before = await startBench(1);
  context.onTestFinished(() => before.close());
  const site = await before.site(context);
  await site.apply(...wholeSpace(site.cloud), cluster(), user(), configMap('orders-schema', { base: NAME }));
  await site.apply(database({ schema: SCHEMA }));
  await site.until('Database', { status: 'True' });
  await site.until('DatabaseUser', { status: 'True' });
  await before.operator.stop();
  const version = async () => (await site.get('Database'))?.metadata.resourceVersion;
  const versionBefore = await version();
  const serverCalls = () => site.cloud.simulator.inspect().requests.filter(({ api }) => api === 'server').length;
  const callsBefore = serverCalls();

  const after = await startOperator({ kubeconfig: await installOperator(before.api), namespaces: [site.namespace] });
  const lists = site.cloud.simulator.count('list');
  await waitUntil(() => site.cloud.simulator.count('list') >= lists + 3, { what: 'three more Lists' });
  const looked = { controller: 'database', result: 'success' };
  await waitUntil(async () => (await after.metric('controller_runtime_reconcile_total', looked)) > 0, {
    what: 'the database was looked at',
  }).catch(async (error: unknown) => {
    throw new Error(`${String(error)}\n${await after.metricsText()}`);
  });
  expect(
    await after.metric('mooring_kube_requests_total', { verb: /create|patch|delete/, resource: 'databases' }),
  ).toBe(0);
  expect(serverCalls() - callsBefore).toBe(0);
  expect(await version()).toBe(versionBefore);

  const all = 'databases,databaseusers,databaseclusters,databasespaces';
  await site.annotate('app', { 'mooring.dev/abandon': 'true' }, 'DatabaseUser');
  await mustKubectl(['delete', all, '--all', `--namespace=${site.namespace}`]);
  await after.stop();
});
