import { setTimeout as sleep } from 'node:timers/promises';
import { DATABASE_CLUSTERS } from '../../../src/kinds/databasecluster/resource.ts';
import type { Sheet } from '../figure.ts';
import { NAMESPACE } from '../manifests.ts';
import { firstAbout } from '../measure/journal.ts';
import { percentile } from '../measure/percentile.ts';
import type { Setting } from '../setting.ts';

const TARGET_MS = 50;
const READY_TIMEOUT_MS = 30_000;
const FIRST_SIZE_GB = 210;

/**
 * Measures single edits while the operator has nothing else to do, each a moment after the one before is done. The operator
 * looks at the cluster before it changes it: that look is its first act.
 */
export async function editsWhenIdle(
  { api, tracker, cloud, signal }: Setting,
  sheet: Sheet,
  names: readonly string[],
  count: number,
): Promise<void> {
  const edits: { readonly name: string; readonly sentAt: number; readonly answeredAt: number }[] = [];
  for (let index = 0; index < count; index++) {
    const name = names[index % names.length] ?? '';
    const patch = { spec: { storageSizeGB: FIRST_SIZE_GB + Math.floor(index / names.length) } };
    const sentAt = Date.now();
    const { metadata } = await api.patch(DATABASE_CLUSTERS, { namespace: NAMESPACE, name }, patch, {}, signal);
    edits.push({ name, sentAt, answeredAt: Date.now() });
    const isReady = () => tracker.readyGeneration(name) === metadata.generation;
    await tracker.until(isReady, `cluster ${name} is Ready again`, READY_TIMEOUT_MS, signal);
    await sleep(50 + 200 * Math.random(), undefined, { signal });
  }
  const journal = await cloud.journal();
  const first = edits.map(({ name, sentAt, answeredAt }) => firstAbout(journal, name, sentAt).at - answeredAt);
  const patched = edits.map(({ name, sentAt, answeredAt }) => {
    return firstAbout(journal, name, sentAt, ({ method }) => method === 'PATCH').at - answeredAt;
  });
  sheet.add('one edit when idle, API server answered → first request, p50', percentile(first, 0.5), 'ms');
  sheet.add('one edit when idle, API server answered → first request, p99', percentile(first, 0.99), 'ms', TARGET_MS);
  sheet.add('  → update request, p50', percentile(patched, 0.5), 'ms');
  sheet.add('  → update request, p99', percentile(patched, 0.99), 'ms');
}
