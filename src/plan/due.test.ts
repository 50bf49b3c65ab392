import { describe, expect, it } from 'vitest';
import { aWorld, ON_ORDERS, type Specs } from '../../test/support/planned-world.ts';
import { CLUSTER_SPEC } from '../../test/support/specs.ts';
import { markDue, ownOf } from './due.ts';
import { makePlan } from './plan.ts';
import { severityOf } from './severity.ts';

const CLUSTER = 'DatabaseCluster orders';
const ON_MORE = { clusterRef: { name: 'more' } };

/** As the command makes it: from these files, or from a deletion. */
async function planned(world: Awaited<ReturnType<typeof aWorld>>, files: Specs, deleted: readonly string[] = []) {
  const names = [...Object.keys(files), ...deleted].map((name) => name.replace(' ', ' shop/'));
  const input = await world.input(files, deleted);
  const before = await world.input({});
  const plan = await makePlan(input, world.clock);
  return markDue(plan, new Set(names), () => makePlan(before, world.clock));
}

describe('markDue()', () => {
  it('does not count what is due anyway', async () => {
    const waits = { ...ON_MORE, passwordSecretRef: { name: 'nope' } };
    const world = await aWorld({
      [CLUSTER]: CLUSTER_SPEC,
      'DatabaseCluster more': CLUSTER_SPEC,
      'DatabaseUser stuck': waits,
    });
    const plan = await planned(world, { [CLUSTER]: CLUSTER_SPEC });
    expect(plan.outcomes.filter(({ alsoDue }) => alsoDue).map(({ name }) => name)).toEqual(['DatabaseUser shop/stuck']);
    expect(severityOf(plan)).toBe('nothing');
    expect(ownOf(plan).outcomes.map(({ name }) => name)).not.toContain('DatabaseUser shop/stuck');
    const asked = await planned(world, { 'DatabaseUser stuck': waits });
    expect(asked.outcomes.filter(({ alsoDue }) => alsoDue)).toEqual([]);
    const given = await planned(world, { 'DatabaseUser stuck': ON_MORE });
    expect(severityOf(given)).toBe('changes');
    await world.end();
  });

  it('counts what happens to others because of it', async () => {
    const world = await aWorld({ [CLUSTER]: { ...CLUSTER_SPEC, deletionPolicy: 'Delete' } });
    await world.apply({ 'DatabaseCluster second': { ...CLUSTER_SPEC, clusterID: 'orders' } });
    const kept = await planned(world, { 'DatabaseUser app': ON_ORDERS });
    expect(kept.outcomes.filter(({ alsoDue }) => alsoDue).map(({ name }) => name)).toEqual([
      'DatabaseCluster shop/second',
    ]);
    const freed = await planned(world, {}, [CLUSTER]);
    expect(freed.outcomes.filter(({ alsoDue }) => alsoDue)).toEqual([]);
    expect(ownOf(freed).steps.map(({ name, description }) => `${name}: ${description}`)).toContain(
      'DatabaseCluster shop/second: deploy cluster "orders"',
    );
    await world.end();
  });
});

describe('what a pending deletion destroys later', () => {
  it('is nothing for a space, and its contents for any other object', async () => {
    const suspended = { ...CLUSTER_SPEC, state: 'Suspended' };
    const world = await aWorld({ [CLUSTER]: CLUSTER_SPEC, 'DatabaseUser app': ON_ORDERS, 'Database kept': ON_ORDERS });
    const laterOf = async (deleted: readonly string[]) => {
      const plan = await planned(world, {}, deleted);
      return [severityOf(plan), plan.outcomes.flatMap(({ later }) => later ?? [])];
    };
    expect(await laterOf(['DatabaseSpace production'])).toEqual(['changes', []]);
    await world.apply({ [CLUSTER]: suspended });
    expect(await laterOf(['DatabaseUser app', 'Database kept'])).toEqual(['destroys', ['delete user "app"']]);
    await world.end();
  });
});
