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
  // Its deletion does not end early, even if the List shows the name composed.
  bench.cluster.simulator.faults.add({ match: { operation: 'deleteUser' }, effect: 'html', status: 404, times: 1 });
  bench.remove();
  await bench.until('gone');
  expect(bench.users()).not.toContain('Jose\u0301');
});

test.each([
  { passwordSecretRef: { name: 'app-connection', key: 'LOGIN' } },
  { passwordSecretRef: { name: 'db', key: 'LOGIN' }, connectionSecret: { name: 'db' } },
])(
  'a DatabaseUser from before the rule does nothing if its own password should come from what it writes: %j',
  async (spec) => {
    const template = { LOGIN: '{{ password }}x' };
    const { connectionSecret, ...rest } = { connectionSecret: {}, ...spec };
    const bench = await userBench({ user: { connectionSecret: { ...connectionSecret, template } } });
    await bench.until('True LoginWorks');
    await bench.edit({ ...rest, connectionSecret: { ...connectionSecret, template } });
    bench.takeCalls();
    await bench.settle();
    expect(bench.ready()).toBe('False InvalidSpec');
    expect(bench.condition()?.message).toContain('name another Secret in one of the two');
    expect(bench.takeCalls()).toEqual([]);
    bench.remove();
    await bench.until('gone');
    expect(bench.users()).not.toContain('app');
  },
);

test('a DatabaseUser with a name of 242 characters has its Secret', async () => {
  const key = `shop/${'n'.repeat(242)}`;
  const bench = await userBench();
  await bench.create(key);
  await bench.settle(key);
  expect(bench.ready(key)).toBe('True LoginWorks');
});
