import { expect, it } from 'vitest';
import { dependentsFirst } from './dependents-first.ts';

const waits = (leaving: readonly string[], mayFollow: boolean, sinceMs: number) =>
  dependentsFirst({ leaving, mayFollow }, sinceMs, 'its server', 15_000);

it('dependentsFirst() names who goes too, for two minutes', () => {
  const user = ['DatabaseUser shop/app'];
  expect(waits(user, false, 20_000)).toMatchObject({
    message: expect.stringMatching(
      /^Waiting for objects on its server .*: DatabaseUser shop\/app\. .* two minutes at most$/,
    ),
    forMs: 100_000,
  });
  expect(waits(user, false, 120_000)).toBeUndefined();
});

it('dependentsFirst() says for how long it waits for those that may go too, and waits for nobody else', () => {
  expect(waits([], true, 5_000)).toEqual({
    message: expect.stringMatching(/^Waiting 15 seconds at most to see whether users and databases on its server are /),
    forMs: 10_000,
  });
  expect([waits([], true, 15_000), waits([], false, 0)]).toEqual([undefined, undefined]);
});
