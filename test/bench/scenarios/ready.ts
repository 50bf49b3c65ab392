import { setTimeout as sleep } from 'node:timers/promises';
import type { Sheet } from '../figure.ts';
import { percentile } from '../measure/percentile.ts';
import type { Setting } from '../setting.ts';

/** Times vary, so that a cluster is up at any point between the operator's looks. */
const PROVISION_MS = { least: 3_000, most: 5_000 };
/** While something is under way in a space, it is listed again after a fifth of the time since that began. */
const STEP_MS = PROVISION_MS.most / 5;
const READY_TIMEOUT_MS = 30_000;

/**
 * S2: from the moment a new server is up, which is known, to Ready=True. In between the operator must notice it by looking, and
 * replace the factory login, with a password check of 60 ms for each sign-in.
 */
export async function ready(
  { cloud, tracker, signal, createClusters }: Setting,
  sheet: Sheet,
  count: number,
): Promise<void> {
  const noticed: number[] = [];
  const whole: number[] = [];
  for (let index = 0; index < count; index++) {
    const name = `ready-${index}`;
    const provisionMs = Math.round(PROVISION_MS.least + (PROVISION_MS.most - PROVISION_MS.least) * Math.random());
    await cloud.setProvisionTime(`${provisionMs}ms`);
    await createClusters([name]);
    const isReady = () => tracker.readyAt(name) !== undefined;
    await tracker.until(isReady, `cluster ${name} is Ready`, READY_TIMEOUT_MS, signal);
    const upAt = (await cloud.firstRequest('deploy', name)) + provisionMs;
    noticed.push((await cloud.firstRequest('signIn', name)) - upAt);
    whole.push((tracker.readyAt(name) ?? 0) - upAt);
    await sleep(500 * Math.random(), undefined, { signal });
  }
  sheet.add('server up → first sign-in, p50', percentile(noticed, 0.5), 'ms');
  sheet.add('server up → first sign-in, longest', percentile(noticed, 1), 'ms', STEP_MS);
  sheet.add('server up → Ready, p50', percentile(whole, 0.5), 'ms', STEP_MS);
  sheet.add('server up → Ready, longest', percentile(whole, 1), 'ms');
}
