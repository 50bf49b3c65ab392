import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { createUndiciTransport } from '../../../src/http/undici-transport.ts';
import { type SimulatorServer, startSimulatorServer } from '../../../src/simulator/hosting/http-server.ts';
import { createSeededRandom } from '../../../src/simulator/seeded-random.ts';
import { createSimulator } from '../../../src/simulator/simulator.ts';
import { type Check, missingNeeds, runCheck, type Target } from '../../conformance/check.ts';
import { CLOUD_CHECKS } from '../../conformance/cloud-checks.ts';
import { cloudFromEnvironment, type Environment, serverFromEnvironment } from '../../conformance/environment.ts';
import { SERVER_CHECKS } from '../../conformance/server-checks.ts';
import { DEPLOYMENT } from '../../conformance/simulated-cloud.ts';
import { servedAt } from '../../conformance/simulated-server.ts';

/*
 * A cloud and a server that are named by the environment can be asked for less than a simulator in a test's hands. The same
 * checks run against a simulator that is only named.
 */

let server: SimulatorServer;
let environment: Environment;

beforeAll(async () => {
  const simulator = createSimulator({ clock: systemClock, random: createSeededRandom(1), dialect: 'field' });
  server = await startSimulatorServer(simulator);
  simulator.deployForeign({ id: 'orders', spaceID: 'staging' });
  const transport = createUndiciTransport();
  const serverURL = await servedAt(simulator, transport);
  await transport.close();
  environment = {
    MOORING_CONFORMANCE_CLOUD_URL: server.baseURL,
    MOORING_CONFORMANCE_TEAM: 'acme',
    MOORING_CONFORMANCE_SPACE: 'production',
    MOORING_CONFORMANCE_READ_TOKEN: 'read-id:read-secret-0123456789',
    MOORING_CONFORMANCE_WRITE_TOKEN: 'write-id:write-secret-0123456789',
    MOORING_CONFORMANCE_ADMIN_TOKEN: 'admin-id:admin-secret-0123456789',
    MOORING_CONFORMANCE_DEPLOYMENT: JSON.stringify(DEPLOYMENT),
    MOORING_CONFORMANCE_PAUSE_MS: '1',
    MOORING_CONFORMANCE_SERVER_URL: serverURL,
    MOORING_CONFORMANCE_USERNAME: simulator.defaultCredentials.username,
    MOORING_CONFORMANCE_PASSWORD: simulator.defaultCredentials.password,
  };
});

afterAll(() => server.close());

/** Runs what the target can; returns the sentences that failed, with why, and how many were left out. */
async function runAll<Setting>(target: Target<Setting> | undefined, checks: readonly Check<Setting>[]) {
  if (target === undefined) throw new Error('No target is named');
  const possible = checks.filter((check) => missingNeeds(target, check).length === 0);
  const failed: string[] = [];
  for (const check of possible) {
    await runCheck(target, check).catch((error: unknown) => failed.push(`${check.section}: ${check.name}: ${error}`));
  }
  return { failed, ran: possible.length, leftOut: checks.length - possible.length };
}

test('a cloud that is named by the environment passes every check but those that ask for a simulator', async () => {
  const { failed, ran, leftOut } = await runAll(cloudFromEnvironment(environment), CLOUD_CHECKS);
  expect(failed).toEqual([]);
  expect(leftOut).toBe(CLOUD_CHECKS.filter(({ needs }) => needs.includes('simulator')).length);
  expect(ran).toBeGreaterThan(100);
}, 60_000);

test('nothing is deployed or changed in a cloud for which no deployment is named', async () => {
  const target = cloudFromEnvironment({ ...environment, MOORING_CONFORMANCE_DEPLOYMENT: undefined });
  const { failed, leftOut } = await runAll(target, CLOUD_CHECKS);
  expect(failed).toEqual([]);
  expect(leftOut).toBe(
    CLOUD_CHECKS.filter(({ needs }) => needs.includes('simulator') || needs.includes('deploy')).length,
  );
}, 60_000);

test('a server that is named by the environment passes every check but those that ask for a simulator', async () => {
  const { failed, ran, leftOut } = await runAll(serverFromEnvironment(environment), SERVER_CHECKS);
  expect(failed).toEqual([]);
  expect(leftOut).toBe(SERVER_CHECKS.filter(({ needs }) => needs.includes('simulator')).length);
  expect(ran).toBeGreaterThan(70);
}, 60_000);

test('without the variables there is no target', () => {
  expect(cloudFromEnvironment({})).toBeUndefined();
  expect(serverFromEnvironment({})).toBeUndefined();
});
