import { expect, it } from 'vitest';
import { aWorld, ON_ORDERS, SPACE } from '../../test/support/planned-world.ts';
import { CLUSTER_SPEC } from '../../test/support/specs.ts';
import type { Cluster } from '../cloud/schema.ts';
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

it.each(['db.example.com:443', 'DB.example.com:8000'])(
  'A server at %s is the one that requests go to, which leave out the usual port and upper case',
  async (address) => {
    const specs = { 'DatabaseCluster orders': CLUSTER_SPEC, 'DatabaseUser app': ON_ORDERS };
    const world = await aWorld(specs);
    const input = await world.input(specs);
    const listed = new Map([...input.listed].map(([space, clusters]) => [space, clusters.map(at(address))]));
    const { outcomes } = await makePlan({ ...input, listed }, world.clock);
    expect(outcomes.map(({ name, end }) => `${name} ${end?.ready}`)).toEqual([
      'DatabaseSpace shop/production True',
      'DatabaseCluster shop/orders True',
      'DatabaseUser shop/app True',
    ]);
    await world.end();
  },
);

function at(address: string): (cluster: Cluster) => Cluster {
  return (cluster) => ({ ...cluster, servers: [{ address, status: 'running' }] });
}
