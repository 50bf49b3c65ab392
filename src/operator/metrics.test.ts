import { expect, test } from 'vitest';
import { noChance } from '../../test/support/clock.ts';
import { WorkQueue } from '../runtime/workqueue.ts';
import { virtualClock } from '../sandbox/virtual-clock.ts';
import { createMetrics } from './metrics.ts';

function someMetrics() {
  const clock = virtualClock();
  const metrics = createMetrics(clock, { version: '1.2.3', node: 'v26' });
  const share = metrics.controller('toy', 10);
  const queue = new WorkQueue({ clock, random: noChance, observer: share.queue });
  share.watchQueue(queue);
  return { clock, metrics, share, queue };
}

/** Public names, which dashboards rely on. */
const NAMES = [
  'workqueue_depth',
  'workqueue_adds_total',
  'workqueue_queue_duration_seconds',
  'workqueue_work_duration_seconds',
  'workqueue_retries_total',
  'workqueue_unfinished_work_seconds',
  'workqueue_longest_running_processor_seconds',
  'controller_runtime_reconcile_total',
  'controller_runtime_reconcile_errors_total',
  'controller_runtime_reconcile_time_seconds',
  'controller_runtime_active_workers',
  'controller_runtime_max_concurrent_reconciles',
  'mooring_api_requests_total',
  'mooring_api_request_duration_seconds',
  'mooring_kube_requests_total',
  'mooring_resources',
  'mooring_space_last_observed_timestamp_seconds',
  'mooring_space_poll_interval_seconds',
  'mooring_drift_corrected_total',
  'mooring_unsecured_clusters',
  'mooring_rotation_overdue_seconds',
  'mooring_unready_seconds',
  'mooring_leader',
  'mooring_build_info',
];

test('Metrics have the promised names', async () => {
  const { metrics } = someMetrics();
  const text = await metrics.text();
  for (const name of NAMES) expect(text).toMatch(new RegExp(`^# TYPE ${name} `, 'm'));
});

test('Metrics whose labels are known start at 0', async () => {
  const { metrics } = someMetrics();
  const text = await metrics.text();
  for (const line of [
    'workqueue_depth{name="toy"} 0',
    'workqueue_adds_total{name="toy"} 0',
    'workqueue_retries_total{name="toy"} 0',
    'workqueue_unfinished_work_seconds{name="toy"} 0',
    'workqueue_longest_running_processor_seconds{name="toy"} 0',
    'controller_runtime_reconcile_total{controller="toy",result="error"} 0',
    'controller_runtime_reconcile_errors_total{controller="toy"} 0',
    'controller_runtime_active_workers{controller="toy"} 0',
    'controller_runtime_max_concurrent_reconciles{controller="toy"} 10',
    'mooring_leader 0',
    'mooring_build_info{version="1.2.3",node="v26"} 1',
  ]) {
    expect(text).toContain(`${line}\n`);
  }
});

test('Metrics of a queue follow it, including the age of running work', async () => {
  const { metrics, queue, clock } = someMetrics();
  for (const key of ['a', 'b', 'c']) queue.add(key);
  await queue.get();
  await clock.advance(10_000);
  await queue.get();
  await clock.advance(5_000);
  const text = await metrics.text();
  for (const line of [
    'workqueue_depth{name="toy"} 1',
    'workqueue_adds_total{name="toy"} 3',
    'workqueue_unfinished_work_seconds{name="toy"} 20',
    'workqueue_longest_running_processor_seconds{name="toy"} 15',
    'workqueue_queue_duration_seconds_sum{name="toy"} 10',
  ]) {
    expect(text).toContain(`${line}\n`);
  }
});

test('Metrics count passes by how they end', async () => {
  const { metrics, share, clock } = someMetrics();
  const finished = share.started();
  await clock.advance(2_000);
  expect(await metrics.text()).toContain('controller_runtime_active_workers{controller="toy"} 1\n');
  finished('error');
  share.started()('success');
  const text = await metrics.text();
  for (const line of [
    'controller_runtime_active_workers{controller="toy"} 0',
    'controller_runtime_reconcile_total{controller="toy",result="error"} 1',
    'controller_runtime_reconcile_total{controller="toy",result="success"} 1',
    'controller_runtime_reconcile_errors_total{controller="toy"} 1',
    'controller_runtime_reconcile_time_seconds_sum{controller="toy"} 2',
  ]) {
    expect(text).toContain(`${line}\n`);
  }
});

test('Metrics of objects and spaces show what exists now, and nothing from before', async () => {
  const { metrics } = someMetrics();
  const ready = { kind: 'Toy', condition: 'Ready', status: 'True', reason: 'Done' };
  const state = {
    resources: [{ ...ready, count: 2 }],
    spaces: [
      { namespace: 'ns', name: 'production', listedAtMs: 5_000, intervalMs: 60_000 },
      { namespace: 'ns', name: 'unlisted', listedAtMs: undefined, intervalMs: 30_000 },
    ],
    leader: true,
    unsecuredClusters: 3,
    rotationOverdueMs: { Toy: 90_000 },
    unready: [{ kind: 'Toy', reason: 'Broken', longestMs: 5_500 }],
  };
  metrics.onScrape(() => state);
  const text = await metrics.text();
  expect(text).toContain('mooring_resources{kind="Toy",condition="Ready",status="True",reason="Done"} 2\n');
  expect(text).toContain('mooring_space_last_observed_timestamp_seconds{namespace="ns",name="production"} 5\n');
  expect(text).toContain('mooring_space_poll_interval_seconds{namespace="ns",name="production"} 60\n');
  // An alert compares it with what an earlier process has told.
  expect(text).toContain('mooring_space_poll_interval_seconds{namespace="ns",name="unlisted"} 30\n');
  expect(text).not.toMatch(/last_observed.*unlisted/);
  expect(text).toContain('mooring_leader 1\n');
  expect(text).toContain('mooring_unsecured_clusters 3\n');
  expect(text).toContain('mooring_rotation_overdue_seconds{kind="Toy"} 90\n');
  expect(text).toContain('mooring_unready_seconds{kind="Toy",reason="Broken"} 5.5\n');
  Object.assign(state, { resources: [], spaces: [], unready: [], leader: false });
  const after = await metrics.text();
  expect(after).not.toContain('mooring_resources{');
  expect(after).not.toContain('mooring_unready_seconds{');
  expect(after).not.toContain('mooring_space_last_observed_timestamp_seconds{');
  expect(after).not.toContain('mooring_space_poll_interval_seconds{');
  expect(after).toContain('mooring_leader 0\n');
});

test('Metrics count requests by operation and outcome', async () => {
  const { metrics } = someMetrics();
  metrics.apiRequest('cloud', { operation: 'deploy', code: '200', durationMs: 1_500 });
  metrics.apiRequest('server', { operation: 'signIn', code: 'lost', durationMs: 500 });
  metrics.kubeRequest({ verb: 'list', resource: 'secrets', code: 0 });
  metrics.driftCorrected('DatabaseCluster', 'machineType');
  const text = await metrics.text();
  for (const line of [
    'mooring_api_requests_total{api="cloud",operation="deploy",code="200"} 1',
    'mooring_api_requests_total{api="server",operation="signIn",code="lost"} 1',
    'mooring_api_request_duration_seconds_sum{api="cloud",operation="deploy"} 1.5',
    'mooring_kube_requests_total{verb="list",resource="secrets",code="0"} 1',
    'mooring_drift_corrected_total{kind="DatabaseCluster",field="machineType"} 1',
  ]) {
    expect(text).toContain(`${line}\n`);
  }
});
