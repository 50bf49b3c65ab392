import { expect } from 'vitest';
import { API_VERSION } from '../../src/base/group.ts';
import { DATABASE_CLUSTERS } from '../../src/kinds/databasecluster/resource.ts';
import { databaseUserKind } from '../../src/kinds/databaseuser/index.ts';
import type { UserStep } from '../../src/kinds/databaseuser/observation.ts';
import { claimOf } from '../../src/kinds/databaseuser/records.ts';
import { DATABASE_USERS } from '../../src/kinds/databaseuser/resource.ts';
import { type DatabaseUserStatus, databaseUserDefinition } from '../../src/kinds/databaseuser/schema.ts';
import { UserMemory, type UserWorld } from '../../src/kinds/databaseuser/world.ts';
import { createSecrets } from '../../src/kinds/secrets.ts';
import { Servers } from '../../src/kinds/server/servers.ts';
import { type KubeApi, type Resource, SECRETS } from '../../src/kube/api.ts';
import type { Condition } from '../../src/kube/condition.ts';
import { parseSpec, parseStatus } from '../../src/kube/definition.ts';
import { type KubeObject, keyOf, splitKey } from '../../src/kube/object.ts';
import { type Outcome, reconcile } from '../../src/runtime/reconcile.ts';
import type { FakeObject } from '../../src/sandbox/fake-kube.ts';
import { type KindBench, type KindBenchOptions, runningBench } from './kind-bench.ts';
import { encoded, secretsOf } from './secrets.ts';
import { clusterNamed } from './simulator.ts';

type Fields = Readonly<Record<string, unknown>>;
type Texts = Readonly<Record<string, string>>;

const STEP_MS = 5_000;
const MAX_STEPS = 100;
export const APP = 'shop/app';

export interface UserBenchOptions extends KindBenchOptions {
  /** Spec of the DatabaseUser `shop/app`, besides clusterRef. Absent: no such object is made. */
  readonly user?: Fields;
  /** Labels of namespaces. */
  readonly labels?: Readonly<Record<string, Texts>>;
}

/**
 * The kind DatabaseUser with everything it works through, in one process, beside a running DatabaseCluster `shop/orders`: built
 * on the bench of that kind. Passes are made by hand.
 */
export interface UserBench {
  readonly cluster: KindBench;
  /** Reports of corrected drift, by field, of users that were left behind, and of cluster logins that were refused. */
  readonly told: readonly string[];
  create(key: string, spec?: Fields, annotations?: Texts): Promise<void>;
  /** Changes the spec, as a person would. */
  edit(spec: Fields, key?: string): Promise<void>;
  annotate(name: string, value: string, key?: string): Promise<void>;
  remove(key?: string): void;
  object(key?: string): KubeObject | undefined;
  status(key?: string): DatabaseUserStatus;
  condition(key?: string): Condition | undefined;
  /** Ready, as "status reason"; "gone": there is no such object. */
  ready(key?: string): string;
  /** `seen`: the object as a stale cache shows it. */
  pass(key?: string, seen?: KubeObject): Promise<Outcome>;
  /** Carries out one step whatever was decided, as a process would that was overtaken. */
  act(step: UserStep): Promise<unknown>;
  /** Runs passes until nothing is left to do at once; no time passes. */
  settle(key?: string): Promise<Outcome>;
  /** Runs passes, with time between them, until Ready is this. */
  until(ready: string, key?: string): Promise<void>;
  /** Calls of the server since the last time. */
  takeCalls(): readonly string[];
  /** Requests to the Kubernetes API since the last time, as `patch databaseusers/app status`. */
  takeRequests(): readonly string[];
  /** A new process: nothing is remembered. */
  restart(): Promise<void>;
  /** The connection Secret, or another one, decoded. */
  secret(name?: string): Texts | undefined;
  secretObject(name?: string): FakeObject | undefined;
  /** Creates or replaces a person's own Secret. */
  putSecret(name: string, data: Readonly<Record<string, string | Uint8Array>>, metadata?: Fields): Promise<void>;
  /** Changes a Secret as somebody with the right would; the values of `data` are texts, and null removes a key. */
  editSecret(
    name: string,
    change: { readonly data?: Readonly<Record<string, string | null>>; readonly metadata?: Fields },
  ): Promise<void>;
  removeSecret(name: string): void;
  /** Reports whether the password signs in, checked in the simulator without a call. */
  works(password: string | undefined, username?: string): boolean;
  users(): readonly string[];
}

export async function userBench(options: UserBenchOptions = {}): Promise<UserBench> {
  const cluster = await runningBench(options);
  const { kube, simulator, clock } = cluster;
  const told: string[] = [];
  const requests: string[] = [];
  let current: UserWorld | undefined;
  // The cast is the parsing boundary: the kind parses what it reads.
  const objects = () => kube.all(DATABASE_USERS) as unknown as readonly KubeObject[];
  const object = (key = APP) => objects().find((each) => keyOf(each) === key);
  const secretObject = (name = 'app-connection') =>
    kube.all(SECRETS, 'shop').find(({ metadata }) => metadata.name === name);

  const start = () => {
    const { api: plain, connections, random } = cluster.world();
    const api = recording(plain, requests);
    const beganMs = clock.now();
    const secrets = createSecrets(api, secretsOf(kube));
    current = {
      api,
      clock,
      random,
      connections,
      secrets,
      cluster: (key) => kube.all(DATABASE_CLUSTERS).find((each) => keyOf(each) === key) as unknown as KubeObject,
      clusterKeys: () => kube.all(DATABASE_CLUSTERS).map(keyOf),
      sharedWith: () => undefined,
      watches: () => true,
      namespaceLabels: async (name) => options.labels?.[name],
      hasSpace: (key) => cluster.world().space(key) !== undefined,
      servers: new Servers({ clock, secrets, onLoginRefused: (key) => told.push(`refused ${key}`) }),
      user: (key) => object(key),
      claimants: (server, username) =>
        objects()
          .filter((each) => wants(each, `users/${server}/${username}`))
          .map(keyOf),
      memory: new UserMemory(() => beganMs),
      onDriftCorrected: (_key, field) => told.push(`corrected ${field}`),
      onLeft: (_key, message) => told.push(`left: ${message}`),
    };
  };
  const world = () => {
    if (current === undefined) throw new Error('The bench was not started');
    return current;
  };
  const status = (key?: string) => parseStatus(databaseUserDefinition, object(key)?.status);
  const condition = (key?: string) => status(key).conditions?.find(({ type }) => type === 'Ready');
  const ready = (key?: string) =>
    object(key) === undefined ? 'gone' : `${condition(key)?.status} ${condition(key)?.reason}`;
  const pass = (key = APP, seen?: KubeObject) =>
    reconcile(
      databaseUserKind(world()),
      {
        api: world().api,
        clock,
        read: (wanted) => seen ?? object(wanted),
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
  const act = (step: UserStep) => {
    const found = object();
    const spec = parseSpec(databaseUserDefinition, found?.spec);
    if (found === undefined || !spec.ok) throw new Error('There is no such object');
    const subject = {
      key: APP,
      metadata: found.metadata,
      spec: spec.spec,
      status: status(),
      deleting: false,
      lookNow: false,
    };
    return databaseUserKind(world()).act(subject, step, new AbortController().signal, () => {});
  };
  const isAtOnce = (outcome: Outcome) =>
    outcome.next === 'again' || (outcome.next === 'settled' && outcome.requeueAfterMs === 0);
  const create: UserBench['create'] = async (key, spec = {}, annotations = {}) => {
    const { namespace, name } = splitKey(key);
    await kube.create(DATABASE_USERS, namespace, {
      apiVersion: API_VERSION,
      kind: 'DatabaseUser',
      metadata: { name, annotations },
      spec: { clusterRef: { name: 'orders' }, ...spec },
    });
  };
  const patch = async (key: string, change: Fields) => {
    const { namespace, name } = splitKey(key);
    await kube.patch(DATABASE_USERS, { namespace, name }, change);
  };
  const take = (list: string[]) => list.splice(0);

  start();
  if (options.user !== undefined) await create(APP, options.user);
  cluster.forgetCalls();
  return {
    cluster,
    told,
    create,
    object,
    status,
    condition,
    ready,
    pass,
    act,
    edit: (spec, key = APP) => patch(key, { spec }),
    annotate: (name, value, key = APP) => patch(key, { metadata: { annotations: { [name]: value } } }),
    remove: (key = APP) => kube.remove(DATABASE_USERS, splitKey(key)),
    async settle(key) {
      for (let step = 0; step < MAX_STEPS; step++) {
        const outcome = await pass(key);
        if (!isAtOnce(outcome)) return outcome;
      }
      throw new Error(`It does not come to rest: it is ${ready(key)}, ${JSON.stringify(status(key))}`);
    },
    async until(wanted, key) {
      for (let step = 0; step < MAX_STEPS; step++) {
        if (ready(key) === 'gone' && wanted === 'gone') return;
        if (isAtOnce(await pass(key))) continue;
        if (ready(key) === wanted) return;
        await clock.advance(STEP_MS);
      }
      throw new Error(`Waited in vain for ${wanted}: it is ${ready(key)}, ${JSON.stringify(status(key))}`);
    },
    takeCalls() {
      const calls = cluster.calls.filter((call) => call.startsWith('server ')).map((call) => call.slice(7));
      cluster.forgetCalls();
      return calls;
    },
    takeRequests: () => take(requests),
    async restart() {
      await cluster.restart();
      cluster.forgetCalls();
      start();
    },
    secret: (name) => decoded(secretObject(name)),
    secretObject,
    async putSecret(name, data, metadata = {}) {
      kube.remove(SECRETS, { namespace: 'shop', name });
      await kube.create(SECRETS, 'shop', { metadata: { name, ...metadata }, type: 'Opaque', data: encoded(data) });
    },
    async editSecret(name, { data = {}, metadata = {} }) {
      await kube.patch(SECRETS, { namespace: 'shop', name }, { metadata, data: encoded(data) });
    },
    removeSecret: (name) => kube.remove(SECRETS, { namespace: 'shop', name }),
    works: (password, username = 'app') => password !== undefined && simulator.passwordIs('orders', username, password),
    users: () => clusterNamed(simulator, 'orders')?.users.map(({ username }) => username) ?? [],
  };
}

/** A bench whose DatabaseUser is Ready. */
export async function readyUserBench(options: UserBenchOptions = {}): Promise<UserBench> {
  const bench = await userBench({ user: {}, ...options });
  await bench.until('True LoginWorks');
  bench.takeCalls();
  bench.takeRequests();
  return bench;
}

function wants(object: KubeObject, claim: string): boolean {
  const parsed = parseSpec(databaseUserDefinition, object.spec);
  return parsed.ok && claimOf({ metadata: object.metadata, spec: parsed.spec }) === claim;
}

function decoded(secret: FakeObject | undefined): Texts | undefined {
  if (secret === undefined) return undefined;
  const entries = Object.entries((secret['data'] ?? {}) as Texts);
  return Object.fromEntries(entries.map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]));
}

function recording(api: KubeApi, requests: string[]): KubeApi {
  const note = (verb: string, { plural }: Resource, name: string, subresource?: string) =>
    requests.push([verb, `${plural}/${name}`, ...(subresource === undefined ? [] : [subresource])].join(' '));
  return {
    get: (resource, ref, signal) => {
      note('get', resource, ref.name);
      return api.get(resource, ref, signal);
    },
    list: (resource, options, signal) => api.list(resource, options, signal),
    watch: (resource, options, signal) => api.watch(resource, options, signal),
    create: (resource, namespace, object, signal) => {
      const { metadata } = object as { readonly metadata: { readonly name: string } };
      note('create', resource, metadata.name);
      return api.create(resource, namespace, object, signal);
    },
    patch: (resource, ref, patch, options, signal) => {
      note('patch', resource, ref.name, options?.subresource);
      return api.patch(resource, ref, patch, options, signal);
    },
    delete: (resource, ref, preconditions, signal) => {
      note('delete', resource, ref.name);
      return api.delete(resource, ref, preconditions, signal);
    },
  };
}

/** Expects one of the passwords in the Secret to sign in. */
export function expectOneWorks({ secret, works }: UserBench): void {
  const { password, nextPassword } = secret() ?? {};
  expect(works(password) || works(nextPassword)).toBe(true);
}

/** Runs passes until nothing is left to do at once, also after the time in which a refused password that worked is tried again. */
export async function settleRefused(bench: UserBench): Promise<void> {
  await bench.settle();
  await bench.cluster.clock.advance(3_000);
  await bench.settle();
}

/** Runs passes by hand, and checks the Secret after each. */
export async function settleWatched(bench: UserBench): Promise<void> {
  for (let next = 'again'; next === 'again'; ) {
    next = (await bench.pass()).next;
    expectOneWorks(bench);
  }
}
