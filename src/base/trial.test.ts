import { expect, test } from 'vitest';
import { Trial } from './trial.ts';

const broken = new Error('broken again');

function trialOf() {
  const trial = new Trial();
  const ends: ((outcome: string | Error) => void)[] = [];
  const again = () =>
    new Promise<string>((resolve, reject) => {
      ends.push((outcome) => (typeof outcome === 'string' ? resolve(outcome) : reject(outcome)));
    });
  const run = (name: string) =>
    trial
      .run(again, new Error(`${name} was broken`), (error) => error === broken)
      .catch((error: unknown) => (error instanceof Error ? error.message : 'odd'));
  return { run, ends };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

test('Trial lets one go first, and the others give up where that one fails', async () => {
  const { run, ends } = trialOf();
  const all = ['a', 'b', 'c'].map(run);
  await settle();
  expect(ends).toHaveLength(1);
  ends[0]?.(broken);
  expect(await Promise.all(all)).toEqual(['broken again', 'b was broken', 'c was broken']);
  expect(ends).toHaveLength(1);
});

test.each(['fine', new Error('another failure')])(
  'Trial lets the others follow where the first ends in %s',
  async (outcome) => {
    const { run, ends } = trialOf();
    const all = ['a', 'b', 'c'].map(run);
    await settle();
    ends[0]?.(outcome);
    await settle();
    expect(ends).toHaveLength(3);
    for (const end of ends) end('fine');
    expect((await Promise.all(all)).slice(1)).toEqual(['fine', 'fine']);
  },
);

test('Trial begins anew once it has ended', async () => {
  const { run, ends } = trialOf();
  const first = run('a');
  ends[0]?.(broken);
  await first;
  const second = run('b');
  ends[1]?.('fine');
  expect(await second).toBe('fine');
});
