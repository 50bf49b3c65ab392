import { expect, test } from 'vitest';
import { scenarioNamed } from './scenarios.ts';
import { CLUSTERS, USERS } from './view.ts';
import { World } from './world.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;

test.each([
  { scenario: 'rotate', name: 'orders', resource: CLUSTERS },
  { scenario: 'user-rotate', name: 'app', resource: USERS },
])(
  '$scenario: after a refusal the next password comes after its pause, and nothing is announced before',
  async ({ scenario, name, resource }) => {
    const { subject, prepare } = scenarioNamed(scenario);
    const world = new World(undefined, subject);
    const { clock, people, simulator, view } = world;
    await world.start();
    await prepare?.(world);
    await clock.advance(5 * MINUTE_MS);
    world.logs.splice(0);
    const puts: number[] = [];
    const next = async () => {
      const before = simulator.count('updateUser');
      await clock.runUntil(() => simulator.count('updateUser') > before, 'another password is given', 60 * MINUTE_MS);
      puts.push(clock.monotonic());
    };
    const announced = () => world.logs.filter((line) => line.includes('Going to write a new password')).length;
    simulator.faults.add({ match: { operation: 'updateUser' }, effect: 'errorBefore', status: 400, times: 4 });
    await people.edit({ annotations: { 'mooring.dev/rotate-at': '1' } }, name, resource);
    for (let time = 0; time < 5; time++) await next();
    expect(puts.slice(1).map((at, index) => Math.round((at - (puts[index] ?? 0)) / SECOND_MS))).toEqual([
      60, 120, 240, 480,
    ]);
    expect(announced()).toBe(puts.length);
    await world.until(() => view.ready(name, resource).startsWith('True'), 'it is Ready');
    world.stop();
    expect(view.status(name, resource)).toMatchObject({ lastHandledRotateAt: '1' });
    expect(world.invariants.violations).toEqual([]);
  },
);
