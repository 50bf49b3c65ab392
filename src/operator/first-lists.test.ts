import { expect, test } from 'vitest';
import { loneOperator } from '../../test/support/lone-operator.ts';
import { cluster } from '../../test/support/manifests.ts';
import { DATABASE_CLUSTERS } from '../kinds/databasecluster/resource.ts';
import { type AnyObject, type KubeApi, KubeError, NAMESPACES } from '../kube/api.ts';
import { FakeKube } from '../sandbox/fake-kube.ts';
import { virtualClock } from '../sandbox/virtual-clock.ts';
import { createSeededRandom } from '../simulator/seeded-random.ts';
import { FirstLists } from './first-lists.ts';
import { createInformers } from './informers.ts';

const GONE = { metadata: { name: 'gone', uid: 'u', resourceVersion: '1' } };

/** An operator for namespaces `shop` and `gone`, of which the latter refuses it until `grant`. `get`: what it may know of that namespace. */
async function anOperator(get: () => AnyObject | undefined) {
  const clock = virtualClock();
  const random = createSeededRandom(1);
  const statusDefaults = { databaseclusters: { observedGeneration: -1 } };
  const api = new FakeKube({ now: clock.now, random, statusDefaults });
  for (const namespace of ['shop', 'gone']) await api.create(DATABASE_CLUSTERS, namespace, cluster());
  let isGranted = false;
  const refuse = (namespace: string | undefined) => {
    if (namespace === 'gone' && !isGranted) throw new KubeError('Cannot list: forbidden', { status: 403 });
  };
  const { list, watch, get: read } = api;
  const refusing: Pick<KubeApi, 'list' | 'watch' | 'get'> = {
    list: async (resource, options) => {
      refuse(options.namespace);
      return list.call(api, resource, options);
    },
    watch: (resource, options, signal) => {
      refuse(options.namespace);
      return watch.call(api, resource, options, signal);
    },
    get: async (resource, ref) => (resource === NAMESPACES ? get() : read.call(api, resource, ref)),
  };
  Object.assign(api, refusing);
  const operator = loneOperator({ api, clock, random, namespaces: ['shop', 'gone'], write: () => {} });
  const stop = new AbortController();
  const running = operator.run(stop.signal);
  const reasons = () =>
    api.all(DATABASE_CLUSTERS).map(({ metadata, ...rest }) => {
      const status = rest['status'] as { conditions?: readonly { reason: string }[] };
      return `${metadata.namespace}: ${status.conditions?.[0]?.reason}`;
    });
  const end = async () => {
    stop.abort();
    await clock.advance(30_000);
    await running;
  };
  return { clock, operator, reasons, grant: () => (isGranted = true), end };
}

test('createOperator() works although a namespace refuses its lists, if that does not exist, and goes on there once it does', async () => {
  const { clock, operator, reasons, grant, end } = await anOperator(() => undefined);
  await clock.advance(10_000);
  expect([operator.notReady(), operator.acts()]).toEqual([undefined, true]);
  expect(reasons().toSorted()).toEqual(['gone: undefined', 'shop: SpaceNotFound']);
  grant();
  await clock.advance(60_000);
  expect(reasons().toSorted()).toEqual(['gone: SpaceNotFound', 'shop: SpaceNotFound']);
  await end();
});

const forbidden = () => {
  throw new KubeError('Cannot get: forbidden', { status: 403 });
};

test.each([
  ['exists', () => GONE],
  ['is being deleted', () => ({ metadata: { ...GONE.metadata, deletionTimestamp: '2026-11-20T10:00:00Z' } })],
  ['may not be read', forbidden],
])(
  'createOperator() waits for a namespace that refuses its lists and %s, as objects in it may hold something, and says why',
  async (_, get) => {
    const { clock, operator, reasons, grant, end } = await anOperator(get);
    await clock.advance(60_000);
    expect(operator.notReady()).toBe(
      'Waiting for the first list of databasespaces, databaseclusters, databaseusers, databases, secrets, configmaps in namespace gone: Cannot list: forbidden (403): the operator lacks a right, see its roles in deploy/base/rbac.yaml. If namespace gone was deleted, its Role went with it: take it out of --namespaces',
    );
    expect([operator.acts(), reasons().toSorted()]).toEqual([false, ['gone: undefined', 'shop: undefined']]);
    grant();
    await clock.advance(60_000);
    expect([operator.notReady(), operator.acts()]).toEqual([undefined, true]);
    await end();
  },
);

test.each([
  ['does not exist any more', [undefined], []],
  ['exists', [GONE], ['gone/orders']],
  ['was created anew meanwhile', [undefined, GONE], ['gone/orders']],
  ['may not be read', [], ['gone/orders']],
] as const)(
  'Informers keep what a namespace held that they may no longer watch, unless it does not exist: if it %s',
  async (_, answers, left) => {
    const [clock, random, stop, revoked] = [
      virtualClock(),
      createSeededRandom(1),
      new AbortController(),
      new AbortController(),
    ];
    const api = new FakeKube({ now: clock.now, random });
    for (const namespace of ['shop', 'gone']) await api.create(DATABASE_CLUSTERS, namespace, cluster());
    const refuse = () => {
      if (revoked.signal.aborted) throw new KubeError('Cannot list: forbidden', { status: 403 });
    };
    const [list, watch, given] = [api.list.bind(api), api.watch.bind(api), [...answers]];
    Object.assign<KubeApi, Pick<KubeApi, 'get' | 'list' | 'watch'>>(api, {
      get: async () => (given.length === 0 ? forbidden() : given.length > 1 ? given.shift() : given[0]),
      list: async (resource, options) => {
        if (options.namespace === 'gone') refuse();
        return list(resource, options);
      },
      watch: (resource, options, signal = stop.signal) => {
        if (options.namespace === 'shop') return watch(resource, options, signal);
        refuse();
        return watch(resource, options, AbortSignal.any([signal, revoked.signal]));
      },
    });
    const namespaces = ['shop', 'gone'];
    const seams = { api, clock, random, namespaces, log: { warn: () => {} }, onWatchFailure: () => false };
    const { clusters } = createInformers(seams);
    const running = clusters.run(stop.signal);
    await clock.advance(60_000);
    revoked.abort();
    api.remove(DATABASE_CLUSTERS, { namespace: 'gone', name: 'orders' });
    await clock.advance(60_000);
    expect([...clusters.store.keys()].filter((key) => key !== 'shop/orders')).toEqual(left);
    expect(clusters.store.get('shop/orders')).toBeDefined();
    stop.abort();
    await running;
  },
);

function collection(plural: string, ...unsynced: readonly (string | undefined)[]) {
  return { plural, informer: { unsynced: new Set(unsynced) } };
}

test('FirstLists names what it knows a cause of first, and otherwise counts', () => {
  const lists = new FirstLists();
  expect(lists.waiting([collection('secrets')])).toBeUndefined();
  expect(lists.waiting([collection('secrets', undefined)])).toBe('Waiting for the first list of secrets');
  lists.failed('secrets', undefined, 'No answer');
  expect(lists.waiting([collection('secrets', undefined)])).toBe('Waiting for the first list of secrets: No answer');
  const names = ['a', 'b', 'c', 'd', 'e'];
  expect(lists.waiting([collection('databases', ...names)])).toBe(
    'Waiting for the first list of databases in namespaces a, b, c and 2 more',
  );
  lists.failed('databases', 'e', 'Refused in e');
  lists.failed('databases', 'd', 'Refused in d');
  expect(lists.waiting([collection('databases', 'a', 'd', 'e')])).toBe(
    'Waiting for the first list of databases in namespace d: Refused in d. Also of databases in namespace e: Refused in e. Also of databases in namespace a',
  );
  for (const name of names.slice(0, 3)) lists.failed('databases', name, `Refused in ${name}`);
  expect(lists.waiting([collection('databases', ...names, 'f', 'g')])).toMatch(
    /: Refused in c\. Namespaces not named here: 4$/,
  );
});
