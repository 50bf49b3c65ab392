import { setTimeout as sleep } from 'node:timers/promises';
import type { Sheet } from '../figure.ts';
import { VERIFY_INTERVAL_S } from '../manifests.ts';
import { total } from '../measure/kube-requests.ts';
import { canLookAtProcesses, cpuSeconds, memoryOf } from '../measure/process.ts';
import type { Setting } from '../setting.ts';
import { since } from './since.ts';

/** The simulated cloud's tokens last an hour. Only the token for Lists is used, and so renewed. */
const TOKEN_LIVES_S = 3600;
/** A space is listed every 0.9 to 1 intervals. */
const SHORTEST_SHARE = 0.9;

/** Of one core, with 10,000 clusters. The target is the same with fewer. */
const CPU_S_AN_HOUR = 20;

/** S4: all clusters are Ready, and nobody wants anything. */
export async function quiet(
  setting: Setting,
  sheet: Sheet,
  count: number,
  polls: number,
  pollIntervalS: number,
): Promise<void> {
  const operator = setting.operator();
  const windowS = polls * pollIntervalS;
  const cpuBefore = canLookAtProcesses ? cpuSeconds(operator.pid) : 0;
  const memoryBefore = canLookAtProcesses ? memoryOf(operator.pid).residentMB : 0;
  const changes = await since(setting);
  await sleep(windowS * 1000, undefined, { signal: setting.signal });
  const { kube, cloud, server } = await changes();
  const lists = cloud.get('list') ?? 0;
  const tokens = cloud.get('exchangeToken') ?? 0;

  sheet.add('time watched', windowS, 's');
  sheet.add('Kubernetes writes', total(kube.writes), 'count', 0);
  sheet.add('Kubernetes reads of one object', total(kube.reads), 'count');
  sheet.add('Lists of the space', lists, 'count', listsAtMost(windowS, pollIntervalS));
  sheet.add('tokens renewed', tokens, 'count', Math.ceil(windowS / TOKEN_LIVES_S));
  sheet.add('other management calls', total(cloud) - lists - tokens, 'count', 0);
  sheet.add('sign-ins to verify logins', total(server), 'count', dueAtMost(count, windowS));
  if (canLookAtProcesses) {
    sheet.add('CPU', cpuSeconds(operator.pid) - cpuBefore, 's', (CPU_S_AN_HOUR * windowS) / 3600);
    sheet.add('memory, growth', memoryOf(operator.pid).residentMB - memoryBefore, 'MB');
  }
}

/** Returns how many Lists of one space are due in this time while nothing is under way there. */
export function listsAtMost(seconds: number, intervalS: number): number {
  return Math.ceil(seconds / (intervalS * SHORTEST_SHARE));
}

/**
 * Returns how many sign-ins are due in this time: two for each login, one that must work and one that must not. In a short
 * time chance decides whose turn it is: twice the square root above the mean is still all right.
 */
export function dueAtMost(clusters: number, seconds: number, intervalS = VERIFY_INTERVAL_S): number {
  const due = (clusters * seconds) / intervalS;
  return Math.ceil(2 * (due + 2 * Math.sqrt(due)));
}
