import type { Sheet } from '../figure.ts';
import { TOKENS } from '../manifests.ts';
import { total } from '../measure/kube-requests.ts';
import { canLookAtProcesses, cpuSeconds, memoryOf } from '../measure/process.ts';
import type { Setting } from '../setting.ts';
import { until, untilQuiet } from '../wait.ts';
import { addEventLoop } from './event-loop.ts';
import { dueAtMost } from './quiet.ts';
import { since } from './since.ts';

const SPACES = 1;
const DONE_TARGET_S = 15;
const TIMEOUT_MS = 120_000;
/** When another operator has looked at everything is not known. */
const OTHER_START_MS = 20_000;

/** S5: the operator is killed and started again while all clusters are Ready. */
export async function restart(setting: Setting, sheet: Sheet, count: number): Promise<void> {
  const { signal } = setting;
  await setting.operator().end('SIGKILL');
  const changes = await since(setting);
  const begin = performance.now();
  const operator = await setting.startOperator();
  await until(() => operator.isReady(), 'the operator is ready', TIMEOUT_MS, signal);
  const readyMs = performance.now() - begin;
  let doneS: number | undefined;
  const isDone = async () => {
    const metrics = await operator.metrics();
    if (metrics === undefined) return performance.now() - begin > OTHER_START_MS;
    doneS = (performance.now() - begin) / 1000;
    return metrics.passes >= count && metrics.waiting === 0;
  };
  await until(isDone, 'every cluster was looked at', TIMEOUT_MS, signal);
  const cpu = canLookAtProcesses ? cpuSeconds(operator.pid) : 0;
  const eventLoop = await operator.eventLoop();
  await untilQuiet(setting);

  const { kube, cloud, server } = await changes();
  if (doneS !== undefined) sheet.add('start → /readyz', readyMs, 'ms');
  if (doneS !== undefined) sheet.add('start → every cluster looked at', doneS, 's', DONE_TARGET_S);
  sheet.add('Kubernetes writes', total(kube.writes), 'count', 0);
  sheet.add('Kubernetes reads of one object', total(kube.reads), 'count');
  // The space may be listed again while the counters are read, as its interval is short.
  sheet.add('management calls but Lists', total(cloud) - (cloud.get('list') ?? 0), 'count', TOKENS);
  sheet.add('Lists of the space', cloud.get('list') ?? 0, 'count', SPACES * 2);
  sheet.add('sign-ins to verify logins', total(server), 'count', dueAtMost(count, (performance.now() - begin) / 1000));
  if (canLookAtProcesses) {
    sheet.add('CPU', cpu, 's');
    sheet.add('memory, peak', memoryOf(operator.pid).peakMB, 'MB');
  }
  addEventLoop(sheet, eventLoop);
}
