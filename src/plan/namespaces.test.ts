import { expect, it } from 'vitest';
import { aWorld, ON_ORDERS, type Specs } from '../../test/support/planned-world.ts';
import { CLUSTER_SPEC } from '../../test/support/specs.ts';
import { matches } from '../kinds/namespaces.ts';
import { type KubeApi, KubeError } from '../kube/api.ts';
import { readNamespaces } from './namespaces.ts';

const { signal } = new AbortController();
const get: KubeApi['get'] = async () => {
  throw new KubeError('forbidden', { status: 403 });
};

/** What is assumed of namespace `shop`, which may not be read. */
async function assumed(specs: Specs, reason?: string) {
  const world = await aWorld(specs);
  const { objects } = await world.input(specs);
  await world.end();
  const conditions = [
    { type: 'Ready', status: 'False', reason, message: '', lastTransitionTime: '2026-11-20T10:00:00Z' },
  ];
  const told = objects.map((object) =>
    reason === undefined || object.definition.kind !== 'DatabaseUser' || object.live === undefined
      ? object
      : { ...object, live: { ...object.live, status: { observedGeneration: 1, conditions } } },
  );
  const notes: string[] = [];
  const [shop] = await readNamespaces({ get } as KubeApi, { documents: [] }, told, notes, signal);
  return { labels: shop?.metadata.labels ?? {}, notes };
}

const selector = {
  matchLabels: { team: 'shop' },
  matchExpressions: [
    { key: 'stage', operator: 'In', values: ['test', 'production'] },
    { key: 'team', operator: 'In', values: ['till', 'shop'] },
    { key: 'owner', operator: 'Exists' },
    { key: 'old', operator: 'DoesNotExist' },
    { key: 'stage', operator: 'NotIn', values: ['production'] },
  ],
} as const;
const SELECTING: Specs = {
  'DatabaseCluster orders': { ...CLUSTER_SPEC, allowedNamespaces: { from: 'Selector', selector } },
  'DatabaseUser app': ON_ORDERS,
};

it('a namespace that may not be read is assumed to be selected', async () => {
  const { labels, notes } = await assumed(SELECTING);
  expect(matches(selector, labels)).toBe(true);
  expect(labels['kubernetes.io/metadata.name']).toBe('shop');
  expect(notes).toEqual([
    'You may not read namespace shop (get namespaces): this plan assumes that selectors admit it',
  ]);
});

it('of several documents about one namespace the last counts, as for kubectl', async () => {
  const world = await aWorld(SELECTING);
  const { objects } = await world.input(SELECTING);
  await world.end();
  const labelled = (team: string) => ({
    where: 'a.yaml',
    manifest: { kind: 'Namespace', metadata: { name: 'shop', labels: { team } } },
  });
  const api = { get: async () => undefined } as unknown as KubeApi;
  const documents = [labelled('till'), labelled('shop')];
  const [shop] = await readNamespaces(api, { documents }, objects, [], signal);
  expect(shop?.metadata.labels).toEqual({ team: 'shop', 'kubernetes.io/metadata.name': 'shop' });
});

it('nothing is assumed if an object there says that it is not admitted, or if nothing selects', async () => {
  const { labels, notes } = await assumed(SELECTING, 'ClusterNotAllowed');
  expect(matches(selector, labels)).toBe(false);
  expect(notes).toEqual([
    'You may not read namespace shop (get namespaces): it is not known whether a selector admits it',
  ]);
  expect(await assumed({ 'DatabaseCluster orders': CLUSTER_SPEC })).toEqual({ labels: {}, notes: [] });
});
