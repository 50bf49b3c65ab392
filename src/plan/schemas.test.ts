import { expect, it } from 'vitest';
import { aWorld, ON_ORDERS, type Specs } from '../../test/support/planned-world.ts';
import { CLUSTER_SPEC } from '../../test/support/specs.ts';
import { CONFIG_MAPS, KubeError } from '../kube/api.ts';
import type { KubeClient } from '../kube/client.ts';
import { makePlan } from './plan.ts';
import { readObjects } from './read.ts';

/** The plan of somebody who may not read ConfigMaps, while the object is as the first says, and to become as the second. */
async function planned(before: Specs, after: Specs) {
  const world = await aWorld({ 'DatabaseCluster orders': CLUSTER_SPEC });
  const data = { 'a.tql': 'define entity order;', 'b.tql': 'define entity sale;' };
  await world.kube.create(CONFIG_MAPS, 'shop', { metadata: { name: 'schema' }, data });
  await world.apply(before);
  const { kube } = world;
  const get: KubeClient['get'] = async (resource, ref, signal) => {
    if (resource === CONFIG_MAPS) throw new KubeError('forbidden', { status: 403 });
    return kube.get(resource, ref, signal);
  };
  const applyDryRun: KubeClient['applyDryRun'] = async (resource, object) => ({
    ...(await kube.get(resource, { namespace: 'shop', name: object.metadata.name })),
    ...object,
  });
  const api = new Proxy(kube as unknown as KubeClient, {
    get: (target, name, own) => ({ get, applyDryRun })[String(name)] ?? Reflect.get(target, name, own).bind(target),
  });
  const documents = Object.entries(after).map(([name, spec]) => {
    const [kind = '', object = ''] = name.split(' ');
    const metadata = { name: object, namespace: 'shop' };
    return { where: 'a.yaml, document 1', manifest: { apiVersion: 'mooring.dev/v1alpha1', kind, metadata, spec } };
  });
  const read = await readObjects(
    api,
    { namespace: 'shop', documents, deleted: new Set() },
    new AbortController().signal,
  );
  const plan = await makePlan({ ...read, listed: new Map() }, world.clock);
  await world.end();
  const database = plan.outcomes.find(({ name }) => name === 'Database shop/orders');
  return { steps: plan.steps.map(({ description }) => description), end: database?.end?.reason, notes: read.notes };
}

const withSources = (...keys: readonly string[]): Specs => ({
  'Database orders': {
    ...ON_ORDERS,
    schema: keys.map((key) => ({ configMapKeyRef: { name: 'schema', key } })),
    adoptionPolicy: 'Never',
    deletionPolicy: 'Retain',
  },
});

it('a ConfigMap that may not be read counts as unchanged, and a new source in it as one that is accepted', async () => {
  const same = await planned(withSources('a.tql'), {});
  expect(same).toEqual({
    steps: [],
    end: 'DatabaseReady',
    notes: [
      'ConfigMap shop/schema may not be read by you (get configmaps): this plan assumes that it exists, and is as it was applied',
    ],
  });
  const more = await planned(withSources('a.tql'), withSources('a.tql', 'b.tql'));
  expect(more.steps).toEqual([
    'try schema sources on database "orders" without effect: configmap/schema/b.tql',
    'apply schema sources to database "orders": configmap/schema/b.tql',
  ]);
  expect(more.end).toBe('DatabaseReady');
});
