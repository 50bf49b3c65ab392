import { describe, expect, it } from 'vitest';
import { aWorld, type Specs } from '../../test/support/planned-world.ts';
import { CLUSTER_SPEC } from '../../test/support/specs.ts';
import { SECRETS } from '../kube/api.ts';
import type { Plan } from './outcome.ts';
import { makePlan } from './plan.ts';

/* Clones, as an operator makes them and as a plan says that it will. */

type World = Awaited<ReturnType<typeof aWorld>>;
const stepsOf = ({ steps }: Plan) => steps.map(({ name, description }) => `${name}: ${description}`);
const endsOf = ({ outcomes }: Plan) => outcomes.slice(1).map(({ name, end }) => `${name} ${end?.ready} ${end?.reason}`);
const plan = async (world: World, specs: Specs) => makePlan(await world.input(specs), world.clock);
const done = async (world: World, specs: Specs) => world.stepsSince(() => world.apply(specs));
const { provider, region, machineType, storageSizeGB, version } = CLUSTER_SPEC;
const FOREIGN = { provider, region, machineType, storageSizeGB, version };

/** A cluster that somebody else made, with a login that Secret `legacy` holds. */
async function legacyWorld(): Promise<World> {
  // So that work on both objects goes on at once.
  const world = await aWorld({}, 10);
  world.simulator.deployForeign({ id: 'lg1', ...FOREIGN });
  world.simulator.setPassword('lg1', 'admin', 'legacy-password');
  const data = { username: btoa('admin'), password: btoa('legacy-password') };
  await world.kube.create(SECRETS, 'shop', { metadata: { name: 'legacy' }, data });
  await world.clock.advance(100_000);
  return world;
}

const ADOPTED = {
  ...CLUSTER_SPEC,
  adoptionPolicy: 'MustExist',
  adminCredentials: { existingSecretRef: { name: 'legacy' } },
};
const CLONE = { ...CLUSTER_SPEC, cloneFrom: { clusterRef: { name: 'lg1' } } };

describe('A clone that is applied together with its source', () => {
  it.each(['the clone first', 'the source first'])(
    'is made once the source has its own login, and works, as planned: %s',
    async (order) => {
      const both = [
        ['DatabaseCluster cl1', CLONE],
        ['DatabaseCluster lg1', ADOPTED],
      ] as const;
      const specs = Object.fromEntries(order === 'the clone first' ? both : both.toReversed());
      const world = await legacyWorld();
      const planned = await plan(world, specs);
      world.simulator.setKnobs({ latencyMs: [50, 50] });
      const steps = await done(world, specs);
      expect(steps.indexOf('DatabaseCluster shop/cl1: clone cluster "lg1" to "cl1"')).toBeGreaterThan(
        steps.indexOf('DatabaseCluster shop/lg1: make the new password the one in the admin Secret'),
      );
      expect(stepsOf(planned)).toEqual(steps);
      expect(endsOf(planned).toSorted()).toEqual([
        'DatabaseCluster shop/cl1 True Running',
        'DatabaseCluster shop/lg1 True Running',
      ]);
      expect(endsOf(await plan(world, specs)).toSorted()).toEqual(endsOf(planned).toSorted());
      await world.end();
    },
  );
});

describe('Clones of one another', () => {
  it('are stalled, as planned, until one of them is something else', async () => {
    const clone = (name: string) => ({ ...CLUSTER_SPEC, cloneFrom: { clusterRef: { name } } });
    const specs = Object.fromEntries(
      ['y3', 'y4', 'y5'].map((name, index, all) => [`DatabaseCluster ${name}`, clone(all[(index + 1) % 3] ?? '')]),
    );
    const world = await aWorld({});
    const planned = await plan(world, specs);
    expect(stepsOf(planned)).toEqual([]);
    expect(endsOf(planned)).toEqual(['y3', 'y4', 'y5'].map((name) => `DatabaseCluster shop/${name} False InvalidSpec`));
    await world.apply(specs);
    expect(endsOf(await plan(world, specs))).toEqual(endsOf(planned));
    await world.remove('DatabaseCluster y5');
    const changed = { ...specs, 'DatabaseCluster y5': CLUSTER_SPEC };
    await world.apply(changed);
    expect(endsOf(await plan(world, changed)).toSorted()).toEqual(
      ['y3', 'y4', 'y5'].map((name) => `DatabaseCluster shop/${name} True Running`),
    );
    await world.end();
  });
});
