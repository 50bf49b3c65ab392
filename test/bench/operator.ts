/** An operator in a process of its own, seen from outside. */
export interface Operator {
  readonly pid: number;
  /** Throws if it has ended, with the last that it said. */
  mustRun(): void;
  /** The last lines that it wrote. */
  readonly lastWords: readonly string[];
  end(signal?: NodeJS.Signals): Promise<void>;
  isReady(): Promise<boolean>;
  /** What only Mooring says of itself; undefined: it is another one. */
  metrics(): Promise<OperatorMetrics | undefined>;
  /** Its event loop is watched from now on. It was since it could be asked for its metrics. */
  watchEventLoop(): void;
  /** Since it is watched, which ends here. undefined: it is another operator. */
  eventLoop(): Promise<EventLoop | undefined>;
}

/** Milliseconds. */
export interface EventLoop {
  /** For how long it did nothing else, at the most. */
  readonly longestMs: number;
  /** The same, without the time in which the process waited for a core. */
  readonly longestOwnMs: number;
}

export interface OperatorMetrics {
  /** Over DatabaseClusters. */
  readonly passes: number;
  readonly userPasses: number;
  readonly failedPasses: number;
  readonly spacePasses: number;
  /** What JavaScript objects take, garbage included. */
  readonly heapUsedMB: number;
  /** Keys that wait, of all kinds. */
  readonly depth: number;
  /** Keys that wait or are worked on, of all kinds. */
  readonly waiting: number;
  readonly leads: boolean;
  /** Names of the spaces that it lists. */
  readonly spaces: readonly string[];
}

/** For what cannot be measured at all without them. */
export async function metricsOf(operator: Operator): Promise<OperatorMetrics> {
  const metrics = await operator.metrics();
  if (metrics === undefined) throw new Error('This operator does not have the metrics of Mooring');
  return metrics;
}
