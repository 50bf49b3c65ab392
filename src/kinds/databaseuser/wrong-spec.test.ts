import { expect, test } from 'vitest';
import { userBench } from '../../../test/support/user-bench.ts';
import { DATABASE_USERS } from './resource.ts';

test.each([243, 253])(
  'a DatabaseUser whose name of %d characters leaves none for its Secret says what to set',
  async (length) => {
    const key = `shop/${'n'.repeat(length)}`;
    const bench = await userBench();
    await bench.create(key);
    await bench.settle(key);
    expect(bench.ready(key)).toBe('False InvalidSpec');
    expect(bench.condition(key)?.message).toContain('set connectionSecret.name');
    await bench.edit({ connectionSecret: { name: 'short' } }, key);
    await bench.settle(key);
    expect(bench.ready(key)).toBe('True LoginWorks');
  },
);

test('a DatabaseUser whose username is not composed is not created, as a server may compose it', async () => {
  const bench = await userBench({ user: { username: 'Jose\u0301' } });
  bench.takeCalls();
  await bench.settle();
  expect(bench.ready()).toBe('False InvalidUsername');
  expect(bench.condition()?.message).toContain('composed form (NFC)');
  expect(bench.takeCalls()).toEqual([]);
  await bench.create('shop/composed', { username: 'Jos\u00e9' });
  await bench.until('True LoginWorks', 'shop/composed');
});

test('a DatabaseUser that has a user whose name is not composed keeps it', async () => {
  const bench = await userBench({ user: { username: 'Jose\u0301' } });
  await bench.cluster.kube.patch(
    DATABASE_USERS,
    { namespace: 'shop', name: 'app' },
    { status: { username: 'Jose\u0301' } },
    { subresource: 'status' },
  );
  await bench.until('True LoginWorks');
  expect(bench.users()).toContain('Jose\u0301');
  // Its end is no other one's, though the List shows the name composed.
  bench.cluster.simulator.faults.add({ match: { operation: 'deleteUser' }, effect: 'html', status: 404, times: 1 });
  bench.remove();
  await bench.until('gone');
  expect(bench.users()).not.toContain('Jose\u0301');
});

test('a DatabaseUser with a name of 242 characters has its Secret', async () => {
  const key = `shop/${'n'.repeat(242)}`;
  const bench = await userBench();
  await bench.create(key);
  await bench.settle(key);
  expect(bench.ready(key)).toBe('True LoginWorks');
});

test('a DatabaseUser whose password is to come from the Secret that is written for it says so, unless it has a user', async () => {
  const own = { passwordSecretRef: { name: 'app-connection' } };
  const bench = await userBench({ user: own });
  await bench.settle();
  expect(bench.ready()).toBe('False InvalidSpec');
  expect(bench.condition()?.message).toContain('name another Secret in one of the two');
  await bench.edit({ passwordSecretRef: null });
  await bench.until('True LoginWorks');
  await bench.edit(own);
  await bench.settle();
  expect(bench.ready()).toBe('True LoginWorks');
});
