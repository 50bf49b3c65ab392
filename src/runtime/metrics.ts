/*
 * Metrics of controllers. Work queues use client-go's names and reconciles controller-runtime's, so that dashboards made for those work.
 * Labels come from closed sets; known counters and gauges start at 0.
 */

import type { Clock } from '../base/clock.ts';
import { CALL_BUCKETS_S, type MetricsRegistry } from '../base/metrics-registry.ts';
import type { WorkQueue, WorkQueueObserver } from './workqueue.ts';

const QUEUE_S = [1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10, 60, 600];
const RESULTS = ['success', 'error', 'requeue', 'requeue_after'] as const;

/** The metrics of one controller. */
export interface ControllerMetrics {
  readonly queue: WorkQueueObserver;
  /** A worker began a pass. Call the returned function with how it ended. */
  started(): (result: (typeof RESULTS)[number]) => void;
  /** Lets the gauges of running work read the queue. */
  watchQueue(queue: WorkQueue): void;
}

/** Registers the metrics, and returns a function that gives each controller its own. */
export function controllerMetrics(
  registry: MetricsRegistry,
  clock: Clock,
): (name: string, concurrency: number) => ControllerMetrics {
  const depth = registry.gauge('workqueue_depth', 'Keys that wait for a worker.', ['name']);
  const adds = registry.counter('workqueue_adds_total', 'Keys that were added.', ['name']);
  const retries = registry.counter('workqueue_retries_total', 'Keys that were added with backoff.', ['name']);
  const waited = registry.histogram('workqueue_queue_duration_seconds', 'How long a key waits.', ['name'], QUEUE_S);
  const worked = registry.histogram('workqueue_work_duration_seconds', 'How long work on it takes.', ['name'], QUEUE_S);
  const unfinished = registry.gauge('workqueue_unfinished_work_seconds', 'Total age of running work.', ['name']);
  const longest = registry.gauge('workqueue_longest_running_processor_seconds', 'Age of the oldest work.', ['name']);
  const reconciles = registry.counter('controller_runtime_reconcile_total', 'All passes.', ['controller', 'result']);
  const errors = registry.counter('controller_runtime_reconcile_errors_total', 'Passes that failed.', ['controller']);
  const times = registry.histogram(
    'controller_runtime_reconcile_time_seconds',
    'How long a pass takes.',
    ['controller'],
    CALL_BUCKETS_S,
  );
  const active = registry.gauge('controller_runtime_active_workers', 'Workers in a pass.', ['controller']);
  const most = registry.gauge('controller_runtime_max_concurrent_reconciles', 'Workers.', ['controller']);
  return (name, concurrency) => {
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
        finished: (now, workedMs) => {
          depth.set({ name }, now);
          worked.observe({ name }, workedMs / 1000);
        },
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
        registry.onScrape(() => {
          const ages = [...queue.processing.values()].map(({ began }) => (clock.monotonic() - began) / 1000);
          const sum = ages.reduce((one, other) => one + other, 0);
          unfinished.set({ name }, sum);
          longest.set({ name }, Math.max(0, ...ages));
        });
      },
    };
  };
}
