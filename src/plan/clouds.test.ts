import { expect, it } from 'vitest';
import { aWorld, SPACE } from '../../test/support/planned-world.ts';
import { CLUSTER_SPEC } from '../../test/support/specs.ts';
import { makePlan } from './plan.ts';

it.each(['alias', 'zz-alias'])(
  'What the cloud lists counts for DatabaseSpace %s of the same place, whose tokens may not be read',
  async (name) => {
    const specs = {
      [`DatabaseSpace ${name}`]: { ...SPACE, baseURL: 'https://cloud.simulator.test' },
      'DatabaseCluster orders': { ...CLUSTER_SPEC, spaceRef: { name } },
    };
    const world = await aWorld(specs);
    world.simulator.vanish('orders');
    const input = await world.input(specs);
    const { outcomes } = await makePlan(input, world.clock);
    expect(outcomes.map((each) => `${each.name} ${each.end?.ready} ${each.end?.reason}`)).toContain(
      'DatabaseCluster shop/orders False ClusterMissing',
    );
    await world.end();
  },
);
