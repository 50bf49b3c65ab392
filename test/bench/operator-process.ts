import { Child, jsonLine } from './child.ts';
import { samplesOf, sumOf } from './measure/prometheus.ts';
import type { EventLoop, Operator, OperatorMetrics } from './operator.ts';
import { inPod, POD_FLAGS } from './pod.ts';

const LISTED: ReadonlySet<string> = new Set(['mooring_space_last_observed_timestamp_seconds']);

/** The operator in its own process, as it runs in a pod. */
export class OperatorProcess implements Operator {
  readonly #child: Child;
  readonly #metricsURL: string;
  readonly #healthURL: string;

  private constructor(child: Child, metrics: string, health: string) {
    this.#child = child;
    this.#metricsURL = `http://${metrics}/metrics`;
    this.#healthURL = `http://${health}/readyz`;
  }

  /** `env`: from podEnvironment(); `flags`: in addition to those that each operator gets. */
  static async start(
    env: NodeJS.ProcessEnv,
    signal: AbortSignal,
    flags: readonly string[] = [],
  ): Promise<OperatorProcess> {
    const anyPort = ['metrics', 'health'].map((name) => `--${name}-address=127.0.0.1:0`);
    const ready = (line: string) => {
      const { metrics, health } = jsonLine(line) ?? {};
      return typeof metrics === 'string' && typeof health === 'string' ? { metrics, health } : undefined;
    };
    const args = ['controller', ...anyPort, ...POD_FLAGS, ...flags];
    const { child, value } = await Child.start(inPod(args, env), ready, signal);
    const started = new OperatorProcess(child, value.metrics, value.health);
    started.watchEventLoop();
    return started;
  }

  get pid(): number {
    return this.#child.pid;
  }

  end(signal?: NodeJS.Signals): Promise<void> {
    return this.#child.end(signal);
  }

  mustRun(): void {
    this.#child.mustRun();
  }

  get lastWords(): readonly string[] {
    return this.#child.lastWords;
  }

  async metrics(): Promise<OperatorMetrics> {
    const text = await (await fetch(this.#metricsURL)).text();
    const clusters = { controller: 'databasecluster' };
    const depth = sumOf(text, 'workqueue_depth');
    return {
      userPasses: sumOf(text, 'controller_runtime_reconcile_total', { controller: 'databaseuser' }),
      passes: sumOf(text, 'controller_runtime_reconcile_total', clusters),
      failedPasses: sumOf(text, 'controller_runtime_reconcile_total', { ...clusters, result: 'error' }),
      spacePasses: sumOf(text, 'controller_runtime_reconcile_total', { controller: 'databasespace' }),
      heapUsedMB: sumOf(text, 'nodejs_heap_size_used_bytes') / 2 ** 20,
      depth,
      waiting: depth + sumOf(text, 'controller_runtime_active_workers'),
      leads: sumOf(text, 'mooring_leader') === 1,
      spaces: [...samplesOf(text, LISTED)].map(({ labels }) => labels['name'] ?? ''),
    };
  }

  watchEventLoop(): void {
    this.#child.say('watch event loop');
  }

  async eventLoop(): Promise<EventLoop> {
    return (await this.#child.ask('tell event loop')) as EventLoop;
  }

  async isReady(): Promise<boolean> {
    return (await fetch(this.#healthURL)).status === 200;
  }
}
