import { describe, expect, it } from 'vitest';
import { aWorld, ON_ORDERS, SPACE } from '../../test/support/planned-world.ts';
import { CLUSTER_SPEC } from '../../test/support/specs.ts';
import { SECRETS } from '../kube/api.ts';
import { makePlan } from './plan.ts';

const CLUSTER = 'DatabaseCluster orders';

describe('The notes of makePlan()', () => {
  it('say that the login of new clusters is refused, even if steps follow in which it is assumed to work', async () => {
    const specs = { [CLUSTER]: CLUSTER_SPEC };
    const world = await aWorld({});
    const ref = { namespace: 'shop', name: 'factory-login' };
    await world.kube.patch(SECRETS, ref, { data: { password: Buffer.from('mistaken').toString('base64') } });
    await world.apply(specs);
    const { steps, notes } = await makePlan(await world.input(specs), world.clock);
    expect(steps).not.toEqual([]);
    expect(notes).toEqual([
      expect.stringMatching(
        /^DatabaseCluster shop\/orders is not Ready now, and nothing in this plan changes that: DefaultLoginRefused: /,
      ),
    ]);
    await world.end();
  });

  it('say that servers are assumed to answer at another serverURL', async () => {
    const specs = { [CLUSTER]: CLUSTER_SPEC, 'DatabaseUser app': ON_ORDERS, 'Database orders': ON_ORDERS };
    const world = await aWorld(specs);
    const serverURL = 'https://gateway.simulator.test/{host}/{port}';
    const space = { ...SPACE, baseURL: world.simulator.baseURL, serverURL };
    const { outcomes, notes } = await makePlan(
      await world.input({ ...specs, 'DatabaseSpace production': space }),
      world.clock,
    );
    expect(outcomes.map(({ end }) => end?.ready)).toEqual(['True', 'True', 'True', 'True']);
    expect(notes).toEqual([
      `serverURL of DatabaseSpace shop/production changes from https://{host}:{port} to ${serverURL}: this plan asks no server, and assumes that each answers there`,
    ]);
    await world.end();
  });

  it.each([
    ['has become wrong', true],
    ['is new', false],
  ])('say that an operator may do more in a space that %s, only if it was connected', async (_what, isKnown) => {
    const specs = isKnown ? { [CLUSTER]: CLUSTER_SPEC } : {};
    const world = await aWorld(specs);
    const wrong = { ...SPACE, baseURL: world.simulator.baseURL, caBundle: 'nonsense' };
    const name = isKnown ? 'production' : 'fresh';
    const cluster = { ...CLUSTER_SPEC, storageSizeGB: 200, spaceRef: { name } };
    const input = await world.input({ [`DatabaseSpace ${name}`]: wrong, [CLUSTER]: cluster });
    const { outcomes, notes } = await makePlan(input, world.clock);
    const space = outcomes.find((each) => each.name === `DatabaseSpace shop/${name}`);
    expect(space?.end).toMatchObject({ ready: 'False', reason: 'InvalidSpec' });
    const more =
      'DatabaseSpace shop/production ends with InvalidSpec, so nothing is done in it here. An operator that it worked for goes on with the earlier connection until it restarts: it may also do what this plan only shows as waiting';
    expect(notes).toEqual(isKnown ? [more] : []);
    await world.end();
  });

  it('say nothing of the kind about a space that is being deleted, which works until its clusters are gone', async () => {
    const spec = { ...CLUSTER_SPEC, deletionPolicy: 'Delete' };
    const world = await aWorld({ [CLUSTER]: spec });
    await world.remove('DatabaseSpace production');
    const changed = { [CLUSTER]: { ...spec, storageSizeGB: 200 } };
    const { steps, outcomes, notes } = await makePlan(await world.input(changed), world.clock);
    expect(steps.map(({ description }) => description)).toEqual(['update cluster "orders": storageSizeGB']);
    expect(outcomes[0]?.end).toMatchObject({ ready: 'Unknown', reason: 'InUse' });
    expect(notes).toEqual([]);
    await world.end();
  });

  it.each([
    ['a token may not do what is to be done', CLUSTER, 'AccessDenied'],
    ['a password of your own cannot be used', 'DatabaseUser app', 'InvalidPassword'],
  ])('say that %s, even if the plan does it', async (_what, refused, reason) => {
    const specs = {
      [CLUSTER]: CLUSTER_SPEC,
      'DatabaseUser app': { ...ON_ORDERS, passwordSecretRef: { name: 'mine' } },
    };
    // What it is on is there.
    const world = await aWorld(refused === CLUSTER ? {} : { [CLUSTER]: CLUSTER_SPEC });
    await world.kube.create(SECRETS, 'shop', { metadata: { name: 'mine' }, data: { password: 'bWluZQ==' } });
    const condition = {
      type: 'Ready',
      status: 'False',
      reason,
      message: '',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    };
    const status = { observedGeneration: 1, conditions: [{ ...condition, observedGeneration: 1 }] };
    const input = await world.input(specs);
    const objects = input.objects.map((each) => {
      const { wanted, definition, key } = each;
      const isRefused = `${definition.kind} ${key.slice('shop/'.length)}` === refused;
      if (wanted === undefined || !isRefused) return each;
      return { ...each, live: { ...wanted, metadata: { ...wanted.metadata, generation: 1 }, status } };
    });
    const { steps, notes } = await makePlan({ ...input, objects }, world.clock);
    const name = refused.replace(' ', ' shop/');
    expect(steps.map((step) => step.name)).toContain(name);
    expect(notes).toEqual([expect.stringContaining(`${name} is not Ready now, and nothing in this plan changes that`)]);
    await world.end();
  });

  it('name each user of a cluster that is taken over once, and not its admin user', async () => {
    const world = await aWorld({});
    world.simulator.deployForeign({ id: 'orders', version: CLUSTER_SPEC.version });
    await world.clock.advance(100_000);
    const specs = {
      [CLUSTER]: { ...CLUSTER_SPEC, adoptionPolicy: 'IfExists' },
      'DatabaseUser admin': ON_ORDERS,
      'DatabaseUser app': ON_ORDERS,
      'DatabaseUser app-too': { ...ON_ORDERS, username: 'app' },
      'Database orders': ON_ORDERS,
    };
    const { notes } = await makePlan(await world.input(specs), world.clock);
    expect(notes.join()).toMatch(
      /: this plan assumes that the login .* works, and that user "app" and database "orders" do not exist$/,
    );
    await world.end();
  });

  it('call a cloud that only the files name one that the plan does not know', async () => {
    const world = await aWorld({});
    const space = { 'DatabaseSpace production': { ...SPACE, baseURL: 'https://new.example.com' } };
    const { outcomes } = await makePlan(await world.input(space), world.clock);
    expect(outcomes[0]?.end?.message).toContain('this plan does not know what is at https://new.example.com');
    await world.end();
  });
});
