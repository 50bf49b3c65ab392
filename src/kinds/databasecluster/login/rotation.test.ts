import { describe, expect, it } from 'vitest';
import { aCluster, NOW_MS } from '../../../../test/support/builders.ts';
import { expectOneWorkingLogin, type KindBench, kindBench, runningBench } from '../../../../test/support/kind-bench.ts';
import { ROTATE_AT } from '../../../kube/annotations.ts';
import { SECRETS } from '../../../kube/api.ts';
import { untilRotation } from '../../rotation.ts';
import { DATABASE_CLUSTERS } from '../resource.ts';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const HOUR_AGO = new Date(NOW_MS - HOUR_MS).toISOString();

const AHEAD = { lastRotation: '2038-01-01T00:00:00.000Z' };

describe('untilRotation()', () => {
  const secured = aCluster().withStatus({ lastRotation: HOUR_AGO });
  const daily = { adminCredentials: { rotateEvery: '24h' } };

  it.each([
    ['never by itself', secured, undefined],
    ['in what is left of rotateEvery', secured.with(daily), 23 * HOUR_MS],
    ['at once when it is overdue', secured.with({ adminCredentials: { rotateEvery: '30m' } }), -HOUR_MS / 2],
    ['at once when it was asked for', secured.with(daily).annotated('rotate-at', 'now'), 0],
    [
      'not again for the same request',
      secured.annotated('rotate-at', 'now').withStatus({ lastHandledRotateAt: 'now' }),
      undefined,
    ],
    [
      'not again for a long request that a version before noted as it is',
      secured.annotated('rotate-at', 'x'.repeat(2000)).withStatus({ lastHandledRotateAt: 'x'.repeat(2000) }),
      undefined,
    ],
    ['in the whole of rotateEvery if the clock was ahead once', secured.with(daily).withStatus(AHEAD), 24 * HOUR_MS],
    ['at once when it was asked for then', secured.with(daily).withStatus(AHEAD).annotated('rotate-at', 'now'), 0],
    ['not before the first password', aCluster().with(daily).annotated('rotate-at', 'now'), undefined],
  ])('is %s', (_name, cluster, expected) => {
    const { rotateEvery } = cluster.subject.spec.adminCredentials ?? {};
    expect(untilRotation(cluster.subject, rotateEvery, NOW_MS)).toBe(expected);
  });
});

/** Passes until nothing is left to do; after each of them, one of the Secret's passwords must sign in. */
async function rotate(bench: KindBench): Promise<void> {
  for (let pass = 0; pass < 30; pass++) {
    const outcome = await bench.pass().catch(async () => {
      await bench.restart();
      return { next: 'again' } as const;
    });
    const { username = '', password = '', nextPassword = '' } = bench.secret() ?? {};
    const works = [password, nextPassword].some((each) => bench.simulator.passwordIs('orders', username, each));
    expect(works).toBe(true);
    if (outcome.next === 'settled') return;
    if (outcome.next !== 'again') await bench.clock.advance(5_000);
  }
  throw new Error('The rotation does not end');
}

async function setStatus({ kube }: KindBench, status: Readonly<Record<string, unknown>>): Promise<void> {
  await kube.patch(DATABASE_CLUSTERS, { namespace: 'shop', name: 'orders' }, { status }, { subresource: 'status' });
}

describe('The admin password', () => {
  it('is replaced when asked, once, and Ready stays', async () => {
    const bench = await runningBench();
    const before = bench.secret()?.['password'];
    await bench.annotate(ROTATE_AT, '1');
    await rotate(bench);
    expect(bench.secret()?.['password']).not.toBe(before);
    expect(bench.ready()).toBe('True Running');
    expect(bench.status().lastHandledRotateAt).toBe('1');
    expectOneWorkingLogin(bench);
    expect(bench.calls.filter((call) => call === 'server updateUser')).toHaveLength(1);
    await rotate(bench);
    expect(bench.calls.filter((call) => call === 'server updateUser')).toHaveLength(1);
  });

  it('is replaced once when asked, even if the process ends before it is in place, and by a Secret that has its labels again', async () => {
    const bench = await runningBench();
    const labels = { 'mooring.dev/cluster': null };
    await bench.kube.patch(SECRETS, { namespace: 'shop', name: 'orders-admin' }, { metadata: { labels } });
    await bench.annotate(ROTATE_AT, '1');
    while (bench.secret()?.['nextPassword'] === undefined) await bench.pass();
    await bench.restart();
    await rotate(bench);
    await rotate(bench);
    expect(bench.status().lastHandledRotateAt).toBe('1');
    expect(bench.calls.filter((call) => call === 'server updateUser')).toHaveLength(1);
    expect(bench.kube.all(SECRETS)[0]?.metadata.labels).toMatchObject({ 'mooring.dev/cluster': 'orders' });
  });

  it('is replaced once for each of two requests that are longer than annotations may be together with a copy', async () => {
    const bench = await runningBench();
    for (const [count, end] of ['a', 'b'].entries()) {
      await bench.annotate(ROTATE_AT, `${'x'.repeat(200_000)}${end}`);
      await rotate(bench);
      await rotate(bench);
      expect(bench.calls.filter((call) => call === 'server updateUser')).toHaveLength(count + 1);
      expect(bench.status().lastHandledRotateAt).toMatch(/^sha256:[0-9a-f]{64}$/);
    }
    expect(JSON.stringify(bench.kube.all(SECRETS)).length).toBeLessThan(10_000);
  });

  it('is replaced each time that rotateEvery has passed', async () => {
    const bench = await runningBench({ spec: { adminCredentials: { rotateEvery: '24h' } } });
    const before = bench.secret()?.['password'];
    await rotate(bench);
    expect(bench.secret()?.['password']).toBe(before);
    await bench.clock.advance(25 * HOUR_MS);
    await rotate(bench);
    expect(bench.secret()?.['password']).not.toBe(before);
    expectOneWorkingLogin(bench);
  });

  it('is replaced even if the clock was years ahead at the last replacement, whose time is then corrected once', async () => {
    const bench = await runningBench({ spec: { adminCredentials: { rotateEvery: '24h' } } });
    const before = bench.secret()?.['password'];
    await setStatus(bench, AHEAD);
    await rotate(bench);
    const { lastRotation } = bench.status();
    expect(lastRotation).toBe(new Date(bench.clock.now()).toISOString());
    await bench.clock.advance(HOUR_MS);
    await rotate(bench);
    expect(bench.status().lastRotation).toBe(lastRotation);
    expect(bench.secret()?.['password']).toBe(before);
    await bench.clock.advance(24 * HOUR_MS);
    await rotate(bench);
    expect(bench.secret()?.['password']).not.toBe(before);
    expectOneWorkingLogin(bench);
  });

  it.each(
    (['secrets', 'databaseclusters'] as const).flatMap((plural) =>
      (['before', 'after'] as const).flatMap((when) => [1, 2].map((passes) => ({ plural, when, passes }))),
    ),
  )('works at every moment even if the process ends $when a write to $plural (pass $passes)', async (crash) => {
    const bench = await runningBench();
    await bench.annotate(ROTATE_AT, '1');
    for (let pass = 1; pass < crash.passes; pass++) await bench.pass();
    bench.crashAt({ verb: 'patch', plural: crash.plural, when: crash.when });
    await rotate(bench);
    await bench.until('True Running');
    expectOneWorkingLogin(bench);
  });

  it.each(['lostAnswer', 'reset', 'errorBefore', '5xx'] as const)(
    'works at every moment even if setting it ends with %s',
    async (effect) => {
      const bench = await runningBench();
      bench.simulator.faults.add({ match: { operation: 'updateUser' }, effect, times: 1 });
      await bench.annotate(ROTATE_AT, '1');
      await rotate(bench);
      await bench.until('True Running');
      expectOneWorkingLogin(bench);
    },
  );
});

describe('A rotation of the admin password that the server refuses', () => {
  it('is not done, says so until it is, and is tried with another password now and then', async () => {
    const bench = await runningBench();
    const { faults } = bench.simulator;
    const { password } = bench.secret() ?? {};
    const { lastRotation } = bench.status();
    const puts = () => bench.calls.filter((call) => call === 'server updateUser').length;
    faults.add({ match: { operation: 'updateUser' }, effect: 'errorBefore', status: 400 });
    await bench.clock.advance(HOUR_MS / 60);
    await bench.annotate(ROTATE_AT, '1');
    for (let turn = 1; turn <= 3; turn++) {
      for (let pass = 0; pass < 10; pass++) await bench.pass();
      expect(bench.ready()).toBe('False RefusedByServer');
      expect(bench.told.at(-1)).toContain('The previous password stays: another one is tried now and then');
      expect(bench.secret()).toEqual({ username: 'admin', password });
      expect(bench.status()).toMatchObject({ lastRotation });
      expect(bench.status().lastHandledRotateAt).toBeUndefined();
      // Users and databases are still served.
      for (const type of ['CredentialsSecured', 'Available'])
        expect(bench.status().conditions).toContainEqual(expect.objectContaining({ type, status: 'True' }));
      expect(puts()).toBe(turn);
      // In a minute, then after twice as long each time; until then only that needs a pass, and no pass does anything.
      const minutes = 2 ** (turn - 1);
      await bench.clock.advance((minutes - 0.5) * MINUTE_MS);
      const outcome = await bench.pass();
      expect(outcome.next === 'settled' ? outcome.requeueAfterMs : undefined).toBeLessThanOrEqual(MINUTE_MS / 2);
      await bench.clock.advance(MINUTE_MS / 2);
    }
    faults.clear();
    await rotate(bench);
    expect(bench.ready()).toBe('True Running');
    expect(bench.status()).toMatchObject({
      lastRotation: new Date(bench.clock.now()).toISOString(),
      lastHandledRotateAt: '1',
    });
    expect(bench.secret()?.['password']).not.toBe(password);
    expectOneWorkingLogin(bench);
  });

  it.each([400, 405, 409, 410, 422])(
    'is done if the new password works after all, whatever the answer was (%d)',
    async (status) => {
      for (const begin of [kindBench, runningBench]) {
        const bench = await begin();
        const { password } = bench.secret() ?? {};
        bench.simulator.faults.add({ match: { operation: 'updateUser' }, effect: 'errorAfter', status, times: 1 });
        await bench.annotate(ROTATE_AT, '1');
        await bench.until('True Running');
        expect(bench.secret()?.['password']).not.toBe(password);
        expect(bench.calls.filter((call) => call === 'server updateUser')).toHaveLength(1);
        expectOneWorkingLogin(bench);
      }
    },
  );

  it('keeps a password that the server may have accepted before', async () => {
    const bench = await runningBench();
    const { faults } = bench.simulator;
    faults.add({ match: { operation: 'updateUser' }, effect: 'reset', times: 1 });
    faults.add({ match: { operation: 'updateUser' }, effect: 'errorBefore', status: 400, times: 1 });
    await bench.annotate(ROTATE_AT, '1');
    for (let pass = 0; pass < 3; pass++) await bench.pass();
    expect(bench.ready()).toBe('False RefusedByServer');
    expect(bench.secret()).toHaveProperty('nextPassword');
    await bench.until('True Running');
    expectOneWorkingLogin(bench);
  });
});

describe('A coming admin password that the server refuses, unknown to the process', () => {
  it.each(['a rotation', 'a new cluster'])('gives way to another one, for %s', async (what) => {
    const bench = what === 'a rotation' ? await runningBench() : await kindBench();
    bench.simulator.faults.add({ match: { operation: 'updateUser' }, effect: 'errorBefore', status: 400 });
    await bench.annotate(ROTATE_AT, '1');
    while (bench.secret()?.['nextPassword'] === undefined) {
      await bench.pass();
      await bench.clock.advance(1_000);
    }
    const { nextPassword } = bench.secret() ?? {};
    await bench.restart();
    // The process before may have given it to the server just now.
    for (let pass = 0; pass < 5; pass++) await bench.pass();
    expect(bench.ready()).toBe('False RefusedByServer');
    expect(bench.secret()).toMatchObject({ nextPassword });
    await bench.clock.advance(HOUR_MS / 6);
    for (let pass = 0; pass < 5; pass++) await bench.pass();
    expect(bench.secret()).not.toHaveProperty('nextPassword');
    bench.simulator.faults.clear();
    await bench.clock.advance(HOUR_MS / 60);
    await bench.until('True Running');
    expectOneWorkingLogin(bench);
    expect(bench.secret()?.['password']).not.toBe(nextPassword);
  });
});

describe('An admin password that takes effect later', () => {
  it.each(['a new cluster', 'a rotation'])('of %s is waited for, and not set once more', async (what) => {
    const bench = what === 'a rotation' ? await runningBench() : await kindBench();
    const { simulator } = bench;
    if (what === 'a rotation') await bench.annotate(ROTATE_AT, '1');
    const puts = () => bench.calls.filter((call) => call === 'server updateUser').length;
    const before = puts();
    for (let pass = 0; puts() === before && pass < 100; pass++) {
      await bench.pass();
      await bench.clock.advance(1_000);
    }
    const { password = 'password', nextPassword = '' } = bench.secret() ?? {};
    simulator.setPassword('orders', 'admin', password);
    for (let second = 0; second < 30; second++) {
      expect(await bench.pass()).toMatchObject({ next: 'retry', pace: 'soon' });
      await bench.clock.advance(1_000);
    }
    expect(bench.ready()).toBe(what === 'a rotation' ? 'True Running' : 'Unknown SecuringCredentials');
    const { conditions = [] } = bench.status();
    expect(conditions.find(({ type }) => type === 'Reconciling')?.message).toContain('does not sign in yet');
    simulator.setPassword('orders', 'admin', nextPassword);
    await rotate(bench);
    expect(puts()).toBe(before + 1);
    expect(bench.ready()).toBe('True Running');
    expectOneWorkingLogin(bench);
  });
});

it('An admin login that signs in and may not set a password for long is reported, with where to look', async () => {
  const bench = await runningBench();
  bench.simulator.faults.add({ match: { operation: 'updateUser' }, effect: 'errorBefore', status: 401 });
  await bench.annotate(ROTATE_AT, '1');
  while (bench.ready() !== 'Unknown LoginChanged') {
    await bench.pass();
    await bench.clock.advance(1_000);
  }
  const ready = bench.status().conditions?.find(({ type }) => type === 'Ready');
  expect(ready?.message).toMatch(/It worked before: all logins are tried again\. If this persists, check the server/);
});

describe('An admin password that not all machines of the server know yet', () => {
  it('is waited for, even if neither it nor the one before signs in, and nobody is told to set it back', async () => {
    const bench = await runningBench();
    const refuse = { match: { operation: 'signIn' }, effect: 'errorBefore', status: 401 } as const;
    await bench.annotate(ROTATE_AT, '1');
    while (!bench.calls.includes('server updateUser')) await bench.pass();
    bench.forgetCalls();
    const fault = bench.simulator.faults.add(refuse);
    for (let second = 0; second < 30; second++) {
      expect(await bench.pass()).toMatchObject({ next: 'retry', pace: 'soon' });
      await bench.clock.advance(1_000);
    }
    expect(bench.ready()).toBe('Unknown SecuringCredentials');
    bench.simulator.faults.remove(fault);
    await rotate(bench);
    expect(bench.ready()).toBe('True Running');
    expect(bench.calls).not.toContain('server updateUser');
    expectOneWorkingLogin(bench);
    // If it stays so, a person must look.
    await bench.annotate(ROTATE_AT, '2');
    while (!bench.calls.includes('server updateUser')) await bench.pass();
    bench.simulator.faults.add(refuse);
    await bench.clock.advance(HOUR_MS / 60);
    await bench.pass();
    expect(bench.ready()).toBe('False AdminLoginRefused');
  });
});

it('An admin password that not all machines of the server know yet is waited for without the Secret of existingSecretRef, too', async () => {
  const bench = await runningBench();
  await bench.edit({ adminCredentials: { existingSecretRef: { name: 'gone' } } });
  await bench.until('True Running');
  await bench.annotate(ROTATE_AT, '1');
  while (!bench.calls.includes('server updateUser')) await bench.pass();
  bench.simulator.faults.add({ match: { operation: 'signIn' }, effect: 'errorBefore', status: 401 });
  for (let second = 0; second < 30; second++) {
    expect(await bench.pass()).toMatchObject({ next: 'retry', pace: 'soon' });
    await bench.clock.advance(1_000);
  }
  expect(bench.ready()).toBe('Unknown SecuringCredentials');
});

describe('A rotation that is overtaken by another secretName', () => {
  it.each([
    ['before the server has accepted the new password', 'errorBefore', false],
    ['before the server has accepted it, and the process ends', 'errorBefore', true],
    ['after it has, unnoticed', 'lostAnswer', false],
    ['after it has, and the process ends', 'lostAnswer', true],
  ] as const)('%s, ends with a login that works', async (_when, effect, ends) => {
    const bench = await runningBench();
    bench.simulator.faults.add({ match: { operation: 'updateUser' }, effect, status: 500, times: 1 });
    await bench.annotate(ROTATE_AT, 'now');
    while (!bench.calls.includes('server updateUser')) await bench.pass();
    await bench.edit({ adminCredentials: { secretName: 'other' } });
    if (ends) await bench.restart();
    await bench.until('True Running');
    const { password = '', nextPassword } = bench.secret('other') ?? {};
    expect([bench.simulator.passwordIs('orders', 'admin', password), nextPassword]).toEqual([true, undefined]);
    // Not before the server can have accepted its coming password.
    expect(bench.secret('orders-admin')).toHaveProperty('nextPassword');
    await bench.clock.advance(HOUR_MS / 6);
    await bench.until('True Running');
    expect(bench.secret('orders-admin')).toBeUndefined();
  });
});

describe('A rotation that has just begun when the server starts to sign in with any password', () => {
  it.each([
    ['a new process goes on with it', (bench: KindBench) => bench.restart()],
    ['a person asks for a look', (bench: KindBench) => bench.annotate('mooring.dev/reconcile-at', '1')],
    [
      'the server does not accept the password',
      async ({ simulator }: KindBench) => {
        simulator.faults.add({ match: { operation: 'updateUser' }, effect: 'errorBefore', status: 500, times: 1 });
      },
    ],
  ])('keeps the password that the server has, when %s', async (_, goOn) => {
    const bench = await runningBench();
    await bench.annotate(ROTATE_AT, '1');
    await bench.pass();
    const prepared = bench.secret();
    expect(prepared).toHaveProperty('nextPassword');
    bench.simulator.setKnobs({ acceptsAnyPassword: true });
    await goOn(bench);
    await bench.until('False AnyPasswordAccepted');
    expect(bench.secret()).toEqual(prepared);
    bench.simulator.setKnobs({ acceptsAnyPassword: false });
    // The session that was begun then proves nothing.
    await rotate(bench);
    expect(bench.ready()).toBe('True Running');
    expectOneWorkingLogin(bench);
  });
});
