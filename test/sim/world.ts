import { definitions } from '../../src/kinds/definitions.ts';
import { EVENTS } from '../../src/kube/api.ts';
import { LEASES } from '../../src/kube/lease.ts';
import { objectKey } from '../../src/kube/object.ts';
import type { StepTold } from '../../src/runtime/controller.ts';
import { FakeKube } from '../../src/sandbox/fake-kube.ts';
import { type VirtualClock, virtualClock } from '../../src/sandbox/virtual-clock.ts';
import type { Dialect } from '../../src/simulator/dialect.ts';
import type { Simulator } from '../../src/simulator/interface.ts';
import type { Knobs } from '../../src/simulator/knobs.ts';
import { createSeededRandom } from '../../src/simulator/seeded-random.ts';
import { createSimulator, createTeam } from '../../src/simulator/simulator.ts';
import { statusSchemaOf, withoutField } from '../support/status-schema.ts';
import { type Effect, FAILURES, type Fault, isWrongLogin, TURNS } from './faults.ts';
import { Garbage } from './garbage.ts';
import { HotKeys } from './hot-keys.ts';
import { Invariants } from './invariants.ts';
import { NeedlessRequests } from './needless.ts';
import { type PassResult, watchPasses } from './passes.ts';
import { MINUTE_MS, People } from './people.ts';
import { isStruck, type Plan } from './plan.ts';
import { isDeceived, type Process, type Surroundings, type When } from './process.ts';
import { Processes } from './processes.ts';
import { type Read, type ReadFault, strikesRead } from './reads.ts';
import { LASTS_MS, type Subject, strike } from './strike.ts';
import { CLUSTERS, KINDS, statusOf, USERS, View } from './view.ts';
import { Weather } from './weather.ts';
import { Writers } from './writers.ts';

const SECOND_MS = 1_000;
const LANDING_MS = 30 * SECOND_MS;
/** More effects at one moment are a loop. */
const ENDLESS = 5_000;
const FLAKINESS = 1 / 3;
/** Computed once, as this takes nearly a tenth of the time of a run. */
const STATUS_SCHEMAS = definitions.map((definition) => [definition.plural, statusSchemaOf(definition)] as const);
const KNOBS: Partial<Knobs> = {
  provisionMs: [20_000, 20_000],
  suspendMs: [5_000, 5_000],
  resumeMs: [10_000, 10_000],
  destroyMs: [10_000, 10_000],
  // Servers repeat refused requests in their errors, and no secret may be shown all the same.
  echoSecrets: true,
};

/**
 * The whole operator on a virtual clock, in one process or several, with an in-memory Kubernetes API and its watches, the
 * simulated cloud in process, and seeded chance. Faults strike at effects, as the plan says. Invariants are checked after
 * every effect.
 */
export class World {
  readonly clock: VirtualClock = virtualClock();
  readonly simulator: Simulator;
  readonly kube: FakeKube;
  readonly view: View;
  readonly people: People;
  readonly invariants: Invariants;
  readonly weather: Weather;
  readonly needless: NeedlessRequests;
  readonly trace: string[] = [];
  readonly logs: string[] = [];
  readonly effects: Effect[] = [];
  readonly reads: Read[] = [];
  /** What the operator was about to do for each object. */
  readonly steps: StepTold[] = [];
  readonly #plan: Plan;
  #areStrikesOver = false;
  readonly #subject: Subject;
  readonly #chance;
  readonly #writers = new Writers(this);
  readonly #hotKeys = new HotKeys();
  readonly #garbage: Garbage;
  /** Everything that spans of traces showed. */
  readonly #spans: unknown[] = [];
  readonly processes: Processes;
  /** Set once a process acted after its time was over, although none of its clocks showed that. */
  haveTwoActed = false;
  /** Holds calls, and answers to them, until it resolves; see `Surroundings.held`. */
  hold: ((what: string, when: When, process: Process) => Promise<Fault | undefined> | undefined) | undefined;
  /** Chooses faults for effects that the plan does not strike. */
  chance: (() => Fault | undefined) | undefined;
  #count = 0;
  #instant = { at: -1, effects: 0 };
  #counting = false;
  /** The next process dies at its first effect. */
  #crashNext = false;
  /** The next look of this kind is answered as missing, too. */
  #missesNext: string | undefined;
  #troubledUntil = 0;
  /** When a person last asked for something other than the scenario does, or nobody may know any more whose a cluster is. */
  #turnedAt: number | undefined;

  constructor(
    plan: Plan = { scenario: 'nothing', strikes: [] },
    subject: Subject = { resource: CLUSTERS, name: 'orders' },
    // Some servers behave as seen in the field.
    dialect: Dialect = (plan.seed ?? 0) % 3 === 2 ? 'field' : 'document',
  ) {
    this.#plan = plan;
    this.#subject = subject;
    const seed = (plan.seed ?? 0) * 10;
    this.#chance = createSeededRandom(seed + 3);
    this.simulator = createSimulator({
      clock: this.clock,
      random: createSeededRandom(seed + 1),
      dialect,
      teams: [createTeam('acme', ['production', 'preview'], true)],
      knobs: KNOBS,
    });
    this.kube = new FakeKube({
      now: this.clock.now,
      random: createSeededRandom(seed + 2),
      statusDefaults: Object.fromEntries(KINDS.map(({ plural }) => [plural, { observedGeneration: -1 }])),
      statusSchemas: Object.fromEntries(
        STATUS_SCHEMAS.map(([plural, schema]) => {
          const [older, ...path] = plan.without?.split('.') ?? [];
          return [plural, older === plural ? withoutField(schema, path) : schema];
        }),
      ),
      // Some servers are older.
      streamsLists: (plan.seed ?? 0) % 4 !== 3,
      onUnchanged: (resource, { name }) => {
        // A Lease may be renewed twice in a millisecond, an Event is sent again if nobody knows whether it arrived, and a field that
        // the API server drops is written again in each pass.
        if (![LEASES.plural, EVENTS.plural].includes(resource.plural) && plan.without === undefined)
          this.invariants.unchanged(`${resource.plural}/${name}`);
      },
      onRemoved: ({ kind }) => {
        if (kind === USERS.kind) this.#garbage.collectSoon();
      },
    });
    const delay = () => (this.takesTime ? this.#chance.float() : 0);
    this.#garbage = new Garbage(this.clock, this.kube, delay);
    this.view = new View(this.kube, this.simulator);
    this.people = new People(this);
    this.weather = new Weather(this.clock);
    this.needless = new NeedlessRequests(this.simulator);
    this.invariants = new Invariants(this);
    this.processes = new Processes(this, plan, () => this.#surroundings());
    watchPasses((shown) => this.#spans.push(shown));
  }

  async start(): Promise<void> {
    await this.people.createSpace();
    for (let count = 0; count < (this.#plan.replicas ?? 1); count++) this.processes.start();
    this.#tellVersions();
  }

  /** From now on effects count, and the faults of the plan strike. */
  beginCounting(): void {
    this.#counting = true;
  }

  /** From now on no more faults strike. */
  endStrikes(): void {
    this.#areStrikesOver = true;
  }

  stop(): void {
    this.processes.stop();
  }

  async until(condition: () => boolean, what: string, limitMs = 60 * MINUTE_MS): Promise<void> {
    const isBroken = () => this.invariants.violations.length > 0;
    await this.clock.runUntil(() => isBroken() || condition(), what, limitMs);
    // What follows from that means nothing.
    if (isBroken()) throw new Error('An invariant is broken');
  }

  /** Changes something in the cloud that is not the operator's doing. */
  others(work: (simulator: Simulator) => void): void {
    this.invariants.whileOthersAct(() => work(this.simulator));
  }

  // Shortcuts for tests that only set a scene.

  readonly createCluster: People['createCluster'] = (...args) => this.people.createCluster(...args);
  readonly edit: People['edit'] = (...args) => this.people.edit(...args);
  readonly remove: People['remove'] = (...args) => this.people.remove(...args);
  readonly putSecret: People['putSecret'] = (...args) => this.people.putSecret(...args);
  readonly ready: View['ready'] = (...args) => this.view.ready(...args);
  readonly secret: View['secret'] = (...args) => this.view.secret(...args);

  /**
   * Like `until`, for scenarios: it also goes on some minutes after a person has asked for something else. `soonMs`: without
   * faults the condition must hold within that time.
   */
  async wait(condition: () => boolean, what: string, soonMs?: number): Promise<void> {
    const isTurned = () => this.#turnedAt !== undefined && this.clock.monotonic() > this.#turnedAt + 5 * MINUTE_MS;
    await this.until(() => condition() || isTurned(), what, isStruck(this.#plan) ? undefined : soonMs);
  }

  /** Returns everything that people can read without the right to read Secrets. */
  shown(): string {
    return [this.view.shown(), ...this.logs, this.processes.shown(), JSON.stringify(this.#spans)].join('');
  }

  /** When the effects of the faults are over, by the world's clock. */
  get troubledUntil(): number {
    return this.#troubledUntil;
  }

  get isTurned(): boolean {
    return this.#turnedAt !== undefined;
  }

  note(line: string): void {
    this.trace.push(`${(this.clock.monotonic() / SECOND_MS).toFixed(1).padStart(7)}s ${line}`);
  }

  #surroundings(): Surroundings {
    return {
      weather: this.weather,
      before: (process, effect) => this.#before(process, effect),
      beforeRead: (process, read) => this.#beforeRead(process, read),
      after: () => this.invariants.check(),
      crash: (process) => this.processes.kill(process),
      freeze: (process, fault) => this.processes.freeze(process, fault),
      landLater: (what, work) => {
        const isDeletion = what.startsWith('DELETE /v1/');
        if (isDeletion) this.people.lateDeletions++;
        this.clock.after(LANDING_MS, () => {
          this.note(`late: ${what}`);
          this.#garbage.collectSoon();
          if (isDeletion) this.people.lateDeletions--;
          work().then(
            () => this.invariants.check(),
            () => {},
          );
        });
      },
      isPartitioned: (process) => this.clock.monotonic() < process.partitionedUntil,
      told: (process, object) => this.people.unheld.told(process, object),
      holding: (resource, { namespace = '', name }, arrived) => {
        const object = this.view.object(objectKey(namespace, name), resource);
        this.people.unheld.tried(object?.metadata.uid, arrived);
      },
      now: () => this.clock.monotonic(),
      held: async (process, what, when) => this.hold?.(what, when, process),
      travel: () => this.#travel(),
      fails: () => this.weather.is('flaky') && this.#chance.float() < FLAKINESS,
    };
  }

  /** Most calls are quick, some take a moment, a few take seconds. */
  #travel(): Promise<void> {
    if (!this.takesTime) return Promise.resolve();
    const [kind, fraction] = [this.#chance.float(), this.#chance.float()];
    const ms = fraction * (kind < 0.7 ? 5 : kind < 0.97 ? 100 : 1_500);
    return new Promise((resolve) => this.clock.after(ms, resolve));
  }

  /** Whether calls and events take time on their way. */
  get takesTime(): boolean {
    return this.#plan.seed !== undefined;
  }

  /** Whether there is only one process, without a Lease to say who may act. */
  get isAlone(): boolean {
    return (this.#plan.replicas ?? 1) === 1 && this.#plan.shards === undefined;
  }

  #mayAct(process: Process, effect: Omit<Effect, 'index'>): void {
    const problem = this.#plan.shards && this.#writers.problem(process, effect);
    if (problem !== undefined) this.invariants.fail('one writer a space', problem);
    if (!this.#plan.shards) this.invariants.beforeEffect(process.number, this.isAlone);
  }

  async #before(process: Process, given: Omit<Effect, 'index'>): Promise<Fault | undefined> {
    const who = this.isAlone ? '' : `[${process.number}] `;
    if (isDeceived(process, this.clock.monotonic())) this.haveTwoActed = true;
    else this.#mayAct(process, given);
    this.#stopRunaway();
    if (!this.#counting) {
      this.note(`${who}${given.what}`);
      return undefined;
    }
    const index = ++this.#count;
    this.effects.push({ ...given, index });
    const fault = this.#crashNext ? 'crashBefore' : this.#faultAt(index, given);
    this.#crashNext = false;
    this.note(`${who}${index}: ${given.what}${fault === undefined ? '' : `  <= ${fault}`}`);
    if (fault !== undefined) await this.#strike(process, fault);
    return fault;
  }

  #faultAt(index: number, given: Omit<Effect, 'index'>): Fault | undefined {
    if (this.#areStrikesOver) return undefined;
    const fault = this.#plan.strikes.find(({ at }) => at === index)?.fault ?? this.chance?.();
    return fault === undefined || isWrongLogin(given, fault) ? undefined : fault;
  }

  #beforeRead({ number }: Process, read: Pick<Read, 'to' | 'what'>): ReadFault | undefined {
    if (!this.#counting) return undefined;
    const index = this.reads.length + 1;
    this.reads.push({ ...read, index, after: this.#count });
    const strike = this.#areStrikesOver ? undefined : this.#plan.reads?.find(({ at }) => at === index);
    let fault = strike && strikesRead(read, strike.fault) ? strike.fault : undefined;
    if (fault === undefined && this.#missesNext === read.what) fault = 'missing';
    if (fault !== undefined) this.#missesNext = fault === 'missingTwice' ? read.what : undefined;
    if (fault !== undefined) {
      this.note(`process ${number} r${index}: ${read.what}  <= ${fault}`);
      this.#troubledUntil = Math.max(this.#troubledUntil, this.clock.monotonic() + MINUTE_MS);
    }
    return fault;
  }

  async #strike(process: Process, fault: Fault): Promise<void> {
    const now = this.clock.monotonic();
    this.#troubledUntil = Math.max(this.#troubledUntil, now + (LASTS_MS[fault] ?? 0));
    if (TURNS.has(fault) || this.#isForgotten(fault)) this.#turnedAt = now;
    if (fault === 'crashTwice') this.#crashNext = true;
    const { clock, kube, people, weather, invariants } = this;
    const struck = { clock, kube, people, weather, invariants, subject: this.#subject, living: this.processes.living };
    await strike({ ...struck, others: (work) => this.others(work) }, process, fault);
  }

  /** Whether nobody may know what the cloud made any more. It then looks older than the call for it, as docs/limits.md says. */
  #isForgotten(fault: Fault): boolean {
    if (!this.weather.is('clockForward') || FAILURES.has(fault)) return false;
    return this.view.objects(CLUSTERS).some((object) => statusOf(object).operation !== undefined);
  }

  passed({ number }: Process, key: string, result: PassResult): void {
    const ofServers = this.simulator.faults.list().some(({ match }) => match?.api === 'server');
    // A server that may come up is looked at soon, and so is a definition that lacks a field.
    const isSoon = ofServers || this.weather.is('serverOutage') || this.#plan.without !== undefined;
    const now = this.clock.monotonic();
    const problem = this.#hotKeys.problem(`${key} in process ${number}`, result, now, isSoon);
    if (problem === undefined) return;
    this.invariants.fail('no hot key', problem);
    this.stop();
  }

  /** Stops an endless loop, in which no time passes, and a run whose invariants are broken: what follows means nothing. */
  #stopRunaway(): void {
    if (this.invariants.violations.length > 0) this.stop();
    const at = this.clock.monotonic();
    this.#instant = { at, effects: this.#instant.at === at ? this.#instant.effects + 1 : 1 };
    if (this.#instant.effects < ENDLESS) return;
    this.invariants.fail('no hot key', `${ENDLESS} effects in one moment`);
    this.stop();
  }

  /** Sends bookmarks as the API server does, to watches of quiet kinds, too. */
  #tellVersions(): void {
    if (this.processes.areStopped) return;
    this.kube.bookmark();
    this.clock.after(MINUTE_MS, () => this.#tellVersions());
  }
}
