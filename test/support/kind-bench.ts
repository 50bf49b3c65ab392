import { expect } from 'vitest';
import { systemRandom } from '../../src/base/random.ts';
import { databaseClusterKind } from '../../src/kinds/databasecluster/index.ts';
import { DATABASE_CLUSTERS } from '../../src/kinds/databasecluster/resource.ts';
import { type DatabaseClusterStatus, databaseClusterDefinition } from '../../src/kinds/databasecluster/schema.ts';
import { ClusterMemory, type ClusterWorld } from '../../src/kinds/databasecluster/world.ts';
import { SpaceConnections } from '../../src/kinds/databasespace/connection/connections.ts';
import type { DatabaseSpaceSpec } from '../../src/kinds/databasespace/schema.ts';
import { definitions } from '../../src/kinds/definitions.ts';
import { createSecrets, type Login } from '../../src/kinds/secrets.ts';
import { type KubeApi, SECRETS } from '../../src/kube/api.ts';
import { parseStatus } from '../../src/kube/definition.ts';
import type { KubeObject } from '../../src/kube/object.ts';
import { type Outcome, reconcile } from '../../src/runtime/reconcile.ts';
import { FakeKube } from '../../src/sandbox/fake-kube.ts';
import { type VirtualClock, virtualClock } from '../../src/sandbox/virtual-clock.ts';
import type { Dialect } from '../../src/simulator/dialect.ts';
import type { Simulator } from '../../src/simulator/interface.ts';
import type { Knobs } from '../../src/simulator/knobs.ts';
import { createSeededRandom } from '../../src/simulator/seeded-random.ts';
import { createSimulator } from '../../src/simulator/simulator.ts';
import { aCluster, aSpace } from './builders.ts';
import { placesOf } from './places.ts';
import { encoded, secretsOf } from './secrets.ts';

/** A moment at which the process ends: before or after a write to the Kubernetes API. */
export interface Crash {
  readonly verb: 'create' | 'patch' | 'delete';
  readonly plural: string;
  readonly when: 'before' | 'after';
}

export interface KindBench {
  readonly simulator: Simulator;
  readonly clock: VirtualClock;
  readonly kube: FakeKube;
  /** Calls of both APIs since `forgetCalls`, as `deploy` or `server signIn`. */
  readonly calls: readonly string[];
  /** Changes of Ready, which become Events, as "reason: message". */
  readonly told: readonly string[];
  /** Fields whose drift was corrected. */
  readonly corrected: readonly string[];
  world(): ClusterWorld;
  forgetCalls(): void;
  status(): DatabaseClusterStatus;
  /** Ready, as "status reason". */
  ready(): string;
  secret(name?: string): Readonly<Record<string, string>> | undefined;
  putSecret(name: string, data: Readonly<Record<string, string>>, labels?: Record<string, string>): Promise<void>;
  /** Changes these values, and metadata, of a Secret that is there. */
  editSecret(data: Readonly<Record<string, string>>, metadata?: object, name?: string): Promise<void>;
  /** Puts another login into the space's Secret. */
  replaceFactory(login: Login): void;
  /** Changes the spec of the object, as a person would. */
  edit(spec: Readonly<Record<string, unknown>>): Promise<void>;
  annotate(name: string, value: string): Promise<void>;
  /** Runs one pass for the object. */
  pass(): Promise<Outcome>;
  /** Runs passes, with time between them, until Ready is this. */
  until(ready: string): Promise<void>;
  /** A new process: nothing is remembered. */
  restart(): Promise<void>;
  crashAt(crash: Crash): void;
  /** Until `showAsIs`, passes see the object as it is now, whatever happens to it. */
  showAsNow(): void;
  showAsIs(): void;
}

export interface KindBenchOptions {
  readonly dialect?: Dialect;
  readonly knobs?: Partial<Knobs>;
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly space?: Partial<DatabaseSpaceSpec>;
  /** The versions that the space reports. */
  readonly versions?: readonly string[];
}

const REF = { namespace: 'shop', name: 'orders' };
const KEY = 'shop/orders';
const SPACE = 'shop/production';
/** The login that new clusters come with. */
export const FACTORY: Login = { username: 'admin', password: 'password' };
const CREDENTIALS = (['read', 'write', 'admin'] as const).map((level) => ({
  level,
  clientID: `${level}-id`,
  clientSecret: `${level}-secret-0123456789`,
}));
const STEP_MS = 5_000;
const MAX_STEPS = 100;

export class Crashed extends Error {}

/**
 * The kind DatabaseCluster with everything it works through, in one process: the simulator, clients, poller, logins, and an
 * in-memory Kubernetes API. Passes are made by hand, for the single object `shop/orders` in space `production`.
 */
export async function kindBench(options: KindBenchOptions = {}): Promise<KindBench> {
  const clock = virtualClock();
  const { dialect = 'document', knobs = {} } = options;
  const simulator = createSimulator({ clock, random: createSeededRandom(1), dialect, knobs });
  const kube = new FakeKube({
    now: clock.now,
    random: createSeededRandom(2),
    statusDefaults: Object.fromEntries(definitions.map(({ plural }) => [plural, { observedGeneration: -1 }])),
  });
  const spaceSpec = { ...aSpace().subject.spec, ...options.space };
  const calls: string[] = [];
  const corrected: string[] = [];
  const told: string[] = [];
  let crash: Crash | undefined;
  let processes = 0;
  let stale: KubeObject | undefined;
  const api = crashing(
    kube,
    () => crash,
    () => {
      crash = undefined;
    },
  );
  // The cast is the parsing boundary: the kind parses what it reads.
  const object = () => kube.all(DATABASE_CLUSTERS)[0] as unknown as KubeObject;
  let process = {
    connections: undefined as SpaceConnections | undefined,
    world: undefined as ClusterWorld | undefined,
  };

  const start = async () => {
    process.connections?.close();
    const connections = new SpaceConnections({
      clock,
      random: systemRandom,
      urlPolicy: { allowHTTP: false, allowedBaseURLs: undefined, allowedNetworks: undefined },
      transport: () => simulator.transport,
      onRequest: (of, { operation }) => calls.push(of === 'server' ? `server ${operation}` : operation),
      onClusters: () => {},
      onListed: () => {},
    });
    connections.connect(SPACE, spaceSpec, CREDENTIALS, FACTORY, '1');
    await connections.get(SPACE)?.poller.refresh();
    const beganMs = clock.now();
    const world: ClusterWorld = {
      api,
      clock,
      random: systemRandom,
      secrets: createSecrets(api, secretsOf(kube)),
      connections,
      places: placesOf({ [SPACE]: spaceSpec }),
      space: (key) =>
        key === SPACE
          ? { spec: spaceSpec, versions: options.versions, ready: { status: 'True', reason: 'Observed', message: '' } }
          : undefined,
      spaceKeys: () => [SPACE],
      clusterKeys: () => [],
      cluster: (key) => (key === KEY ? object() : undefined),
      claimants: () => [KEY],
      recorders: () => [],
      clones: () => [],
      referringTo: () => [],
      watches: () => true,
      namespaceLabels: async () => ({}),
      dependents: () => ({ leaving: [], mayFollow: false }),
      memory: new ClusterMemory(`process-${++processes}`, () => beganMs),
      onDriftCorrected: (_key, { field }) => corrected.push(field),
      onLeft: (_key, message) => told.push(`left: ${message}`),
    };
    process = { connections, world };
  };

  const world = () => {
    if (process.world === undefined) throw new Error('The bench was not started');
    return process.world;
  };
  const status = () => parseStatus(databaseClusterDefinition, object().status);
  const ready = () => {
    const condition = status().conditions?.find(({ type }) => type === 'Ready');
    return `${condition?.status} ${condition?.reason}`;
  };
  const pass = () =>
    reconcile(
      databaseClusterKind(world()),
      {
        api,
        clock,
        read: (key) => (key === KEY ? (stale ?? object()) : undefined),
        written: () => {},
        onUntold: () => {},
        onReady: (_object, before, after) => {
          if (before?.status !== after.status || before.reason !== after.reason)
            told.push(`${after.reason}: ${after.message}`);
        },
        onStep: () => {},
        failsForMs: () => Number.POSITIVE_INFINITY,
        conflictsLast: false,
        tellAlways: false,
      },
      KEY,
      new AbortController().signal,
    );

  await start();
  const { spec } = aCluster().with(options.spec ?? {}).subject;
  await kube.create(DATABASE_CLUSTERS, 'shop', {
    apiVersion: 'mooring.dev/v1alpha1',
    kind: 'DatabaseCluster',
    metadata: { name: REF.name },
    spec,
  });

  return {
    simulator,
    clock,
    kube,
    calls,
    corrected,
    told,
    world,
    forgetCalls() {
      calls.splice(0);
      told.splice(0);
    },
    status,
    ready,
    secret(name = 'orders-admin') {
      const found = kube.all(SECRETS).find(({ metadata }) => metadata.name === name);
      if (found === undefined) return undefined;
      const entries = Object.entries(found['data'] as Record<string, string>);
      return Object.fromEntries(entries.map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]));
    },
    async putSecret(name, data, labels = {}) {
      kube.remove(SECRETS, { namespace: 'shop', name });
      await kube.create(SECRETS, 'shop', { metadata: { name, labels }, data: encoded(data) });
    },
    async editSecret(data, metadata = {}, name = 'orders-admin') {
      await kube.patch(SECRETS, { namespace: 'shop', name }, { metadata, data: encoded(data) });
    },
    replaceFactory(login) {
      process.connections?.connect(SPACE, spaceSpec, CREDENTIALS, login, login === FACTORY ? '1' : '2');
    },
    async edit(changes) {
      await kube.patch(DATABASE_CLUSTERS, REF, {
        metadata: { resourceVersion: object().metadata.resourceVersion },
        spec: changes,
      });
    },
    async annotate(name, value) {
      const { resourceVersion } = object().metadata;
      await kube.patch(DATABASE_CLUSTERS, REF, { metadata: { resourceVersion, annotations: { [name]: value } } });
    },
    pass,
    async until(wanted) {
      for (let step = 0; step < MAX_STEPS; step++) {
        const outcome = await pass();
        if (outcome.next === 'settled' && outcome.requeueAfterMs !== 0 && ready() === wanted) return;
        const waits = outcome.next !== 'again' && !(outcome.next === 'settled' && outcome.requeueAfterMs === 0);
        if (outcome.next === 'retry' && ready() === wanted) return;
        if (waits) await clock.advance(STEP_MS);
      }
      throw new Error(`Waited in vain for ${wanted}: it is ${ready()}, ${JSON.stringify(status().conditions)}`);
    },
    restart: start,
    crashAt: (next) => {
      crash = next;
    },
    showAsNow: () => {
      stale = object();
    },
    showAsIs: () => {
      stale = undefined;
    },
  };
}

/** A bench whose cluster is Ready. */
export async function runningBench(options: KindBenchOptions = {}): Promise<KindBench> {
  const bench = await kindBench(options);
  await bench.until('True Running');
  bench.forgetCalls();
  return bench;
}

/** Checks on the server itself what Ready promises. */
export function expectOneWorkingLogin({ simulator, secret, status }: KindBench, id = 'orders'): void {
  const { username = '', password = '', nextPassword } = secret() ?? {};
  expect(nextPassword).toBeUndefined();
  expect(username).toBe('admin');
  expect(simulator.passwordIs(id, username, password)).toBe(true);
  expect(simulator.passwordIs(id, 'admin', 'password')).toBe(false);
  expect(JSON.stringify(status())).not.toContain(password);
}

/** Throws Crashed once, at the moment that is set. */
function crashing(kube: FakeKube, crash: () => Crash | undefined, done: () => void): KubeApi {
  const at = async <T>(verb: Crash['verb'], plural: string, work: () => Promise<T>): Promise<T> => {
    const next = crash();
    if (next?.verb !== verb || next.plural !== plural) return work();
    done();
    if (next.when === 'after') await work();
    throw new Crashed('The process ends here');
  };
  return {
    get: (resource, ref) => kube.get(resource, ref),
    list: (resource, options) => kube.list(resource, options),
    watch: (resource, options, signal) => kube.watch(resource, options, signal),
    create: (resource, namespace, object) =>
      at('create', resource.plural, () => kube.create(resource, namespace, object)),
    patch: (resource, ref, patch, options) =>
      at('patch', resource.plural, () => kube.patch(resource, ref, patch, options)),
    delete: (resource, ref, preconditions) =>
      at('delete', resource.plural, () => kube.delete(resource, ref, preconditions)),
  };
}
