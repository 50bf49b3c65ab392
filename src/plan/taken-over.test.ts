import { describe, expect, it } from 'vitest';
import { aWorld, ON_ORDERS, SPACE, type Specs } from '../../test/support/planned-world.ts';
import { CLUSTER_SPEC } from '../../test/support/specs.ts';
import { SECRETS } from '../kube/api.ts';
import type { PlannedObject } from './objects.ts';
import type { Plan } from './outcome.ts';
import { makePlan } from './plan.ts';

/* Existing clusters that an object takes over: a plan does not ask their servers what is on them. */

const CLUSTER = 'DatabaseCluster orders';
const TAKEN = { [CLUSTER]: { ...CLUSTER_SPEC, adoptionPolicy: 'IfExists' } };
const BESIDE: Specs = {
  'DatabaseUser app': ON_ORDERS,
  'Database orders': { ...ON_ORDERS, schema: [{ inline: 'define entity person;' }] },
};

type World = Awaited<ReturnType<typeof aWorld>>;
const stepsOf = ({ steps }: Plan) => steps.map(({ name, description }) => `${name}: ${description}`).toSorted();
const endsOf = ({ outcomes }: Plan) => outcomes.map(({ name, end }) => `${name} ${end?.reason}`);
const plan = async (world: World, specs: Specs) => makePlan(await world.input(specs), world.clock);
const done = async (world: World, specs: Specs) => (await world.stepsSince(() => world.apply(specs))).toSorted();

/** Its object was deleted, and it stayed, with everything on it. */
async function keptWorld(): Promise<World> {
  const world = await aWorld({ [CLUSTER]: CLUSTER_SPEC, ...BESIDE });
  await world.remove(CLUSTER);
  return world;
}

describe('makePlan() of a cluster that is taken over', () => {
  it('has nothing to do for a cluster that was kept, as its login, users and databases are known', async () => {
    const world = await keptWorld();
    const planned = await plan(world, { ...TAKEN, ...BESIDE });
    expect(stepsOf(planned)).toEqual([]);
    expect(endsOf(planned)).toEqual([
      'DatabaseSpace shop/production Observed',
      'DatabaseCluster shop/orders Running',
      'Database shop/orders DatabaseReady',
      'DatabaseUser shop/app LoginWorks',
    ]);
    expect(planned.notes).toEqual([]);
    expect(await done(world, { ...TAKEN, ...BESIDE })).toEqual([]);
    await world.end();
  });

  it('resumes a cluster that was suspended when its object was deleted, and applies no schema again', async () => {
    const world = await aWorld({ [CLUSTER]: { ...CLUSTER_SPEC, deletionPolicy: 'Suspend' }, ...BESIDE });
    await world.remove(CLUSTER);
    const planned = await plan(world, { ...TAKEN, ...BESIDE });
    expect(stepsOf(planned)).toEqual(['DatabaseCluster shop/orders: resume cluster "orders"']);
    expect(await done(world, { ...TAKEN, ...BESIDE })).toEqual(stepsOf(planned));
    await world.end();
  });

  it('does what else is due, and says what it cannot know', async () => {
    const world = await keptWorld();
    const wanted = { ...TAKEN, ...BESIDE, 'DatabaseUser report': ON_ORDERS };
    const planned = await plan(world, wanted);
    expect(stepsOf(planned)).toEqual(await done(world, wanted));
    expect(stepsOf(planned)).toContain('DatabaseUser shop/report: create user "report"');
    expect(planned.notes).toEqual([
      'It is not known what is on the server of cluster "orders", which DatabaseCluster shop/orders takes over if no object in another namespace has it, until that server is asked: this plan assumes that user "report" does not exist',
    ]);
    await world.end();
  });

  it('says so if its Secret may not be read', async () => {
    const world = await keptWorld();
    const planned = await makePlan(
      { ...(await world.input({ ...TAKEN, ...BESIDE })), secrets: new Map() },
      world.clock,
    );
    expect(stepsOf(planned)).toEqual([]);
    expect(planned.notes.join()).toMatch(/this plan assumes that the login in Secret "orders-admin" works$/);
    await world.end();
  });

  it('knows that its login is lost if its Secret is gone', async () => {
    const world = await keptWorld();
    const input = await world.input({ ...TAKEN, ...BESIDE });
    const secrets = new Map([...input.secrets, ['shop/orders-admin', undefined] as const]);
    const planned = await makePlan({ ...input, secrets }, world.clock);
    expect(stepsOf(planned)).toEqual([]);
    expect(endsOf(planned)).toContain('DatabaseCluster shop/orders DefaultLoginRefused');
    await world.end();
  });

  it('assumes that a foreign cluster has the login of new clusters, or the one that the object names', async () => {
    const world = await aWorld({});
    world.simulator.deployForeign({ id: 'orders', version: CLUSTER_SPEC.version });
    await world.clock.advance(100_000);
    const foreign = await plan(world, TAKEN);
    // Anybody who uses that login is signed out.
    const replaces = ({ steps }: Plan) =>
      steps.filter(({ weight }) => weight === 'interrupts').map((step) => step.description);
    expect(replaces(foreign)).toEqual([
      'replace the password of the admin user of cluster "orders"',
      'update cluster "orders": storageSizeGB, machineType',
    ]);
    expect(foreign.notes.join()).toMatch(/this plan assumes that the login that new clusters come with works$/);
    const named = (name: string) => ({
      [CLUSTER]: { ...TAKEN[CLUSTER], adminCredentials: { existingSecretRef: { name } } },
    });
    const data = { username: 'YWRtaW4=', password: 'ZXhpc3Rpbmc=' };
    await world.kube.create(SECRETS, 'shop', { metadata: { name: 'theirs' }, data });
    const existing = await plan(world, named('theirs'));
    expect(existing.notes.join()).toMatch(/this plan assumes that the login in existingSecretRef works$/);
    expect(replaces(existing)).toContain('replace the password of the admin user of cluster "orders"');
    expect(endsOf(existing)).toContain('DatabaseCluster shop/orders Running');
    expect(endsOf(await plan(world, named('nope')))).toContain('DatabaseCluster shop/orders SecretNotFound');
    await world.end();
  });

  it('says so for a cluster that was only observed when it should be managed, and not before', async () => {
    const observed = { ...TAKEN[CLUSTER], managementPolicy: 'Observe' };
    const world = await aWorld({});
    world.simulator.deployForeign({ id: 'orders', version: CLUSTER_SPEC.version });
    await world.apply({ [CLUSTER]: observed });
    const same = await plan(world, { [CLUSTER]: observed });
    expect([stepsOf(same), same.notes]).toEqual([[], []]);
    const managed = await plan(world, TAKEN);
    expect(managed.notes).toHaveLength(1);
    const found = await done(world, TAKEN);
    expect(stepsOf(managed)).toEqual(found.filter((step, index) => step !== found[index - 1]));
    await world.end();
  });

  it('says so for a cluster that replaced another when a person accepts it, and not before', async () => {
    const world = await aWorld({ [CLUSTER]: CLUSTER_SPEC });
    world.simulator.replaceCluster('orders');
    await world.clock.advance(100_000);
    expect((await plan(world, {})).notes).toEqual([]);
    const [cluster] = world.simulator.clusters();
    const annotations = { 'mooring.dev/accept-identity': new Date(cluster?.createdAt ?? 0).toISOString() };
    const { objects, ...rest } = await world.input({});
    const accepted = objects.map((object): PlannedObject => {
      const { wanted } = object;
      return wanted === undefined || object.definition.kind !== 'DatabaseCluster'
        ? object
        : { ...object, wanted: { ...wanted, metadata: { ...wanted.metadata, annotations } } };
    });
    const planned = await makePlan({ ...rest, objects: accepted }, world.clock);
    expect(endsOf(planned)).toContain('DatabaseCluster shop/orders Running');
    expect(planned.notes).toHaveLength(1);
    await world.end();
  });
});

describe('makePlan() of users and databases that others made', () => {
  // Its servers are looked at regularly.
  const LOOKED_AT = { ...SPACE, baseURL: 'https://cloud.simulator.test', verifyInterval: '10m' };
  const SPECS: Specs = {
    'DatabaseSpace production': LOOKED_AT,
    [CLUSTER]: CLUSTER_SPEC,
    'DatabaseUser app': { ...ON_ORDERS, deletionPolicy: 'Retain' },
    'Database orders': ON_ORDERS,
  };
  const ADOPTED: Specs = {
    ...SPECS,
    'DatabaseUser app': { ...ON_ORDERS, deletionPolicy: 'Retain', adoptionPolicy: 'IfExists' },
    'Database orders': { ...ON_ORDERS, adoptionPolicy: 'IfExists' },
  };

  it('leaves them alone, as the objects say that they exist, and takes them over as it would be done', async () => {
    const world = await aWorld(SPECS);
    await world.remove('DatabaseUser app');
    await world.remove('Database orders');
    // With its password, the user could be taken for the object's.
    world.kube.remove(SECRETS, { namespace: 'shop', name: 'app-connection' });
    await world.apply(SPECS);
    const planned = await plan(world, SPECS);
    expect(stepsOf(planned)).toEqual([]);
    expect(endsOf(planned)).toEqual([
      'DatabaseSpace shop/production Observed',
      'DatabaseCluster shop/orders Running',
      'Database shop/orders DatabaseExists',
      'DatabaseUser shop/app UserExists',
    ]);
    const adopting = await plan(world, ADOPTED);
    expect(endsOf(adopting).slice(2)).toEqual([
      'DatabaseUser shop/app LoginWorks',
      'Database shop/orders DatabaseReady',
    ]);
    expect(stepsOf(adopting)).toEqual(await done(world, ADOPTED));
    await world.end();
  });
});
