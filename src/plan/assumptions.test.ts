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
