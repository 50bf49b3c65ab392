import { expect, test } from 'vitest';
import { manualClock } from '../../test/support/clock.ts';
import { Trial } from './trial.ts';

const broken = new Error('broken again');

function trialOf() {
  const clock = manualClock();
  const trial = new Trial(clock);
  const ends: ((outcome: string | Error) => void)[] = [];
  const again = () =>
    new Promise<string>((resolve, reject) => {
      ends.push((outcome) => (typeof outcome === 'string' ? resolve(outcome) : reject(outcome)));
    });
  const run = (name: string, startedAt = clock.monotonic()) =>
    trial
      .run(startedAt, again, new Error(`${name} was broken`), (error) => error === broken)
      .catch((error: unknown) => (error instanceof Error ? error.message : 'odd'));
  return { run, ends, clock };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

test('Trial lets one go first, and the others give up if that one fails', async () => {
  const { run, ends } = trialOf();
  const all = ['a', 'b', 'c'].map((name) => run(name));
  await settle();
  expect(ends).toHaveLength(1);
  ends[0]?.(broken);
  expect(await Promise.all(all)).toEqual(['broken again', 'b was broken', 'c was broken']);
  expect(ends).toHaveLength(1);
});

test.each(['fine', new Error('another failure')])(
  'Trial lets the others follow if the first ends in %s',
  async (outcome) => {
    const { run, ends } = trialOf();
    const all = ['a', 'b', 'c'].map((name) => run(name));
    await settle();
    ends[0]?.(outcome);
    await settle();
    expect(ends).toHaveLength(3);
    for (const end of ends) end('fine');
    expect((await Promise.all(all)).slice(1)).toEqual(['fine', 'fine']);
  },
);

test('Trial begins again once it has ended, for calls that began since', async () => {
  const { run, ends, clock } = trialOf();
  const first = run('a');
  await settle();
  ends[0]?.(broken);
  await first;
  expect(await run('late')).toBe('late was broken');
  expect(ends).toHaveLength(1);
  clock.advance(1);
  const second = run('b');
  await settle();
  ends[1]?.('fine');
  expect(await second).toBe('fine');
});
