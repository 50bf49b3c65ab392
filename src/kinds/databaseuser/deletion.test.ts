import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { hideUsers } from '../../../test/support/hidden.ts';
import { APP, readyUserBench, type UserBench, userBench } from '../../../test/support/user-bench.ts';
import { Logins } from '../../database/logins.ts';
import { DATABASE_CLUSTERS } from '../databasecluster/resource.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

describe('deletion', () => {
  it('deletes the user by one call, looks whether it is gone, then the object goes', async () => {
    const bench = await readyUserBench();
    bench.remove();
    await bench.pass();
    expect(bench.ready()).toBe('gone');
    expect(bench.users()).not.toContain('app');
    expect(bench.takeCalls()).toEqual(['deleteUser', 'getUser']);
  });

  it('deletes nothing if the sign-in for it took so long that a person may have ordered otherwise', async () => {
    const bench = await readyUserBench();
    const { clock, simulator } = bench.cluster;
    simulator.faults.add({ match: { operation: 'deleteUser' }, effect: 'expiredToken', times: 1 });
    simulator.faults.add({ match: { operation: 'signIn' }, effect: 'delay', delayMs: 15_000, times: 1 });
    bench.remove();
    const passing = bench.pass();
    await clock.advance(10_000);
    await bench.edit({ deletionPolicy: 'Retain' });
    await clock.advance(10_000);
    await passing;
    expect(bench.takeCalls()).toEqual(['deleteUser', 'signIn']);
    await bench.until('gone');
    expect(bench.users()).toContain('app');
  });

  it('goes on if the answer is 200 but the user still exists', async () => {
    const bench = await readyUserBench();
    bench.cluster.simulator.faults.add({
      match: { operation: 'deleteUser' },
      effect: 'errorBefore',
      status: 200,
      times: 1,
    });
    bench.remove();
    await bench.pass();
    expect(bench.ready()).toBe('Unknown UpdateNotApplied');
    expect(bench.condition()?.message).toContain('said that it deleted user "app", but still shows it');
    await bench.pass();
    expect(bench.ready()).toBe('gone');
    expect(bench.users()).not.toContain('app');
  });

  it.each([
    { answer: 'html', status: 404, ready: 'Unknown NotFound' },
    { answer: 'errorBefore', status: 404, ready: 'Unknown NotFound' },
    { answer: 'errorBefore', status: 400, ready: 'False RefusedByServer' },
  ] as const)('goes on if the answer is $status ($answer) but the user still exists', async (row) => {
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

  it.each([400, 403, 409, 422])('says how to let the object go if the answer is %i', async (status) => {
    const bench = await readyUserBench();
    const fault = { match: { operation: 'deleteUser' }, effect: 'errorBefore', status } as const;
    bench.cluster.simulator.faults.add(fault);
    bench.remove();
    await bench.pass();
    const { message } = bench.condition() ?? {};
    expect(message).toMatch(/\. To remove only this object, annotate mooring\.dev\/abandon=true$/);
    expect(message).not.toContain('Change the spec');
    await bench.pass();
    expect(bench.condition()?.message).toBe(message);
    await bench.annotate('mooring.dev/abandon', 'true');
    await bench.pass();
    expect(bench.ready()).toBe('gone');
    expect(bench.users()).toContain('app');
  });

  it.each([404, 400])('ends if the answer is %i for 20 seconds, as the user is gone already', async (status) => {
    const bench = await readyUserBench();
    const { clock, simulator } = bench.cluster;
    simulator.deleteUser('orders', 'app');
    simulator.faults.add({ match: { operation: 'deleteUser' }, effect: 'errorBefore', status });
    bench.remove();
    await bench.pass();
    expect(bench.ready()).toBe('Unknown DeletingUser');
    expect(bench.condition()?.message).toMatch(
      /^The server has said since 20\S+Z that there is no user "app", perhaps .* takes it for deleted after 20 seconds$/,
    );
    expect(bench.takeCalls()).toEqual(['deleteUser', 'listUsers']);
    const begin = clock.monotonic();
    await bench.until('gone');
    expect(clock.monotonic() - begin).toBe(20_000);
  });

  it('does not leave a user that the server hid, as it may right after a start', async () => {
    const bench = await readyUserBench();
    const show = hideUsers();
    onTestFinished(show);
    const match = { operation: 'deleteUser' } as const;
    bench.cluster.simulator.faults.add({ match, effect: 'errorBefore', status: 404, times: 3 });
    bench.remove();
    await bench.pass();
    expect(bench.ready()).toBe('Unknown DeletingUser');
    await bench.until('gone');
    expect(bench.users()).not.toContain('app');
  });

  it('does not count the time before the server showed the user again', async () => {
    const bench = await readyUserBench();
    const { clock, simulator } = bench.cluster;
    simulator.faults.add({ match: { operation: 'deleteUser' }, effect: 'errorBefore', status: 404 });
    bench.remove();
    const told: (string | undefined)[] = [];
    for (const isHidden of [true, false, true, true]) {
      const show = isHidden ? hideUsers() : () => {};
      await bench.pass();
      show();
      told.push(bench.ready());
      await clock.advance(10_000);
    }
    const deleting = 'Unknown DeletingUser';
    expect(told).toEqual([deleting, 'Unknown NotFound', deleting, deleting]);
  });

  it('believes at once that a user is gone if the server said that it deleted it', async () => {
    const bench = await readyUserBench();
    const { simulator } = bench.cluster;
    const match = { operation: 'deleteUser' } as const;
    simulator.faults.add({ match, effect: 'errorBefore', status: 200, times: 1 });
    bench.remove();
    await bench.pass();
    expect(bench.ready()).toBe('Unknown UpdateNotApplied');
    simulator.deleteUser('orders', 'app');
    await bench.pass();
    expect(bench.ready()).toBe('gone');
  });

  it('does not end while the users cannot be listed either', async () => {
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

  it('deletes a user that was just created, even if the Secret with its password went first', async () => {
    const bench = await goingAfterCreation();
    await bench.until('gone');
    expect(bench.users()).not.toContain('app');
    expect(bench.told).toEqual([]);
  });

  it("leaves somebody else's user alone, even if an object of that name had created another one", async () => {
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

  /** A creation was requested, its outcome is unknown, and its object is being deleted. */
  async function goingOnTheWay(again = async (_: UserBench) => {}) {
    const bench = await userBench({ user: {} });
    bench.cluster.simulator.faults.add({ match: { operation: 'createUser' }, effect: 'reset', times: 1 });
    while (!bench.takeCalls().includes('createUser')) await bench.pass();
    const { nextPassword = '' } = bench.secret() ?? {};
    await again(bench);
    bench.remove();
    await bench.settle();
    expect(bench.ready()).toBe('Unknown CreatingUser');
    return { bench, nextPassword };
  }

  it.each([
    ['this process', async (_: UserBench) => {}],
    ['another process', (bench: UserBench) => bench.restart()],
  ])('waits for a user whose creation was not answered, and deletes it when it appears: %s', async (_, again) => {
    const { bench, nextPassword } = await goingOnTheWay(again);
    await bench.cluster.clock.advance(30_000);
    bench.cluster.simulator.setPassword('orders', 'app', nextPassword);
    await bench.until('gone');
    expect(bench.users()).not.toContain('app');
  });

  it('waits for a minute for a user that does not appear, and not if nothing was requested', async () => {
    const { bench } = await goingOnTheWay();
    await bench.cluster.clock.advance(60_000);
    await bench.settle();
    expect(bench.ready()).toBe('gone');
    const another = await userBench({ user: {} });
    await another.pass();
    expect(another.secret()).toHaveProperty('nextPassword');
    another.remove();
    await another.settle();
    expect(another.ready()).toBe('gone');
  });

  it('does not wait if the creation ended before it was sent, because a new token had to be fetched', async () => {
    const bench = await userBench({ user: {} });
    const { faults } = bench.cluster.simulator;
    await bench.pass();
    bench.takeCalls();
    faults.add({ match: { operation: 'createUser' }, effect: 'expiredToken', times: 1 });
    faults.add({ match: { operation: 'signIn' }, effect: 'lostAnswer', times: 1 });
    expect(await bench.pass()).toMatchObject({ next: 'failed' });
    expect(bench.takeCalls().slice(-2)).toEqual(['createUser', 'signIn']);
    bench.remove();
    await bench.settle();
    expect([bench.ready(), bench.told]).toEqual(['gone', []]);
  });

  it("does not wait because of the password in somebody else's Secret", async () => {
    const bench = await userBench({ user: {} });
    await bench.pass();
    await bench.putSecret('app-connection', { password: 'theirs' });
    bench.remove();
    await bench.settle();
    expect(bench.ready()).toBe('gone');
  });

  it("leaves the user alone whose password is in somebody else's Secret", async () => {
    const bench = await userBench({ user: {} });
    await bench.pass();
    await bench.putSecret('app-connection', { password: 'theirs' });
    bench.cluster.simulator.setPassword('orders', 'app', 'theirs');
    bench.remove();
    await bench.until('gone');
    expect(bench.works('theirs')).toBe(true);
  });

  it('waits likewise for a user that was to get the password of a Secret that was there before', async () => {
    const bench = await userBench();
    await bench.putSecret('app-connection', { password: 'restored' }, { labels: { 'mooring.dev/user': 'app' } });
    await bench.create(APP);
    bench.cluster.simulator.faults.add({ match: { operation: 'createUser' }, effect: 'reset', times: 1 });
    while (!bench.takeCalls().includes('createUser')) await bench.pass();
    expect(bench.secret()).not.toHaveProperty('nextPassword');
    bench.remove();
    await bench.settle();
    expect(bench.ready()).toBe('Unknown CreatingUser');
    bench.cluster.simulator.setPassword('orders', 'app', 'restored');
    await bench.until('gone');
    expect(bench.users()).not.toContain('app');
  });

  it("leaves a user alone that is known to be somebody else's, even if one of that name was created", async () => {
    const bench = await userBench({ user: {} });
    const { simulator, clock } = bench.cluster;
    while (!bench.takeCalls().includes('createUser')) await bench.pass();
    simulator.setPassword('orders', 'app', 'somebody-elses');
    await bench.settle();
    await clock.advance(60_000);
    await bench.until('False UserExists');
    bench.remove();
    await bench.until('gone');
    expect(bench.works('somebody-elses')).toBe(true);
  });

  it.each([
    ['a generated password', {}, {}],
    ['one that somebody put into its Secret', {}, { password: 'put by hand', nextPassword: null }],
    ["a person's own password", { passwordSecretRef: { name: 'mine' } }, {}],
  ])(
    "leaves somebody else's user alone on a server that signs in with any password, with %s",
    async (_, spec, data) => {
      const bench = await userBench({ user: spec });
      const { simulator } = bench.cluster;
      await bench.putSecret('mine', { password: 'mine' });
      simulator.faults.add({ match: { operation: 'createUser' }, effect: 'errorBefore', times: 1 });
      while (!bench.takeCalls().includes('createUser')) await bench.pass();
      await bench.restart();
      await bench.editSecret('app-connection', { data });
      simulator.setPassword('orders', 'app', 'somebody-elses');
      simulator.setKnobs({ acceptsAnyPassword: true });
      await bench.cluster.clock.advance(61_000);
      await bench.settle();
      expect(bench.ready()).toBe('False AnyPasswordAccepted');
      bench.remove();
      await bench.settle();
      expect(bench.ready()).toBe('False AnyPasswordAccepted');
      expect(bench.condition()?.message).toContain('does not delete it');
      simulator.setKnobs({ acceptsAnyPassword: false });
      await bench.settle();
      expect(bench.ready()).toBe('gone');
      expect(bench.users()).toContain('app');
      expect(bench.works('somebody-elses')).toBe(true);
    },
  );

  it('goes if the server signs in with any password, and has no such user', async () => {
    const bench = await userBench({ user: {} });
    bench.cluster.simulator.faults.add({ match: { operation: 'createUser' }, effect: 'errorBefore' });
    for (let pass = 0; pass < 5; pass++) await bench.pass();
    vi.spyOn(Logins.prototype, 'probe').mockResolvedValue('accepted');
    bench.remove();
    await bench.until('gone');
    expect(bench.told).toEqual([]);
  });

  it('reports a user that another process may have created if its Secret went first', async () => {
    const bench = await goingAfterCreation();
    await bench.restart();
    await bench.until('gone');
    expect(bench.users()).toContain('app');
    expect(bench.told).toEqual([expect.stringMatching(/^left: User "app" is on the server .* delete it there/)]);
  });

  it('reports it even if one look does not find it', async () => {
    const bench = await goingAfterCreation();
    await bench.restart();
    const match = { operation: 'getUser' };
    bench.cluster.simulator.faults.add({ match, effect: 'html', status: 404, times: 1 });
    await bench.until('gone');
    expect(bench.told).toEqual([expect.stringMatching(/^left: User "app" is on the server/)]);
  });

  it('reports nothing about a user that was never created', async () => {
    const bench = await userBench({ user: {} });
    bench.cluster.simulator.faults.add({ match: { operation: 'createUser' }, effect: 'errorBefore' });
    await bench.pass();
    await bench.pass();
    bench.removeSecret('app-connection');
    bench.remove();
    await bench.until('gone');
    expect(bench.told).toEqual([]);
  });

  it('asks nothing with Retain', async () => {
    const bench = await readyUserBench({ user: { deletionPolicy: 'Retain' } });
    bench.remove();
    await bench.pass();
    expect(bench.ready()).toBe('gone');
    expect(bench.users()).toContain('app');
    expect(bench.takeCalls()).toEqual([]);
  });

  it('stops if the object is no longer as it was when that was decided', async () => {
    const bench = await readyUserBench();
    bench.remove();
    const before = bench.object();
    await bench.edit({ deletionPolicy: 'Retain' });
    await bench.pass('shop/app', before);
    expect(bench.users()).toContain('app');
    await bench.until('gone');
    expect(bench.users()).toContain('app');
  });

  it('is not undone because a cache still shows the object', async () => {
    const bench = await readyUserBench();
    const before = bench.object();
    bench.remove();
    await bench.until('gone');
    await bench.cluster.clock.advance(660_000);
    await bench.pass('shop/app', before);
    expect(bench.users()).not.toContain('app');
    expect(bench.takeCalls()).not.toContain('createUser');
  });

  it('leaves the password as it is with Retain, even if a cache still shows the object', async () => {
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

  it('waits for a suspended cluster, and goes on when it runs', async () => {
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
