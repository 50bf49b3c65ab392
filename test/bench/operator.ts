/** An operator in a process of its own, seen from outside. */
export interface Operator {
  readonly pid: number;
  /** Throws if it has ended, with the last lines that it wrote. */
  mustRun(): void;
  /** The last lines that it wrote. */
  readonly lastWords: readonly string[];
  end(signal?: NodeJS.Signals): Promise<void>;
  isReady(): Promise<boolean>;
  /** Metrics that only Mooring has; undefined: this is another operator. */
  metrics(): Promise<OperatorMetrics | undefined>;
  /** Watches its event loop from now on. It is watched anyway from the moment that metrics can be read. */
  watchEventLoop(): void;
  /** Stops watching, and resolves with what was seen; undefined: this is another operator. */
  eventLoop(): Promise<EventLoop | undefined>;
}

/** How long its event loop was blocked. */
export interface EventLoop {
  /** The longest block. */
  readonly longestMs: number;
  /** The same without the time in which the process waited for a core. */
  readonly longestOwnMs: number;
}

export interface OperatorMetrics {
  /** Passes over DatabaseClusters. */
  readonly passes: number;
  readonly userPasses: number;
  readonly failedPasses: number;
  readonly spacePasses: number;
  /** The size of JavaScript objects, including garbage. */
  readonly heapUsedMB: number;
  /** Waiting keys of all kinds. */
  readonly depth: number;
  /** Keys of all kinds that wait or are being processed. */
  readonly waiting: number;
  readonly leads: boolean;
  /** The names of the spaces that it lists. */
  readonly spaces: readonly string[];
}

/** Resolves with the metrics. Throws an Error if there are none. */
export async function metricsOf(operator: Operator): Promise<OperatorMetrics> {
  const metrics = await operator.metrics();
  if (metrics === undefined) throw new Error('This operator does not have the metrics of Mooring');
  return metrics;
}
