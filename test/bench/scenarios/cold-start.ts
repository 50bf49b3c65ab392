import type { Sheet } from '../figure.ts';
import { type KubeRequests, minus, total } from '../measure/kube-requests.ts';
import { percentile } from '../measure/percentile.ts';
import { canLookAtProcesses, cpuSeconds, memoryOf, trafficOf } from '../measure/process.ts';
import type { OperatorMetrics } from '../operator.ts';
import type { Setting } from '../setting.ts';
import { untilQuiet } from '../wait.ts';
import { addEventLoop } from './event-loop.ts';
import { since } from './since.ts';

/** Writes from nothing to Ready: finalizer, operation, what was deployed, Secret, Secret, Ready. */
const WRITES_TARGET = 6;
const MANAGEMENT_TARGET = 1.2;
const SERVER_TARGET = 5;
/** The options may let a cluster take minutes to come up. */
const TIMEOUT_MS = 300_000;

/** S3: all clusters exist before the operator starts. It leaves all of them Ready and at rest. */
export async function coldStart(setting: Setting, sheet: Sheet, names: readonly string[]): Promise<void> {
  const { tracker, signal } = setting;
  const count = names.length;
  await setting.createClusters(names);
  const changes = await since(setting);
  const begin = Date.now();
  const operator = await setting.startOperator();
  // What it reads in order to start does not count.
  const trafficBefore = canLookAtProcesses ? trafficOf(operator.pid) : undefined;
  const timeoutMs = TIMEOUT_MS + count * 200;
  const all = () => tracker.readyTimes().length >= count;
  await tracker.until(all, `${count} clusters are Ready`, timeoutMs, signal);
  const cpu = canLookAtProcesses ? cpuSeconds(operator.pid) : 0;
  const readyAfterS = tracker.readyTimes().map((at) => (at - begin) / 1000);
  const eventLoop = await operator.eventLoop();
  await untilQuiet(setting);

  const { kube, cloud, server } = await changes();
  const metrics = await operator.metrics();
  for (const share of [0.5, 0.95, 1]) sheet.add(`${share * 100} % Ready`, percentile(readyAfterS, share), 's');
  // Each space is listed, however few its clusters.
  const target = setting.spaces.length === 1 ? MANAGEMENT_TARGET : undefined;
  sheet.add('management calls', total(cloud) / count, 'per cluster', target);
  for (const [operation, calls] of cloud) sheet.add(`  ${operation}`, calls, 'count');
  sheet.add('calls to its server', total(server) / count, 'per cluster', SERVER_TARGET);
  for (const [operation, calls] of server) sheet.add(`  ${operation}`, calls / count, 'per cluster');
  addWrites(sheet, kube, count);
  if (metrics !== undefined) addMetrics(sheet, metrics, count);
  addEventLoop(sheet, eventLoop);
  if (canLookAtProcesses) {
    sheet.add('CPU until all are Ready', cpu, 's');
    sheet.add('CPU until all are Ready', (cpu / count) * 1000, 'ms');
    const { peakMB, residentMB } = memoryOf(operator.pid);
    sheet.add('memory, peak', peakMB, 'MB');
    sheet.add('memory, at rest', residentMB, 'MB');
  }
  if (trafficBefore !== undefined) {
    const { readBytes, writtenBytes } = trafficOf(operator.pid);
    // Another operator that counts as started may still be reading its own files.
    if (metrics !== undefined)
      sheet.add('bytes read', (readBytes - trafficBefore.readBytes) / count / 1024, 'KB per cluster');
    sheet.add('bytes written', (writtenBytes - trafficBefore.writtenBytes) / count / 1024, 'KB per cluster');
  }
}

/** Adds figures that only Mooring has. */
function addMetrics(sheet: Sheet, metrics: OperatorMetrics, count: number): void {
  sheet.add('passes', metrics.passes / count, 'per cluster');
  sheet.add('passes of the space', metrics.spacePasses, 'count');
  sheet.add('passes that failed', metrics.failedPasses, 'count');
  sheet.add('heap in use', metrics.heapUsedMB, 'MB');
}

/** Events are for people, and those of the space do not grow with its clusters, so they are shown apart. */
function addWrites(sheet: Sheet, kube: KubeRequests, count: number): void {
  const ofClusters = new Map([...kube.writes].filter(([name]) => /^(databaseclusters|secrets)/.test(name)));
  const others = minus(kube.writes, ofClusters);
  sheet.add('Kubernetes writes', total(ofClusters) / count, 'per cluster', WRITES_TARGET);
  for (const [resource, writes] of ofClusters) sheet.add(`  ${resource}`, writes / count, 'per cluster');
  for (const [resource, writes] of others) sheet.add(`  besides: ${resource}`, writes, 'count');
  sheet.add('  refused (conflicts)', kube.refused, 'count');
  sheet.add('Kubernetes reads of one object', total(kube.reads) / count, 'per cluster');
}
