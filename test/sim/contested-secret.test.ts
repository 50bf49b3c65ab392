import { expect, test } from 'vitest';
import { SECRETS } from '../../src/kube/api.ts';
import { passwordIs } from '../../src/simulator/server/state.ts';
import { withUser } from './scenario.ts';
import { USERS } from './view.ts';
import { World } from './world.ts';

const STEP_MS = 250;
const MINUTES = 5;
const REF = { namespace: 'shop', name: 'app-connection' };
const THEIRS = Buffer.from('their.host').toString('base64');

test('A controller that changes a Secret back each time does not set the pace, and the status says so until it stops', async () => {
  const world = new World();
  const { clock, kube, view } = world;
  await world.start();
  await withUser(world);
  const hostOf = () => {
    const secret = kube.all(SECRETS, REF.namespace).find(({ metadata }) => metadata.name === REF.name);
    return (secret?.['data'] as Record<string, string> | undefined)?.['host'];
  };
  const ours = hostOf();
  const corrections = () => world.effects.filter(({ what }) => what.startsWith(`patch secrets/${REF.name}`)).length;
  world.beginCounting();
  const told = new Set<string>();
  for (let ms = 0; ms < MINUTES * 60_000; ms += STEP_MS) {
    if (hostOf() === ours) await kube.patch(SECRETS, REF, { data: { host: THEIRS } });
    await clock.advance(STEP_MS);
    told.add(view.ready('app', USERS));
  }
  expect([...told]).toContain('Unknown SecretContested');
  // Twenty, and then one each half a minute.
  expect(corrections()).toBeGreaterThanOrEqual(20);
  expect(corrections()).toBeLessThanOrEqual(20 + 2 * MINUTES);
  // With the statuses and Events that say so.
  expect(world.effects.length).toBeLessThan(120);
  await clock.advance(60_000);
  expect([hostOf(), view.ready('app', USERS)]).toEqual([ours, 'True LoginWorks']);
  expect(world.invariants.violations).toEqual([]);
  world.stop();
});

test('A password that is replaced soon after that is published as soon as the server has it', async () => {
  const world = new World();
  const { clock, kube, people, view } = world;
  await world.start();
  await withUser(world);
  const secret = () => view.secret('app-connection') ?? {};
  const { host: ours, password: first } = secret();
  let brokenMs = 0;
  let longestMs = 0;
  for (let ms = 0; ms < MINUTES * 60_000; ms += STEP_MS) {
    if (ms === 60_000) await people.edit({ annotations: { 'mooring.dev/rotate-at': '1' } }, 'app', USERS);
    if (ms < 60_000 && secret()['host'] === ours) await kube.patch(SECRETS, REF, { data: { host: THEIRS } });
    await clock.advance(STEP_MS);
    const { username = '', password = '' } = secret();
    const database = view.cluster()?.database ?? expect.unreachable();
    brokenMs = passwordIs(database, username, password) ? 0 : brokenMs + STEP_MS;
    longestMs = Math.max(longestMs, brokenMs);
  }
  expect(secret()['password']).not.toBe(first);
  expect(longestMs).toBeLessThan(2_000);
  expect(world.invariants.violations).toEqual([]);
  world.stop();
});

test('A password that is to be replaced meanwhile is, as the write that begins it sets the rest right, too', async () => {
  const world = new World();
  const { clock, kube, people, view } = world;
  await world.start();
  await withUser(world);
  const secret = () => view.secret('app-connection') ?? {};
  const { host: ours, password: first } = secret();
  for (let ms = 0; ms < MINUTES * 60_000; ms += STEP_MS) {
    if (ms === 60_000) await people.edit({ annotations: { 'mooring.dev/rotate-at': '1' } }, 'app', USERS);
    if (secret()['host'] === ours) await kube.patch(SECRETS, REF, { data: { host: THEIRS } });
    await clock.advance(STEP_MS);
  }
  expect(secret()['password']).not.toBe(first);
  expect(view.status('app', USERS)['lastHandledRotateAt']).toBe('1');
  expect(world.invariants.violations).toEqual([]);
  world.stop();
});
