import { expect, test } from 'vitest';
import * as z from 'zod';
import { foreign } from './scenario.ts';
import { SPACES } from './view.ts';
import { World } from './world.ts';

const statusSchema = z.object({
  clusters: z.object({ managed: z.number(), total: z.number() }).optional(),
  unmanagedClusters: z.array(z.object({ clusterID: z.string() })).default([]),
});

/** What the space reports: how many clusters are managed, how many exist, and which nobody manages. */
function counted({ view }: World): readonly unknown[] {
  const status = statusSchema.parse(view.object('production', SPACES)?.['status']);
  return [status.clusters?.managed, status.clusters?.total, ...status.unmanagedClusters.map((each) => each.clusterID)];
}

test('a space counts a cluster within a second of its object being created or deleted, without asking the cloud', async () => {
  const world = new World(undefined);
  const { simulator, clock } = world;
  foreign(world, 'legacy', true);
  await world.start();
  await world.until(() => counted(world).join() === '0,1,legacy', 'the space has counted');
  await world.until(() => world.view.clusters().every(({ status }) => status === 'running'), 'it runs');
  await clock.advance(100_000);
  simulator.resetCounters();

  await world.createCluster({ managementPolicy: 'Observe', adoptionPolicy: 'MustExist' }, 'legacy');
  await clock.advance(1_000);
  expect([world.ready('legacy'), counted(world)]).toEqual(['True Observed', [1, 1]]);

  await world.remove('legacy');
  await clock.advance(1_000);
  expect([world.ready('legacy'), counted(world)]).toEqual(['gone', [0, 1, 'legacy']]);
  expect([simulator.inspect().counters.byOperation, world.invariants.violations]).toEqual([{}, []]);

  // A change that claims no cluster does not concern the space.
  const before = world.view.object('production', SPACES)?.metadata.resourceVersion;
  await world.createCluster({ managementPolicy: 'Observe', adoptionPolicy: 'MustExist' }, 'absent');
  await clock.advance(1_000);
  expect(world.view.object('production', SPACES)?.metadata.resourceVersion).toBe(before);
  world.stop();
});

test("a cluster that an object only names, and that is left alone, is nobody's until the object takes it over", async () => {
  const world = new World(undefined);
  foreign(world, 'legacy', true);
  await world.start();
  await world.createCluster({}, 'legacy');
  await world.until(() => world.ready('legacy') === 'False ClusterIDInUse', 'it is left alone');
  await world.clock.advance(1_000);
  expect(counted(world)).toEqual([0, 1, 'legacy']);
  // So the space is free to name another one.
  expect(world.view.object('production', SPACES)?.['status']).toMatchObject({ clusters: { own: 0 } });

  await world.people.edit({ spec: { adoptionPolicy: 'IfExists' } }, 'legacy');
  await world.until(() => world.ready('legacy').startsWith('True'), 'it is taken over');
  await world.clock.advance(1_000);
  expect([counted(world), world.invariants.violations]).toEqual([[1, 1], []]);
  world.stop();
});
