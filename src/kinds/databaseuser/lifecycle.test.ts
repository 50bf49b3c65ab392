import { describe, expect, it } from 'vitest';
import { addressOf } from '../../../test/support/simulator.ts';
import { readyUserBench, type UserBench, userBench } from '../../../test/support/user-bench.ts';
import { DATABASE_USERS, USER_FINALIZER } from './resource.ts';

describe.each(['document', 'field'] as const)('a new user, at a server of the dialect %s', (dialect) => {
  it('is Ready after two calls and four writes, and its Secret works', async () => {
    const bench = await userBench({ dialect, user: {} });
    await bench.settle();
    expect(bench.ready()).toBe('True LoginWorks');
    // The List is shared by all users of the server, and so is the session that the cluster holds.
    expect(bench.takeCalls()).toEqual(['listUsers', 'createUser', 'signIn']);
    expect(bench.takeRequests().filter((request) => !request.startsWith('get'))).toEqual([
      'patch databaseusers/app',
      'create secrets/app-connection',
      'patch secrets/app-connection',
      'patch databaseusers/app status',
    ]);
    const { password, ...rest } = bench.secret() ?? {};
    const address = addressOf(bench.cluster.simulator, 'orders');
    const [host, port] = address.split(':');
    expect(rest).toEqual({
      type: 'database',
      provider: 'mooring',
      host,
      port,
      username: 'app',
      uri: `https://${address}`,
      addresses: address,
    });
    expect(password).toMatch(/^\w{32}$/);
    expect(bench.works(password)).toBe(true);
    expect(bench.status()).toMatchObject({ username: 'app', binding: { name: 'app-connection' } });
    expect(bench.secretObject()).toMatchObject({
      type: 'servicebinding.io/database',
      metadata: {
        labels: { 'mooring.dev/user': 'app', 'app.kubernetes.io/managed-by': 'mooring' },
        ownerReferences: [{ kind: 'DatabaseUser', name: 'app', uid: bench.object()?.metadata.uid }],
      },
    });
  });
});

describe('a user that exists already', () => {
  it('is left alone, and taken over with a new password once that is allowed', async () => {
    const bench = await userBench({ user: {} });
    const { simulator } = bench.cluster;
    simulator.setPassword('orders', 'app', 'somebody-elses');
    await bench.settle();
    expect(bench.ready()).toBe('False UserExists');
    expect(bench.secret()).toBeUndefined();
    expect(bench.object()?.metadata.finalizers).toBeUndefined();
    expect(bench.works('somebody-elses')).toBe(true);

    await bench.edit({ adoptionPolicy: 'IfExists' });
    bench.takeCalls();
    await bench.until('True LoginWorks');
    expect(bench.works(bench.secret()?.['password'])).toBe(true);
    expect(bench.takeCalls().filter((call) => call === 'updateUser')).toHaveLength(1);
  });

  it('keeps its sessions if it already has the password of the spec', async () => {
    const bench = await userBench({ user: { passwordSecretRef: { name: 'mine' }, adoptionPolicy: 'IfExists' } });
    await bench.putSecret('mine', { password: 'known to both' });
    bench.cluster.simulator.setPassword('orders', 'app', 'known to both');
    await bench.until('True LoginWorks');
    expect(bench.takeCalls()).not.toContain('updateUser');
    expect(bench.secret()).toMatchObject({ password: 'known to both' });
  });

  it('was created by an attempt whose answer was lost', async () => {
    const bench = await userBench({ user: {} });
    bench.cluster.simulator.faults.add({ match: { operation: 'createUser' }, effect: 'lostAnswer', times: 1 });
    await bench.until('True LoginWorks');
    expect(bench.works(bench.secret()?.['password'])).toBe(true);
    expect(bench.takeCalls()).not.toContain('updateUser');
  });

  it('is not taken over if somebody else was quicker', async () => {
    const bench = await userBench({ user: {} });
    await bench.pass();
    expect(bench.secret()).toHaveProperty('nextPassword');
    bench.cluster.simulator.setPassword('orders', 'app', 'somebody-elses');
    await bench.settle();
    expect(bench.ready()).toBe('False UserExists');
    expect(bench.works('somebody-elses')).toBe(true);
    bench.remove();
    await bench.until('gone');
    expect(bench.users()).toContain('app');
  });
});

it('A user of somebody else is created at once after it was removed there and the annotation set, as the message says', async () => {
  const bench = await userBench({ user: {} });
  const { simulator } = bench.cluster;
  simulator.setPassword('orders', 'app', 'theirs');
  await bench.settle();
  expect(bench.ready()).toBe('False UserExists');
  expect(bench.condition()?.message).toContain(
    'remove it there, and then annotate this object with a new mooring.dev/reconcile-at',
  );
  simulator.deleteUser('orders', 'app');
  // A List of this server's users serves all for so long.
  await bench.cluster.clock.advance(2_000);
  await bench.annotate('mooring.dev/reconcile-at', '1');
  await bench.settle();
  expect(bench.ready()).toBe('True LoginWorks');
});

describe('two objects for one user', () => {
  it('the older has it, and the other one follows when that is gone', async () => {
    const bench = await readyUserBench();
    await bench.create('shop/second', { username: 'app' });
    await bench.settle('shop/second');
    expect(bench.ready('shop/second')).toBe('False UserClaimed');
    expect(bench.condition('shop/second')?.message).toContain('"shop/app"');
    expect(bench.takeCalls()).toEqual([]);
    bench.remove();
    await bench.until('gone');
    await bench.until('True LoginWorks', 'shop/second');
    expect(bench.works(bench.secret('second-connection')?.['password'])).toBe(true);
  });

  it('the password of the one that has it is not replaced by one that was overtaken', async () => {
    const bench = await userBench({});
    await bench.create('shop/second', { username: 'app' });
    await bench.until('True LoginWorks', 'shop/second');
    await bench.create('shop/app', { adoptionPolicy: 'IfExists' });
    const held = { metadata: { finalizers: [USER_FINALIZER] } };
    await bench.cluster.kube.patch(DATABASE_USERS, { namespace: 'shop', name: 'app' }, held);
    await bench.settle();
    expect(bench.ready()).toBe('False UserClaimed');
    const { createdAt: identity = '' } = bench.cluster.status();
    await bench.act({ do: 'PrepareNext', isOnly: true });
    bench.takeCalls();
    const late = bench.act({ do: 'PutPassword', username: 'app', identity, password: 'next', drifted: false });
    await expect(late).rejects.toMatchObject({ message: expect.stringContaining('Another object has user "app" now') });
    expect(bench.takeCalls()).toEqual([]);
    expect(bench.works(bench.secret('second-connection')?.['password'])).toBe(true);
  });

  it('the older one comes first, even if neither has begun', async () => {
    const bench = await userBench({ user: {} });
    await bench.cluster.clock.advance(2_000);
    await bench.create('shop/second', { username: 'app' });
    await bench.settle('shop/second');
    expect(bench.ready('shop/second')).toBe('False UserClaimed');
    await bench.settle();
    expect(bench.ready()).toBe('True LoginWorks');
  });

  it('a namespace that the cluster does not admit takes no user from anybody', async () => {
    const bench = await userBench();
    await bench.create('elsewhere/app', { clusterRef: { name: 'orders', namespace: 'shop' } });
    await bench.cluster.clock.advance(2_000);
    await bench.create('shop/app');
    await bench.until('True LoginWorks');
    await bench.settle('elsewhere/app');
    expect(bench.ready('elsewhere/app')).toBe('False ClusterNotAllowed');
    expect(bench.condition('elsewhere/app')?.message).not.toMatch(/test:443|orders-admin|app-connection/);
  });
});

describe("the cluster's own users", () => {
  it.each(['admin', 'operator'])('%s is never claimed, changed or deleted', async (username) => {
    const bench = await userBench({ user: { username, adoptionPolicy: 'IfExists' } });
    // As of a cluster that was taken over with a login other than the factory login.
    const { password = '' } = bench.cluster.secret() ?? {};
    bench.cluster.simulator.setPassword('orders', 'operator', password);
    await bench.cluster.putSecret(
      'orders-admin',
      { username: 'operator', password },
      { 'mooring.dev/cluster': 'orders' },
    );
    await bench.restart();
    await bench.settle();
    expect(bench.ready()).toBe('False UsernameReserved');
    bench.remove();
    await bench.until('gone');
    expect(bench.users()).toEqual(expect.arrayContaining(['admin', 'operator']));
    expect(bench.works(password, username)).toBe(true);
    expect(bench.takeCalls().filter((call) => call !== 'signIn')).toEqual([]);
  });
});

describe('a user that the cluster took for its own since', () => {
  const takeFor = async (bench: UserBench) => {
    bench.cluster.simulator.setPassword('orders', 'app', 'of the cluster');
    await bench.cluster.putSecret(
      'orders-admin',
      { username: 'app', password: 'of the cluster' },
      { 'mooring.dev/cluster': 'orders' },
    );
    await bench.restart();
  };

  it('keeps the password that the cluster gave it', async () => {
    const bench = await readyUserBench();
    await takeFor(bench);
    await bench.annotate('mooring.dev/reconcile-at', '1');
    await bench.settle();
    expect(bench.ready()).toBe('False UsernameReserved');
    expect(bench.works('of the cluster')).toBe(true);
  });

  it('is not deleted with its object', async () => {
    const bench = await readyUserBench();
    await takeFor(bench);
    bench.remove();
    await bench.until('gone');
    expect(bench.users()).toContain('app');
    expect(bench.takeCalls()).not.toContain('deleteUser');
  });
});

describe('a creation that the server only claims to have made', () => {
  it('is reported as what it is, and tried again', async () => {
    const bench = await userBench({ user: {} });
    const { simulator } = bench.cluster;
    await bench.pass();
    await bench.pass();
    expect(bench.takeCalls()).toContain('createUser');
    simulator.deleteUser('orders', 'app');
    await bench.settle();
    expect(bench.condition()?.message).toContain('said that it created user "app"');
    await bench.cluster.clock.advance(5_000);
    await bench.settle();
    expect(bench.ready()).toBe('Unknown SettingPassword');
    expect(bench.condition()?.message).toContain('it does not list that user yet');
    expect(bench.takeCalls()).not.toContain('createUser');
    await bench.until('True LoginWorks');
    expect(bench.works(bench.secret()?.['password'])).toBe(true);
  });
});

describe('a creation on a cluster that was itself created again right after it', () => {
  it('is made again at once, as another server received it', async () => {
    const bench = await userBench({ user: {}, spec: { recreatePolicy: 'Always' } });
    const { simulator, world, until, clock } = bench.cluster;
    await bench.pass();
    await bench.pass();
    expect(bench.takeCalls()).toContain('createUser');
    await clock.advance(1_000);
    simulator.vanish('orders');
    await world().connections.get('shop/production')?.poller.refresh();
    await until('True Running');
    expect(bench.users()).not.toContain('app');
    bench.takeCalls();
    await bench.settle();
    expect(bench.takeCalls()).toContain('createUser');
    expect(bench.ready()).toBe('True LoginWorks');
  });
});

describe('a Secret that goes right after the user was created', () => {
  const justCreated = async (change: (bench: UserBench) => Promise<void> | void) => {
    const bench = await userBench({ user: {} });
    const { faults } = bench.cluster.simulator;
    faults.add({ match: { operation: 'signIn' }, effect: 'errorBefore', status: 500 });
    while (!bench.users().includes('app')) await bench.pass();
    await bench.settle();
    await change(bench);
    return bench;
  };
  const loseSecret = (bench: UserBench) => bench.removeSecret('app-connection');

  it.each([
    ['is deleted', loseSecret],
    [
      'is emptied',
      (bench: UserBench) => bench.editSecret('app-connection', { data: { nextPassword: null, password: null } }),
    ],
    [
      'gets another password by hand',
      (bench: UserBench) => bench.editSecret('app-connection', { data: { nextPassword: 'by hand' } }),
    ],
  ])('%s: the user is still known to be ours, and gets a password', async (_, change) => {
    const bench = await justCreated(change);
    await bench.settle();
    expect(bench.ready()).not.toContain('UserExists');
    bench.cluster.simulator.faults.clear();
    await bench.until('True LoginWorks');
    expect(bench.works(bench.secret()?.['password'])).toBe(true);
    expect(bench.takeCalls().filter((call) => call === 'createUser')).toHaveLength(1);
  });

  it('does not take over a user that refused the password that it was created with', async () => {
    const bench = await justCreated(() => {});
    const { simulator, clock } = bench.cluster;
    simulator.faults.clear();
    simulator.setPassword('orders', 'app', 'somebody-elses');
    await clock.advance(60_000);
    await bench.until('False UserExists');
    loseSecret(bench);
    await bench.settle();
    expect(bench.ready()).toBe('False UserExists');
    expect(bench.works('somebody-elses')).toBe(true);
  });

  it.each([
    ['said that it accepted', undefined],
    ['may have accepted', { match: { operation: 'updateUser' }, effect: 'lostAnswer', times: 1 } as const],
  ])('goes back to its first password by hand: it is still ours if the server %s another one', async (_, fault) => {
    const bench = await userBench({ user: {} });
    await bench.putSecret('mine', { password: 'mine' });
    await bench.pass();
    await bench.pass();
    await bench.pass();
    const { password = '' } = bench.secret() ?? {};
    expect([bench.works(password), bench.status().username]).toEqual([true, undefined]);
    if (fault !== undefined) bench.cluster.simulator.faults.add(fault);
    await bench.edit({ passwordSecretRef: { name: 'mine' } });
    for (let pass = 0; pass < 5 && !bench.works('mine'); pass++) await bench.pass();
    expect([bench.works('mine'), bench.status().username]).toEqual([true, undefined]);
    await bench.editSecret('app-connection', { data: { password, nextPassword: null } });
    for (let pass = 0; pass < 10; pass++) {
      await bench.pass();
      expect(bench.ready()).not.toContain('UserExists');
    }
    await bench.until('True LoginWorks');
    expect(bench.secret()).toMatchObject({ password: 'mine' });
  });

  it('says after a restart, when nothing shows any more whose the user is, what may be the case and what to do', async () => {
    const bench = await justCreated(loseSecret);
    bench.cluster.simulator.faults.clear();
    await bench.restart();
    await bench.settle();
    expect(bench.ready()).toBe('False UserExists');
    expect(bench.condition()?.message).toMatch(
      /its Secret "app-connection" was deleted or .* adoptionPolicy: IfExists/,
    );
    await bench.edit({ adoptionPolicy: 'IfExists' });
    await bench.until('True LoginWorks');
    expect(bench.works(bench.secret()?.['password'])).toBe(true);
  });
});

describe('a creation that the server refuses', () => {
  it('says so, and removes the password again that the server may not like', async () => {
    const bench = await userBench({ user: {} });
    const { faults } = bench.cluster.simulator;
    faults.add({ match: { operation: 'createUser' }, effect: 'errorBefore', status: 400 });
    await bench.settle();
    expect(bench.ready()).toBe('False RefusedByServer');
    // There is no previous password, and nobody chose this one.
    expect(bench.condition()?.message).not.toMatch(/previous password|another one|the one in Secret/);
    expect(Object.keys(bench.secret() ?? {})).not.toContain('nextPassword');
    // Events of its own write of the Secret cause no other try.
    bench.takeCalls();
    bench.takeRequests();
    await bench.settle();
    expect(bench.takeCalls()).not.toContain('createUser');
    expect(bench.takeRequests().filter((request) => !request.startsWith('get'))).toEqual([]);
    expect(bench.ready()).toBe('False RefusedByServer');
    faults.clear();
    await bench.cluster.clock.advance(60_000);
    await bench.settle();
    expect(bench.works(bench.secret()?.['password'])).toBe(true);
  });
});
