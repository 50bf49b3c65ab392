import { describe, expect, it, vi } from 'vitest';
import { readyUserBench, type UserBench, userBench } from '../../../../test/support/user-bench.ts';
import { DATABASE_USERS } from '../resource.ts';

const MINUTE_MS = 60_000;
const WAYS: readonly [how: string, (bench: UserBench) => unknown][] = [
  ['changes the password', (bench) => bench.editSecret('app-connection', { data: { password: 'of somebody else' } })],
  ['deletes the Secret', (bench) => bench.removeSecret('app-connection')],
];

describe.each(WAYS)('another controller that %s again and again', (_how, again) => {
  it('does not set the pace at which passwords are replaced, which ends sessions each time', async () => {
    const bench = await readyUserBench();
    let passwordsSet = 0;
    for (let round = 0; round < 20; round++) {
      await again(bench);
      await bench.settle();
      passwordsSet += bench.takeCalls().filter((call) => call === 'updateUser').length;
    }
    expect(passwordsSet).toBeGreaterThanOrEqual(4);
    expect(passwordsSet).toBeLessThanOrEqual(5);
    expect(bench.ready()).toBe('False PasswordOverwritten');
    expect(bench.condition()?.message).toContain(
      'kubectl get secret app-connection --namespace=shop --output=jsonpath',
    );
    expect(bench.condition()?.message).toContain('Secret "app-connection"');
    expect(bench.condition()?.message).toContain('has replaced it 5 times within 5 minutes');
  });

  it('is let go on with when it has ended, and at once when a person asks for a look', async () => {
    const bench = await readyUserBench();
    for (let round = 0; round < 6; round++) {
      await again(bench);
      await bench.settle();
    }
    expect(bench.ready()).toBe('False PasswordOverwritten');
    await bench.annotate('mooring.dev/reconcile-at', '1');
    await bench.until('True LoginWorks');
    await again(bench);
    await bench.settle();
    expect(bench.ready()).toBe('False PasswordOverwritten');
    await bench.cluster.clock.advance(6 * MINUTE_MS);
    await bench.settle();
    expect(bench.ready()).toBe('True LoginWorks');
    expect(bench.works(bench.secret()?.['password'])).toBe(true);
  });
});

it("A person's own password is put back however often it is overwritten, as that ends no session", async () => {
  const bench = await readyUserBench();
  await bench.putSecret('mine', { password: 'my own' });
  await bench.edit({ passwordSecretRef: { name: 'mine' } });
  await bench.until('True LoginWorks');
  bench.takeCalls();
  for (let round = 0; round < 10; round++) {
    await bench.editSecret('app-connection', { data: { password: 'of somebody else' } });
    await bench.settle();
    expect(bench.ready()).toBe('True LoginWorks');
  }
  expect(bench.secret()?.['password']).toBe('my own');
  expect(bench.takeCalls()).not.toContain('updateUser');
});

it('Passwords that the server refused before a person changed the object do not count', async () => {
  const bench = await userBench({ user: {} });
  const { faults } = bench.cluster.simulator;
  faults.add({ match: { operation: 'createUser' }, effect: 'errorBefore', status: 400 });
  for (let round = 0; round < 6; round++) {
    await bench.edit({ connectionSecret: { template: { round: String(round) } } });
    await bench.settle();
    expect(bench.ready()).toBe('False RefusedByServer');
  }
  faults.clear();
  await bench.edit({ connectionSecret: { template: { round: 'last' } } });
  await bench.settle();
  expect(bench.ready()).toBe('True LoginWorks');
});

it("A person's own password is not held up by generated ones that were overwritten before", async () => {
  const bench = await readyUserBench();
  for (let round = 0; round < 6; round++) {
    bench.removeSecret('app-connection');
    await bench.settle();
  }
  expect(bench.ready()).toBe('False PasswordOverwritten');
  await bench.putSecret('mine', { password: 'my own' });
  await bench.edit({ passwordSecretRef: { name: 'mine' } });
  await bench.settle();
  expect(bench.ready()).toBe('True LoginWorks');
  expect(bench.works('my own')).toBe(true);
});

it.each<[string, (bench: UserBench) => unknown]>([
  ['removed', (bench) => bench.editSecret('app-connection', { data: { nextPassword: null } })],
  ['deleted with its Secret', (bench) => bench.removeSecret('app-connection')],
])('A coming password that is %s while the object is read once more is given to no server', async (_how, change) => {
  const bench = await readyUserBench();
  const before = bench.secret()?.['password'];
  await bench.annotate('mooring.dev/rotate-at', '1');
  while (bench.secret()?.['nextPassword'] === undefined) await bench.pass();
  const { kube } = bench.cluster;
  const get = kube.get.bind(kube);
  let isChanged = false;
  vi.spyOn(kube, 'get').mockImplementation(async (resource, ...args) => {
    const answer = await get(resource, ...args);
    if (resource !== DATABASE_USERS || isChanged) return answer;
    isChanged = true;
    await change(bench);
    return answer;
  });
  await bench.pass();
  expect([isChanged, bench.works(before)]).toEqual([true, true]);
});
