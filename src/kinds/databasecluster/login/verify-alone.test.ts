import { describe, expect, it } from 'vitest';
import {
  aCluster,
  anObservation,
  conditionOf as decided,
  ENDPOINT,
  noSpace,
  outline,
} from '../../../../test/support/builders.ts';
import { FACTORY, type KindBench, runningBench } from '../../../../test/support/kind-bench.ts';
import { SECRETS } from '../../../kube/api.ts';
import { decideCluster } from '../decide.ts';
import type { LoginObservation } from '../observation.ts';
import { DATABASE_CLUSTERS } from '../resource.ts';

const SPACE = 'shop/production';
const INTERVAL_MS = 10 * 60_000;

/** A cluster that is Ready, and a space that is not listed: none of its tokens exists, or nothing at all does. */
async function unobserved(connected = true): Promise<KindBench> {
  const bench = await runningBench();
  loseSight(bench, connected);
  return bench;
}

function loseSight(bench: KindBench, connected = true, factoryVersion = '1'): void {
  const { connections, space } = bench.world();
  connections.disconnect(SPACE);
  if (connected) connections.connect(SPACE, space(SPACE)?.spec ?? expect.unreachable(), [], FACTORY, factoryVersion);
}

/** As left by a process that ended after the server accepted a new password and before the Secret had it in place. */
async function amidRotation(): Promise<KindBench> {
  const bench = await runningBench();
  const { password = '' } = bench.secret() ?? {};
  await bench.annotate('mooring.dev/rotate-at', 'now');
  for (let n = 0; n < 20 && bench.simulator.passwordIs('orders', 'admin', password); n++) await bench.pass();
  expect(bench.secret()).toMatchObject({ password, nextPassword: expect.any(String) });
  await bench.restart();
  bench.forgetCalls();
  return bench;
}

/** The time to verify the login comes, and it is verified. */
async function verify({ clock, pass }: KindBench) {
  await clock.advance(INTERVAL_MS);
  return pass();
}

const conditionOf = ({ status }: KindBench, type: string) =>
  status().conditions?.find((condition) => condition.type === type);

describe('A cluster whose space is not observed', () => {
  it('stays Ready while its login works, and has it verified without a call to the cloud', async () => {
    const bench = await unobserved();
    const outcome = await bench.pass();
    expect(outcome).toMatchObject({ next: 'settled', requeueAfterMs: expect.any(Number) });
    expect(bench.calls).toEqual([]);
    expect(await verify(bench)).toMatchObject({ next: 'settled', requeueAfterMs: expect.any(Number) });
    expect(bench.calls).toEqual(['server signIn', 'server signIn']);
    expect([bench.ready(), bench.told]).toEqual(['True Running', []]);
  });

  it('is no longer Ready once its login does not work, and nothing is fixed before the space is observed', async () => {
    const bench = await unobserved();
    bench.simulator.setPassword('orders', 'admin', 'set in the console');
    await verify(bench);
    expect(bench.ready()).toBe('Unknown WaitingForSpace');
    expect(conditionOf(bench, 'Ready')?.message).toMatch(
      /^Waiting for .*: this process has not listed it yet\. The server refuses the password in Secret "orders-admin": .*Set it back there/,
    );
    expect(conditionOf(bench, 'Available')).toMatchObject({ status: 'False', reason: 'AdminLoginRefused' });
    expect(new Set(bench.calls)).toEqual(new Set(['server signIn']));
    const told = bench.status();
    await verify(bench);
    expect(bench.status()).toEqual(told);
    // Work on its server goes on as soon as the login works again.
    bench.simulator.setPassword('orders', 'admin', bench.secret()?.['password'] ?? '');
    await verify(bench);
    expect(conditionOf(bench, 'Available')).toMatchObject({ status: 'True', reason: 'LoginWorks' });
    expect(bench.ready()).toBe('Unknown WaitingForSpace');
  });

  it('is no longer Ready once the factory login works', async () => {
    const bench = await unobserved();
    bench.simulator.setPassword('orders', 'admin', FACTORY.password);
    await bench.putSecret(
      'orders-admin',
      { ...bench.secret(), password: FACTORY.password },
      { 'app.kubernetes.io/managed-by': 'mooring', 'mooring.dev/cluster': 'orders' },
    );
    await verify(bench);
    expect(bench.ready()).toBe('Unknown WaitingForSpace');
    expect(conditionOf(bench, 'CredentialsSecured')?.status).toBe('False');
    expect(conditionOf(bench, 'Available')?.status).toBe('False');
  });

  it('is no longer Ready while its server cannot be used', async () => {
    const bench = await unobserved();
    const fault = bench.simulator.faults.add({ match: { api: 'server' }, effect: 'outage' });
    expect(await verify(bench)).toMatchObject({ next: 'retry', pace: 'soon' });
    expect(bench.ready()).toBe('Unknown WaitingForSpace');
    expect(conditionOf(bench, 'Available')?.message).toMatch(/^The server at .* cannot be used: /);
    bench.simulator.faults.remove(fault);
    await verify(bench);
    expect(conditionOf(bench, 'Available')?.status).toBe('True');
  });

  it('stays Ready until its login should have been verified if there is no way to do so', async () => {
    const bench = await unobserved(false);
    const outcome = await bench.pass();
    expect(bench.ready()).toBe('True Running');
    expect(outcome).toMatchObject({ next: 'settled', requeueAfterMs: expect.any(Number) });
    await verify(bench);
    expect(bench.ready()).toBe('Unknown WaitingForSpace');
    expect(conditionOf(bench, 'Ready')?.message).toMatch(/cannot be tried at .* before the space is observed$/);
    expect(conditionOf(bench, 'Available')).toMatchObject({ status: 'Unknown', reason: 'NotVerified' });
  });

  it('is Ready again once the space is observed', async () => {
    const bench = await unobserved(false);
    await verify(bench);
    await bench.restart();
    await bench.until('True Running');
  });

  it.each([
    ['rest', async (bench: KindBench) => bench.edit({ state: 'Suspended' })],
    ['only be observed', async (bench: KindBench) => bench.edit({ managementPolicy: 'Observe' })],
    [
      'end',
      async ({ edit, kube }: KindBench) => {
        await edit({ deletionPolicy: 'Delete' });
        kube.remove(DATABASE_CLUSTERS, { namespace: 'shop', name: 'orders' });
      },
    ],
  ])('does not have a login verified of a cluster that should %s', async (_, change) => {
    const bench = await unobserved();
    await change(bench);
    for (let n = 0; n < 3; n++) await verify(bench);
    expect(bench.calls).toEqual([]);
    expect(bench.ready()).not.toMatch(/^True/);
  });

  it.each([
    ['when it was last seen, its cluster slept', { state: 'suspended' }],
    ['its server has another address, where the login was never tried', { endpoint: 'https://elsewhere.test:443' }],
    ['Ready says that something was wrong', { reason: 'AdminLoginRefused' }],
    ['its spec has changed since it was looked at', { observedGeneration: 0 }],
  ])('does not have its login verified if %s', async (_, { reason, ...status }: Record<string, string | number>) => {
    const bench = await unobserved();
    const { conditions = [] } = bench.status();
    const told = conditions.map((each) =>
      each.type === 'Ready' && reason !== undefined ? { ...each, status: 'False', reason } : each,
    );
    const patch = { status: { ...status, conditions: told } };
    await bench.kube.patch(DATABASE_CLUSTERS, { namespace: 'shop', name: 'orders' }, patch, { subresource: 'status' });
    await verify(bench);
    expect(bench.calls).toEqual([]);
  });

  it('stays Ready without a way to verify its login if that is never tried routinely', async () => {
    const bench = await runningBench({ space: { verifyInterval: '0s' } });
    loseSight(bench, false);
    for (let n = 0; n < 3; n++) await verify(bench);
    expect(bench.ready()).toBe('True Running');
  });

  it('has the new password put in place that its server has accepted already', async () => {
    const bench = await amidRotation();
    loseSight(bench);
    for (let n = 0; n < 4; n++) await bench.pass();
    expect(bench.ready()).toBe('True Running');
    const { password = '', nextPassword } = bench.secret() ?? {};
    expect([bench.simulator.passwordIs('orders', 'admin', password), nextPassword]).toEqual([true, undefined]);
    expect(bench.calls).not.toContain('server updateUser');
  });

  it('is not Ready if its server signs in with any password, and no password is put in place', async () => {
    const bench = await amidRotation();
    bench.simulator.setKnobs({ acceptsAnyPassword: true });
    loseSight(bench);
    for (let n = 0; n < 3; n++) await bench.pass();
    expect(bench.ready()).toBe('Unknown WaitingForSpace');
    expect(conditionOf(bench, 'Available')).toMatchObject({ status: 'False', reason: 'AnyPasswordAccepted' });
    expect(bench.secret()?.['nextPassword']).toBeDefined();
  });

  it('stays available to what is on it if another Secret is named, which cannot get the login now', async () => {
    const bench = await unobserved();
    await bench.edit({ adminCredentials: { secretName: 'other' } });
    for (let n = 0; n < 4; n++) await bench.pass();
    expect(bench.ready()).toBe('Unknown WaitingForSpace');
    expect(conditionOf(bench, 'Available')).toMatchObject({ status: 'True', reason: 'LoginWorks' });
    expect(conditionOf(bench, 'CredentialsSecured')?.status).toBe('True');
    expect(bench.status().credentials?.secretName).toBe('orders-admin');
  });

  it('says what to do about a Secret that is gone, and not that it is refused', async () => {
    const bench = await runningBench();
    await bench.restart();
    loseSight(bench);
    bench.kube.remove(SECRETS, { namespace: 'shop', name: 'orders-admin' });
    await bench.pass();
    expect(conditionOf(bench, 'Available')).toMatchObject({ status: 'False', reason: 'AdminLoginLost' });
  });

  it('remembers that the login works with other versions of the Secrets, and does not try it at each pass', async () => {
    const bench = await runningBench();
    loseSight(bench, true, 'another version');
    bench.forgetCalls();
    for (let n = 0; n < 5; n++) {
      await bench.pass();
      await bench.clock.advance(1_000);
    }
    expect(bench.calls.length).toBeLessThanOrEqual(2);
    expect(bench.ready()).toBe('True Running');
  });

  it('has its login sent to no address that is not one of its own servers in the space', async () => {
    const bench = await runningBench();
    const { credentials, endpoint: allowed = '' } = bench.status();
    // As left by a process with --allow-http or with another serverURL, or by somebody who may write the status.
    const endpoint = allowed.replace('https:', 'http:');
    const [object] = bench.kube.all(DATABASE_CLUSTERS);
    await bench.kube.patch(
      DATABASE_CLUSTERS,
      { namespace: 'shop', name: 'orders' },
      {
        metadata: { resourceVersion: object?.metadata.resourceVersion ?? '' },
        status: { endpoint, credentials: { ...credentials, endpoint } },
      },
      { subresource: 'status' },
    );
    loseSight(bench);
    bench.forgetCalls();
    await verify(bench);
    expect(bench.calls).toEqual([]);
    expect(conditionOf(bench, 'Available')).toMatchObject({ status: 'Unknown', reason: 'NotVerified' });
  });
});

describe('decideCluster() on what was found of a login while the space is not observed', () => {
  const NOW_MS = Date.parse('2026-11-20T12:00:00Z');
  type Tried = Extract<LoginObservation, { login: 'tried' }>;
  const running = () => aCluster().healthy().withStatus({ state: 'running' });
  const waiting = (login: LoginObservation, starting = false) => {
    const observation = noSpace('waiting', starting);
    return observation.space === 'waiting' ? { ...observation, login } : expect.unreachable();
  };
  const tried = (found: Partial<Tried>) => anObservation().tried(found).seen.login;

  it.each<[string, Partial<Tried>]>([
    ['any password is accepted', { working: 'next', next: 'ours', factoryAlive: undefined, acceptsAny: true }],
    ['its user may not manage others', { powerless: 'ops' }],
    ['the factory login belongs to another user', { factoryAlive: true, managedBy: 'ops' }],
    ['the factory login is the one that works', { working: 'factory', factoryAlive: undefined }],
    ['only a session still works', { working: 'held', factoryAlive: undefined }],
  ])('is not Ready if %s', (_what, found) => {
    const decision = decideCluster(running().subject, waiting(tried(found)), NOW_MS);
    expect(outline(decision).ready).toBe('Unknown WaitingForSpace');
    expect(decision.status?.credentials).toBeUndefined();
    if (found.working === 'factory') expect(decided(decision, 'CredentialsSecured')?.status).toBe('False');
  });

  it('is not Ready if the Secret of its login is not its own any more', () => {
    const login = { login: 'secretTaken', secretName: 'orders-admin' } as const;
    const decision = decideCluster(running().subject, waiting(login), NOW_MS);
    expect(outline(decision).ready).toBe('Unknown WaitingForSpace');
    expect(decided(decision, 'Available')).toMatchObject({
      status: 'False',
      message: 'Secret "orders-admin" does not hold the login of this cluster any more',
    });
  });

  const down = { login: 'unreachable', message: 'No answer', forMs: 0 } as const;
  it.each<[string, LoginObservation, string | undefined, true | undefined]>([
    ['soon, and need not tell yet, if its server does not answer', { ...down, heldBack: false }, 'soon', true],
    ['soon if others have found that', { ...down, heldBack: true }, 'soon', undefined],
    [
      'soon, and need not tell yet, if a new password was taken that does not sign in yet',
      tried({ working: 'none', isAwaited: true, factoryAlive: undefined }),
      'soon',
      true,
    ],
    [
      'when the login is due if it is refused',
      tried({ working: 'none', factoryAlive: undefined }),
      undefined,
      undefined,
    ],
  ])('comes back %s', (_what, login, retry, mayPass) => {
    const decision = decideCluster(running().subject, waiting(login), NOW_MS);
    expect([decision.retry, decision.mayPass]).toEqual([retry, mayPass]);
    expect(decision.requeueAfterMs).toBe(retry === undefined ? 600_000 : undefined);
    const says =
      login.login === 'tried' && login.isAwaited
        ? /was taken, but does not sign in yet at https:\/\/orders\.test:443$/
        : /^The server (at https:\/\/orders\.test:443 cannot|refuses)/;
    expect(decided(decision, 'Available')).toMatchObject({ status: 'False', message: expect.stringMatching(says) });
  });

  it('says again that the factory login is retired once it is', () => {
    const { subject } = running()
      .withCondition('Ready', 'Unknown', 'WaitingForSpace')
      .withCondition('CredentialsSecured', 'False', 'NotYet');
    const decision = decideCluster(subject, waiting(tried({})), NOW_MS);
    expect(decided(decision, 'CredentialsSecured')?.status).toBe('True');
    expect(decided(decision, 'Available')).toMatchObject({
      status: 'True',
      message: expect.stringContaining(ENDPOINT),
    });
  });

  it.each([
    ['that the status names', 'orders-admin', 'True'],
    ['that it does not name yet', 'another', 'False'],
  ])('is available with the login in the Secret %s', (_what, workingOf, status) => {
    const { subject } = running()
      .withCondition('Ready', 'Unknown', 'WaitingForSpace')
      .withCondition('Available', 'False', 'NotVerified');
    const login = tried({ working: 'inherited', workingOf, secretName: 'new', factoryAlive: undefined });
    const decision = decideCluster(subject, waiting(login), NOW_MS);
    expect(decided(decision, 'Available')?.status).toBe(status);
  });

  it('is not Ready either if others have found that its server is down, and says so once', () => {
    const login = {
      login: 'unreachable',
      message: 'not tried, as calls have failed',
      heldBack: true,
      forMs: 0,
    } as const;
    const told = decideCluster(running().subject, waiting(login), NOW_MS);
    expect(outline(told).ready).toBe('Unknown WaitingForSpace');
    expect(decided(told, 'Available')).toMatchObject({ status: 'False', reason: 'NotVerified' });
    const { subject } = running()
      .withCondition('Ready', 'Unknown', 'WaitingForSpace')
      .withCondition('Available', 'False', 'NotVerified');
    const again = decideCluster(subject, waiting({ ...login, message: 'other words' }), NOW_MS);
    expect(decided(again, 'Available')?.message).not.toContain('other words');
    const throttled = decideCluster(running().subject, waiting({ ...login, isThrottled: true }), NOW_MS);
    expect(outline(throttled).ready).toBe('as before');
  });

  it('does not claim that a factory login is retired that was not tried', () => {
    const { subject } = running()
      .withCondition('Ready', 'Unknown', 'WaitingForSpace')
      .withCondition('CredentialsSecured', 'False', 'NotYet');
    const login = tried({ working: 'current', next: 'ours', factoryAlive: undefined });
    const decision = decideCluster(subject, waiting(login), NOW_MS);
    expect(decided(decision, 'CredentialsSecured')?.status).toBe('False');
  });

  it('does not rewrite what waited before while a new process is only about to list the space', () => {
    const { subject } = running().withCondition('Ready', 'Unknown', 'WaitingForSpace');
    const decision = decideCluster(subject, waiting({ login: 'settled', verifyInMs: 1 }, true), NOW_MS);
    expect(outline(decision).ready).toBe('as before');
  });
});
