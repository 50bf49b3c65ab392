import { setTimeout as sleep } from 'node:timers/promises';
import type { Sheet } from '../figure.ts';
import { TOKENS } from '../manifests.ts';
import { total } from '../measure/kube-requests.ts';
import { canLookAtProcesses, cpuSeconds, memoryOf } from '../measure/process.ts';
import type { OperatorMetrics, OperatorProcess } from '../operator-process.ts';
import type { Setting } from '../setting.ts';
import { standingCrowd } from '../standing.ts';
import { until, untilQuiet } from '../wait.ts';
import { dueAtMost } from './quiet.ts';
import { since } from './since.ts';

const DONE_TARGET_S = 15;
const MEMORY_TARGET_MB = 160;
const BLOCK_TARGET_MS = 50;
const TIMEOUT_MS = 300_000;
/** Memory is looked at when nothing has happened for so long. */
const REST_MS = 10_000;

export interface Crowd {
  readonly clusters: number;
  readonly users: number;
}

/** S13: the operator starts beside a great many objects that are Ready, and rests. */
export async function scale(setting: Setting, sheet: Sheet, crowd: Crowd): Promise<void> {
  const { signal } = setting;
  const empty = await setting.startOperator();
  await until(() => empty.isReady(), 'the operator is ready', TIMEOUT_MS, signal);
  await sleep(REST_MS, undefined, { signal });
  const before = await restOf(empty);
  await empty.end();
  await standingCrowd(setting, crowd.clusters, crowd.users);
  await settleSpaces(setting, crowd);
  await startBeside(setting, sheet, crowd, before);
}

/** The objects are as they should be, but what the spaces tell of them in number is still to be written. */
async function settleSpaces(setting: Setting, crowd: Crowd): Promise<void> {
  const operator = await setting.startOperator();
  await until(() => operator.isReady(), 'the operator is ready', TIMEOUT_MS, setting.signal);
  await until(async () => lookedAt(await operator.metrics(), crowd), 'all is looked at', TIMEOUT_MS, setting.signal);
  await untilQuiet(setting);
  await operator.end('SIGKILL');
}

/** Some are always being verified, so that somebody always works; nobody waits for his turn. */
function lookedAt({ passes, userPasses, depth }: OperatorMetrics, { clusters, users }: Crowd): boolean {
  return passes >= clusters && userPasses >= users && depth === 0;
}

interface Rest {
  readonly residentMB: number;
  readonly heapMB: number;
}

async function restOf(operator: OperatorProcess): Promise<Rest> {
  const { heapUsedMB } = await operator.metrics();
  return { residentMB: canLookAtProcesses ? memoryOf(operator.pid).residentMB : 0, heapMB: heapUsedMB };
}

async function startBeside(setting: Setting, sheet: Sheet, crowd: Crowd, before: Rest): Promise<void> {
  const { clusters, users } = crowd;
  const { signal, spaces } = setting;
  const changes = await since(setting);
  const begin = performance.now();
  const operator = await setting.startOperator();
  let longestBlockMs = 0;
  const metricsOf = async () => {
    const metrics = await operator.metrics();
    longestBlockMs = Math.max(longestBlockMs, metrics.longestBlockMs);
    return metrics;
  };
  await until(() => operator.isReady(), 'the operator is ready', TIMEOUT_MS, signal);
  const readyMs = performance.now() - begin;
  await until(async () => lookedAt(await metricsOf(), crowd), 'every object was looked at', TIMEOUT_MS, signal);
  const doneS = (performance.now() - begin) / 1000;
  const cpu = canLookAtProcesses ? cpuSeconds(operator.pid) : 0;
  await untilQuiet(setting);
  const watchedS = (performance.now() - begin) / 1000;
  const { kube, cloud, server } = await changes();
  await sleep(REST_MS, undefined, { signal });
  await metricsOf();

  sheet.add('clusters', clusters, 'count');
  sheet.add('users', users, 'count');
  sheet.add('start → /readyz', readyMs, 'ms');
  sheet.add('start → every object looked at', doneS, 's', DONE_TARGET_S);
  sheet.add('Kubernetes writes at the start', total(kube.writes), 'count', 0);
  for (const [resource, writes] of kube.writes) sheet.add(`  ${resource}`, writes, 'count');
  sheet.add('Kubernetes reads of one object', total(kube.reads), 'count');
  sheet.add('tokens', total(cloud) - (cloud.get('list') ?? 0), 'count', TOKENS * spaces.length);
  sheet.add('Lists of the spaces', cloud.get('list') ?? 0, 'count');
  // A user is verified by a sign-in of its own, and by a List that takes one of the admin's.
  sheet.add('calls to servers', total(server), 'count', dueAtMost(clusters + 2 * users, watchedS));
  sheet.add('event loop, longest block', longestBlockMs, 'ms', BLOCK_TARGET_MS);
  if (!canLookAtProcesses) return;
  const { residentMB, heapMB } = await restOf(operator);
  sheet.add('CPU until all were looked at', cpu, 's');
  sheet.add('memory without objects', before.residentMB, 'MB');
  sheet.add('memory, peak', memoryOf(operator.pid).peakMB, 'MB', MEMORY_TARGET_MB);
  sheet.add('memory, at rest', residentMB, 'MB', MEMORY_TARGET_MB);
  sheet.add('memory, at rest, each object', ((residentMB - before.residentMB) * 1024) / (clusters + users), 'KB');
  sheet.add('heap in use, at rest', heapMB, 'MB');
}
