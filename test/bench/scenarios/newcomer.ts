import { setTimeout as sleep } from 'node:timers/promises';
import { DATABASE_CLUSTERS } from '../../../src/kinds/databasecluster/resource.ts';
import type { Sheet } from '../figure.ts';
import { clusterManifest, NAMESPACE } from '../manifests.ts';
import { percentile } from '../measure/percentile.ts';
import type { Setting } from '../setting.ts';

const TARGET_MS = 100;
const KUBECTL_RUNS = 3;
const READY_TIMEOUT_MS = 30_000;

/**
 * S1: the operator is idle, a cluster is applied, and its deploy request arrives in the cloud. Clusters come one after
 * another, each a moment after the one before is Ready. The time counts from the API server's answer, as the start of kubectl is
 * not the operator's doing.
 */
export async function newcomer(setting: Setting, sheet: Sheet, count: number): Promise<void> {
  const { cloud, kubectl } = setting;
  await cloud.setProvisionTime('0s');
  const took: number[] = [];
  for (let index = 0; index < count; index++) took.push(await newcomerTook(setting, `newcomer-${index}`));
  sheet.add('API server answered → deploy request, p50', percentile(took, 0.5), 'ms');
  sheet.add('API server answered → deploy request, p99', percentile(took, 0.99), 'ms', TARGET_MS);

  const wholes: number[] = [];
  for (let index = 0; index < KUBECTL_RUNS; index++) {
    const begin = Date.now();
    const name = `applied-${index}`;
    const whole = deployAfter(setting, name, async () => {
      const { code, stderr } = await kubectl(['apply', '--filename=-'], JSON.stringify(clusterManifest(name)));
      if (code !== 0) throw new Error(`kubectl apply failed: ${stderr.trim()}`);
      return begin;
    });
    wholes.push(await whole);
  }
  sheet.add('kubectl started → deploy request, p50', percentile(wholes, 0.5), 'ms');
}

/** Returns the milliseconds from the API server's answer to the deploy request, once the cluster is Ready. */
export function newcomerTook(setting: Setting, name: string): Promise<number> {
  return deployAfter(setting, name, async () => {
    await setting.api.create(DATABASE_CLUSTERS, NAMESPACE, clusterManifest(name), setting.signal);
    return Date.now();
  });
}

/** Returns the milliseconds from the beginning that `create` reports to the deploy request, once the cluster is Ready. */
async function deployAfter(
  { tracker, cloud, signal }: Setting,
  name: string,
  create: (name: string) => Promise<number>,
): Promise<number> {
  const begin = await create(name);
  const isReady = () => tracker.readyAt(name) !== undefined;
  await tracker.until(isReady, `cluster ${name} is Ready`, READY_TIMEOUT_MS, signal);
  const deployedAt = await cloud.firstRequest('deploy', name);
  await sleep(50 + 200 * Math.random(), undefined, { signal });
  return deployedAt - begin;
}
