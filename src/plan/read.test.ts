import { expect, it, vi } from 'vitest';
import { aWorld, ON_ORDERS } from '../../test/support/planned-world.ts';
import { CLUSTER_SPEC } from '../../test/support/specs.ts';
import type { KubeClient } from '../kube/client.ts';
import type { PlannedObject } from './objects.ts';
import { readObjects } from './read.ts';

it('readObjects() tells of the objects as they are, too, without a further list', async () => {
  const world = await aWorld({ 'DatabaseCluster orders': CLUSTER_SPEC, 'DatabaseUser app': ON_ORDERS });
  const list = vi.spyOn(world.kube, 'list');
  const given = { namespace: 'default', documents: [], deleted: new Set(['DatabaseUser shop/app']) };
  // Nothing is dry-run where there are no manifests.
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
