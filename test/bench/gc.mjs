// Loaded before the operator: writes each pause of its garbage collector to a file, as the time since 1970 when it began and its
// length, both in milliseconds. The metrics show only its power of ten.
import { openSync, writeSync } from 'node:fs';
import { PerformanceObserver, performance } from 'node:perf_hooks';
import process, { env } from 'node:process';

if (env.MOORING_BENCH_GC !== undefined) {
  const file = openSync(`${env.MOORING_BENCH_GC}-${process.pid}`, 'a', 0o600);
  const line = ({ startTime, duration }) =>
    `${(performance.timeOrigin + startTime).toFixed(1)} ${duration.toFixed(3)}\n`;
  new PerformanceObserver((list) => {
    writeSync(file, list.getEntries().map(line).join(''));
  }).observe({ entryTypes: ['gc'] });
}
