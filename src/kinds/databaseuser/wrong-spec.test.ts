import { expect, test } from 'vitest';
import { userBench } from '../../../test/support/user-bench.ts';

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

test('a DatabaseUser with a name of 242 characters has its Secret', async () => {
  const key = `shop/${'n'.repeat(242)}`;
  const bench = await userBench();
  await bench.create(key);
  await bench.settle(key);
  expect(bench.ready(key)).toBe('True LoginWorks');
});
