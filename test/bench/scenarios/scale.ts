import { setTimeout as sleep } from 'node:timers/promises';
import { DATABASE_CLUSTERS } from '../../../src/kinds/databasecluster/resource.ts';
import { DATABASE_USERS } from '../../../src/kinds/databaseuser/resource.ts';
import { SECRETS } from '../../../src/kube/api.ts';
import type { Sheet } from '../figure.ts';
import { NAMESPACE, TOKENS } from '../manifests.ts';
import { gcPauses } from '../measure/gc.ts';
import { firstAbout } from '../measure/journal.ts';
import { total } from '../measure/kube-requests.ts';
import { percentile } from '../measure/percentile.ts';
import { canLookAtProcesses, cpuSeconds, forgetPeak, memoryOf } from '../measure/process.ts';
import { metricsOf, type Operator, type OperatorMetrics } from '../operator.ts';
import type { Setting } from '../setting.ts';
import { standingCrowd } from '../standing.ts';
import { until, untilQuiet } from '../wait.ts';
import { addEventLoop, addPauses } from './event-loop.ts';
import { newUsers } from './new-user.ts';
import { newcomer, newcomerTook } from './newcomer.ts';
import { dueAtMost } from './quiet.ts';
import { since } from './since.ts';

const DONE_TARGET_S = 15;
const MEMORY_TARGET_MB = 160;
const TIMEOUT_MS = 300_000;
/**
 * An hour instead of ten minutes: with 20,000 logins some would always wait for their turn, and the end of the start would not
 * show.
 */
export const SCALE_VERIFY_S = 3600;

export interface Crowd {
  readonly clusters: number;
  readonly users: number;
  /** How long objects keep being changed. */
  readonly churnS: number;
  /** How long nothing must happen before memory is measured. */
  readonly restS: number;
  readonly newcomers: number;
}

/** S13: the operator starts with a great many Ready objects, rests, and works. */
export async function scale(setting: Setting, sheet: Sheet, crowd: Crowd): Promise<void> {
  const { signal } = setting;
  const empty = await setting.startOperator();
  await until(() => empty.isReady(), 'the operator is ready', TIMEOUT_MS, signal);
  await sleep(crowd.restS * 1000, undefined, { signal });
  const before = await restOf(empty);
  await empty.end();
  await standingCrowd(setting, crowd.clusters, crowd.users);
  await settleSpaces(setting, crowd);
  await addSizes(setting, sheet);
  await startBeside(setting, sheet, crowd, before);
  await churn(setting, sheet, crowd);
  await newcomer(setting, sheet, crowd.newcomers);
  const clusters = Array.from({ length: crowd.clusters }, (_, index) => `standing-${index}`);
  await newUsers(setting, sheet, clusters, crowd.newcomers);
  await startBusy(setting, sheet, crowd);
}

/** Lets an operator write the spaces' counts: all other objects are already as they should be. */
export async function settleSpaces(setting: Setting, crowd: Crowd): Promise<void> {
  const operator = await setting.startOperator();
  await until(() => operator.isReady(), 'the operator is ready', TIMEOUT_MS, setting.signal);
  await until(async () => lookedAt(await metricsOf(operator), crowd), 'all is looked at', TIMEOUT_MS, setting.signal);
  await untilQuiet(setting);
  await operator.end('SIGKILL');
}

/** Some logins are always being verified, so a worker may be busy, but no key waits. */
function lookedAt({ passes, userPasses, depth }: OperatorMetrics, { clusters, users }: Crowd): boolean {
  return passes >= clusters && userPasses >= users && depth === 0;
}

interface Rest {
  readonly residentMB: number;
  readonly heapMB: number;
}

async function restOf(operator: Operator): Promise<Rest> {
  const { heapUsedMB } = await metricsOf(operator);
  return { residentMB: canLookAtProcesses ? memoryOf(operator.pid).residentMB : 0, heapMB: heapUsedMB };
}

async function startBeside(setting: Setting, sheet: Sheet, crowd: Crowd, before: Rest): Promise<void> {
  const { clusters, users, restS } = crowd;
  const { signal, spaces } = setting;
  const changes = await since(setting);
  const begin = performance.now();
  const operator = await setting.startOperator();
  await until(() => operator.isReady(), 'the operator is ready', TIMEOUT_MS, signal);
  const readyMs = performance.now() - begin;
  await until(async () => lookedAt(await metricsOf(operator), crowd), 'every object was looked at', TIMEOUT_MS, signal);
  const doneS = (performance.now() - begin) / 1000;
  const cpu = canLookAtProcesses ? cpuSeconds(operator.pid) : 0;
  const eventLoop = await operator.eventLoop();
  const pauses = gcPauses(setting.controlPlane.directory, operator.pid, 0);
  await untilQuiet(setting);
  const watchedS = (performance.now() - begin) / 1000;
  const { kube, cloud, server } = await changes();
  const busyS = canLookAtProcesses ? cpuSeconds(operator.pid) : 0;
  await sleep(restS * 1000, undefined, { signal });
  const restingS = canLookAtProcesses ? cpuSeconds(operator.pid) - busyS : 0;

  sheet.add('clusters', clusters, 'count');
  sheet.add('users', users, 'count');
  sheet.add('start → /readyz', readyMs, 'ms');
  sheet.add('start → every object looked at', doneS, 's', DONE_TARGET_S);
  sheet.add('Kubernetes writes at the start', total(kube.writes), 'count', 0);
  for (const [resource, writes] of kube.writes) sheet.add(`  ${resource}`, writes, 'count');
  sheet.add('Kubernetes reads of one object', total(kube.reads), 'count');
  sheet.add('tokens', total(cloud) - (cloud.get('list') ?? 0), 'count', TOKENS * spaces.length);
  sheet.add('Lists of the spaces', cloud.get('list') ?? 0, 'count');
  // A user is verified by its own sign-in, and by a List, which needs a sign-in of the admin.
  sheet.add('calls to servers', total(server), 'count', dueAtMost(clusters + 2 * users, watchedS, SCALE_VERIFY_S));
  addEventLoop(sheet, eventLoop);
  addPauses(sheet, pauses);
  if (!canLookAtProcesses) return;
  const { residentMB, heapMB } = await restOf(operator);
  sheet.add('CPU until all were looked at', cpu, 's');
  sheet.add(`CPU of ${restS} s at rest`, restingS, 's');
  sheet.add('memory without objects', before.residentMB, 'MB');
  sheet.add('memory, peak', memoryOf(operator.pid).peakMB, 'MB', MEMORY_TARGET_MB);
  sheet.add('memory, at rest', residentMB, 'MB', MEMORY_TARGET_MB);
  sheet.add('memory, at rest, each object', ((residentMB - before.residentMB) * 1024) / (clusters + users), 'KB');
  sheet.add('heap in use, at rest', heapMB, 'MB');
}

/** Adds the size of one object of each kind as the JSON that the API server sends: for Secrets only metadata. */
async function addSizes({ api, signal }: Setting, sheet: Sheet): Promise<void> {
  for (const [resource, name] of [
    [DATABASE_CLUSTERS, 'standing-0'],
    [DATABASE_USERS, 'standing-user-0'],
    [SECRETS, 'standing-0-admin'],
    [SECRETS, 'standing-user-0-connection'],
  ] as const) {
    const metadataOnly = resource === SECRETS;
    const object = await api.get(resource, { namespace: NAMESPACE, name }, signal, { metadataOnly });
    sheet.add(`size of ${resource.kind} ${name}`, Buffer.byteLength(JSON.stringify(object)), 'bytes');
  }
}

const CHANGES_PER_SECOND = 50;

/** Changes objects all the time, but nothing that matters to the operator: it looks, and does nothing. */
async function churn(setting: Setting, sheet: Sheet, { clusters, users, churnS, restS }: Crowd): Promise<void> {
  const { api, signal } = setting;
  const operator = setting.operator();
  const changes = await since(setting);
  const cpuBefore = canLookAtProcesses ? cpuSeconds(operator.pid) : 0;
  if (canLookAtProcesses) forgetPeak(operator.pid);
  operator.watchEventLoop();
  const beganAt = Date.now();
  const begin = performance.now();
  let changed = 0;
  while (performance.now() - begin < churnS * 1000) {
    const ofUser = changed % 2 === 1;
    const index = Math.floor(Math.random() * (ofUser ? users : clusters));
    const [resource, name] = ofUser
      ? ([DATABASE_USERS, `standing-user-${index}`] as const)
      : ([DATABASE_CLUSTERS, `standing-${index}`] as const);
    const patch = { metadata: { annotations: { 'example.com/changed': String(changed) } } };
    await api.patch(resource, { namespace: NAMESPACE, name }, patch, {}, signal);
    changed++;
    const aheadMs = (changed / CHANGES_PER_SECOND) * 1000 - (performance.now() - begin);
    if (aheadMs > 1) await sleep(aheadMs, undefined, { signal });
  }
  await sleep(restS * 1000, undefined, { signal });
  const { kube, cloud } = await changes();
  const eventLoop = await operator.eventLoop();
  sheet.add('changes that do not matter', changed, 'count');
  sheet.add('  other Kubernetes writes', total(kube.writes) - changed, 'count', 0);
  sheet.add('  management calls except Lists', total(cloud) - (cloud.get('list') ?? 0), 'count', 0);
  addEventLoop(sheet, eventLoop, '  ');
  addPauses(sheet, gcPauses(setting.controlPlane.directory, operator.pid, beganAt), '  ');
  if (!canLookAtProcesses) return;
  const { residentMB, peakMB } = memoryOf(operator.pid);
  sheet.add('  CPU, each change', ((cpuSeconds(operator.pid) - cpuBefore) / changed) * 1000, 'ms');
  sheet.add('  memory, peak', peakMB, 'MB', MEMORY_TARGET_MB);
  sheet.add('  memory, after them', residentMB, 'MB', MEMORY_TARGET_MB);
}

const FIRST_ACT_TARGET_S = 3;
const NEWCOMER_TARGET_MS = 100;
/** Fewer waiting keys are no crowd. */
const CROWDED = 50;

/** A new cluster exists when the operator starts, and more come while it looks at all the others. */
async function startBusy(setting: Setting, sheet: Sheet, { newcomers }: Crowd): Promise<void> {
  const { cloud, tracker, signal } = setting;
  await setting.operator().end('SIGKILL');
  await setting.createClusters(['while-away']);
  const begin = Date.now();
  const operator = await setting.startOperator();
  await until(() => operator.isReady(), 'the operator is ready', TIMEOUT_MS, signal);
  const took: number[] = [];
  while (took.length < newcomers && (await metricsOf(operator)).depth > CROWDED) {
    took.push(await newcomerTook(setting, `early-${took.length}`));
  }
  await tracker.until(() => tracker.readyAt('while-away') !== undefined, 'it is Ready', TIMEOUT_MS, signal);
  // The cloud's own log has only the last requests.
  const deploy = firstAbout(await cloud.journal(), 'while-away', begin, ({ deploys }) => deploys);
  sheet.add(
    'kill -9, start → deploy of what was created meanwhile',
    (deploy.at - begin) / 1000,
    's',
    FIRST_ACT_TARGET_S,
  );
  sheet.add('newcomers while all others wait', took.length, 'count');
  if (took.length === 0) return;
  sheet.add('  API server answered → deploy request, p50', percentile(took, 0.5), 'ms');
  sheet.add('  API server answered → deploy request, p99', percentile(took, 0.99), 'ms', NEWCOMER_TARGET_MS);
}
