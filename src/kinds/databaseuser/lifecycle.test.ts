import { describe, expect, it } from 'vitest';
import { addressOf } from '../../../test/support/simulator.ts';
import { APP, readyUserBench, type UserBench, userBench } from '../../../test/support/user-bench.ts';
import { DATABASE_CLUSTERS } from '../databasecluster/resource.ts';

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

describe('a user that is there already', () => {
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

  it('keeps its sessions where it has the password of the spec already', async () => {
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

  it('is not taken over where somebody else was quicker', async () => {
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

  it('the one that is there longer comes first, though none has begun', async () => {
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
    // As of a cluster that was taken over with another login than the one that new clusters come with.
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

describe('a creation that the server only says it made', () => {
  it('is told as what it is, and tried again', async () => {
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

describe('a creation that the server refuses', () => {
  it('says so, and takes the password away again that it may not like', async () => {
    const bench = await userBench({ user: {} });
    const { faults } = bench.cluster.simulator;
    faults.add({ match: { operation: 'createUser' }, effect: 'errorBefore', status: 400 });
    await bench.settle();
    expect(bench.ready()).toBe('False RefusedByServer');
    expect(Object.keys(bench.secret() ?? {})).not.toContain('nextPassword');
    // What the own write of the Secret leads to is no other try.
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

describe('deletion', () => {
  it('deletes the user by one call, then the object goes', async () => {
    const bench = await readyUserBench();
    bench.remove();
    await bench.pass();
    expect(bench.ready()).toBe('gone');
    expect(bench.users()).not.toContain('app');
    expect(bench.takeCalls()).toEqual(['deleteUser']);
  });

  it.each([
    { answer: 'html', status: 404, ready: 'Unknown NotFound' },
    { answer: 'errorBefore', status: 404, ready: 'Unknown NotFound' },
    { answer: 'errorBefore', status: 400, ready: 'False RefusedByServer' },
  ] as const)('goes on where the answer is $status ($answer), and the user is there', async (row) => {
    const bench = await readyUserBench();
    const { answer: effect, status, ready } = row;
    bench.cluster.simulator.faults.add({ match: { operation: 'deleteUser' }, effect, status, times: 1 });
    bench.remove();
    await bench.pass();
    expect(bench.ready()).toBe(ready);
    expect(bench.users()).toContain('app');
    expect(bench.takeCalls()).toEqual(['deleteUser', 'listUsers']);
    await bench.pass();
    expect(bench.ready()).toBe('gone');
    expect(bench.users()).not.toContain('app');
  });

  it.each([404, 400])('ends where the answer is %i, as the user is gone already', async (status) => {
    const bench = await readyUserBench();
    bench.cluster.simulator.deleteUser('orders', 'app');
    bench.cluster.simulator.faults.add({ match: { operation: 'deleteUser' }, effect: 'errorBefore', status });
    bench.remove();
    await bench.pass();
    expect(bench.ready()).toBe('gone');
    expect(bench.takeCalls()).toEqual(['deleteUser', 'listUsers']);
  });

  it('does not end while no List can be had either', async () => {
    const bench = await readyUserBench();
    const operation = ['deleteUser', 'listUsers'];
    bench.cluster.simulator.faults.add({ match: { operation }, effect: 'html', status: 404 });
    bench.remove();
    await bench.pass();
    expect(bench.ready()).toBe('Unknown NotFound');
  });

  it('deletes a user whose creation was on the way', async () => {
    const bench = await userBench({ user: {} });
    bench.cluster.simulator.faults.add({ match: { operation: 'createUser' }, effect: 'lostAnswer', times: 1 });
    await bench.pass();
    await bench.pass();
    expect(bench.users()).toContain('app');
    bench.remove();
    await bench.until('gone');
    expect(bench.users()).not.toContain('app');
  });

  /** The namespace goes right after the user was created: the Secret at once, the object when its finalizer does. */
  async function goingAfterCreation() {
    const bench = await userBench({ user: {} });
    while (!bench.users().includes('app')) await bench.pass();
    expect(bench.status().username).toBeUndefined();
    bench.removeSecret('app-connection');
    bench.remove();
    return bench;
  }

  it('deletes a user that was just created, though the Secret with its password went first', async () => {
    const bench = await goingAfterCreation();
    await bench.until('gone');
    expect(bench.users()).not.toContain('app');
    expect(bench.told).toEqual([]);
  });

  it("leaves somebody else's user alone, though an object of that name had created another one", async () => {
    const bench = await readyUserBench({ user: { username: 'first' } });
    bench.remove();
    await bench.pass();
    // Created again before anybody saw that it was gone.
    await bench.create(APP, { username: 'bob' });
    bench.cluster.simulator.faults.add({ match: { operation: 'createUser' }, effect: 'errorBefore', times: 1 });
    while (!bench.takeCalls().includes('createUser')) await bench.pass();
    bench.cluster.simulator.setPassword('orders', 'bob', 'somebody-elses');
    await bench.settle();
    expect(bench.ready()).toBe('False UserExists');
    bench.remove();
    await bench.until('gone');
    expect(bench.users()).toContain('bob');
  });

  it('tells of a user that another process may have created, where its Secret went first', async () => {
    const bench = await goingAfterCreation();
    await bench.restart();
    await bench.until('gone');
    expect(bench.users()).toContain('app');
    expect(bench.told).toEqual([expect.stringMatching(/^left: User "app" is on the server .* delete it there/)]);
  });

  it('tells of it also where one look does not find it', async () => {
    const bench = await goingAfterCreation();
    await bench.restart();
    const match = { operation: 'getUser' };
    bench.cluster.simulator.faults.add({ match, effect: 'html', status: 404, times: 1 });
    await bench.until('gone');
    expect(bench.told).toEqual([expect.stringMatching(/^left: User "app" is on the server/)]);
  });

  it('tells nothing of a user that was never created', async () => {
    const bench = await userBench({ user: {} });
    bench.cluster.simulator.faults.add({ match: { operation: 'createUser' }, effect: 'errorBefore' });
    await bench.pass();
    await bench.pass();
    bench.removeSecret('app-connection');
    bench.remove();
    await bench.until('gone');
    expect(bench.told).toEqual([]);
  });

  it('with Retain needs nobody', async () => {
    const bench = await readyUserBench({ user: { deletionPolicy: 'Retain' } });
    bench.remove();
    await bench.pass();
    expect(bench.ready()).toBe('gone');
    expect(bench.users()).toContain('app');
    expect(bench.takeCalls()).toEqual([]);
  });

  it('stops where the object is not as it was decided on', async () => {
    const bench = await readyUserBench();
    bench.remove();
    const before = bench.object();
    await bench.edit({ deletionPolicy: 'Retain' });
    await bench.pass('shop/app', before);
    expect(bench.users()).toContain('app');
    await bench.until('gone');
    expect(bench.users()).toContain('app');
  });

  it('is not undone by a cache that still shows the object', async () => {
    const bench = await readyUserBench();
    const before = bench.object();
    bench.remove();
    await bench.until('gone');
    await bench.cluster.clock.advance(660_000);
    await bench.pass('shop/app', before);
    expect(bench.users()).not.toContain('app');
    expect(bench.takeCalls()).not.toContain('createUser');
  });

  it('with Retain leaves the password as it is, though a cache still shows the object', async () => {
    const bench = await readyUserBench({ user: { deletionPolicy: 'Retain' } });
    const before = bench.object();
    const { password } = bench.secret() ?? {};
    bench.remove();
    await bench.until('gone');
    bench.removeSecret('app-connection');
    for (let count = 0; count < 3; count++) await bench.pass('shop/app', before);
    expect(bench.works(password)).toBe(true);
  });

  it.each(['before the user', 'after the user'])('goes with the cluster, deleted %s', async (order) => {
    const bench = await readyUserBench();
    const { kube } = bench.cluster;
    const isFirst = order === 'before the user';
    const removeCluster = async () => {
      kube.remove(DATABASE_CLUSTERS, { namespace: 'shop', name: 'orders' });
      await bench.cluster.pass();
      expect(kube.all(DATABASE_CLUSTERS)).toEqual([]);
    };
    if (isFirst) await removeCluster();
    bench.remove();
    await bench.until('gone');
    if (!isFirst) await removeCluster();
    expect(bench.told).toEqual(isFirst ? [expect.stringMatching(/^left: User "app" was not/)] : []);
    expect(bench.users().includes('app')).toBe(isFirst);
  });

  it('waits for a cluster that sleeps, and goes on when it runs', async () => {
    const bench = await readyUserBench();
    await bench.cluster.edit({ state: 'Suspended' });
    await bench.cluster.until('True Suspended');
    bench.remove();
    bench.takeCalls();
    await bench.settle();
    expect(bench.ready()).toBe('Unknown ClusterSuspended');
    expect(bench.takeCalls()).toEqual([]);
    await bench.cluster.edit({ state: 'Running' });
    await bench.cluster.until('True Running');
    await bench.until('gone');
    expect(bench.users()).not.toContain('app');
  });

  it('waits visibly while the login of the cluster is lost', async () => {
    const bench = await readyUserBench();
    await bench.restart();
    bench.removeSecret('orders-admin');
    bench.remove();
    await bench.settle();
    expect(bench.ready()).toBe('Unknown ClusterLoginLost');
    expect(bench.told).toContain('refused shop/orders');
    expect(bench.users()).toContain('app');
  });
});
