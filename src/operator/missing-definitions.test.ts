import { expect, test } from 'vitest';
import { loneOperator } from '../../test/support/lone-operator.ts';
import { cluster } from '../../test/support/manifests.ts';
import { DATABASE_CLUSTERS } from '../kinds/databasecluster/resource.ts';
import { KubeError, type Resource } from '../kube/api.ts';
import { FakeKube } from '../sandbox/fake-kube.ts';
import { virtualClock } from '../sandbox/virtual-clock.ts';
import { createSeededRandom } from '../simulator/seeded-random.ts';

/** An operator for two namespaces, on an API server without the CRD of clusters until `install`. */
async function anOperatorWithoutClusters() {
  const clock = virtualClock();
  const random = createSeededRandom(1);
  const api = new FakeKube({
    now: clock.now,
    random,
    statusDefaults: { databaseclusters: { observedGeneration: -1 } },
  });
  await api.create(DATABASE_CLUSTERS, 'shop', cluster());
  const [list, watch] = [api.list.bind(api), api.watch.bind(api)];
  let isInstalled = false;
  let asked = 0;
  const mustBeThere = ({ plural }: Resource) => {
    if (plural !== DATABASE_CLUSTERS.plural || isInstalled) return;
    asked++;
    throw new KubeError('the server could not find the requested resource', { status: 404 });
  };
  api.list = async (resource, ...more) => {
    mustBeThere(resource);
    return list(resource, ...more);
  };
  api.watch = (resource, ...more) => {
    mustBeThere(resource);
    return watch(resource, ...more);
  };
  const lines: { readonly level: string; readonly resource?: string; readonly msg: string }[] = [];
  const operator = loneOperator({
    api,
    clock,
    random,
    namespaces: ['shop', 'store'],
    write: (line) => lines.push(JSON.parse(line)),
  });
  const stop = new AbortController();
  const running = operator.run(stop.signal);
  return {
    clock,
    operator,
    asked: () => asked,
    warnings: () => lines.filter(({ resource }) => resource === DATABASE_CLUSTERS.plural).map(({ msg }) => msg),
    install: () => {
      isInstalled = true;
    },
    reason: () => {
      const status = api.all(DATABASE_CLUSTERS)[0]?.['status'] as { conditions?: { type: string; reason: string }[] };
      return status.conditions?.find(({ type }) => type === 'Ready')?.reason;
    },
    end: async () => {
      stop.abort();
      await clock.advance(30_000);
      await running;
    },
  };
}

const HINT =
  'Cannot watch databaseclusters, trying again: the API server has no resource databaseclusters.mooring.dev: install it with mooring crds | kubectl apply --server-side -f -';

test('createOperator() says which CRD is missing and how to install it, and begins to work once it is there', async () => {
  const { clock, operator, warnings, install, reason, end } = await anOperatorWithoutClusters();
  await clock.advance(300_000);
  expect(warnings()[0]).toBe(HINT);
  expect(operator.notReady()).toBe(
    `Waiting for the first list of databaseclusters in namespaces shop, store: ${HINT.slice(HINT.indexOf('the API server'))}`,
  );
  expect([operator.acts(), reason()]).toEqual([false, undefined]);
  install();
  // The longest pause between two attempts.
  await clock.advance(30_000);
  expect([operator.notReady(), operator.acts(), reason()]).toEqual([undefined, true, 'SpaceNotFound']);
  await end();
});

test('createOperator() says so once in ten minutes, however many namespaces and attempts there are', async () => {
  const { clock, warnings, asked, end } = await anOperatorWithoutClusters();
  await clock.advance(599_000);
  expect(asked()).toBeGreaterThan(40);
  expect(warnings()).toEqual([HINT]);
  await clock.advance(40_000);
  expect(warnings()).toEqual([HINT, HINT]);
  await end();
});
