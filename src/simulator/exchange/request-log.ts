import type { Subject } from './subject.ts';

/** One request as shown to people: what it was and how it ended. Never a header, a body or a query. */
export interface LoggedRequest {
  readonly time: number;
  readonly api: Subject['api'];
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly clusterID: string | undefined;
  /** 0 if no answer was sent. */
  readonly status: number;
  /** The effects of the faults that struck it. */
  readonly faults: readonly string[];
}

export interface Counters {
  readonly total: number;
  /** `deploy` → how often it was requested, whatever the answer. */
  readonly byOperation: Readonly<Record<string, number>>;
  /** Cluster id → operation → how often. */
  readonly byCluster: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

export interface RequestLog {
  record(entry: LoggedRequest): void;
  recent(): readonly LoggedRequest[];
  counters(): Counters;
  /** How often an operation was requested, for one cluster or for all. */
  count(operation: string, clusterID?: string): number;
  reset(): void;
}

export function createRequestLog(capacity: number): RequestLog {
  let entries: LoggedRequest[] = [];
  let total = 0;
  const byOperation = new Map<string, number>();
  const byCluster = new Map<string, Map<string, number>>();

  return {
    record: (entry) => {
      entries.push(entry);
      // Cut in bulk: shifting one by one would copy the whole list for every request.
      if (entries.length >= capacity * 2) entries = entries.slice(-capacity);
      total += 1;
      increment(byOperation, entry.operation);
      if (entry.clusterID === undefined) return;
      const ofCluster = byCluster.get(entry.clusterID) ?? new Map<string, number>();
      byCluster.set(entry.clusterID, ofCluster);
      increment(ofCluster, entry.operation);
    },
    recent: () => entries.slice(-capacity),
    counters: () => ({
      total,
      byOperation: Object.fromEntries(byOperation),
      byCluster: Object.fromEntries([...byCluster].map(([id, counts]) => [id, Object.fromEntries(counts)])),
    }),
    count: (operation, clusterID) =>
      (clusterID === undefined ? byOperation : byCluster.get(clusterID))?.get(operation) ?? 0,
    reset: () => {
      entries = [];
      total = 0;
      byOperation.clear();
      byCluster.clear();
    },
  };
}

function increment(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
