import { expect, test } from 'vitest';
import { SECRETS } from '../../src/kube/api.ts';
import { passwordIs } from '../../src/simulator/server/state.ts';
import { withUser } from './scenario.ts';
import { USERS } from './view.ts';
import { World } from './world.ts';

const STEP_MS = 250;
const MINUTE_MS = 60_000;
const MINUTES = 5;
const REF = { namespace: 'shop', name: 'app-connection' };
const THEIRS = Buffer.from('their.host').toString('base64');

/** A user that is Ready, and another controller, which changes the host in its Secret back each time while it `fights`. */
async function contested() {
  const world = new World();
  const { clock, kube, people, view } = world;
  await world.start();
  await withUser(world);
  const secret = () => view.secret(REF.name) ?? {};
  const { host: ours, password: first } = secret();
  const isOurs = () => secret()['host'] === ours;
  return {
    world,
    secret,
    isOurs,
    hasRotated: () => secret()['password'] !== first,
    rotate: () => people.edit({ annotations: { 'mooring.dev/rotate-at': '1' } }, 'app', USERS),
    async pass(ms: number, fights: boolean, afterEach: () => void = () => {}) {
      for (let gone = 0; gone < ms; gone += STEP_MS) {
        if (fights && isOurs()) await kube.patch(SECRETS, REF, { data: { host: THEIRS } });
        await clock.advance(STEP_MS);
        afterEach();
      }
    },
    end() {
      expect(world.invariants.violations).toEqual([]);
      world.stop();
    },
  };
}

test('A controller that changes a Secret back each time does not set the pace, and the status says so until it stops', async () => {
  const { world, isOurs, pass, end } = await contested();
  const { clock, view } = world;
  const corrections = () => world.effects.filter(({ what }) => what.startsWith(`patch secrets/${REF.name}`)).length;
  world.beginCounting();
  const told = new Set<string>();
  await pass(MINUTES * MINUTE_MS, true, () => told.add(view.ready('app', USERS)));
  expect([...told]).toContain('Unknown SecretContested');
  // Twenty, and then one each half a minute.
  expect(corrections()).toBeGreaterThanOrEqual(20);
  expect(corrections()).toBeLessThanOrEqual(20 + 2 * MINUTES);
  // With the statuses and Events that say so.
  expect(world.effects.length).toBeLessThan(120);
  await clock.advance(MINUTE_MS);
  expect([isOurs(), view.ready('app', USERS)]).toEqual([true, 'True LoginWorks']);
  end();
});

test('A password that is replaced soon after that is published as soon as the server has it', async () => {
  const { world, secret, hasRotated, rotate, pass, end } = await contested();
  let brokenMs = 0;
  let longestMs = 0;
  await pass(MINUTE_MS, true);
  await rotate();
  await pass((MINUTES - 1) * MINUTE_MS, false, () => {
    const { username = '', password = '' } = secret();
    const database = world.view.cluster()?.database ?? expect.unreachable();
    brokenMs = passwordIs(database, username, password) ? 0 : brokenMs + STEP_MS;
    longestMs = Math.max(longestMs, brokenMs);
  });
  expect(hasRotated()).toBe(true);
  expect(longestMs).toBeLessThan(2_000);
  end();
});

test('A password that is to be replaced meanwhile is, as the write that begins it sets the rest right, too', async () => {
  const { world, hasRotated, rotate, pass, end } = await contested();
  await pass(MINUTE_MS, true);
  await rotate();
  await pass((MINUTES - 1) * MINUTE_MS, true);
  expect(hasRotated()).toBe(true);
  expect(world.view.status('app', USERS)['lastHandledRotateAt']).toBe('1');
  end();
});
