import { expect, it } from 'vitest';
import { aWorld, ON_ORDERS } from '../../test/support/planned-world.ts';
import { CLUSTER_SPEC } from '../../test/support/specs.ts';
import { makePlan } from './plan.ts';

const CLUSTER = 'DatabaseCluster orders';
const REPLACED = { [CLUSTER]: { ...CLUSTER_SPEC, recreatePolicy: 'Always' } };
const SLOW = [3_600_000, 3_600_000] as const;

it('makePlan() knows that a cluster in place of one that vanished has the login that new clusters come with', async () => {
  const world = await aWorld(REPLACED);
  world.simulator.setKnobs({ provisionMs: SLOW });
  world.simulator.vanish({ clusterID: 'orders' });
  await world.apply(REPLACED);
  // Its admin Secret, with the login of the one before, has another name from now on.
  const moved = { [CLUSTER]: { ...REPLACED[CLUSTER], adminCredentials: { secretName: 'orders-login' } } };
  await world.apply(moved);
  const plan = await makePlan(await world.input(moved), world.clock);
  expect(plan.outcomes.map(({ name, end }) => `${name} ${end?.reason}`)).toContain(
    'DatabaseCluster shop/orders Running',
  );
  expect(plan.steps.map(({ description }) => description)).toEqual([
    'write a new password to the admin Secret',
    'replace the password of the admin user of cluster "orders"',
    'make the new password the one in the admin Secret',
  ]);
  await world.end();
});

it('makePlan() tells that a connection Secret is corrected for a cluster in place of one that is gone', async () => {
  const ends = { [CLUSTER]: { ...CLUSTER_SPEC, deletionPolicy: 'Delete' } };
  const user = { 'DatabaseUser app': ON_ORDERS };
  const world = await aWorld({ ...ends, ...user });
  await world.remove(CLUSTER);
  const plan = await makePlan(await world.input({ ...ends, ...user }), world.clock);
  const told = plan.steps.map(({ name, description }) => `${name}: ${description}`);
  expect(told).toContain('DatabaseUser shop/app: correct the connection Secret');
  expect(new Set(await world.stepsSince(() => world.apply({ ...ends, ...user })))).toEqual(new Set(told));
  await world.end();
});
