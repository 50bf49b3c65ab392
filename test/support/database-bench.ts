import { expect, onTestFinished } from 'vitest';
import { GROUP } from '../../src/base/group.ts';
import { createConfigMaps } from '../../src/kinds/config-maps.ts';
import { databaseKind } from '../../src/kinds/database/index.ts';
import { databaseName } from '../../src/kinds/database/observation.ts';
import { DATABASES } from '../../src/kinds/database/resource.ts';
import { type DatabaseStatus, databaseDefinition } from '../../src/kinds/database/schema.ts';
import { DatabaseMemory, type DatabaseWorld } from '../../src/kinds/database/world.ts';
import { DATABASE_CLUSTERS } from '../../src/kinds/databasecluster/resource.ts';
import { clusterKeyOf, type OpenServer, serverAccess } from '../../src/kinds/server/access.ts';
import { Servers } from '../../src/kinds/server/servers.ts';
import { CONFIG_MAPS } from '../../src/kube/api.ts';
import type { Condition } from '../../src/kube/condition.ts';
import { parseSpec, parseStatus } from '../../src/kube/definition.ts';
import { type KubeObject, keyOf, splitKey } from '../../src/kube/object.ts';
import { type Outcome, reconcile } from '../../src/runtime/reconcile.ts';
import { type KindBench, type KindBenchOptions, runningBench } from './kind-bench.ts';
import { addressOf, clusterNamed, type Reply, type Send, sender } from './simulator.ts';

const STEP_MS = 5_000;
const MAX_STEPS = 100;
const KEY = 'shop/orders';
const METADATA = { name: 'any', uid: 'any', resourceVersion: '1' };

export interface DatabaseBenchOptions extends KindBenchOptions {
  /** Spec of the Database `shop/orders`, besides clusterRef. Absent: no such object is made. */
  readonly database?: Readonly<Record<string, unknown>>;
  /** Labels of namespaces. */
  readonly labels?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/**
 * The kind Database with everything it works through, in one process, beside a running DatabaseCluster `shop/orders`: built
 * on the bench of that kind. Passes are made by hand. No transaction may be open when the test ends.
 */
export interface DatabaseBench {
  readonly cluster: KindBench;
  /** Reports of schemas that were set right, and of databases that were left behind. */
  readonly told: readonly string[];
  world(): DatabaseWorld;
  /** The server, as objects in namespace `shop` see it. */
  place(): Promise<OpenServer>;
  create(key: string, spec?: Readonly<Record<string, unknown>>): Promise<void>;
  /** Changes the spec, as a person would. */
  edit(spec: Readonly<Record<string, unknown>>, key?: string): Promise<void>;
  annotate(name: string, value: string): Promise<void>;
  remove(key?: string): void;
  object(key?: string): KubeObject | undefined;
  status(key?: string): DatabaseStatus;
  condition(type: string, key?: string): Condition | undefined;
  /** Ready, as "status reason"; "gone": there is no such object. */
  ready(key?: string): string;
  pass(key?: string): Promise<Outcome>;
  /** Runs passes, with time between them, until Ready is this. */
  until(ready: string, key?: string): Promise<void>;
  /** Runs passes until nothing is left to do at once; no time passes. */
  settle(key?: string): Promise<Outcome>;
  /** Calls of the server since the last time. */
  takeCalls(): readonly string[];
  /** A new process: nothing is remembered. */
  restart(): Promise<void>;
  /** Until `showAsIs`, passes see the object as it is now, whatever happens to it. */
  showAsNow(): void;
  showAsIs(): void;
  putConfigMap(name: string, data: Readonly<Record<string, string>>, more?: object): Promise<void>;
  removeConfigMap(name: string): void;
  /** Removes the DatabaseSpace, and with it its connection. */
  removeSpace(): void;
  /** The schema on the server; undefined: there is no such database. */
  schema(name?: string): string | undefined;
  databases(): readonly string[];
  openTransactions(): number;
  /** Another user of the server, with the admin's login. */
  outsider(): Promise<Outsider>;
}

export interface Outsider {
  /** Commits a one-shot schema query on database `orders`. */
  define(query: string): Promise<void>;
  /** Opens a transaction; returns a function that closes it. */
  open(type: 'read' | 'write' | 'schema', databaseName?: string): Promise<() => Promise<Reply>>;
}

export async function databaseBench(options: DatabaseBenchOptions = {}): Promise<DatabaseBench> {
  const cluster = await runningBench(options);
  const { kube, simulator, clock } = cluster;
  const told: string[] = [];
  let processes = 0;
  let stale: KubeObject | undefined;
  let hasSpace = true;
  let current: DatabaseWorld | undefined;
  // The cast is the parsing boundary: the kind parses what it reads.
  const objects = () => kube.all(DATABASES) as unknown as readonly KubeObject[];
  const object = (key = KEY) => objects().find((each) => keyOf(each) === key);
  const snapshot = () => clusterNamed(simulator, 'orders');
  const world = () => {
    if (current === undefined) throw new Error('The bench was not started');
    return current;
  };

  const start = () => {
    const beganMs = clock.now();
    const { api, connections, secrets } = cluster.world();
    current = {
      api,
      clock,
      connections,
      cluster: (key) => kube.all(DATABASE_CLUSTERS).find((each) => keyOf(each) === key) as unknown as KubeObject,
      clusterKeys: () => kube.all(DATABASE_CLUSTERS).map(keyOf),
      sharedWith: () => undefined,
      watches: () => true,
      namespaceLabels: async (name) => options.labels?.[name],
      hasSpace: () => hasSpace,
      servers: new Servers({ clock, secrets, onLoginRefused: (key) => told.push(`refused ${key}`) }),
      configMaps: createConfigMaps(api, {
        get: (key) => kube.all(CONFIG_MAPS).find((each) => keyOf(each) === key),
      }),
      database: (key) => object(key),
      claimants: (server, name) =>
        objects()
          .filter((each) => wants(each, server, name))
          .map(keyOf),
      memory: new DatabaseMemory(`process-${++processes}`, () => beganMs),
      onSchemaCorrected: (key) => told.push(`corrected ${key}`),
      onLeft: (key, message) => told.push(`left ${key}: ${message}`),
    };
  };

  const status = (key?: string) => parseStatus(databaseDefinition, object(key)?.status);
  const condition = (type: string, key?: string) => status(key).conditions?.find((each) => each.type === type);
  const ready = (key?: string) => {
    const found = condition('Ready', key);
    return object(key) === undefined ? 'gone' : `${found?.status} ${found?.reason}`;
  };
  const pass = (key = KEY) =>
    reconcile(
      databaseKind(world()),
      {
        api: world().api,
        clock,
        read: (wanted) => (wanted === KEY ? (stale ?? object(wanted)) : object(wanted)),
        written: () => {},
        onUntold: () => {},
        onReady: () => {},
        onStep: () => {},
        failsForMs: () => Number.POSITIVE_INFINITY,
        conflictsLast: false,
        tellAlways: false,
      },
      key,
      new AbortController().signal,
    );
  const isAtOnce = (outcome: Outcome) =>
    outcome.next === 'again' || (outcome.next === 'settled' && outcome.requeueAfterMs === 0);
  const create = async (key: string, spec: Readonly<Record<string, unknown>> = {}) => {
    const { namespace, name } = splitKey(key);
    await kube.create(DATABASES, namespace, {
      apiVersion: `${GROUP}/v1alpha1`,
      kind: 'Database',
      metadata: { name },
      spec: { clusterRef: { name: 'orders' }, ...spec },
    });
  };

  start();
  if (options.database !== undefined) await create(KEY, options.database);
  onTestFinished(() => expect(snapshot()?.openTransactions ?? 0, 'open transactions').toBe(0));

  return {
    cluster,
    told,
    world,
    async place() {
      const subject = { metadata: { ...METADATA, namespace: 'shop' }, spec: { clusterRef: { name: 'orders' } } };
      const access = await serverAccess(world(), subject, new AbortController().signal);
      if (access.server !== 'open') throw new Error(`The server is not open: ${access.message}`);
      return access;
    },
    create,
    object,
    status,
    condition,
    ready,
    pass,
    async edit(spec, key = KEY) {
      const { namespace, name } = splitKey(key);
      const resourceVersion = object(key)?.metadata.resourceVersion;
      await kube.patch(DATABASES, { namespace, name }, { metadata: { resourceVersion }, spec });
    },
    async annotate(name, value) {
      const resourceVersion = object()?.metadata.resourceVersion;
      const metadata = { resourceVersion, annotations: { [name]: value } };
      await kube.patch(DATABASES, splitKey(KEY), { metadata });
    },
    remove: (key = KEY) => kube.remove(DATABASES, splitKey(key)),
    async until(wanted, key) {
      for (let step = 0; step < MAX_STEPS; step++) {
        if (ready(key) === 'gone' && wanted === 'gone') return;
        const outcome = await pass(key);
        if (isAtOnce(outcome)) continue;
        if (ready(key) === wanted) return;
        await clock.advance(STEP_MS);
      }
      throw new Error(`Waited in vain for ${wanted}: it is ${ready(key)}, ${JSON.stringify(status(key))}`);
    },
    async settle(key) {
      for (let step = 0; step < MAX_STEPS; step++) {
        const outcome = await pass(key);
        if (!isAtOnce(outcome)) return outcome;
      }
      throw new Error(`It does not come to rest: it is ${ready(key)}, ${JSON.stringify(status(key))}`);
    },
    takeCalls() {
      const calls = cluster.calls.filter((call) => call.startsWith('server ')).map((call) => call.slice(7));
      cluster.forgetCalls();
      return calls;
    },
    async restart() {
      await cluster.restart();
      cluster.forgetCalls();
      start();
    },
    showAsNow: () => {
      stale = object();
    },
    showAsIs: () => {
      stale = undefined;
    },
    async putConfigMap(name, data, more = {}) {
      const before = kube.all(CONFIG_MAPS, 'shop').find(({ metadata }) => metadata.name === name);
      if (before === undefined) await kube.create(CONFIG_MAPS, 'shop', { metadata: { name }, data, ...more });
      else {
        const { resourceVersion } = before.metadata;
        await kube.patch(CONFIG_MAPS, { namespace: 'shop', name }, { metadata: { resourceVersion }, data, ...more });
      }
    },
    removeSpace: () => {
      hasSpace = false;
      world().connections.disconnect('shop/production');
    },
    removeConfigMap: (name) => kube.remove(CONFIG_MAPS, { namespace: 'shop', name }),
    schema: (name = 'orders') => snapshot()?.databases.find((each) => each.name === name)?.schema,
    databases: () => snapshot()?.databases.map(({ name }) => name) ?? [],
    openTransactions: () => snapshot()?.openTransactions ?? 0,
    async outsider() {
      const send = sender(simulator.transport, `https://${addressOf(simulator, 'orders')}`);
      const { username, password } = cluster.secret() ?? {};
      const token = String((await send('POST', '/v1/signin', { body: { username, password } })).json()['token']);
      return outsiderWith(send, token);
    },
  };
}

/** A bench whose Database is Ready. */
export async function readyBench(options: DatabaseBenchOptions = {}): Promise<DatabaseBench> {
  const bench = await databaseBench({ database: {}, ...options });
  await bench.until('True DatabaseReady');
  bench.takeCalls();
  return bench;
}

function wants(object: KubeObject, cluster: string, name: string): boolean {
  const { metadata } = object;
  const parsed = parseSpec(databaseDefinition, object.spec);
  if (!parsed.ok) return false;
  const subject = { metadata, spec: parsed.spec };
  return clusterKeyOf(subject) === cluster && databaseName(subject) === name;
}

function outsiderWith(send: Send, token: string): Outsider {
  const must = async (call: Promise<Reply>) => {
    const reply = await call;
    if (reply.status >= 300) throw new Error(reply.text);
    return reply;
  };
  return {
    async define(query) {
      const body = { databaseName: 'orders', transactionType: 'schema', query, commit: true };
      await must(send('POST', '/v1/query', { token, body }));
    },
    async open(transactionType, databaseName = 'orders') {
      const body = { databaseName, transactionType };
      const { transactionId } = (await must(send('POST', '/v1/transactions/open', { token, body }))).json();
      return () => send('POST', `/v1/transactions/${String(transactionId)}/close`, { token });
    },
  };
}

/** Calls since the last look that may change something on the server. */
export function changing(bench: DatabaseBench): readonly string[] {
  const reads = ['signIn', 'listDatabases', 'getDatabase', 'getSchema'];
  return bench.takeCalls().filter((call) => !reads.includes(call));
}
