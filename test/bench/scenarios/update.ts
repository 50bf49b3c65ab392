import { DATABASE_CLUSTERS } from '../../../src/kinds/databasecluster/resource.ts';
import type { Sheet } from '../figure.ts';
import { NAMESPACE } from '../manifests.ts';
import { total } from '../measure/kube-requests.ts';
import type { Setting } from '../setting.ts';
import { eachOf } from '../setting.ts';
import { untilQuiet } from '../wait.ts';
import { editsWhenIdle } from './edit.ts';
import { since } from './since.ts';

const TIMEOUT_MS = 120_000;

/** S6: some of the clusters get more storage, without work for the others; then `edits` more, one by one. */
export async function update(setting: Setting, sheet: Sheet, names: readonly string[], edits: number): Promise<void> {
  const { api, tracker, signal } = setting;
  const count = names.length;
  const changes = await since(setting);
  const begin = Date.now();
  const generations = new Map<string, number>();
  await eachOf(names, async (name) => {
    const patch = { spec: { storageSizeGB: 200 } };
    const { metadata } = await api.patch(DATABASE_CLUSTERS, { namespace: NAMESPACE, name }, patch, {}, signal);
    generations.set(name, metadata.generation ?? 0);
  });
  const isReady = (name: string) => tracker.readyGeneration(name) === generations.get(name);
  await tracker.until(() => names.every(isReady), `${count} changed clusters are Ready again`, TIMEOUT_MS, signal);
  const tookS = (Math.max(...names.map((name) => tracker.readyAt(name) ?? 0)) - begin) / 1000;
  await untilQuiet(setting);

  const { kube, cloud, server } = await changes();
  sheet.add('first change → all Ready again', tookS, 's');
  sheet.add('update requests', (cloud.get('update') ?? 0) / count, 'per cluster', 1);
  // Right before an update the cloud is asked whether the cluster is still the same.
  sheet.add('looks at one cluster', (cloud.get('get') ?? 0) / count, 'per cluster', 1);
  const others = total(cloud) - ['update', 'get', 'list'].reduce((sum, name) => sum + (cloud.get(name) ?? 0), 0);
  sheet.add('other management calls except Lists', others, 'count', 0);
  sheet.add('calls to servers', total(server), 'count');
  // The change itself is one patch per cluster.
  const writes = total(kube.writes) - (kube.writes.get('events') ?? 0) - count;
  sheet.add('Kubernetes writes except events', writes / count, 'per cluster', 2);
  sheet.add('events', (kube.writes.get('events') ?? 0) / count, 'per cluster');
  sheet.add('Kubernetes reads of one object', total(kube.reads) / count, 'per cluster');
  await editsWhenIdle(setting, sheet, names, edits);
}
