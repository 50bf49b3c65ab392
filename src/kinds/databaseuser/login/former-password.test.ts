import { describe, expect, it } from 'vitest';
import { readyUserBench, type UserBench, userBench } from '../../../../test/support/user-bench.ts';
import { DATABASE_USERS } from '../resource.ts';

const MINUTE_MS = 60_000;
const own = { passwordSecretRef: { name: 'mine' } };

describe("a person's own password that the spec no longer names", () => {
  it.each([
    ['with another edit of the Secret', { connectionSecret: { labels: { team: 'shop' } } }],
    ['with another name of the Secret', { connectionSecret: { name: 'renamed' } }],
  ])('gives way to a generated one, %s', async (_, edit) => {
    const bench = await userBench({ user: own });
    await bench.putSecret('mine', { password: 'mine' });
    await bench.until('True LoginWorks');
    await bench.edit({ passwordSecretRef: null, ...edit });
    await bench.until('True LoginWorks');
    await bench.settle();
    const name = bench.status().binding?.name ?? '';
    const { password } = bench.secret(name) ?? {};
    expect([bench.works('mine'), bench.works(password)]).toEqual([false, true]);
    expect(bench.secretObject(name)?.metadata.annotations).not.toHaveProperty(['mooring.dev/own-password']);
    expect(bench.takeCalls().filter((call) => call === 'updateUser')).toHaveLength(1);
  });

  it('gives way to a generated one, even if others write to the Secret meanwhile', async () => {
    const bench = await userBench({ user: own });
    await bench.putSecret('mine', { password: 'mine' });
    await bench.until('True LoginWorks');
    await bench.edit({ passwordSecretRef: null });
    await bench.editSecret('app-connection', { metadata: { annotations: { backup: 'done' } } });
    await bench.restart();
    await bench.until('True LoginWorks');
    await bench.settle();
    expect(bench.works('mine')).toBe(false);
  });

  it('gives way to a generated one before it was ever in use', async () => {
    const bench = await readyUserBench();
    await bench.putSecret('mine', { password: 'mine' });
    await bench.edit(own);
    await bench.pass();
    expect(bench.secret()).toHaveProperty('nextPassword', 'mine');
    await bench.edit({ passwordSecretRef: null });
    await bench.settle();
    expect(bench.works('mine')).toBe(false);
    expect(bench.ready()).toBe('True LoginWorks');
  });

  it('gives way to a generated one, even if the server does not accept the first one generated', async () => {
    const bench = await userBench({ user: own });
    await bench.putSecret('mine', { password: 'mine' });
    await bench.until('True LoginWorks');
    const { faults } = bench.cluster.simulator;
    faults.add({ match: { operation: 'updateUser' }, effect: 'errorBefore', status: 400, times: 1 });
    await bench.edit({ passwordSecretRef: null });
    for (let pass = 0; pass < 5; pass++) await bench.settle();
    expect(bench.ready()).toBe('False RefusedByServer');
    expect(bench.secret()).toMatchObject({ password: 'mine' });
    await bench.cluster.clock.advance(MINUTE_MS);
    await bench.settle();
    expect(bench.ready()).toBe('True LoginWorks');
    expect(bench.works('mine')).toBe(false);
  });
});

describe("a person's own password in a Secret that has no note of it", () => {
  const NOTE = 'mooring.dev/own-password';
  const withoutNotes = { [NOTE]: null, 'mooring.dev/next-password-mark': null };

  /** Ready, as left by a version that did not note it. */
  async function upgraded(annotations: Readonly<Record<string, null>>): Promise<UserBench> {
    const bench = await userBench({ user: own });
    await bench.putSecret('mine', { password: 'mine' });
    await bench.until('True LoginWorks');
    await bench.settle();
    await bench.editSecret('app-connection', { metadata: { annotations } });
    const connection = { secretResourceVersion: bench.secretObject()?.metadata.resourceVersion };
    const ref = { namespace: 'shop', name: 'app' };
    await bench.cluster.kube.patch(DATABASE_USERS, ref, { status: { connection } }, { subresource: 'status' });
    await bench.restart();
    bench.takeRequests();
    return bench;
  }
  const noteOf = (bench: UserBench) => bench.secretObject()?.metadata.annotations?.[NOTE];
  const byOthers = (bench: UserBench) =>
    bench.editSecret('app-connection', { metadata: { labels: { touched: 'yes' } } });
  const goes = async (bench: UserBench) => {
    await bench.until('True LoginWorks');
    await bench.settle();
    expect([bench.works('mine'), bench.works(bench.secret()?.['password'])]).toEqual([false, true]);
    bench.takeCalls();
    await bench.annotate('mooring.dev/reconcile-at', '1');
    await bench.settle();
    expect(bench.takeCalls()).not.toContain('updateUser');
  };

  it('is noted by one write when it is verified next, and a start with nothing else to do writes nothing', async () => {
    const bench = await upgraded(withoutNotes);
    await bench.settle();
    expect(bench.takeRequests()).toEqual([]);
    await bench.cluster.clock.advance(11 * MINUTE_MS);
    await bench.settle();
    expect(noteOf(bench)).toBe('password');
    const writes = bench.takeRequests().filter((request) => !request.startsWith('get'));
    expect(writes).toEqual(['patch secrets/app-connection', 'patch databaseusers/app status']);
    await byOthers(bench);
    await bench.edit({ passwordSecretRef: null });
    await goes(bench);
  });

  it.each([
    ['and an edit of the Secret', withoutNotes, { connectionSecret: { labels: { team: 'shop' } } }],
    ['and another name of the Secret', withoutNotes, { connectionSecret: { name: 'renamed' } }],
    ['and an edit of a Secret with a mark', { [NOTE]: null }, { connectionSecret: { labels: { team: 'shop' } } }],
    ['and another name of a Secret with a mark', { [NOTE]: null }, { connectionSecret: { name: 'renamed' } }],
  ])('gives way to a generated one once the spec no longer names it, %s', async (_, notes, edit) => {
    const bench = await upgraded(notes);
    await bench.edit({ passwordSecretRef: null, ...edit });
    await bench.until('True LoginWorks');
    await bench.settle();
    expect(bench.works('mine')).toBe(false);
    expect(bench.works(bench.secret(bench.status().binding?.name)?.['password'])).toBe(true);
  });

  it('gives way to a generated one, even if others wrote to the Secret before the operator came back', async () => {
    const bench = await upgraded(withoutNotes);
    await bench.edit({ passwordSecretRef: null });
    await byOthers(bench);
    await goes(bench);
  });

  it('gives way to a generated one even after the server refused the next one of the person', async () => {
    const bench = await upgraded(withoutNotes);
    const { faults } = bench.cluster.simulator;
    faults.add({ match: { operation: 'updateUser' }, effect: 'errorBefore', status: 400 });
    await bench.putSecret('mine', { password: 'refused' });
    await bench.settle();
    expect(bench.ready()).toBe('False RefusedByServer');
    faults.clear();
    await bench.edit({ passwordSecretRef: null });
    await goes(bench);
  });

  it('is noted if it was the generated one before, so that it goes with another edit of the Secret', async () => {
    const bench = await readyUserBench();
    const { password = '' } = bench.secret() ?? {};
    await bench.putSecret('mine', { password });
    await bench.edit(own);
    await bench.until('True LoginWorks');
    expect(noteOf(bench)).toBe('password');
    await bench.edit({ passwordSecretRef: null, connectionSecret: { labels: { team: 'shop' } } });
    await bench.until('True LoginWorks');
    await bench.settle();
    expect(bench.works(password)).toBe(false);
    expect(noteOf(bench)).toBeUndefined();
  });
});
