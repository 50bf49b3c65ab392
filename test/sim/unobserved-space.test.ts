import { expect, test } from 'vitest';
import { SECRETS } from '../../src/kube/api.ts';
import { MINUTE_MS } from './people.ts';
import { NAMESPACE, USERS } from './view.ts';
import { World } from './world.ts';

const LEVELS = ['read', 'write', 'admin'];

test('After a restart without API tokens what is Ready is verified all the same, and goes on when they are back', async () => {
  const world = new World({ scenario: 'unobserved-space', strikes: [{ at: 1, fault: 'crashAfter' }] });
  const { clock, kube, people, simulator, invariants } = world;
  const readiness = () => [world.ready('orders'), world.view.ready('app', USERS)];
  await world.start();
  await people.createCluster();
  await people.create(USERS, 'app', { clusterRef: { name: 'orders' } });
  await clock.advance(20 * MINUTE_MS);
  const well = ['True Running', 'True LoginWorks'];
  expect(readiness()).toEqual(well);

  world.beginCounting();
  for (const level of LEVELS) kube.remove(SECRETS, { namespace: NAMESPACE, name: `cloud-${level}` });
  await world.until(() => world.effects.length > 0, 'the process dies as it tells that they are gone');
  simulator.resetCounters();
  await clock.advance(25 * MINUTE_MS);
  expect(readiness()).toEqual(well);
  const { byOperation } = simulator.inspect().counters;
  expect(Object.keys(byOperation)).toEqual(['signIn']);

  const fault = simulator.faults.add({ match: { api: 'server' }, effect: 'outage' });
  await clock.advance(11 * MINUTE_MS);
  expect(world.ready('orders')).toBe('Unknown WaitingForSpace');
  simulator.faults.remove(fault);
  for (const level of LEVELS)
    await people.putSecret(`${NAMESPACE}/cloud-${level}`, {
      clientID: `${level}-id`,
      clientSecret: `${level}-secret-0123456789`,
    });
  await clock.advance(5 * MINUTE_MS);
  expect([...readiness(), invariants.violations]).toEqual([...well, []]);
  world.stop();
});
