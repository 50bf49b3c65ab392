import { expect, test } from 'vitest';
import { manualClock } from '../../test/support/clock.ts';
import { Pace, yieldToEventLoop } from './pace.ts';

test('Pace is due once its time has passed, and again that long after a rest', async () => {
  const clock = manualClock();
  let rests = 0;
  const yieldNow = async () => {
    rests++;
  };
  const pace = new Pace({ ...clock, yieldNow }, 5);
  expect(pace.due).toBe(false);
  clock.advance(5);
  expect(pace.due).toBe(true);
  await pace.rest();
  expect([pace.due, rests]).toEqual([false, 1]);
});

test('Pace resumes those that share it one by one, each after a turn of others', async () => {
  const clock = manualClock();
  const turns: (() => void)[] = [];
  const pace = new Pace({ ...clock, yieldNow: () => new Promise((resolve) => turns.push(resolve)) }, 5);
  const wentOn: string[] = [];
  const all = ['a', 'b', 'c'].map((name) => pace.rest().then(() => wentOn.push(name)));
  for (const expected of [['a'], ['a', 'b'], ['a', 'b', 'c']]) {
    await new Promise((resolve) => setImmediate(resolve));
    expect(turns).toHaveLength(1);
    turns.pop()?.();
    await new Promise((resolve) => setImmediate(resolve));
    expect(wentOn).toEqual(expected);
  }
  await Promise.all(all);
});

test('Pace is due sooner while somebody is in a hurry', () => {
  const clock = manualClock();
  const pace = new Pace(clock, 5);
  const [endOne, endOther] = [pace.hurry(), pace.hurry()];
  expect(pace.due).toBe(false);
  clock.advance(1);
  expect(pace.due).toBe(true);
  endOne();
  expect(pace.due).toBe(true);
  endOther();
  expect(pace.due).toBe(false);
});

test('yieldToEventLoop() lets waiting timers and I/O run', async () => {
  let ran = false;
  setImmediate(() => {
    ran = true;
  });
  await yieldToEventLoop();
  expect(ran).toBe(true);
});
