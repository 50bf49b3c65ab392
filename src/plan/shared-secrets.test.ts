import { describe, expect, it } from 'vitest';
import { aWorld, ON_ORDERS, SPACE } from '../../test/support/planned-world.ts';
import { encoded } from '../../test/support/secrets.ts';
import { CLUSTER_SPEC } from '../../test/support/specs.ts';
import { SECRETS } from '../kube/api.ts';
import { makePlan } from './plan.ts';

/* A user whose own password is a value that something else uses, too: the copy has one value for both. */

it.each([
  ['cloud-write', 'clientSecret'],
  ['factory-login', 'username'],
  ['before', 'password'],
])('nothing is to be done for a user whose own password is in Secret %s, as %s', async (name, key) => {
  const data = { username: 'admin', password: 'of before' };
  const specs = {
    'DatabaseCluster orders': { ...CLUSTER_SPEC, adminCredentials: { existingSecretRef: { name: 'before' } } },
    'DatabaseUser app': ON_ORDERS,
    'DatabaseUser own': { ...ON_ORDERS, passwordSecretRef: { name, key } },
  };
  const world = await aWorld({});
  await world.kube.create(SECRETS, 'shop', { metadata: { name: 'before' }, data: encoded(data) });
  for (const each of ['cloud-write', 'factory-login', 'before']) await manyVersions(world, each);
  await world.apply(specs);
  for (const listed of [(await world.input(specs)).listed, new Map()]) {
    const { steps, outcomes } = await makePlan({ ...(await world.input(specs)), listed }, world.clock);
    const ends = outcomes.map((outcome) => `${outcome.name} ${outcome.end?.reason}`);
    expect(ends).toContain('DatabaseUser shop/own LoginWorks');
    expect(steps).toEqual([]);
  }
  const removed = { ...specs, 'DatabaseUser own': ON_ORDERS };
  const { steps } = await makePlan(await world.input(removed), world.clock);
  expect(steps.map(({ description }) => description)).toEqual(await stepsOf(world, removed));
  await world.end();
});

/** So that no copy of the Secret has its version by chance. */
async function manyVersions({ kube }: Awaited<ReturnType<typeof aWorld>>, name: string): Promise<void> {
  for (let index = 0; index < 100; index++)
    await kube.patch(SECRETS, { namespace: 'shop', name }, { metadata: { labels: { index: `${index}` } } });
}

describe.each(['before', 'zz-after'])('A DatabaseSpace %s that names the tokens of another one', (name) => {
  it.each<[string, object, string]>([
    ['for another space', { spaceID: 'staging' }, 'Observed'],
    ['for a space that does not exist', { spaceID: 'gone' }, 'Observed'],
    ['for another team', { teamID: 'other' }, 'AccessDenied'],
    ['for less', { apiTokens: [{ level: 'read', secretRef: { name: 'cloud-admin' } }] }, 'Observed'],
  ])('%s changes no plan for that one', async (_what, fields, end) => {
    const space = { ...SPACE, baseURL: 'https://cloud.simulator.test', ...fields };
    const specs = {
      'DatabaseCluster orders': { ...CLUSTER_SPEC, deletionPolicy: 'Delete' },
      [`DatabaseSpace ${name}`]: space,
    };
    const world = await aWorld(specs);
    const input = await world.input(specs, ['DatabaseCluster orders']);
    for (const listed of [input.listed, new Map()]) {
      const { steps, outcomes } = await makePlan({ ...input, listed }, world.clock);
      expect(steps.map(({ description }) => description)).toEqual([
        'destroy cluster "orders" and its data',
        'delete the admin Secret, if there is one, as this object has no cluster',
      ]);
      const ends = outcomes.map((outcome) => `${outcome.name} ${outcome.end?.reason}`);
      expect(ends).toContain('DatabaseSpace shop/production Observed');
      expect(ends).toContain(`DatabaseSpace shop/${name} ${end}`);
    }
    await world.end();
  });
});

it('each of two teams in one cloud has tokens of its own', async () => {
  const apiTokens = ['read', 'write', 'admin'].map((level) => ({ level, secretRef: { name: `other-${level}` } }));
  const specs = {
    'DatabaseSpace another': { ...SPACE, baseURL: 'https://cloud.simulator.test', teamID: 'other', apiTokens },
    'DatabaseCluster orders': CLUSTER_SPEC,
    'DatabaseCluster more': { ...CLUSTER_SPEC, spaceRef: { name: 'another' } },
  };
  const world = await aWorld({});
  for (const { secretRef } of apiTokens)
    await world.kube.create(SECRETS, 'shop', { metadata: secretRef, data: { clientID: 'eA==', clientSecret: 'eA==' } });
  const { outcomes } = await makePlan(await world.input(specs), world.clock);
  expect(outcomes.map(({ name, end }) => `${name} ${end?.reason}`).toSorted()).toEqual([
    'DatabaseCluster shop/more Running',
    'DatabaseCluster shop/orders Running',
    'DatabaseSpace shop/another Observed',
    'DatabaseSpace shop/production Observed',
  ]);
  await world.end();
});

async function stepsOf(world: Awaited<ReturnType<typeof aWorld>>, specs: Parameters<typeof world.apply>[0]) {
  const steps = await world.stepsSince(() => world.apply(specs));
  return steps.map((step) => step.replace(/^\S+ \S+: /, ''));
}

it('A user with an own password stays Ready on a cluster that is suspended', async () => {
  const specs = {
    'DatabaseCluster orders': CLUSTER_SPEC,
    'DatabaseUser own': { ...ON_ORDERS, passwordSecretRef: { name: 'cloud-write', key: 'clientSecret' } },
  };
  const world = await aWorld({});
  await manyVersions(world, 'cloud-write');
  await world.apply(specs);
  const asleep = { ...specs, 'DatabaseCluster orders': { ...CLUSTER_SPEC, state: 'Suspended' } };
  await world.apply(asleep);
  const { steps, outcomes } = await makePlan(await world.input(asleep), world.clock);
  expect(steps).toEqual([]);
  expect(outcomes.map(({ name, end }) => `${name} ${end?.ready} ${end?.reason}`)).toContain(
    'DatabaseUser shop/own True ClusterSuspended',
  );
  await world.end();
});
