import { describe, expect, it, vi } from 'vitest';
import { aCluster, CREATED_AT } from '../../../../test/support/builders.ts';
import {
  expectOneWorkingLogin,
  FACTORY,
  type KindBench,
  kindBench,
  runningBench,
} from '../../../../test/support/kind-bench.ts';
import { clusterNamed } from '../../../../test/support/simulator.ts';
import { KubeError, SECRETS } from '../../../kube/api.ts';
import { actOnCluster } from '../act.ts';
import type { ClusterStep, ClusterSubject } from '../observation.ts';
import { DATABASE_CLUSTERS } from '../resource.ts';

/** A cluster that existed before its object, which names a Secret with a login of the cluster. */
async function adoptingBench(): Promise<KindBench> {
  const bench = await kindBench({
    spec: { adoptionPolicy: 'MustExist', adminCredentials: { existingSecretRef: { name: 'given' } } },
  });
  bench.simulator.deployForeign({
    id: 'orders',
    provider: 'gcp',
    region: 'europe-west2',
    machineType: 'c2d-highcpu-4',
    storageSizeGB: 100,
    version: '3.5.0',
  });
  bench.simulator.setPassword('orders', 'admin', 'given by a person');
  return bench;
}

const SECRET = { namespace: 'shop', name: 'orders-admin' };

/** A step that was decided on before something changed. */
function late(bench: KindBench, step: ClusterStep, subject?: ClusterSubject): Promise<unknown> {
  const given = subject ?? { ...aCluster().subject, status: bench.status() };
  return actOnCluster(bench.world(), given, step, new AbortController().signal, () => {});
}

describe('The password of a DatabaseCluster', () => {
  const moments = [
    { name: 'before the Secret is written', crash: { verb: 'create', plural: 'secrets', when: 'before' } },
    { name: 'after the Secret was written', crash: { verb: 'create', plural: 'secrets', when: 'after' } },
    { name: 'before the new password is promoted', crash: { verb: 'patch', plural: 'secrets', when: 'before' } },
    { name: 'after the new password was promoted', crash: { verb: 'patch', plural: 'secrets', when: 'after' } },
  ] as const;

  it.each(moments)('is replaced even if the process ends $name', async ({ crash }) => {
    const bench = await kindBench({ dialect: 'field' });
    bench.crashAt(crash);
    for (let pass = 0; pass < 12; pass++) await bench.pass().catch(() => bench.restart());
    await bench.until('True Running');
    expectOneWorkingLogin(bench);
  });

  it.each(['lostAnswer', 'reset', 'errorBefore', 'truncated', 'expiredToken'] as const)(
    'is replaced even if setting it ends with %s',
    async (effect) => {
      for (const restarts of [false, true]) {
        const bench = await kindBench({ dialect: restarts ? 'field' : 'document' });
        bench.simulator.faults.add({ match: { operation: 'updateUser' }, effect, times: 1 });
        for (let pass = 0; pass < 6; pass++) await bench.pass();
        if (restarts) await bench.restart();
        await bench.until('True Running');
        expectOneWorkingLogin(bench);
      }
    },
  );

  it('is finished before another one is prepared, whatever was decided', async () => {
    const bench = await runningBench();
    const prepare = () => late(bench, { do: 'PreparePassword', from: 'current' });
    await prepare();
    const { nextPassword } = bench.secret() ?? {};
    expect(nextPassword).toEqual(expect.any(String));
    await prepare();
    expect(bench.secret()).toMatchObject({ nextPassword });
  });

  it.each(['factory', 'held'] as const)(
    'that works is not overwritten by a step from %s that comes late, as after another operator replaced it',
    async (from) => {
      const bench = await runningBench();
      await expect(late(bench, { do: 'PreparePassword', from })).rejects.toEqual(
        expect.objectContaining({ reason: 'SecretChanged' }),
      );
      expectOneWorkingLogin(bench);
    },
  );

  it('is given to no other cluster, and to no server if somebody else wrote it, by a step that comes late', async () => {
    const bench = await runningBench();
    const put = { do: 'PutPassword', id: 'orders', as: 'current' } as const;
    await late(bench, { do: 'PreparePassword', from: 'current' });
    const before = bench.secret();
    const changed = expect.objectContaining({ reason: 'ClusterChanged' });
    const elsewhere = { ...aCluster().subject, status: { ...bench.status(), createdAt: CREATED_AT } };
    await expect(late(bench, put, elsewhere)).rejects.toEqual(changed);
    await bench.editSecret({ nextPassword: 'of somebody else' });
    await expect(late(bench, put)).rejects.toEqual(changed);
    expect(bench.simulator.passwordIs('orders', 'admin', before?.['password'] ?? '')).toBe(true);
  });

  it.each<[string, (bench: KindBench) => unknown]>([
    ['removed', ({ kube }) => kube.patch(SECRETS, SECRET, { data: { nextPassword: null } })],
    ['replaced', (bench) => bench.editSecret({ nextPassword: 'of somebody else' })],
    ['deleted with its Secret', ({ kube }) => kube.remove(SECRETS, SECRET)],
  ])(
    'is given to no server if it was %s while the object was read once more: nobody would know it',
    async (_, change) => {
      const bench = await runningBench();
      await bench.annotate('mooring.dev/rotate-at', '1');
      while (bench.secret()?.['nextPassword'] === undefined) await bench.pass();
      const before = bench.secret()?.['password'] ?? '';
      const get = bench.kube.get.bind(bench.kube);
      let isChanged = false;
      vi.spyOn(bench.kube, 'get').mockImplementation(async (resource, ...args) => {
        const answer = await get(resource, ...args);
        if (resource !== DATABASE_CLUSTERS || isChanged) return answer;
        isChanged = true;
        await change(bench);
        return answer;
      });
      await bench.pass();
      expect(isChanged).toBe(true);
      expect(bench.simulator.passwordIs('orders', 'admin', before)).toBe(true);
    },
  );

  it.each([
    ['of another cluster, which nobody else has', 'of another cluster', {}],
    ['that somebody else wrote, and that may be on its way', undefined, { nextPassword: 'of somebody else' }],
  ])('%s, is not overwritten by a step that comes late', async (_, password, next) => {
    const bench = await runningBench();
    const where = 'https://elsewhere.test acme/production';
    const annotations = password === undefined ? {} : { 'mooring.dev/login-of': `${CREATED_AT} ${where}` };
    const data = { ...bench.secret(), ...(password === undefined ? {} : { password }), ...next };
    await bench.editSecret(data, { annotations });
    const from = password === undefined ? 'current' : 'factory';
    const prepared = late(bench, { do: 'PreparePassword', from });
    if (password === undefined) await prepared;
    else await expect(prepared).rejects.toEqual(expect.objectContaining({ reason: 'SecretChanged' }));
    expect(bench.secret()).toEqual(data);
  });

  it.each(['inherited', 'inheritedNext'] as const)(
    'is not copied (%s) to the Secret of a clone whose object is gone, where it would stay',
    async (from) => {
      const bench = await runningBench();
      await bench.editSecret({ nextPassword: 'the next one' });
      const { subject } = aCluster().with({ cloneFrom: { clusterRef: { name: 'orders' } } });
      const clone = { ...subject, key: 'shop/copy' as const, metadata: { ...subject.metadata, name: 'copy' } };
      const { endpoint = '' } = bench.status();
      const status = { clusterID: 'copy', createdAt: CREATED_AT, endpoint, unverifiedSecretName: 'copy-admin' };
      const step = { do: 'PreparePassword', from, of: 'orders-admin' } as const;
      const password = bench.secret()?.[from === 'inherited' ? 'password' : 'nextPassword'] ?? '';
      bench.simulator.setPassword('orders', 'admin', password);
      const { connections } = bench.world();
      await connections.get('shop/production')?.logins(endpoint, 'copy').attempt({ username: 'admin', password });
      const prepared = late(bench, step, { ...clone, status: { ...subject.status, ...status } });
      await expect(prepared).rejects.toEqual(expect.objectContaining({ reason: 'ObjectChanged' }));
      expect(bench.secret('copy-admin')).toBeUndefined();
    },
  );

  it.each<[string, ClusterStep, (bench: KindBench) => unknown, string]>([
    [
      'its Secret is gone',
      { do: 'PreparePassword', from: 'current' },
      ({ kube }) => kube.remove(SECRETS, SECRET),
      'SecretChanged',
    ],
    [
      'the session has ended',
      { do: 'PutPassword', id: 'orders', as: 'held' },
      ({ restart }) => restart(),
      'SessionEnded',
    ],
    [
      'there is no cluster any more',
      { do: 'PutPassword', id: 'orders', as: 'current' },
      ({ world }) => world().connections.get('shop/production')?.poller.learn('orders', undefined, Infinity),
      'ServerUnreachable',
    ],
    [
      'no server runs any more',
      { do: 'PutPassword', id: 'orders', as: 'current' },
      ({ world }) => {
        const { poller } = world().connections.get('shop/production') ?? expect.unreachable();
        const cluster = poller.get('orders') ?? expect.unreachable();
        poller.learn('orders', { ...cluster, servers: [] }, Infinity);
      },
      'ServerUnreachable',
    ],
  ])('is not replaced by a step that comes when %s, which says so', async (_, step, change, reason) => {
    const bench = await runningBench();
    await late(bench, { do: 'PreparePassword', from: 'current' });
    await change(bench);
    await expect(late(bench, step)).rejects.toEqual(expect.objectContaining({ reason }));
    expect(bench.calls).not.toContain('server updateUser');
  });

  it('is left alone by a step that comes when nothing is left to put in place', async () => {
    const bench = await runningBench();
    const before = bench.secret();
    await late(bench, { do: 'PromotePassword' });
    expect(bench.secret()).toEqual(before);
    bench.kube.remove(SECRETS, SECRET);
    await late(bench, { do: 'PromotePassword' });
    expect(bench.secret()).toBeUndefined();
  });

  it.each([
    ['its namespace is being deleted, and its object is not yet', false, true],
    ['its object is being deleted, and something else refuses the Secret', true, false],
  ])('is not given up because %s', async (_, deleting, isTerminating) => {
    const bench = await runningBench();
    bench.kube.remove(SECRETS, SECRET);
    if (isTerminating) bench.kube.terminate('shop');
    else
      vi.spyOn(bench.kube, 'create').mockRejectedValueOnce(
        new KubeError('Too many', { status: 403, reason: 'Forbidden' }),
      );
    const status = { ...bench.status(), credentials: undefined, unverifiedSecretName: 'orders-admin' };
    const subject = { ...aCluster().subject, status, deleting };
    await expect(late(bench, { do: 'PreparePassword', from: 'held' }, subject)).rejects.toBeInstanceOf(KubeError);
    expect(bench.world().memory.inEndingNamespace.size).toBe(0);
  });

  it('that cannot be set is not said to have been changed elsewhere, unless the server refuses the login', async () => {
    const bench = await runningBench();
    bench.simulator.faults.add({ match: { operation: 'updateUser' }, effect: 'errorBefore', status: 500 });
    await bench.annotate('mooring.dev/rotate-at', '1');
    for (let pass = 0; pass < 5; pass++) await bench.pass();
    expect(bench.status().lastError).toMatchObject({ operation: 'updateUser', httpStatus: 500 });
    expect(bench.ready()).not.toBe('Unknown LoginChanged');
  });

  it('is not prepared for a user that nobody knows, as the session that was held has ended', async () => {
    const bench = await runningBench();
    bench.kube.remove(SECRETS, SECRET);
    await bench.restart();
    const prepared = late(bench, { do: 'PreparePassword', from: 'held' });
    await expect(prepared).rejects.toThrow('session that was held has ended');
    expect(bench.secret()).toBeUndefined();
  });

  it('leaves alone a Secret that another object has written since it was looked for', async () => {
    const bench = await kindBench();
    while (bench.status().createdAt === undefined) await bench.pass();
    const { secrets } = bench.world();
    const theirs = { username: 'admin', password: 'the only copy' };
    vi.spyOn(secrets, 'read').mockImplementationOnce(async () => {
      await bench.putSecret('orders-admin', theirs, { 'mooring.dev/cluster': 'another' });
      return undefined;
    });
    await bench.until('False SecretNotOurs');
    expect(bench.secret()).toEqual(theirs);
  });

  it('is set again by the session that is held, when the Secret is deleted', async () => {
    const bench = await runningBench();
    bench.kube.remove(SECRETS, SECRET);
    await bench.until('True Running');
    expectOneWorkingLogin(bench);
  });

  it('is set again by the latest session, when the Secret is deleted after a person set another password in both places', async () => {
    const bench = await runningBench();
    await bench.edit({ managementPolicy: 'Observe' });
    await bench.until('True Observed');
    bench.simulator.setPassword('orders', 'admin', 'set in both places');
    const labels = { 'mooring.dev/cluster': 'orders', 'app.kubernetes.io/managed-by': 'mooring' };
    await bench.putSecret('orders-admin', { username: 'admin', password: 'set in both places' }, labels);
    await bench.edit({ managementPolicy: 'Manage', adoptionPolicy: 'IfExists' });
    await bench.until('True Running');
    bench.kube.remove(SECRETS, SECRET);
    await bench.until('True Running');
    expectOneWorkingLogin(bench);
  });

  it('is set again when the Secret is spoilt, even after the server has restarted', async () => {
    const bench = await runningBench();
    bench.simulator.restartServers('orders');
    await bench.putSecret(
      'orders-admin',
      { username: 'admin', password: 'spoilt' },
      { 'mooring.dev/cluster': 'orders' },
    );
    await bench.until('True Running');
    expectOneWorkingLogin(bench);
  });

  it.each([
    ['empty', ''],
    ['that of nobody', 'somebody'],
  ])('is set again when the username in the Secret is %s, by the session that is held', async (_, username) => {
    const bench = await runningBench();
    const password = bench.secret()?.['password'] ?? '';
    await bench.putSecret('orders-admin', { username, password }, { 'mooring.dev/cluster': 'orders' });
    await bench.pass();
    await bench.until('True Running');
    expect(bench.secret()?.['username']).toBe('admin');
    expectOneWorkingLogin(bench);
  });

  it('is set again when the username in the Secret is that of another user of the server, whose session is held too', async () => {
    const bench = await runningBench();
    const { endpoint = '' } = bench.status();
    const logins = bench.world().connections.get('shop/production')?.logins(endpoint, 'orders') ?? expect.unreachable();
    const app = { username: 'app', password: 'the-password-of-app' };
    const admin = { username: 'admin', password: bench.secret()?.['password'] ?? '' };
    await logins.session(admin).use((client, token) => client.createUser(token, app.username, app.password));
    await logins.attempt(app);
    await bench.putSecret(
      'orders-admin',
      { username: 'app', password: admin.password },
      { 'mooring.dev/cluster': 'orders' },
    );
    await bench.pass();
    await bench.until('True Running');
    expectOneWorkingLogin(bench);
    expect(bench.simulator.passwordIs('orders', app.username, app.password)).toBe(true);
  });

  it('is lost with the username in the Secret when no session is held', async () => {
    const bench = await runningBench();
    const password = bench.secret()?.['password'] ?? '';
    await bench.putSecret('orders-admin', { username: '', password }, { 'mooring.dev/cluster': 'orders' });
    await bench.restart();
    await bench.until('False AdminLoginLost');
  });

  it.each([
    ['the server took it', (bench: KindBench) => bench.calls.includes('server updateUser'), false],
    [
      'the server took it, and the process ended',
      (bench: KindBench) => bench.calls.includes('server updateUser'),
      true,
    ],
    ['it is in place', ({ secret }: KindBench) => secret('elsewhere')?.['nextPassword'] === undefined, false],
    [
      'it is in place, and the process ended',
      ({ secret }: KindBench) => secret('elsewhere')?.['nextPassword'] === undefined,
      true,
    ],
  ] as const)('is found even if its Secret had another name until %s', async (_, isUnderWay, restarts) => {
    const bench = await runningBench();
    bench.forgetCalls();
    await bench.edit({ adminCredentials: { secretName: 'elsewhere' } });
    do await bench.pass();
    while (!isUnderWay(bench));
    if (restarts) await bench.restart();
    await bench.edit({ adminCredentials: { secretName: 'orders-admin' } });
    bench.simulator.restartServers('orders');
    await bench.pass();
    await bench.until('True Running');
    expectOneWorkingLogin(bench);
    // It is asked for once, and not looked for each time.
    bench.forgetCalls();
    await bench.annotate('unrelated', '1');
    for (let pass = 0; pass < 3; pass++) await bench.pass();
    expect(bench.calls).toEqual([]);
  });

  it('is lost with the Secret when no session is held, until that is restored as the message says', async () => {
    const bench = await runningBench();
    const { username = '', password = '' } = bench.secret() ?? {};
    bench.kube.remove(SECRETS, SECRET);
    await bench.restart();
    await bench.until('False AdminLoginLost');
    const message = bench.told.at(-1) ?? '';
    expect(message).toContain('with keys username and password');
    const labels = Object.fromEntries(
      [...message.matchAll(/(\S+)=([^\s.]+)/g)].map(([, key = '', value = '']) => [key, value]),
    );
    expect(labels).toEqual({ 'mooring.dev/cluster': 'orders', 'app.kubernetes.io/managed-by': 'mooring' });
    await bench.putSecret('orders-admin', { username, password }, labels);
    await bench.until('True Running');
    expectOneWorkingLogin(bench);
  });

  it('is never guessed when it was changed elsewhere', async () => {
    const bench = await runningBench();
    bench.simulator.setPassword('orders', 'admin', 'set in the console');
    await bench.clock.advance(700_000);
    await bench.until('False AdminLoginRefused');
    expect(bench.simulator.passwordIs('orders', 'admin', 'set in the console')).toBe(true);
  });

  it('is tried once, even if it is in two places, as each attempt may count against the user', async () => {
    const bench = await runningBench();
    await bench.putSecret(
      'orders-admin',
      { username: 'admin', password: 'wrong', nextPassword: 'wrong' },
      { 'mooring.dev/cluster': 'orders' },
    );
    await bench.restart();
    bench.simulator.setPassword('orders', 'admin', 'set in the console');
    bench.forgetCalls();
    await bench.pass();
    // That one, and the login that new clusters come with.
    expect(bench.calls.filter((call) => call === 'server signIn')).toHaveLength(2);
  });

  it('is replaced once more when somebody sets the factory password again', async () => {
    const bench = await runningBench();
    bench.simulator.setPassword('orders', 'admin', 'password');
    await bench.clock.advance(700_000);
    await bench.until('True Running');
    expectOneWorkingLogin(bench);
  });

  it('is read from existingSecretRef if the factory login does not work', async () => {
    const bench = await adoptingBench();
    await bench.putSecret('given', { username: 'admin', password: 'given by a person' });
    await bench.world().connections.get('shop/production')?.poller.refresh();
    await bench.until('True Running');
    expectOneWorkingLogin(bench);
    expect(bench.secret('given')?.['password']).toBe('given by a person');
  });

  it('of a user who may not manage others is not replaced, and is reported as of no use, even if it became so later', async () => {
    const bench = await adoptingBench();
    bench.simulator.setPassword('orders', 'reader', 'of the reader');
    await bench.putSecret('given', { username: 'reader', password: 'of the reader' });
    await bench.world().connections.get('shop/production')?.poller.refresh();
    await bench.until('False AccessDenied');
    expect(bench.told.at(-1)).toContain('user "reader" works, but may not manage users');
    expect(bench.simulator.passwordIs('orders', 'reader', 'of the reader')).toBe(true);
    expect(bench.secret()).toBeUndefined();

    await bench.putSecret('given', { username: 'admin', password: 'given by a person' });
    await bench.until('True Running');
    expectOneWorkingLogin(bench);
    bench.forgetCalls();
    await bench.annotate('mooring.dev/reconcile-at', '1');
    await bench.pass();
    expect(bench.calls).not.toContain('server listUsers');

    // It says what helps.
    const { password = '' } = bench.secret() ?? {};
    await bench.putSecret('given', { username: 'admin', password });
    const reader = { username: 'reader', password: 'of the reader' };
    await bench.putSecret('orders-admin', reader, { 'mooring.dev/cluster': 'orders' });
    await bench.until('False AccessDenied');
    expect(bench.told.at(-1)).toContain('Then delete Secret "orders-admin", but keep a copy');
    bench.kube.remove(SECRETS, SECRET);
    await bench.until('True Running');
    expectOneWorkingLogin(bench);
  });

  it('is not taken from a Secret that changed after it was tried', async () => {
    const bench = await runningBench();
    const { endpoint = '' } = bench.status();
    bench.kube.remove(SECRETS, SECRET);
    bench.simulator.setPassword('orders', FACTORY.username, FACTORY.password);
    await bench.restart();
    await bench.world().connections.get('shop/production')?.logins(endpoint, 'orders').attempt(FACTORY);
    bench.replaceFactory({ username: 'admin', password: 'no server has it' });
    const { subject: of } = aCluster();
    const { uid = '' } = bench.kube.all(DATABASE_CLUSTERS)[0]?.metadata ?? {};
    const subject = { ...of, metadata: { ...of.metadata, uid }, status: bench.status() };
    const prepared = late(bench, { do: 'PreparePassword', from: 'factory' }, subject);
    await expect(prepared).rejects.toEqual(expect.objectContaining({ reason: 'SecretChanged' }));
    expect(bench.secret()).toBeUndefined();
    bench.replaceFactory(FACTORY);
    await bench.until('True Running');
    expectOneWorkingLogin(bench);
  });

  it('is not replaced in the Secret by one that was written over it after that was tried', async () => {
    const bench = await runningBench();
    await late(bench, { do: 'PreparePassword', from: 'current' });
    const { username = '', password = '', nextPassword = '' } = bench.secret() ?? {};
    bench.simulator.setPassword('orders', username, nextPassword);
    const { endpoint = '' } = bench.status();
    const logins = bench.world().connections.get('shop/production')?.logins(endpoint, 'orders') ?? expect.unreachable();
    await logins.attempt({ username, password: nextPassword });
    await bench.editSecret({ nextPassword: 'of somebody else' });
    const promoted = late(bench, { do: 'PromotePassword' });
    await expect(promoted).rejects.toEqual(expect.objectContaining({ reason: 'SecretChanged' }));
    expect(bench.secret()).toEqual({ username, password, nextPassword: 'of somebody else' });
    await bench.editSecret({ nextPassword });
    await bench.until('True Running');
    expectOneWorkingLogin(bench);
  });

  it('overwrites no Secret of others', async () => {
    const bench = await kindBench();
    // Somebody wrote it while the cluster was being created.
    while (bench.status().createdAt === undefined) await bench.pass();
    await bench.putSecret('orders-admin', { key: 'value' });
    await bench.until('False SecretNotOurs');
    expect(bench.secret()).toEqual({ key: 'value' });
    expect(bench.simulator.passwordIs('orders', 'admin', 'password')).toBe(true);
    bench.kube.remove(SECRETS, SECRET);
    await bench.until('True Running');
  });

  it('no longer needs existingSecretRef once a login of its own works', async () => {
    const bench = await runningBench();
    await bench.edit({ adminCredentials: { existingSecretRef: { name: 'given' } } });
    await bench.annotate('mooring.dev/reconcile-at', 'now');
    await bench.until('True Running');
    await bench.annotate('mooring.dev/rotate-at', 'now');
    await bench.pass();
    await bench.until('True Running');
    expect(bench.status().lastHandledRotateAt).toBe('now');
    expectOneWorkingLogin(bench);
  });

  it('asks for the Secret of existingSecretRef, or its key, if nothing else works', async () => {
    const bench = await kindBench({ spec: { adminCredentials: { existingSecretRef: { name: 'given' } } } });
    bench.simulator.faults.add({ match: { operation: 'signIn' }, effect: 'errorBefore', status: 401 });
    const passes = async () => {
      for (let pass = 0; pass < 8; pass++) {
        await bench.pass();
        await bench.clock.advance(5_000);
      }
    };
    await passes();
    expect(bench.ready()).toBe('Unknown SecretNotFound');
    await bench.putSecret('given', { username: 'admin' });
    await passes();
    expect(bench.ready()).toBe('False SecretKeyMissing');
  });

  it('moves to another Secret when that is asked for, and the status never names one that is gone', async () => {
    const bench = await runningBench();
    await bench.restart();
    await bench.edit({ adminCredentials: { secretName: 'renamed' } });
    for (let pass = 0; pass < 20; pass++) {
      await bench.pass();
      expect(bench.secret(bench.status().credentials?.secretName)).toBeDefined();
    }
    await bench.until('True Running');
    const { username = '', password = '' } = bench.secret('renamed') ?? {};
    expect(bench.simulator.passwordIs('orders', username, password)).toBe(true);
    expect(bench.simulator.passwordIs('orders', 'admin', 'password')).toBe(false);
    expect(bench.status().credentials?.secretName).toBe('renamed');
    expect(bench.secret('orders-admin')).toBeUndefined();
  });

  it('moves to another Secret, and leaves one alone that is not ours', async () => {
    const bench = await runningBench();
    await bench.putSecret('orders-admin', { ...bench.secret() });
    await bench.edit({ adminCredentials: { secretName: 'renamed' } });
    await bench.until('True Running');
    expect(bench.secret('orders-admin')).toBeDefined();
  });

  it.each([0, 1, 2, 3])(
    'does not move to another Secret because of a cache that shows an older spec, %i passes into the move',
    async (passes) => {
      const bench = await runningBench();
      await bench.edit({ adminCredentials: { secretName: 'renamed' } });
      for (let pass = 0; pass < passes; pass++) await bench.pass();
      bench.showAsNow();
      await bench.edit({ adminCredentials: null });
      const shown = () => [bench.secret(), bench.secret('renamed')?.['username']];
      const before = shown();
      bench.forgetCalls();
      for (let pass = 0; pass < 6; pass++) await bench.pass();
      expect(shown()).toEqual(before);
      expect(bench.calls).not.toContain('server updateUser');
    },
  );

  it.each([1, 2, 3, 4, 5, 6])('works if a move to another Secret is taken back after %i passes', async (passes) => {
    const bench = await runningBench();
    await bench.edit({ adminCredentials: { secretName: 'renamed' } });
    for (let pass = 0; pass < passes; pass++) await bench.pass();
    await bench.edit({ adminCredentials: null });
    await bench.until('True Running');
    expectOneWorkingLogin(bench);
  });

  it('is not replaced if an earlier CustomResourceDefinition drops what is recorded first, which is reported, until that is fixed', async () => {
    const bench = await kindBench();
    const patch = bench.kube.patch.bind(bench.kube);
    bench.kube.patch = (resource, ref, body, options) => {
      const { status, ...rest } = body as { status?: Readonly<Record<string, unknown>> };
      if (status === undefined) return patch(resource, ref, body, options);
      const { unverifiedSecretName: _, ...kept } = status;
      return patch(resource, ref, { ...rest, status: kept }, options);
    };
    let again = 0;
    for (let pass = 0; pass < 40; pass++) {
      const { next } = await bench.pass();
      if (next === 'again') again++;
      else await bench.clock.advance(5_000);
    }
    expect(bench.ready()).toBe('Unknown CRDOutdated');
    expect(again).toBeLessThan(10);
    expect(bench.simulator.passwordIs('orders', 'admin', 'password')).toBe(true);
    bench.kube.patch = patch;
    await bench.until('True Running');
    expectOneWorkingLogin(bench);
  });

  it('goes with its cluster, unless a cache shows an object from before', async () => {
    const bench = await runningBench({ spec: { deletionPolicy: 'Delete' } });
    bench.kube.remove(DATABASE_CLUSTERS, { namespace: 'shop', name: 'orders' });
    while (clusterNamed(bench.simulator, 'orders') !== undefined) {
      await bench.pass();
      await bench.clock.advance(5_000);
    }
    bench.showAsNow();
    await bench.annotate('mooring.dev/paused', 'true');
    for (let pass = 0; pass < 3; pass++) await bench.pass();
    expect(bench.secret()).toBeDefined();
  });
});
