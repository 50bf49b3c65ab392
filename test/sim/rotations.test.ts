import { expect, test } from 'vitest';
import { SECRETS } from '../../src/kube/api.ts';
import { createSeededRandom } from '../../src/simulator/seeded-random.ts';
import type { Fault } from './faults.ts';
import { scenarioNamed } from './scenarios.ts';
import { contentsOf, USERS } from './view.ts';
import { World } from './world.ts';

const ROTATIONS = 1_000;
const FAULTS: readonly Fault[] = [
  'crashBefore',
  'crashAfter',
  'lostAnswer',
  'serverError',
  'reset',
  'conflict',
  'stale',
];
/** One in this many effects goes wrong. */
const ONE_IN = 8;
const HOUR_MS = 3_600_000;
const SCENARIO = scenarioNamed('user-rotate');

test(`Through ${ROTATIONS} rotations, with faults and crashes, one of the passwords in the Secret always works`, async () => {
  const world = new World(undefined, SCENARIO.subject);
  const { invariants, people, view } = world;
  await world.start();
  await SCENARIO.prepare?.(world);
  const passwords = new Set<string>();
  const struck = new Map<Fault, number>();
  const random = createSeededRandom(7);
  // Invariants check after every effect whether one of the two signs in.
  invariants.also = () => {
    const secret = view.object('app-connection', SECRETS);
    if (secret !== undefined) passwords.add(contentsOf(secret)['password'] ?? '');
  };
  world.beginCounting();
  world.chance = () => {
    if (random.float() * ONE_IN > 1) return undefined;
    const fault = FAULTS[Math.floor(random.float() * FAULTS.length)];
    if (fault !== undefined) struck.set(fault, (struck.get(fault) ?? 0) + 1);
    return fault;
  };
  for (let count = 1; count <= ROTATIONS; count++) {
    await people.edit({ annotations: { 'mooring.dev/rotate-at': String(count) } }, 'app', USERS);
    const isDone = () =>
      view.ready('app', USERS).startsWith('True') && view.status('app', USERS).lastHandledRotateAt === String(count);
    await world.until(isDone, `rotation ${count}`, HOUR_MS);
    expect(invariants.violations, `in rotation ${count}:\n${world.trace.slice(-30).join('\n')}`).toEqual([]);
    for (const told of [world.effects, world.trace, world.logs]) told.splice(0);
    // Each rotation takes some passes, and too many in five minutes would count as a loop.
    await world.clock.advance(30_000);
  }
  world.chance = undefined;
  await world.clock.advance(HOUR_MS);
  const puts = world.simulator.count('updateUser');
  world.stop();
  expect(invariants.violations).toEqual([]);
  expect(passwords.size).toBe(ROTATIONS + 1);
  // A password is sent again only if nobody knows whether it was set.
  expect(puts).toBeLessThan(ROTATIONS * 1.3);
  for (const fault of FAULTS) expect(struck.get(fault), fault).toBeGreaterThan(50);
}, 300_000);
