import { expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { createMetrics } from '../../src/operator/metrics.ts';
import { promtool } from '../../tools/prometheus/prometheus.ts';

test('/metrics can be read by Prometheus, which has nothing to complain about', { timeout: 10 * 60_000 }, async () => {
  const metrics = createMetrics(systemClock, { version: '1', node: '26' });
  metrics.controller('database', 2);
  const input = await metrics.text();
  expect(input).toContain('nodejs_heap_size_used_bytes ');
  const { code, stdout, stderr } = await promtool(['check', 'metrics'], { input, log: console.log });
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '', stderr: '' });
});
