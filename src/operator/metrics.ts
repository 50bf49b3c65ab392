import type { Clock } from '../base/clock.ts';
import { CALL_BUCKETS_S, MetricsRegistry } from '../base/metrics-registry.ts';
import { type ControllerMetrics, controllerMetrics } from '../runtime/metrics.ts';

/** All metrics, with the names in docs/metrics.md. Labels come from closed sets. */
export interface Metrics {
  readonly contentType: string;
  /** All metrics as Prometheus text. */
  text(): Promise<string>;
  controller(name: string, concurrency: number): ControllerMetrics;
  apiRequest(api: 'cloud' | 'server', request: { operation: string; code: string; durationMs: number }): void;
  kubeRequest(request: { verb: string; resource: string; code: number }): void;
  driftCorrected(kind: string, field: string): void;
  /** Called at each scrape; returns what to show. */
  onScrape(collect: () => ScrapedState): void;
}

export interface ScrapedState {
  readonly resources: Iterable<{ kind: string; condition: string; status: string; reason: string; count: number }>;
  /** `listedAtMs` is undefined until this process has listed the space. */
  readonly spaces: Iterable<{
    namespace: string;
    name: string;
    listedAtMs: number | undefined;
    intervalMs: number;
  }>;
  readonly leader: boolean;
  /** Running clusters whose original login may still work. */
  readonly unsecuredClusters: number;
  /** By kind: the longest time that a password has stayed after it was due to be replaced. */
  readonly rotationOverdueMs: Readonly<Record<string, number>>;
  /** How long the object that has been unready longest has been, of those of a kind that are now unready for the same reason. */
  readonly unready: Iterable<{ kind: string; reason: string; longestMs: number }>;
}

export function createMetrics(clock: Clock, build: { version: string; node: string }): Metrics {
  const registry = new MetricsRegistry();
  const controller = controllerMetrics(registry, clock);
  const api = registry.counter(
    'mooring_api_requests_total',
    'Requests to the cloud and to servers; code is the HTTP status, or why there was none.',
    ['api', 'operation', 'code'],
  );
  const apiTime = registry.histogram(
    'mooring_api_request_duration_seconds',
    'How long these take.',
    ['api', 'operation'],
    CALL_BUCKETS_S,
  );
  const kube = registry.counter('mooring_kube_requests_total', 'Requests to the Kubernetes API; code 0: no answer.', [
    'verb',
    'resource',
    'code',
  ]);
  const drift = registry.counter('mooring_drift_corrected_total', 'Differences that were set back.', ['kind', 'field']);
  const resources = registry.gauge('mooring_resources', 'Objects by condition.', [
    'kind',
    'condition',
    'status',
    'reason',
  ]);
  const observed = registry.gauge('mooring_space_last_observed_timestamp_seconds', 'When the space was last listed.', [
    'namespace',
    'name',
  ]);
  const interval = registry.gauge(
    'mooring_space_poll_interval_seconds',
    'How often the space is listed when nothing is under way.',
    ['namespace', 'name'],
  );
  const unsecured = registry.gauge(
    'mooring_unsecured_clusters',
    'Clusters that run while the login that they came with may still work.',
    [],
  );
  const overdue = registry.gauge(
    'mooring_rotation_overdue_seconds',
    'How long the most overdue password has been due to be replaced.',
    ['kind'],
  );
  const unready = registry.gauge(
    'mooring_unready_seconds',
    'How long the object that has been unready longest has been.',
    ['kind', 'reason'],
  );
  const leader = registry.gauge('mooring_leader', '1 if this process may act.', []);
  registry.gauge('mooring_build_info', 'Always 1.', ['version', 'node']).set(build, 1);

  return {
    contentType: registry.contentType,
    text: () => registry.text(),
    controller,
    apiRequest(name, request) {
      api.inc({ api: name, operation: request.operation, code: request.code });
      apiTime.observe({ api: name, operation: request.operation }, request.durationMs / 1000);
    },
    kubeRequest: (request) => kube.inc({ ...request, code: String(request.code) }),
    driftCorrected: (kind, field) => drift.inc({ kind, field }),
    onScrape(collect) {
      registry.onScrape(() => {
        const state = collect();
        resources.reset();
        for (const { count, ...labels } of state.resources) resources.set(labels, count);
        observed.reset();
        interval.reset();
        for (const { namespace, name, listedAtMs, intervalMs } of state.spaces) {
          if (listedAtMs !== undefined) observed.set({ namespace, name }, listedAtMs / 1000);
          interval.set({ namespace, name }, intervalMs / 1000);
        }
        leader.set(state.leader ? 1 : 0);
        unsecured.set(state.unsecuredClusters);
        for (const [kind, ms] of Object.entries(state.rotationOverdueMs)) overdue.set({ kind }, ms / 1000);
        unready.reset();
        for (const { longestMs, ...labels } of state.unready) unready.set(labels, longestMs / 1000);
      });
    },
  };
}
