import { describe, expect, it } from 'vitest';
import { aWorld, type Specs } from '../../test/support/planned-world.ts';
import { CLUSTER_SPEC } from '../../test/support/specs.ts';
import { SECRETS } from '../kube/api.ts';
import { makePlan } from './plan.ts';

/* Clusters that cannot be secured, as the name of their Secret is taken: the plan says so, and none is created. */

const five = (secretName: string): Specs => ({
  'DatabaseCluster five': { ...CLUSTER_SPEC, adminCredentials: { secretName } },
});

async function planned(world: Awaited<ReturnType<typeof aWorld>>, specs: Specs) {
  const { steps, outcomes } = await makePlan(await world.input(specs), world.clock);
  const end = outcomes.find(({ name }) => name === 'DatabaseCluster shop/five')?.end;
  return [steps.map(({ description }) => description), `${end?.ready} ${end?.reason}`];
}

describe('A cluster whose Secret is not its own', () => {
  it.each(['factory-login', 'cloud-admin', 'orders-admin'])('is not created, as planned: %s', async (name) => {
    const specs = { 'DatabaseCluster orders': CLUSTER_SPEC, ...five(name) };
    const world = await aWorld({ 'DatabaseCluster orders': CLUSTER_SPEC });
    expect(await planned(world, specs)).toEqual([[], 'False SecretNotOurs']);
    expect(await world.stepsSince(() => world.apply(specs))).toEqual([]);
    expect(Array.from(world.simulator.clusters(), ({ id }) => id)).toEqual(['orders']);
    expect(await planned(world, specs)).toEqual([[], 'False SecretNotOurs']);
    await world.end();
  });

  it('is created within seconds when that is removed', async () => {
    const world = await aWorld({});
    await world.kube.create(SECRETS, 'shop', { metadata: { name: 'theirs' } });
    await world.apply(five('theirs'));
    const steps = await world.stepsSince(async () => {
      world.kube.remove(SECRETS, { namespace: 'shop', name: 'theirs' });
      await world.clock.advance(2_000);
    });
    expect(steps[0]).toBe('DatabaseCluster shop/five: deploy cluster "five"');
    await world.end();
  });
});
