import { DATABASE_USERS } from '../../../src/kinds/databaseuser/resource.ts';
import type { Sheet } from '../figure.ts';
import { NAMESPACE, userManifest } from '../manifests.ts';
import { total } from '../measure/kube-requests.ts';
import { percentile } from '../measure/percentile.ts';
import { Tracker } from '../measure/tracker.ts';
import { eachOf, type Setting } from '../setting.ts';
import { untilQuiet } from '../wait.ts';
import { since } from './since.ts';

/** Writes for each user: finalizer, Secret, Secret, Ready. */
const WRITES_TARGET = 4;
const CALLS_TARGET = 3;
const DONE_TARGET_S = 60;

/** S7: many users on one server, all at once. */
export async function users(setting: Setting, sheet: Sheet, cluster: string, count: number): Promise<void> {
  const { api, signal } = setting;
  const names = Array.from({ length: count }, (_, index) => `user-${index}`);
  const tracker = new Tracker(api, NAMESPACE, DATABASE_USERS);
  try {
    const changes = await since(setting);
    const begin = Date.now();
    await eachOf(names, async (name) => {
      await api.create(DATABASE_USERS, NAMESPACE, userManifest(name, cluster), signal);
    });
    await tracker.until(() => tracker.readyTimes().length >= count, `${count} users are Ready`, 300_000, signal);
    const tookS = tracker.readyTimes().map((at) => (at - begin) / 1000);
    await untilQuiet(setting);
    const { kube, server } = await changes();
    for (const share of [0.5, 1]) {
      const target = share === 1 ? DONE_TARGET_S : undefined;
      sheet.add(`${share * 100} % Ready`, percentile(tookS, share), 's', target);
    }
    sheet.add('calls to the server', total(server) / count, 'per user', CALLS_TARGET);
    for (const [operation, calls] of server) sheet.add(`  ${operation}`, calls / count, 'per user');
    // Without the benchmark's own writes, which create the objects.
    const writes = new Map(
      [...kube.writes]
        .filter(([name]) => /^(databaseusers|secrets)/.test(name))
        .map(([name, writes]) => [name, name === 'databaseusers' ? writes - count : writes]),
    );
    sheet.add('Kubernetes writes', total(writes) / count, 'per user', WRITES_TARGET);
    for (const [resource, each] of writes) sheet.add(`  ${resource}`, each / count, 'per user');
    sheet.add('Kubernetes reads of one object', total(kube.reads) / count, 'per user');
  } finally {
    tracker.stop();
  }
}
