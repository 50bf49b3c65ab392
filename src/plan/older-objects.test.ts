import { describe, expect, it } from 'vitest';
import { aWorld, ON_ORDERS } from '../../test/support/planned-world.ts';
import { CLUSTER_SPEC } from '../../test/support/specs.ts';
import { DATABASE_CLUSTERS } from '../kinds/databasecluster/resource.ts';
import { DATABASE_SPACES } from '../kinds/databasespace/resource.ts';
import { makePlan } from './plan.ts';
import { severityOf } from './severity.ts';

/* Objects that are older than a rule of their definition, and what is being deleted already. */

const CLUSTER = 'DatabaseCluster orders';
const ENDS = { ...CLUSTER_SPEC, deletionPolicy: 'Delete' };
const REF = { namespace: 'shop', name: 'orders' };

async function olderWorld() {
  const world = await aWorld({ [CLUSTER]: ENDS, 'DatabaseUser app': ON_ORDERS });
  await world.kube.patch(DATABASE_CLUSTERS, REF, { spec: { storageSizeGB: 5 } });
  await world.clock.advance(900_000);
  return world;
}

describe('makePlan() of an object that is older than the rules', () => {
  it.each([true, false])('has nothing else to do once the files mend it (the cloud was asked: %s)', async (isAsked) => {
    const world = await olderWorld();
    const mended = { [CLUSTER]: ENDS };
    const input = await world.input(mended);
    const plan = await makePlan(isAsked ? input : { ...input, listed: new Map() }, world.clock);
    expect(plan.steps).toEqual([]);
    expect(plan.outcomes.map(({ end }) => end?.reason)).toEqual(['Observed', 'Running', 'LoginWorks']);
    expect(await world.stepsSince(() => world.apply(mended))).toEqual([]);
    await world.end();
  });

  it('tells what is destroyed once it is corrected', async () => {
    const world = await olderWorld();
    const plan = await makePlan(await world.input({}, [CLUSTER]), world.clock);
    expect(severityOf(plan)).toBe('destroys');
    expect(plan.outcomes.find(({ name }) => name.startsWith('DatabaseCluster'))).toMatchObject({
      end: { reason: 'InvalidSpec' },
      later: 'destroy cluster "orders" and its data',
    });
    await world.end();
  });

  it('says of a DatabaseSpace that an operator may go on with its connection', async () => {
    const world = await aWorld({ [CLUSTER]: ENDS });
    await world.kube.patch(DATABASE_SPACES, { namespace: 'shop', name: 'production' }, { spec: { pollInterval: 'x' } });
    await world.clock.advance(900_000);
    const { objects, ...input } = await world.input({}, [CLUSTER]);
    const asTheyAre = objects.map((each) =>
      each.definition.kind === 'DatabaseSpace' ? { ...each, wanted: each.live } : each,
    );
    const plan = await makePlan({ ...input, objects: asTheyAre }, world.clock);
    expect(plan.notes).toEqual([expect.stringContaining('goes on with the earlier connection until it restarts')]);
    await world.end();
  });
});

describe('makePlan() of an object that is being deleted', () => {
  it('tells what is destroyed later, as before', async () => {
    const world = await aWorld({ [CLUSTER]: CLUSTER_SPEC, 'DatabaseUser app': ON_ORDERS });
    await world.apply({ [CLUSTER]: { ...CLUSTER_SPEC, state: 'Suspended' } });
    const before = await makePlan(await world.input({}, ['DatabaseUser app']), world.clock);
    await world.remove('DatabaseUser app');
    const plan = await makePlan(await world.input({}), world.clock);
    expect([severityOf(before), severityOf(plan)]).toEqual(['destroys', 'destroys']);
    expect(plan.outcomes.map(({ later }) => later)).toEqual(before.outcomes.map(({ later }) => later));
    await world.end();
  });

  it('tells that it goes, and what stays', async () => {
    const kept = { ...CLUSTER_SPEC, deletionPolicy: 'Retain' };
    const world = await aWorld({ [CLUSTER]: { ...kept, deletionProtection: true } });
    await world.remove(CLUSTER);
    const plan = await makePlan(await world.input({ [CLUSTER]: kept }), world.clock);
    expect(plan.outcomes.at(-1)).toMatchObject({ end: undefined, stays: 'cluster "orders" stays in the cloud' });
    world.kube.put(DATABASE_CLUSTERS, { ...(await world.kube.get(DATABASE_CLUSTERS, REF)), spec: kept } as never);
    const unseen = await makePlan(await world.input({}), world.clock);
    expect([unseen.outcomes.at(-1)?.change, severityOf(unseen)]).toEqual(['none', 'changes']);
    await world.end();
  });
});

it('makePlan() tells which annotations of Mooring are set', async () => {
  const world = await aWorld({ [CLUSTER]: CLUSTER_SPEC });
  const { objects, ...input } = await world.input({});
  const paused = objects.map((each) => {
    const { live } = each;
    if (each.definition.kind !== 'DatabaseCluster' || live === undefined) return each;
    const annotations = { 'mooring.dev/paused': 'true', 'example.com/team': 'shop' };
    return { ...each, wanted: { ...live, metadata: { ...live.metadata, annotations } } };
  });
  const plan = await makePlan({ ...input, objects: paused }, world.clock);
  expect(plan.outcomes.at(-1)).toMatchObject({
    change: 'update',
    fields: [{ path: 'metadata.annotations.mooring.dev/paused', from: undefined, to: 'true' }],
  });
  expect(severityOf(plan)).toBe('changes');
  await world.end();
});
