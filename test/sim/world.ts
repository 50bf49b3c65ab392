import { API_VERSION } from '../../src/base/group.ts';
import { createLog } from '../../src/base/log.ts';
import { DATABASE_CLUSTERS } from '../../src/kinds/databasecluster/resource.ts';
import { databaseClusterDefinition } from '../../src/kinds/databasecluster/schema.ts';
import { DATABASE_SPACES } from '../../src/kinds/databasespace/resource.ts';
import { DATABASE_USERS } from '../../src/kinds/databaseuser/resource.ts';
import { definitions } from '../../src/kinds/definitions.ts';
import { EVENTS, SECRETS } from '../../src/kube/api.ts';
import { parseStatus } from '../../src/kube/definition.ts';
import { createOperator } from '../../src/operator.ts';
import type { Metrics } from '../../src/runtime/metrics.ts';
import type { Knobs } from '../../src/simulator/knobs.ts';
import { createSeededRandom } from '../../src/simulator/seeded-random.ts';
import { createSimulator, type Simulator } from '../../src/simulator/simulator.ts';
import { FakeKube, type FakeObject } from '../support/fake-kube.ts';
import { withoutSecretLists } from '../support/secrets-by-name.ts';
import { processClock, type VirtualClock, virtualClock } from '../support/virtual-clock.ts';
import { type Effect, type Fault, faultyApi, faultyTransport, type Process } from './faults.ts';
import { Invariants } from './invariants.ts';

type Fields = Readonly<Record<string, unknown>>;

/** What goes wrong, and at which effect. */
export interface Plan {
  readonly at: number;
  readonly fault: Fault;
}

export const NAMESPACE = 'shop';
const STALE_MS = 20_000;
const OUTAGE_MS = 10 * 60_000;
const RESTART_MS = 1_000;
const KNOBS: Partial<Knobs> = {
  provisionMs: [20_000, 20_000],
  suspendMs: [5_000, 5_000],
  resumeMs: [10_000, 10_000],
  destroyMs: [10_000, 10_000],
};

/**
 * The whole operator on a virtual clock: an in-memory Kubernetes API with its watches, the simulated cloud in process,
 * seeded chance. One fault strikes at one effect; invariants are looked at after every effect.
 */
export class World {
  readonly clock: VirtualClock = virtualClock();
  readonly simulator: Simulator;
  readonly kube: FakeKube;
  readonly trace: string[] = [];
  readonly logs: string[] = [];
  readonly effects: Effect[] = [];
  readonly invariants: Invariants;
  /** Passes of all controllers. */
  passes = 0;
  /** What a person does to the object that a scenario is about, as a fault. */
  person = { edit: () => this.edit({ spec: { allowUnlisted: true } }), remove: () => this.remove() };
  /** Strikes at effects that the plan leaves alone. */
  chance: ((effect: Omit<Effect, 'index'>) => Fault | undefined) | undefined;
  readonly #plan: Plan | undefined;
  readonly #secrets: 'watch' | 'get';
  #process: Process | undefined;
  #processes = 0;
  #counting = false;
  #count = 0;
  #heldUntil = 0;
  #outUntil = 0;
  #stop = new AbortController();

  constructor(plan: Plan | undefined, secrets: 'watch' | 'get' = 'watch') {
    this.#plan = plan;
    this.#secrets = secrets;
    this.simulator = createSimulator({ clock: this.clock, random: createSeededRandom(1), knobs: KNOBS });
    this.kube = new FakeKube({
      now: this.clock.now,
      random: createSeededRandom(2),
      statusDefaults: Object.fromEntries(definitions.map(({ plural }) => [plural, { observedGeneration: -1 }])),
    });
    this.invariants = new Invariants(this);
  }

  /** The space and its Secrets, and a process of the operator. */
  async start(): Promise<void> {
    for (const level of ['read', 'write', 'admin'])
      await this.putSecret(`cloud-${level}`, { clientID: `${level}-id`, clientSecret: `${level}-secret-0123456789` });
    await this.putSecret('factory-login', { username: 'admin', password: 'password' });
    await this.kube.create(DATABASE_SPACES, NAMESPACE, {
      apiVersion: API_VERSION,
      kind: 'DatabaseSpace',
      metadata: { name: 'production' },
      spec: {
        baseURL: this.simulator.baseURL,
        teamID: 'acme',
        spaceID: 'production',
        apiTokens: ['read', 'write', 'admin'].map((level) => ({ level, secretRef: { name: `cloud-${level}` } })),
        defaultCredentialsSecretRef: { name: 'factory-login' },
      },
    });
    this.#startProcess();
  }

  /** From now on effects count, and the fault of the plan strikes. */
  beginCounting(): void {
    this.#counting = true;
  }

  get faultStruck(): boolean {
    return this.#plan === undefined || this.#count >= this.#plan.at;
  }

  stop(): void {
    if (this.#process !== undefined) this.#process.alive = false;
    this.#stop.abort();
  }

  // What people do.

  async putSecret(name: string, data: Readonly<Record<string, string>>): Promise<void> {
    const encoded = Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')]);
    await this.kube.create(SECRETS, NAMESPACE, { metadata: { name }, data: Object.fromEntries(encoded) });
  }

  async createCluster(spec: Fields = {}, name = 'orders'): Promise<void> {
    await this.kube.create(DATABASE_CLUSTERS, NAMESPACE, {
      apiVersion: API_VERSION,
      kind: 'DatabaseCluster',
      metadata: { name },
      spec: {
        spaceRef: { name: 'production' },
        provider: 'gcp',
        region: 'europe-west2',
        machineType: 'c2d-highcpu-4',
        storageSizeGB: 100,
        version: '3.5.0',
        ...spec,
      },
    });
  }

  /** Without effect once the object is gone. */
  async edit(change: { readonly spec?: Fields; readonly annotations?: Fields }, name = 'orders'): Promise<void> {
    const { spec, annotations } = change;
    if (this.object(name) === undefined) return;
    await this.kube.patch(
      DATABASE_CLUSTERS,
      { namespace: NAMESPACE, name },
      {
        ...(spec === undefined ? {} : { spec }),
        ...(annotations === undefined ? {} : { metadata: { annotations } }),
      },
    );
  }

  remove(name = 'orders'): void {
    this.kube.remove(DATABASE_CLUSTERS, { namespace: NAMESPACE, name });
  }

  // What there is.

  object(name = 'orders'): FakeObject | undefined {
    return this.kube.all(DATABASE_CLUSTERS, NAMESPACE).find(({ metadata }) => metadata.name === name);
  }

  status(name = 'orders') {
    return parseStatus(databaseClusterDefinition, this.object(name)?.['status']);
  }

  /** Ready, as "status reason"; `gone` without the object. Of an earlier generation: `stale`. */
  ready(name = 'orders'): string {
    const object = this.object(name);
    if (object === undefined) return 'gone';
    const status = this.status(name);
    if (status.observedGeneration !== object.metadata.generation) return 'stale';
    const condition = status.conditions?.find(({ type }) => type === 'Ready');
    return `${condition?.status} ${condition?.reason}`;
  }

  secret(name = 'orders-admin'): Readonly<Record<string, string>> | undefined {
    const found = this.kube.all(SECRETS, NAMESPACE).find(({ metadata }) => metadata.name === name);
    if (found === undefined) return undefined;
    const entries = Object.entries((found['data'] ?? {}) as Record<string, string>);
    return Object.fromEntries(entries.map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]));
  }

  /** Everything that people can see, in one text. */
  shown(): string {
    const objects = [DATABASE_CLUSTERS, DATABASE_SPACES, DATABASE_USERS, EVENTS].flatMap((resource) =>
      this.kube.all(resource),
    );
    return JSON.stringify(objects) + this.logs.join('');
  }

  async until(condition: () => boolean, what: string, limitMs = 60 * 60_000): Promise<void> {
    await this.clock.runUntil(condition, what, limitMs);
  }

  #note(line: string): void {
    this.trace.push(`${(this.clock.monotonic() / 1000).toFixed(1).padStart(7)}s ${line}`);
  }

  #startProcess(): void {
    const process: Process = { alive: true };
    const clock = processClock(this.clock);
    const number = ++this.#processes;
    const watcher = {
      before: (effect: Omit<Effect, 'index'>) => this.#before(effect),
      after: () => this.invariants.check(),
      crash: () => {
        this.#note(`process ${number} is killed`);
        process.alive = false;
        clock.freeze();
        this.clock.after(RESTART_MS, () => this.#startProcess());
      },
      heldMs: () => Math.max(0, this.#heldUntil - this.clock.monotonic()),
      cloudIsOut: () => this.clock.monotonic() < this.#outUntil,
    };
    const log = createLog({
      level: 'debug',
      format: 'json',
      write: (line) => {
        if (process.alive) this.logs.push(line);
      },
    });
    const operator = createOperator({
      api: faultyApi(this.#secrets === 'get' ? withoutSecretLists(this.kube) : this.kube, process, watcher, clock),
      secrets: this.#secrets,
      clock,
      random: createSeededRandom(100 + number),
      transport: () => faultyTransport(this.simulator.transport, process, watcher),
      log,
      metrics: this.#metrics(process),
      namespaces: undefined,
      concurrency: 4,
      urlPolicy: { allowHTTP: false, allowedBaseURLs: undefined, allowedNetworks: undefined },
      instance: `process-${number}`,
      lease: undefined,
    });
    this.#process = process;
    this.#note(`process ${number} starts`);
    operator.run(this.#stop.signal).catch((error: unknown) => this.invariants.fail(`The operator ended: ${error}`));
  }

  async #before(given: Omit<Effect, 'index'>): Promise<Fault | undefined> {
    if (!this.#counting) {
      this.#note(given.what);
      return undefined;
    }
    const index = ++this.#count;
    this.effects.push({ ...given, index });
    const fault = this.#plan?.at === index ? this.#plan.fault : this.chance?.(given);
    this.#note(`${index}: ${given.what}${fault === undefined ? '' : `  <= ${fault}`}`);
    const now = this.clock.monotonic();
    if (fault === 'stale') this.#heldUntil = now + STALE_MS;
    if (fault === 'outage') this.#outUntil = now + OUTAGE_MS;
    // Means nothing by itself, but what was read is old now.
    if (fault === 'edit') await this.person.edit();
    if (fault === 'delete') this.person.remove();
    return fault;
  }

  #metrics(process: Process): Metrics {
    const nothing = () => {};
    const passed = () => {
      if (process.alive) this.passes++;
      return nothing;
    };
    return {
      contentType: 'text/plain',
      text: async () => '',
      controller: () => ({
        queue: { added: nothing, retried: nothing, started: nothing, finished: nothing },
        started: passed,
        watchQueue: nothing,
      }),
      apiRequest: nothing,
      kubeRequest: nothing,
      driftCorrected: nothing,
      onScrape: nothing,
    };
  }
}
