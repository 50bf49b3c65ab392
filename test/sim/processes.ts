import { createLog } from '../../src/base/log.ts';
import { tracedTransport } from '../../src/base/trace.ts';
import type { ScrapedState } from '../../src/operator/metrics.ts';
import { createOperator } from '../../src/operator.ts';
import { createSeededRandom } from '../../src/simulator/seeded-random.ts';
import { processClock } from '../support/process-clock.ts';
import { withoutSecretLists } from '../support/secrets-by-name.ts';
import { apiOf, transportOf } from './calls.ts';
import { metricsTold } from './passes.ts';
import type { Plan } from './plan.ts';
import type { Freezing, Process, Surroundings } from './process.ts';
import { LEASE_NAMESPACE, RESTART_MS } from './strike.ts';
import type { World } from './world.ts';

const FROZEN_MS = 45_000;
/** What the log says if the program itself is wrong. */
const MISTAKE = /"reason":"InternalError"|"type":"(?:Type|Reference|Range|Syntax)Error"/;

/** The processes of the operator. One that ends or is killed is followed by another; a frozen one goes on. */
export class Processes {
  readonly living = new Set<Process>();
  readonly #world: World;
  readonly #plan: Plan;
  readonly #surroundings: () => Surroundings;
  /** Everything that labels of metrics showed, and the addresses of requests. */
  readonly #labels = new Set<string>();
  readonly #scrapes: (() => ScrapedState)[] = [];
  readonly #stop = new AbortController();
  #count = 0;

  constructor(world: World, plan: Plan, surroundings: () => Surroundings) {
    this.#world = world;
    this.#plan = plan;
    this.#surroundings = surroundings;
  }

  get areStopped(): boolean {
    return this.#stop.signal.aborted;
  }

  /** Returns everything that their metrics showed. */
  shown(): string {
    const gauges = this.#scrapes.map((collect) => {
      const { resources, spaces, ...rest } = collect();
      return JSON.stringify([[...resources], [...spaces], rest]);
    });
    return [...this.#labels, ...gauges].join('');
  }

  /** Stops all for good: none follows. */
  stop(): void {
    for (const process of this.living) {
      process.alive = false;
      process.clock.freeze();
    }
    this.#stop.abort();
  }

  start(): void {
    if (this.#stop.signal.aborted) return;
    const number = ++this.#count;
    const process: Process = {
      number,
      clock: processClock(this.#world.clock),
      alive: true,
      fence: () => undefined,
      partitionedUntil: 0,
      stop: new AbortController(),
    };
    this.living.add(process);
    const surroundings = this.#surroundings();
    const { kube, needless, simulator } = this.#world;
    const cloud = new URL(simulator.baseURL).origin;
    // As real connections do.
    const watched = tracedTransport((request) => {
      this.#labels.add(request.url);
      return needless.watch(request, () => simulator.transport(request));
    });
    const log = createLog({
      level: 'debug',
      format: 'json',
      write: (line) => {
        if (!process.alive) return;
        this.#world.logs.push(line);
        if (MISTAKE.test(line)) this.#world.invariants.fail('the process lives', JSON.parse(line).msg);
      },
    });
    const operator = createOperator({
      api: apiOf(process, surroundings, this.#plan.secrets === 'get' ? withoutSecretLists(kube) : kube),
      secrets: this.#plan.secrets,
      clock: process.clock,
      random: createSeededRandom((this.#plan.seed ?? 0) * 1000 + 100 + number),
      transport: () => transportOf(process, surroundings, watched, (origin) => origin === cloud),
      log,
      metrics: metricsTold({
        passed: (key, result) => {
          if (process.alive) this.#world.passed(process, key, result);
        },
        labelled: (labels) => this.#labels.add(JSON.stringify(labels)),
        onScrape: (collect) => this.#scrapes.push(collect),
      }),
      namespaces: undefined,
      concurrency: 4,
      urlPolicy: { allowHTTP: false, allowedBaseURLs: undefined, allowedNetworks: undefined },
      instance: `process-${number}`,
      lease: this.#world.isAlone
        ? undefined
        : { namespace: LEASE_NAMESPACE, name: 'mooring', shardBySpace: this.#plan.shards === true },
      onStep: (step) => {
        if (process.alive) this.#world.steps.push(step);
      },
    });
    process.fence = operator.fence;
    this.#world.note(`process ${number} starts`);
    operator.run(AbortSignal.any([this.#stop.signal, process.stop.signal])).then(
      () => this.#ended(process, 'without being told to'),
      (error: unknown) => this.#ended(process, String(error)),
    );
  }

  /** A process that lost the Lease ends, and is started again. No other process may end. */
  #ended(process: Process, why: string): void {
    if (!process.alive || this.#stop.signal.aborted) return;
    if (this.#world.isAlone && !process.stop.signal.aborted)
      this.#world.invariants.fail('the process lives', `The operator ended: ${why}`);
    this.#world.note(`process ${process.number} ends: ${why}`);
    this.#bury(process);
  }

  #bury(process: Process): void {
    if (!process.alive) return;
    process.alive = false;
    process.clock.freeze();
    this.living.delete(process);
    this.#world.clock.after(RESTART_MS, () => this.start());
  }

  kill(process: Process): void {
    this.#world.note(`process ${process.number} is killed`);
    this.#bury(process);
  }

  freeze(process: Process, fault: Freezing): void {
    this.#world.note(`process ${process.number} stands still`);
    process.clock.freeze();
    process.isStill = true;
    this.#world.clock.after(FROZEN_MS, () => {
      if (!process.alive) return;
      process.isStill = false;
      this.#world.note(`process ${process.number} goes on`);
      if (fault !== 'freeze') process.clock.lose(FROZEN_MS);
      if (fault === 'stopMachine') process.clock.jump(-FROZEN_MS);
      process.clock.thaw();
    });
  }
}
