import { describe, expect, it } from 'vitest';
import { aWorld, ON_ORDERS, type Specs } from '../../test/support/planned-world.ts';
import { CLUSTER_SPEC } from '../../test/support/specs.ts';
import type { PlannedObject } from './objects.ts';
import type { Plan } from './outcome.ts';
import { makePlan } from './plan.ts';

const SPACE_NAME = 'DatabaseSpace shop/production';
const CLUSTER_NAME = 'DatabaseCluster shop/orders';
const ASSUMED = 'this plan assumes that it exists and works';
const LONG_AGO = '2026-11-01T00:00:00Z';
const nameOf = ({ definition, key }: PlannedObject) => `${definition.kind} ${key}`;

const WHOLE: Specs = {
  'DatabaseCluster orders': { ...CLUSTER_SPEC, deletionPolicy: 'Delete' },
  'DatabaseUser app': ON_ORDERS,
  'Database orders': { ...ON_ORDERS, deletionPolicy: 'Delete', schema: [{ inline: 'define entity order;' }] },
};
const RENAMED = { ...ON_ORDERS, connectionSecret: { name: 'login' } };
const CLONE = { spaceRef: CLUSTER_SPEC.spaceRef, cloneFrom: { clusterRef: { name: 'orders' } } };
const SUSPENDED: Specs = { ...WHOLE, 'DatabaseCluster orders': { ...CLUSTER_SPEC, state: 'Suspended' } };

/** The plan for all objects, and the plan of somebody who may not read some. Both as steps and ends of those that they may read. */
async function twoPlans(specs: Specs, unread: readonly string[], wanted: Specs, deleted: readonly string[] = []) {
  const world = await aWorld(WHOLE);
  await world.apply(specs);
  const input = await world.input(wanted, deleted);
  const whole = await makePlan(input, world.clock);
  const objects = input.objects.filter((object) => !unread.includes(nameOf(object)));
  // Which space an unread cluster is in nobody knows.
  const needed = unread.filter((name) => name !== SPACE_NAME || !unread.includes(CLUSTER_NAME));
  const partial = await makePlan({ ...input, objects, unread: needed, listed: new Map() }, world.clock);
  await world.end();
  const told = ({ steps, outcomes }: Plan) => ({
    steps: steps.filter(({ name }) => !unread.includes(name)),
    ends: outcomes.flatMap(({ name, end, stays }) => (unread.includes(name) ? [] : [[name, end?.reason, stays]])),
  });
  return {
    whole: told(whole),
    partial: told(partial),
    notes: partial.notes,
    names: partial.outcomes.map(({ name }) => name),
  };
}

describe('a plan of somebody who may not read the cluster', () => {
  it.each<[string, Specs, Specs, readonly string[]]>([
    ['nothing changes', WHOLE, WHOLE, []],
    ['what is on it is deleted', WHOLE, WHOLE, ['DatabaseUser app', 'Database orders']],
    ['more comes onto it', WHOLE, { ...WHOLE, 'DatabaseUser more': ON_ORDERS, 'Database more': ON_ORDERS }, []],
    [
      'a schema changes',
      WHOLE,
      { ...WHOLE, 'Database orders': { ...ON_ORDERS, schema: [{ inline: 'define entity sale;' }] } },
      [],
    ],
    ['a Secret is renamed', WHOLE, { ...WHOLE, 'DatabaseUser app': RENAMED }, []],
    ['it is suspended', SUSPENDED, SUSPENDED, []],
    ['what is on a suspended one is deleted', SUSPENDED, SUSPENDED, ['DatabaseUser app', 'Database orders']],
  ])('is the same if %s', async (_, specs, wanted, deleted) => {
    const { whole, partial, notes, names } = await twoPlans(specs, [SPACE_NAME, CLUSTER_NAME], wanted, deleted);
    expect(partial).toEqual(whole);
    expect(notes).toEqual([`${CLUSTER_NAME} may not be read by you (get databaseclusters): ${ASSUMED}`]);
    expect(names.filter((name) => [SPACE_NAME, CLUSTER_NAME].includes(name))).toEqual([]);
  });

  it('shows what destroys data', async () => {
    const { partial } = await twoPlans(WHOLE, [SPACE_NAME, CLUSTER_NAME], WHOLE, ['Database orders']);
    expect(partial.steps).toEqual([
      {
        name: 'Database shop/orders',
        description: 'delete database "orders" and its data',
        weight: 'destroys',
      },
    ]);
  });
});

describe('a plan of somebody who may not read the space', () => {
  it.each<[string, Specs, readonly string[]]>([
    ['nothing changes', WHOLE, []],
    ['the cluster is deleted', WHOLE, ['DatabaseCluster orders']],
    ['it gets another id', { ...WHOLE, 'DatabaseCluster orders': { ...CLUSTER_SPEC, clusterID: 'sales' } }, []],
    ['it is cloned', { ...WHOLE, 'DatabaseCluster copy': CLONE }, []],
    ['it grows', { ...WHOLE, 'DatabaseCluster orders': { ...CLUSTER_SPEC, storageSizeGB: 300 } }, []],
    [
      'another one is created',
      { ...WHOLE, 'DatabaseCluster more': CLUSTER_SPEC, 'DatabaseUser more': { clusterRef: { name: 'more' } } },
      [],
    ],
  ])('is the same if %s', async (_, wanted, deleted) => {
    const { whole, partial, notes } = await twoPlans(WHOLE, [SPACE_NAME], wanted, deleted);
    expect(partial).toEqual(whole);
    expect(notes).toEqual([`${SPACE_NAME} may not be read by you (get databasespaces): ${ASSUMED}`]);
  });
});

it('believes objects that say that there is no such cluster', async () => {
  const world = await aWorld({ 'DatabaseUser app': { clusterRef: { name: 'none' } } });
  const input = await world.input({});
  const plan = await makePlan({ ...input, unread: ['DatabaseCluster shop/none'] }, world.clock);
  expect(plan.outcomes.map(({ end }) => end?.reason)).toContain('ClusterNotFound');
  expect(plan.notes).toEqual([expect.stringContaining('does not exist, as objects that need it say')]);
  await world.end();
});

it('says what waits now for a cluster that may not be read', async () => {
  const waiting = { ...WHOLE, 'DatabaseCluster orders': { ...CLUSTER_SPEC, spaceRef: { name: 'none' } } };
  const { notes } = await twoPlans(waiting, [CLUSTER_NAME], waiting);
  expect(notes[0]).toMatch(
    /works, although DatabaseUser shop.app says now: Waiting for DatabaseCluster "orders".*\. Steps that need it wait until it does$/,
  );
});

it('says what waits now for a space that may not be read', async () => {
  const world = await aWorld(WHOLE);
  const input = await world.input(WHOLE);
  const objects = input.objects.flatMap((object) => {
    const { live } = object;
    if (nameOf(object) === SPACE_NAME || live === undefined) return [];
    const ready = { type: 'Ready', status: 'False', reason: 'WaitingForSpace', message: 'Waiting for it' };
    return [{ ...object, live: { ...live, status: { conditions: [{ ...ready, lastTransitionTime: LONG_AGO }] } } }];
  });
  const plan = await makePlan({ ...input, objects, unread: [SPACE_NAME], listed: new Map() }, world.clock);
  expect(plan.notes[0]).toContain(`${ASSUMED}, although ${CLUSTER_NAME} says now: Waiting for it. Steps`);
  await world.end();
});

it('knows that only some base URLs are allowed', async () => {
  const world = await aWorld(WHOLE);
  const input = await world.input(WHOLE);
  const objects = input.objects.filter((object) => nameOf(object) === 'DatabaseUser shop/app');
  const told = { allowHTTP: false, allowedBaseURLs: ['https://cloud.example.com'] };
  const plan = await makePlan({ ...input, objects, unread: [CLUSTER_NAME], listed: new Map(), told }, world.clock);
  expect(plan.outcomes.map(({ end }) => end?.reason)).toEqual(['LoginWorks']);
  await world.end();
});
