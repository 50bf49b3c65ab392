import { describe, expect, it } from 'vitest';
import { readyUserBench, type UserBench, userBench } from '../../../../test/support/user-bench.ts';

const NAMES = ['app-connection', 'second', 'third'];
const named = (name: string) => ({ connectionSecret: { name } });
const left = (bench: UserBench) => NAMES.filter((name) => bench.secret(name) !== undefined);

describe('a connection Secret whose name changes twice, before the first change was finished', () => {
  const crashes = [
    { verb: 'create', plural: 'secrets', when: 'before' },
    { verb: 'create', plural: 'secrets', when: 'after' },
    { verb: 'delete', plural: 'secrets', when: 'before' },
    { verb: 'delete', plural: 'secrets', when: 'after' },
    { verb: 'patch', plural: 'databaseusers', when: 'before' },
    { verb: 'patch', plural: 'databaseusers', when: 'after' },
  ] as const;
  const ends = crashes.flatMap((crash) => [[crash], ...crashes.map((second) => [crash, second])]);
  const said = ends.map((all) => ({
    all,
    where: all.map(({ verb, plural, when }) => `${when} ${verb} ${plural}`).join(),
  }));

  it.each(said)('leaves one Secret, with the same password, even if a process ends $where', async ({ all }) => {
    const bench = await readyUserBench();
    const { password } = bench.secret() ?? {};
    await bench.edit(named('second'));
    await bench.pass();
    expect(left(bench)).toEqual(['app-connection', 'second']);
    await bench.edit(named('third'));
    for (const moment of all) {
      bench.cluster.crashAt(moment);
      await bench.pass().catch(() => {});
      await bench.restart();
    }
    await bench.until('True LoginWorks');
    await bench.settle();
    expect(left(bench)).toEqual(['third']);
    expect(bench.secret('third')).toMatchObject({ password });
    expect(bench.status()).toMatchObject({ binding: { name: 'third' }, connection: { secretName: 'third' } });
    expect(bench.takeCalls()).not.toContain('updateUser');
  });

  it('takes the password from the first one if the second is gone', async () => {
    const bench = await readyUserBench();
    const { password } = bench.secret() ?? {};
    await bench.edit(named('second'));
    await bench.pass();
    bench.removeSecret('second');
    await bench.edit(named('third'));
    await bench.settle();
    expect(left(bench)).toEqual(['third']);
    expect(bench.secret('third')).toMatchObject({ password });
    expect(bench.takeCalls()).not.toContain('updateUser');
  });

  it("neither takes a password from somebody else's Secret that has a former name, nor deletes it", async () => {
    const bench = await readyUserBench();
    await bench.putSecret('app-connection', { password: 'theirs' });
    await bench.edit(named('second'));
    await bench.settle();
    expect(bench.ready()).toBe('True LoginWorks');
    expect(bench.secret()).toEqual({ password: 'theirs' });
    expect([bench.works('theirs'), bench.works(bench.secret('second')?.['password'])]).toEqual([false, true]);
  });

  it('leaves one Secret even before the user was Ready for the first time', async () => {
    const bench = await userBench({ user: {} });
    for (let pass = 0; pass < 20 && !bench.users().includes('app'); pass++) await bench.pass();
    const { nextPassword } = bench.secret() ?? {};
    await bench.edit(named('second'));
    bench.cluster.crashAt({ verb: 'create', plural: 'secrets', when: 'after' });
    await bench.pass().catch(() => {});
    await bench.edit(named('third'));
    await bench.until('True LoginWorks');
    await bench.settle();
    expect(left(bench)).toEqual(['third']);
    expect(bench.secret('third')).toMatchObject({ password: nextPassword });
  });
});

describe('a connection Secret whose name changed before the user was Ready, while a process ended', () => {
  async function created(user: Readonly<Record<string, unknown>>): Promise<UserBench> {
    const bench = await userBench({ user });
    while (!bench.users().includes('app')) await bench.pass();
    await bench.restart();
    return bench;
  }

  it('is found by the name that it has by default', async () => {
    const bench = await created({});
    const { nextPassword } = bench.secret() ?? {};
    await bench.edit(named('second'));
    await bench.settle();
    expect(bench.ready()).toBe('True LoginWorks');
    expect(left(bench)).toEqual(['second']);
    expect(bench.secret('second')).toMatchObject({ password: nextPassword });
    expect(new Set(bench.takeCalls())).toEqual(new Set(['signIn', 'listUsers']));
  });

  it('is found when the object goes, with its user', async () => {
    const bench = await created({});
    await bench.edit(named('second'));
    bench.remove();
    await bench.until('gone');
    expect(bench.users()).not.toContain('app');
    expect(bench.told).toEqual([]);
  });

  it('leaves a Secret alone that has the default name, and that this object did not make', async () => {
    const bench = await created(named('second'));
    await bench.putSecret('app-connection', { password: 'x' }, { labels: { 'mooring.dev/user': 'app' } });
    await bench.settle();
    expect(bench.ready()).toBe('True LoginWorks');
    expect(left(bench)).toEqual(['app-connection', 'second']);
  });

  it('is reported as what may exist if it had a name that nobody knows any more', async () => {
    const bench = await created(named('second'));
    await bench.edit({ connectionSecret: null });
    await bench.settle();
    expect(bench.ready()).toBe('False UserExists');
    expect(bench.condition()?.message).toContain('its Secret "app-connection" was deleted or had another name');
    await bench.edit(named('second'));
    await bench.settle();
    expect(bench.ready()).toBe('True LoginWorks');
  });
});
