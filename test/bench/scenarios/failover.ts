import { setTimeout as sleep } from 'node:timers/promises';
import type { Sheet } from '../figure.ts';
import { metricsOf, type Operator } from '../operator.ts';
import type { Setting } from '../setting.ts';
import { until } from '../wait.ts';
import { since } from './since.ts';

const TIMEOUT_MS = 60_000;
/** The Lease is 15 s long. A process that is told to stop gives it up. */
const KILLED_TARGET_S = 16;
const STOPPED_TARGET_S = 1;

/** S11: the leader ends, and the standby takes over. */
export async function failover(setting: Setting, sheet: Sheet): Promise<void> {
  const { signal } = setting;
  await setting.operator().end();
  await setting.cloud.setProvisionTime('0s');
  const first = await leaderOf(setting);
  const second = await setting.startOperator(['--leader-elect']);
  await until(() => second.isReady(), 'the second replica is ready', TIMEOUT_MS, signal);
  const changes = await since(setting);
  await takeOver(setting, sheet, first, second, 'SIGKILL', KILLED_TARGET_S);
  const third = await setting.startOperator(['--leader-elect']);
  await until(() => third.isReady(), 'the third replica is ready', TIMEOUT_MS, signal);
  await takeOver(setting, sheet, second, third, 'SIGTERM', STOPPED_TARGET_S);
  const { cloud } = await changes();
  // One for each of the two clusters created meanwhile.
  sheet.add('deploy requests for each new cluster', (cloud.get('deploy') ?? 0) / 2, 'per cluster', 1);
}

async function leaderOf(setting: Setting): Promise<Operator> {
  const operator = await setting.startOperator(['--leader-elect']);
  await until(async () => (await metricsOf(operator)).leads, 'it leads', TIMEOUT_MS, setting.signal);
  return operator;
}

/** Ends the leader, and measures when the standby deploys a cluster that was created meanwhile. */
async function takeOver(
  setting: Setting,
  sheet: Sheet,
  leader: Operator,
  standby: Operator,
  how: 'SIGKILL' | 'SIGTERM',
  targetS: number,
): Promise<void> {
  const { tracker, cloud, signal } = setting;
  const name = `after-${how.toLowerCase()}`;
  const begin = Date.now();
  const ended = leader.end(how);
  await setting.createClusters([name]);
  await ended;
  await tracker.until(() => tracker.readyAt(name) !== undefined, `cluster ${name} is Ready`, TIMEOUT_MS, signal);
  const deployedAt = await cloud.firstRequest('deploy', name);
  sheet.add(`${how} of the leader → first act of the other`, (deployedAt - begin) / 1000, 's', targetS);
  await until(async () => (await metricsOf(standby)).leads, 'the other leads', TIMEOUT_MS, signal);
  await sleep(500, undefined, { signal });
}
