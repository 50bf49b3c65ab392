import { expect, test } from 'vitest';
import { SECRETS } from '../../src/kube/api.ts';
import { MINUTE_MS } from './people.ts';
import { NAMESPACE, USERS } from './view.ts';
import { World } from './world.ts';

const LEVELS = ['read', 'write', 'admin'];

test('After a restart without API tokens, Ready objects are still verified, and go on when the tokens are back', async () => {
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
  await world.until(() => world.effects.length > 0, 'the process dies while reporting that they are gone');
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

test('After a restart without the cloud, naming another Secret for the login does not stop users on the server', async () => {
  const world = new World({ scenario: 'unobserved-space', strikes: [{ at: 1, fault: 'crashAfter' }] });
  const { clock, people, simulator, invariants } = world;
  await world.start();
  await people.createCluster();
  await people.create(USERS, 'app', { clusterRef: { name: 'orders' } });
  await clock.advance(20 * MINUTE_MS);
  expect(world.view.ready('app', USERS)).toBe('True LoginWorks');

  const fault = simulator.faults.add({ match: { api: 'cloud' }, effect: 'outage' });
  world.beginCounting();
  await world.until(() => world.effects.length > 0, 'the process dies while reporting the outage');
  await clock.advance(3 * MINUTE_MS);
  await people.edit({ spec: { adminCredentials: { secretName: 'other' } } });
  await people.create(USERS, 'second', { clusterRef: { name: 'orders' } });
  await clock.advance(5 * MINUTE_MS);
  const onServer = () => ['app', 'second'].map((name) => world.view.ready(name, USERS));
  expect(onServer()).toEqual(['True LoginWorks', 'True LoginWorks']);

  simulator.faults.remove(fault);
  await clock.advance(20 * MINUTE_MS);
  expect([world.ready('orders'), ...onServer(), invariants.violations]).toEqual([
    'True Running',
    'True LoginWorks',
    'True LoginWorks',
    [],
  ]);
  world.stop();
});
