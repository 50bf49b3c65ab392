import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { createMetrics } from '../../src/operator/metrics.ts';
import { promtool } from '../../tools/prometheus/prometheus.ts';
import { readDocument } from '../support/readme.ts';
import { dashboard, metricsIn, queries } from './dashboard.ts';
import { alerts, DASHBOARD } from './files.ts';

const BUILD_MS = 10 * 60_000;

/** Every name under which the operator's metrics arrive in Prometheus. */
async function exposed(): Promise<ReadonlySet<string>> {
  const text = await createMetrics(systemClock, { version: '1', node: '1' }).text();
  const names = [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].flatMap(([, name = '', type]) =>
    type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
  );
  return new Set(names);
}

describe('the dashboard', { timeout: BUILD_MS }, () => {
  test('has queries that Prometheus reads', async () => {
    const all = queries();
    expect(all.length).toBeGreaterThan(25);
    const rules = all.map(({ expr }, index) => ({ record: `query:${index}`, expr }));
    const file = JSON.stringify({ groups: [{ name: 'dashboard', rules }] });
    const { code, stdout, stderr } = await promtool(['check', 'rules', '--lint=none'], {
      input: file,
      log: console.log,
    });
    expect(code, stdout + stderr).toBe(0);
  });

  test('shows a space that the process before listed, and none that is gone', async () => {
    const [shown] = queries().filter(({ panel }) => panel.endsWith('Time since a space was listed'));
    const labels = (instance: string, name: string) => `{job="m", instance="${instance}", name="${name}"}`;
    const listed = (name: string) => `mooring_space_last_observed_timestamp_seconds${labels('a', name)}`;
    const interval = (name: string) => `mooring_space_poll_interval_seconds${labels('b', name)}`;
    const test = {
      interval: '1m',
      input_series: [
        { series: listed('production'), values: '0+60x10 stale' },
        { series: listed('gone'), values: '0+60x10 stale' },
        { series: interval('production'), values: '_x12 60x48' },
      ],
      promql_expr_test: [
        {
          expr: shown?.expr,
          eval_time: '40m',
          exp_samples: [{ labels: '{job="m", name="production"}', value: 30 * 60 }],
        },
      ],
    };
    const folder = mkdtempSync(join(tmpdir(), 'dashboard-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'cases.yaml');
    writeFileSync(file, JSON.stringify({ rule_files: [], evaluation_interval: '1m', tests: [test] }));
    const { code, stdout, stderr } = await promtool(['test', 'rules', file], { log: console.log });
    expect(code, stdout + stderr).toBe(0);
  });
});

test.each([
  ['dashboard', () => queries().map(({ expr }) => expr)],
  ['alerts', () => alerts().map(({ expr }) => expr)],
])('The %s asks for metrics that the operator exposes', async (_, expressions) => {
  const known = await exposed();
  const asked = new Set(expressions().flatMap(metricsIn));
  expect(asked.size).toBeGreaterThan(8);
  expect([...asked].filter((name) => !known.has(name))).toEqual([]);
});

test('The dashboard shows every metric of docs/metrics.md, except those that are parts of another', () => {
  const asked = new Set(queries().flatMap(({ expr }) => metricsIn(expr)));
  const documented = [...readDocument('docs/metrics.md').matchAll(/^\| `(\w+)`/gm)].map(([, name = '']) => name);
  const missing = documented.filter((name) => !asked.has(name) && !asked.has(`${name}_bucket`));
  expect(missing).toEqual([
    'workqueue_adds_total',
    'workqueue_work_duration_seconds',
    'workqueue_unfinished_work_seconds',
  ]);
});

test('The dashboard is self-contained: one data source to choose, no address of anything', () => {
  const { panels, templating } = dashboard();
  expect(templating.list.map(({ name, type }) => [name, type])).toEqual([
    ['datasource', 'datasource'],
    ['job', 'query'],
  ]);
  const sources = panels.flatMap(({ datasource, targets = [] }) => [
    datasource,
    ...targets.map((each) => each.datasource),
  ]);
  const uids = new Set(sources.flatMap((source) => (source === undefined ? [] : [source.uid])));
  expect([...uids]).toEqual(['$' + '{datasource}']);
  expect(readDocument(DASHBOARD)).not.toMatch(/https?:/);
});

test('Panels have their own ids and places, and say what they show', () => {
  const { panels } = dashboard();
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  for (const { type, title, description } of panels) if (type !== 'row') expect([title, description]).not.toContain('');
  const taken = new Set<string>();
  for (const { title, gridPos } of panels) {
    for (let column = gridPos.x; column < gridPos.x + gridPos.w; column++) {
      for (let row = gridPos.y; row < gridPos.y + gridPos.h; row++) {
        expect(column).toBeLessThan(24);
        expect([title, taken.has(`${column}/${row}`)]).toEqual([title, false]);
        taken.add(`${column}/${row}`);
      }
    }
  }
});

test.each([
  ['max by (a_b, c) (metric_one{label_two="x_y"} and on (job_x) metric_three)', ['metric_one', 'metric_three']],
  ['histogram_quantile(0.5, rate(some_bucket[5m])) > 1', ['some_bucket']],
])('metricsIn(%j)', (expr, names) => {
  expect(metricsIn(expr)).toEqual(names);
});
