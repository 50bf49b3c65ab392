import { expect, test } from 'vitest';
import { adminKubeconfig, makeNamespace } from '../support/control-plane.ts';
import { startKubeProxy } from '../support/kube-proxy.ts';
import { cluster, database, type Manifest, space, user } from '../support/manifests.ts';
import { accountWith } from '../support/operator-rights.ts';
import { mooringHere } from '../support/plugin.ts';
import { collectionPath, installCrds, openApi } from './api.ts';

const GATE = async <T>(_what: string, pass: () => Promise<T>) => pass();
const AT_ONCE = 16;

/* No operator works on these objects: only the plugin's requests to the API server matter. */

test('status shows 1,000 objects with fewer than 20 requests', { timeout: 180_000 }, async ({ onTestFinished }) => {
  const api = await openApi(adminKubeconfig());
  onTestFinished(() => api.close());
  await installCrds(api);
  const [platform, shop] = [await makeNamespace(), await makeNamespace()];
  const spaces = Array.from({ length: 4 }, (_, index) =>
    named(space({ baseURL: 'https://cloud.example.com' }), `s${index}`),
  );
  const spaceRef = (index: number) => ({ name: `s${index % 4}`, namespace: platform });
  const shared = Array.from({ length: 46 }, (_, index) =>
    cluster({ spaceRef: { name: `s${index % 4}` } }, {}, `c${index}`),
  );
  const own = Array.from({ length: 50 }, (_, index) => cluster({ spaceRef: spaceRef(index) }, {}, `c${index}`));
  const clusterRef = (index: number) => ({
    name: `c${index % 46}`,
    ...(index % 2 === 0 ? { namespace: platform } : {}),
  });
  const users = Array.from({ length: 450 }, (_, index) => user({ clusterRef: clusterRef(index) }, {}, `u${index}`));
  const databases = Array.from({ length: 450 }, (_, index) =>
    database({ clusterRef: clusterRef(index) }, {}, `d${index}`),
  );
  const wanted: readonly (readonly [string, Manifest])[] = [
    ...[...spaces, ...shared].map((each) => [platform, each] as const),
    ...[...own, ...users, ...databases].map((each) => [shop, each] as const),
  ];
  expect(wanted).toHaveLength(1_000);
  const rest = [...wanted];
  const create = async () => {
    for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
      const [namespace, manifest] = next;
      const { status, causes } = await api.send('POST', collectionPath(manifest.kind, namespace), manifest);
      if (status !== 201) throw new Error(causes.join());
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, create));

  const rules = [{ apiGroups: ['mooring.dev'], resources: ['*'], verbs: ['get', 'list'] }];
  const asPerson = async (name: string, others: readonly string[]) => {
    const proxy = await startKubeProxy(await accountWith(shop, name, rules, others), 'counted', GATE);
    onTestFinished(() => proxy.close());
    const { stdout } = await mooringHere(shop, ['status'], proxy.kubeconfig);
    return {
      lines: stdout.split('\n').filter((line) => /Database\w* [\w-]+\/[scud]\d+ /.test(line)),
      requests: proxy.requests(),
    };
  };
  // The platform's clusters that nobody here uses are not shown.
  const seen = await asPerson('seeing', [platform]);
  expect(seen.lines).toHaveLength(4 + 23 + 50 + 900);
  expect(seen.lines.filter((line) => / {2}\? {2}/.test(line))).toEqual([]);
  expect(seen.requests).toBeLessThan(20);

  const hidden = await asPerson('narrow', []);
  expect(hidden.lines.filter((line) => / {2}\? {2}/.test(line))).toHaveLength(4 + 23);
  expect(hidden.requests).toBeLessThan(20);
});

function named(manifest: Manifest, name: string): Manifest {
  return { ...manifest, metadata: { ...manifest.metadata, name } };
}
