import { setTimeout as sleep } from 'node:timers/promises';
import { DATABASE_CLUSTERS } from '../../../src/kinds/databasecluster/resource.ts';
import type { Sheet } from '../figure.ts';
import { NAMESPACE } from '../manifests.ts';
import { total } from '../measure/kube-requests.ts';
import { SupersededWrites } from '../measure/superseded.ts';
import type { Setting } from '../setting.ts';
import { untilQuiet } from '../wait.ts';
import { since } from './since.ts';

const TIMEOUT_MS = 180_000;
const EDITS_A_SECOND = 100;

/** S10: clusters are edited again and again, faster than the cloud hears of it: only the last edit counts. */
export async function storm(setting: Setting, sheet: Sheet, names: readonly string[], seconds: number): Promise<void> {
  const { api, tracker, signal } = setting;
  const changes = await since(setting);
  const generations = new Map<string, number>();
  const superseded = new SupersededWrites();
  const unobserve = tracker.observe((object) => superseded.note(object, Date.now()));
  const begin = performance.now();
  let edits = 0;
  for (let size = 400; performance.now() - begin < seconds * 1000; size += 1) {
    for (const name of names) {
      const patch = { spec: { storageSizeGB: Math.min(size, 999) } };
      const { metadata } = await api.patch(DATABASE_CLUSTERS, { namespace: NAMESPACE, name }, patch, {}, signal);
      generations.set(name, metadata.generation ?? 0);
      edits++;
      const aheadMs = (edits / EDITS_A_SECOND) * 1000 - (performance.now() - begin);
      if (aheadMs > 1) await sleep(aheadMs, undefined, { signal });
    }
  }
  const isReady = (name: string) => tracker.readyGeneration(name) === generations.get(name);
  const lastAt = Date.now();
  await tracker.until(() => names.every(isReady), `${names.length} edited clusters are Ready`, TIMEOUT_MS, signal);
  const tookS = (Math.max(...names.map((name) => tracker.readyAt(name) ?? 0)) - lastAt) / 1000;
  await untilQuiet(setting);
  unobserve();
  const { kube, cloud } = await changes();
  sheet.add('edits', edits, 'count');
  sheet.add('update requests for each edit', (cloud.get('update') ?? 0) / edits, 'per edit', 1);
  const status = kube.writes.get('databaseclusters/status') ?? 0;
  // One that it is changing, and one that it has changed.
  sheet.add('status writes for each edit', status / edits, 'per edit', 2);
  sheet.add('status writes for superseded generations', superseded.count, 'count', 0);
  sheet.add('Kubernetes writes, edits included', total(kube.writes), 'count');
  sheet.add('last edit → all Ready', Math.max(tookS, 0), 's');
}
