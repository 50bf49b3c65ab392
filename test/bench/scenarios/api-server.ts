import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { auditFile } from '../../../tools/control-plane/components.ts';
import type { Sheet } from '../figure.ts';
import { listsIn } from '../measure/audit.ts';
import { minus, total } from '../measure/kube-requests.ts';
import { canLookAtProcesses, forgetPeak, memoryOf } from '../measure/process.ts';
import type { Setting } from '../setting.ts';
import { untilQuiet } from '../wait.ts';
import { dueAtMost, listsAtMost } from './quiet.ts';
import { since } from './since.ts';

const AWAY_MS = 10_000;
const TIMEOUT_MS = 120_000;
/** All reflectors take turns until one is answered. Then each has to ask twice more, with a pause before. */
const RETURN_TARGET_S = 5;
/** The calls to its server that S3 allows a new cluster. */
const SERVER_CALLS = 5;
/** Lists for the new cluster: none before its deploy, then one every 0.75 s, the last of which sees that it is up. */
const STEP_S = 0.75;

/** What the setting for S14 needs. */
export const AWAY = { provisionS: 1, pollS: 60 } as const;

/**
 * S14: with Ready clusters, the API server is killed, and started again ten seconds later. The setting needs `audit`, and the
 * values of `AWAY`.
 */
export async function apiServerKilled(setting: Setting, sheet: Sheet, names: readonly string[]): Promise<void> {
  const { controlPlane, username, tracker, cloud, signal } = setting;
  await setting.createClusters(names);
  const operator = await setting.startOperator();
  const isReady = () => names.every((name) => tracker.readyAt(name) !== undefined);
  await tracker.until(isReady, `${names.length} clusters are Ready`, TIMEOUT_MS + names.length * 200, signal);
  await untilQuiet(setting);
  if (canLookAtProcesses) forgetPeak(operator.pid);
  const before = await cloud.calls();
  const killedAt = performance.now();
  const written = readFileSync(auditFile(controlPlane.directory), 'utf8').length;
  await controlPlane.killApiServer();
  await sleep(AWAY_MS, undefined, { signal });
  await controlPlane.restartApiServer();
  const begin = Date.now();
  const changes = await since(setting);

  await setting.createClusters(['after-the-kill']);
  const isDone = () => tracker.readyAt('after-the-kill') !== undefined;
  await tracker.until(isDone, 'a cluster that was created afterwards is Ready', TIMEOUT_MS, signal);
  const deployedAt = await cloud.firstRequest('deploy', 'after-the-kill');
  await untilQuiet(setting);
  const { kube } = await changes();
  const after = await cloud.calls();
  const watchedS = (performance.now() - killedAt) / 1000;
  const log = readFileSync(auditFile(controlPlane.directory), 'utf8').slice(written);
  const { answered, refused } = listsIn(log, username);
  sheet.add('API server answers → first act', (deployedAt - begin) / 1000, 's', RETURN_TARGET_S);
  sheet.add('Lists of Kubernetes, of one kind at most', Math.max(0, ...answered.values()), 'count', 1);
  for (const [resource, count] of answered) sheet.add(`  ${resource}`, count, 'count');
  sheet.add('  refused, of all kinds', refused, 'count');
  const [calls, server] = [minus(after.cloud, before.cloud), minus(after.server, before.server)];
  const ofSpace = calls.get('list') ?? 0;
  const due = listsAtMost(watchedS, AWAY.pollS) + Math.ceil(AWAY.provisionS / STEP_S) + 1;
  sheet.add('Lists of the space', ofSpace, 'count', due);
  sheet.add('management calls except Lists and the new deploy', total(calls) - ofSpace - 1, 'count', 0);
  sheet.add('calls to servers', total(server), 'count', dueAtMost(names.length + 1, watchedS) + SERVER_CALLS);
  sheet.add('Kubernetes writes', total(kube.writes), 'count');
  if (canLookAtProcesses) sheet.add('memory, peak', memoryOf(operator.pid).peakMB, 'MB');
}
