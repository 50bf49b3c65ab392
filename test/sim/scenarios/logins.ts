import { SECRETS } from '../../../src/kube/api.ts';
import { isReady, NOT_WITH_REFUSALS, running, type Scenario, whileRefused } from '../scenario.ts';
import type { World } from '../world.ts';

const CALL_MS = 1_000;

/** Reports whether the login has moved there for good: no other Secret might still get it. */
function isMovedTo(world: World, secretName: string): boolean {
  const { credentials, unverifiedSecretName } = world.view.status();
  return isReady(world) && credentials?.secretName === secretName && unverifiedSecretName === undefined;
}

/** Scenarios of the admin login: replaced, moved, lost and found. */
export const LOGINS: readonly Scenario[] = [
  {
    name: 'rotate',
    prepare: running,
    act: ({ people }) => people.edit({ annotations: { 'mooring.dev/rotate-at': '1' } }),
    ends: (world) => isReady(world) && world.view.status().lastHandledRotateAt === '1',
  },
  {
    name: 'rotate-twice',
    prepare: running,
    act: async (world) => {
      await world.people.edit({ annotations: { 'mooring.dev/rotate-at': '1' } });
      await world.clock.advance(200);
      await world.people.edit({ annotations: { 'mooring.dev/rotate-at': '2' } });
    },
    ends: (world) => isReady(world) && world.view.status().lastHandledRotateAt === '2',
  },
  {
    name: 'rotate-by-itself',
    isSlow: true,
    prepare: running,
    act: async (world) => {
      const first = world.view.status().lastRotation;
      await world.people.edit({ spec: { adminCredentials: { rotateEvery: '10m' } } });
      await world.wait(() => world.view.status().lastRotation !== first, 'the password is another');
      await world.people.edit({ spec: { adminCredentials: null } });
    },
    ends: isReady,
  },
  {
    name: 'rotate-refused',
    isSlow: true,
    without: NOT_WITH_REFUSALS,
    prepare: running,
    act: (world) => whileRefused(world, () => world.people.edit({ annotations: { 'mooring.dev/rotate-at': '1' } })),
    ends: (world) => isReady(world) && world.view.status().lastHandledRotateAt === '1',
  },
  {
    name: 'move-secret',
    prepare: running,
    act: ({ people }) => people.edit({ spec: { adminCredentials: { secretName: 'elsewhere' } } }),
    ends: (world) => isReady(world) && world.view.status().credentials?.secretName === 'elsewhere',
  },
  {
    // When its server has just taken the first password, and nothing has been verified yet.
    name: 'move-first-secret',
    act: async (world) => {
      await world.people.createCluster();
      const isPut = () =>
        world.view.cluster()?.status === 'running' && !world.simulator.passwordIs('orders', 'admin', 'password');
      await world.wait(isPut, 'the server has a password of its own');
      await world.people.edit({ spec: { adminCredentials: { secretName: 'elsewhere' } } });
    },
    ends: (world) => isMovedTo(world, 'elsewhere'),
    mayEndElsewhere: () => true,
    // An earlier version did not write down which Secret has that password.
    without: ['upgrade'],
  },
  ...[1_500, 2_500].map((afterMs) => ({
    // While the server is about to take the password in the other Secret, and after it has.
    name: `move-secret-taken-back-after-${afterMs}`,
    prepare: running,
    act: async (world: World) => {
      world.simulator.setKnobs({ latencyMs: [CALL_MS, CALL_MS] });
      await world.people.edit({ spec: { adminCredentials: { secretName: 'elsewhere' } } });
      await world.clock.advance(afterMs);
      await world.people.edit({ spec: { adminCredentials: { secretName: 'orders-admin' } } });
    },
    ends: (world: World) => isMovedTo(world, 'orders-admin'),
    // The other Secret stays if it was not in use yet.
    mayEndElsewhere: () => true,
  })),
  {
    name: 'password-lost',
    isSlow: true,
    prepare: async (world) => {
      await running(world);
      const password = 'set-behind-our-back';
      await world.people.putSecret('known-login', { username: 'admin', password });
      world.people.setPassword('orders', 'admin', password);
    },
    act: ({ people }) => people.edit({ spec: { adminCredentials: { existingSecretRef: { name: 'known-login' } } } }),
    ends: (world) => {
      const { password = '', nextPassword } = world.view.secret() ?? {};
      const works = world.view.cluster() !== undefined && world.simulator.passwordIs('orders', 'admin', password);
      return isReady(world) && works && nextPassword === undefined;
    },
  },
  {
    // Only the next verification notices it.
    name: 'password-changed-elsewhere',
    isSlow: true,
    prepare: running,
    act: async ({ people }) => people.setPassword('orders', 'admin', 'set-behind-our-back'),
    ends: ({ view }) => view.ready() === 'False AdminLoginRefused',
  },
  {
    name: 'secret-of-others',
    prepare: ({ people }) => people.putSecret('orders-admin', { username: 'somebody', password: 'something-else' }),
    act: ({ people }) => people.createCluster(),
    ends: ({ view }) => view.ready() === 'False SecretNotOurs',
  },
  {
    name: 'secret-in-the-way',
    prepare: ({ people }) => people.putSecret('orders-admin', { username: 'somebody', password: 'something-else' }),
    act: async (world) => {
      await world.people.createCluster();
      await world.wait(() => world.view.ready() === 'False SecretNotOurs', 'orders reports the Secret');
      world.people.remove('orders-admin', SECRETS);
    },
    ends: isReady,
  },
];
