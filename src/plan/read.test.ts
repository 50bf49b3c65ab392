import { describe, expect, it, vi } from 'vitest';
import { aWorld, ON_ORDERS } from '../../test/support/planned-world.ts';
import { CLUSTER_SPEC } from '../../test/support/specs.ts';
import { API_VERSION } from '../base/group.ts';
import { KubeError, NAMESPACES } from '../kube/api.ts';
import type { KubeClient } from '../kube/client.ts';
import type { Document, Manifest } from './manifests.ts';
import type { PlannedObject } from './objects.ts';
import { readObjects } from './read.ts';

it('readObjects() returns the objects as they are, too, without a further list', async () => {
  const world = await aWorld({ 'DatabaseCluster orders': CLUSTER_SPEC, 'DatabaseUser app': ON_ORDERS });
  const list = vi.spyOn(world.kube, 'list');
  const given = { namespace: 'default', documents: [], deleted: new Set(['DatabaseUser shop/app']) };
  // Nothing is dry-run if there are no manifests.
  const read = await readObjects(world.kube as unknown as KubeClient, given, new AbortController().signal);
  const goes = (objects: readonly PlannedObject[]) =>
    objects.filter(({ wanted }) => wanted === undefined).map(({ key }) => key);
  expect(goes(read.objects)).toEqual(['shop/app']);
  list.mockClear();
  const before = await read.asTheyAre();
  expect(before.objects.map(({ key }) => key)).toEqual(read.objects.map(({ key }) => key));
  expect(goes(before.objects)).toEqual([]);
  expect([...before.secrets.keys()]).toContain('shop/app-connection');
  expect(list).not.toHaveBeenCalled();
  await world.end();
});

describe('readObjects() of manifests for a namespace that has nothing yet', () => {
  const { signal } = new AbortController();
  const manifest = (kind: string, name: string, rest: object): Document => ({
    where: 'a.yaml, document 1',
    manifest: { apiVersion: API_VERSION, kind, metadata: { name, namespace: 'till' }, ...rest } as Manifest,
  });
  const read = async (
    documents: readonly Document[],
    labels?: Readonly<Record<string, string>>,
    others: Partial<KubeClient> = {},
  ) => {
    const world = await aWorld({ 'DatabaseCluster orders': CLUSTER_SPEC });
    if (labels !== undefined) await world.kube.create(NAMESPACES, '', { metadata: { name: 'till', labels } });
    const applyDryRun: KubeClient['applyDryRun'] = async (_resource, object) => object;
    const api = Object.assign(world.kube as unknown as KubeClient, { applyDryRun }, others);
    const result = await readObjects(api, { namespace: 'default', documents, deleted: new Set() }, signal);
    await world.end();
    return result;
  };

  it('takes a key of a ConfigMap without a value for an empty one', async () => {
    const schema = [{ configMapKeyRef: { name: 'schema', key: 'a' } }];
    const { configMaps } = await read([
      manifest('Database', 'sales', { spec: { clusterRef: { name: 'orders', namespace: 'shop' }, schema } }),
      { where: 'a.yaml, document 2', manifest: { ...manifest('ConfigMap', 'schema', { data: { a: null } }).manifest } },
    ]);
    expect(configMaps).toMatchObject([{ metadata: { name: 'schema' }, data: { a: '' } }]);
  });

  it('knows what they refer to elsewhere, and what that needs', async () => {
    const clusterRef = { name: 'orders', namespace: 'shop' };
    const { objects, problems } = await read([manifest('DatabaseUser', 'app', { spec: { clusterRef } })]);
    expect(problems).toEqual([]);
    const names = objects.map(({ definition, key, live }) => `${definition.kind} ${key} ${live !== undefined}`);
    expect(names.toSorted()).toEqual([
      'DatabaseCluster shop/orders true',
      'DatabaseSpace shop/production true',
      'DatabaseUser till/app false',
    ]);
  });

  it('names what may not be read there', async () => {
    const get = async () => {
      throw new KubeError('forbidden', { status: 403 });
    };
    const clusterRef = { name: 'orders', namespace: 'shop' };
    const app = manifest('DatabaseUser', 'app', { spec: { clusterRef } });
    const { objects, unread } = await read([app], undefined, { get });
    expect(objects.map(({ key }) => key)).toEqual(['till/app']);
    expect(unread).toEqual(['DatabaseCluster shop/orders']);
  });

  it('asks for all ConfigMaps at once: one after the other, those of a thousand databases would take long', async () => {
    const names = ['one', 'two', 'three'];
    const databases = names.map((name) =>
      manifest('Database', name, {
        spec: { clusterRef: { name: 'orders', namespace: 'shop' }, schema: [{ configMapKeyRef: { name, key: 'a' } }] },
      }),
    );
    const all = Promise.withResolvers<void>();
    const asked: string[] = [];
    const get: KubeClient['get'] = async ({ plural }, { name }) => {
      if (plural !== 'configmaps') return undefined;
      asked.push(name);
      if (asked.length === names.length) all.resolve();
      await all.promise;
      return { metadata: { name, namespace: 'till', uid: name, resourceVersion: '1' } };
    };
    const { configMaps } = await read(databases, undefined, { get });
    expect(configMaps.map(({ metadata }) => metadata.name)).toEqual(names);
  });

  it.each([
    ['as the files make it', undefined, { team: 'till' }],
    ['as the files change it', { team: 'other', kept: 'yes' }, { team: 'till', kept: 'yes' }],
  ])('knows the labels of that namespace, %s', async (_what, there, labels) => {
    const namespace: Document = {
      where: 'a.yaml, document 2',
      manifest: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'till', labels: { team: 'till' } } },
    };
    const spec = { ...CLUSTER_SPEC, spaceRef: { name: 'production', namespace: 'shop' } };
    const { namespaces } = await read([manifest('DatabaseCluster', 'till', { spec }), namespace], there);
    const till = namespaces.find(({ metadata }) => metadata.name === 'till');
    expect(till?.metadata.labels).toEqual({ 'kubernetes.io/metadata.name': 'till', ...labels });
  });
});
