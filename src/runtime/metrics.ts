/*
 * All metrics, with the names of docs/metrics.md. Work queues carry client-go's names, reconciles controller-runtime's, so
 * that dashboards made for those work. Labels come from closed sets; known series start at 0.
 */

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Clock } from '../base/clock.ts';
import type { WorkQueue, WorkQueueObserver } from './workqueue.ts';

const QUEUE_BUCKETS_S = [1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10, 60, 600];
const CALL_BUCKETS_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const RESULTS = ['success', 'error', 'requeue', 'requeue_after'] as const;

/** One controller's share. */
export interface ControllerMetrics {
  readonly queue: WorkQueueObserver;
  /** A worker began a pass; call the result with how it ended. */
  started(): (result: (typeof RESULTS)[number]) => void;
  /** Lets the gauges of work under way look at the queue. */
  watchQueue(queue: WorkQueue): void;
}

export interface Metrics {
  readonly contentType: string;
  /** All metrics as Prometheus text. */
  text(): Promise<string>;
  controller(name: string, concurrency: number): ControllerMetrics;
  apiRequest(api: 'cloud' | 'server', request: { operation: string; code: string; durationMs: number }): void;
  kubeRequest(request: { verb: string; resource: string; code: number }): void;
  driftCorrected(kind: string, field: string): void;
  /** Called at each scrape; resolves with what to show. */
  onScrape(collect: () => ScrapedState): void;
}

export interface ScrapedState {
  readonly resources: Iterable<{ kind: string; condition: string; status: string; reason: string; count: number }>;
  readonly spaces: Iterable<{ namespace: string; name: string; observedAtMs: number }>;
  readonly leader: boolean;
  /** Clusters that run while the login that they came with may still work. */
  readonly unsecuredClusters: number;
  /** By kind: for how long a password that was to be replaced has stayed, at most. */
  readonly rotationOverdueMs: Readonly<Record<string, number>>;
}

export function createMetrics(clock: Clock, build: { version: string; node: string }): Metrics {
  const registry = new Registry();
  const registers = [registry];
  /** Gauges that are looked up rather than kept: run before each scrape. */
  const lookUps: (() => void)[] = [];
  collectDefaultMetrics({ register: registry });
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    new Counter({ name, help, labelNames: [...labelNames], registers });
  const gauge = <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    new Gauge({ name, help, labelNames: [...labelNames], registers });
  const histogram = <L extends string>(name: string, help: string, labelNames: readonly L[], buckets: number[]) =>
    new Histogram({ name, help, labelNames: [...labelNames], buckets, registers });

  const depth = gauge('workqueue_depth', 'Keys that wait for a worker.', ['name']);
  const adds = counter('workqueue_adds_total', 'Keys that were added.', ['name']);
  const retries = counter('workqueue_retries_total', 'Keys that were added with backoff.', ['name']);
  const waited = histogram(
    'workqueue_queue_duration_seconds',
    'How long a key waits for a worker.',
    ['name'],
    QUEUE_BUCKETS_S,
  );
  const worked = histogram(
    'workqueue_work_duration_seconds',
    'How long a key is worked on.',
    ['name'],
    QUEUE_BUCKETS_S,
  );
  const unfinished = gauge('workqueue_unfinished_work_seconds', 'Work in hand: the sum of its age.', ['name']);
  const longest = gauge('workqueue_longest_running_processor_seconds', 'Work in hand: the age of the oldest.', [
    'name',
  ]);
  const reconciles = counter('controller_runtime_reconcile_total', 'Passes by how they ended.', [
    'controller',
    'result',
  ]);
  const errors = counter('controller_runtime_reconcile_errors_total', 'Passes that failed.', ['controller']);
  const times = histogram(
    'controller_runtime_reconcile_time_seconds',
    'How long a pass takes.',
    ['controller'],
    CALL_BUCKETS_S,
  );
  const active = gauge('controller_runtime_active_workers', 'Workers in a pass.', ['controller']);
  const most = gauge('controller_runtime_max_concurrent_reconciles', 'Workers.', ['controller']);
  const api = counter(
    'mooring_api_requests_total',
    'Requests to the cloud and to servers; code is the HTTP status, or why there was none.',
    ['api', 'operation', 'code'],
  );
  const apiTime = histogram(
    'mooring_api_request_duration_seconds',
    'How long these take.',
    ['api', 'operation'],
    CALL_BUCKETS_S,
  );
  const kube = counter('mooring_kube_requests_total', 'Requests to the Kubernetes API; code 0: no answer.', [
    'verb',
    'resource',
    'code',
  ]);
  const drift = counter('mooring_drift_corrected_total', 'Differences that were set back.', ['kind', 'field']);
  const resources = gauge('mooring_resources', 'Objects by condition.', ['kind', 'condition', 'status', 'reason']);
  const observed = gauge('mooring_space_last_observed_timestamp_seconds', 'When the space was last listed.', [
    'namespace',
    'name',
  ]);
  const unsecured = gauge(
    'mooring_unsecured_clusters',
    'Clusters that run while the login that they came with may still work.',
    [],
  );
  const overdue = gauge(
    'mooring_rotation_overdue_seconds',
    'For how long a password that was to be replaced has stayed, at most.',
    ['kind'],
  );
  const leader = gauge('mooring_leader', '1 if this process may act.', []);
  gauge('mooring_build_info', 'Always 1.', ['version', 'node']).set(build, 1);

  return {
    contentType: registry.contentType,
    async text() {
      for (const lookUp of lookUps) lookUp();
      return registry.metrics();
    },
    controller(name, concurrency) {
      adds.inc({ name }, 0);
      retries.inc({ name }, 0);
      depth.set({ name }, 0);
      errors.inc({ controller: name }, 0);
      active.set({ controller: name }, 0);
      most.set({ controller: name }, concurrency);
      for (const result of RESULTS) reconciles.inc({ controller: name, result }, 0);
      return {
        queue: {
          added: (now) => {
            adds.inc({ name });
            depth.set({ name }, now);
          },
          retried: () => retries.inc({ name }),
          started: (now, waitedMs) => {
            depth.set({ name }, now);
            waited.observe({ name }, waitedMs / 1000);
          },
          finished: (workedMs) => worked.observe({ name }, workedMs / 1000),
        },
        started() {
          const began = clock.monotonic();
          active.inc({ controller: name });
          return (result) => {
            active.dec({ controller: name });
            times.observe({ controller: name }, (clock.monotonic() - began) / 1000);
            reconciles.inc({ controller: name, result });
            if (result === 'error') errors.inc({ controller: name });
          };
        },
        watchQueue(queue) {
          const ages = () => [...queue.inProgress.values()].map((since) => (clock.monotonic() - since) / 1000);
          lookUps.push(() => {
            unfinished.set(
              { name },
              ages().reduce((sum, age) => sum + age, 0),
            );
            longest.set({ name }, Math.max(0, ...ages()));
          });
        },
      };
    },
    apiRequest(name, request) {
      api.inc({ api: name, operation: request.operation, code: request.code });
      apiTime.observe({ api: name, operation: request.operation }, request.durationMs / 1000);
    },
    kubeRequest: (request) => kube.inc({ ...request, code: String(request.code) }),
    driftCorrected: (kind, field) => drift.inc({ kind, field }),
    onScrape(collect) {
      lookUps.push(() => {
        const state = collect();
        resources.reset();
        for (const { count, ...labels } of state.resources) resources.set(labels, count);
        observed.reset();
        for (const { namespace, name, observedAtMs } of state.spaces)
          observed.set({ namespace, name }, observedAtMs / 1000);
        leader.set(state.leader ? 1 : 0);
        unsecured.set(state.unsecuredClusters);
        for (const [kind, ms] of Object.entries(state.rotationOverdueMs)) overdue.set({ kind }, ms / 1000);
      });
    },
  };
}
