import { setTimeout as sleep } from 'node:timers/promises';
import { DATABASE_USERS } from '../../../src/kinds/databaseuser/resource.ts';
import { type AnyObject, SECRETS } from '../../../src/kube/api.ts';
import type { Sheet } from '../figure.ts';
import { NAMESPACE, userManifest } from '../manifests.ts';
import { percentile } from '../measure/percentile.ts';
import { Tracker } from '../measure/tracker.ts';
import type { Setting } from '../setting.ts';

const TARGET_MS = 2_000;
const TIMEOUT_MS = 60_000;

/** The key that an application waits for. The operator keeps the password under another key until the server knows it. */
function holdsPassword(secret: AnyObject): boolean {
  return (secret as AnyObject & { readonly data?: Readonly<Record<string, string>> }).data?.['password'] !== undefined;
}

/**
 * Creates users one after another, spread over the clusters, beside all that exists, each a moment after the one before has its
 * Secret.
 */
export async function newUsers(
  { api, signal }: Setting,
  sheet: Sheet,
  clusters: readonly string[],
  count: number,
): Promise<void> {
  const secrets = new Tracker(api, NAMESPACE, SECRETS, holdsPassword);
  const took: number[] = [];
  try {
    await secrets.until(() => secrets.hasListed, 'all Secrets are listed', TIMEOUT_MS, signal);
    for (let index = 0; index < count; index++) {
      const name = `new-user-${index}`;
      const secret = `${name}-connection`;
      await api.create(DATABASE_USERS, NAMESPACE, userManifest(name, clusters[index % clusters.length] ?? ''), signal);
      const begin = Date.now();
      const isPublished = () => secrets.readyAt(secret) !== undefined;
      await secrets.until(isPublished, `Secret ${secret} holds a password`, TIMEOUT_MS, signal);
      took.push((secrets.readyAt(secret) ?? 0) - begin);
      await sleep(50 + 200 * Math.random(), undefined, { signal });
    }
  } finally {
    secrets.stop();
  }
  sheet.add('new user, API server answered → connection Secret, p50', percentile(took, 0.5), 'ms');
  sheet.add('new user, API server answered → connection Secret, p99', percentile(took, 0.99), 'ms', TARGET_MS);
}
