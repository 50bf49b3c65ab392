import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

export const CALL_BUCKETS_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Gauges named like counters, which Prometheus' own linter refuses; those without `_total` say the same. */
const NO_COUNTERS = ['handles', 'requests', 'resources'].map((what) => `nodejs_active_${what}_total`);

/** Metrics by name, with those of the process and of Node, as Prometheus text. */
export class MetricsRegistry {
  readonly #registry = new Registry();
  readonly #lookUps: (() => void)[] = [];

  constructor() {
    collectDefaultMetrics({ register: this.#registry });
    for (const name of NO_COUNTERS) this.#registry.removeSingleMetric(name);
  }

  counter<L extends string>(name: string, help: string, labelNames: readonly L[]): Counter<L> {
    return new Counter({ name, help, labelNames: [...labelNames], registers: [this.#registry] });
  }

  gauge<L extends string>(name: string, help: string, labelNames: readonly L[]): Gauge<L> {
    return new Gauge({ name, help, labelNames: [...labelNames], registers: [this.#registry] });
  }

  /** `buckets`: the upper bounds. */
  histogram<L extends string>(name: string, help: string, labelNames: readonly L[], buckets: number[]): Histogram<L> {
    return new Histogram({ name, help, labelNames: [...labelNames], buckets, registers: [this.#registry] });
  }

  /** Runs `lookUp` before each scrape: for gauges that are looked up rather than kept. */
  onScrape(lookUp: () => void): void {
    this.#lookUps.push(lookUp);
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** All metrics as Prometheus text. */
  text(): Promise<string> {
    for (const lookUp of this.#lookUps) lookUp();
    return this.#registry.metrics();
  }
}
