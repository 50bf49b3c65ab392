import { expect, test } from 'vitest';
import { virtualClock } from '../../sandbox/virtual-clock.ts';
import { Schedule } from './schedule.ts';

function aSchedule() {
  const clock = virtualClock();
  const told: [string, string, number][] = [];
  const schedule = new Schedule<string>(clock, (key, value) => told.push([key, value, clock.monotonic()]));
  return { clock, told, schedule };
}

test('Schedule reports each key at its moment, in order', async () => {
  const { clock, told, schedule } = aSchedule();
  schedule.set('late', 300, 'x');
  schedule.set('early', 100, 'y');
  schedule.set('early too', 100, 'z');
  await clock.advance(1_000);
  expect(told).toEqual([
    ['early', 'y', 100],
    ['early too', 'z', 100],
    ['late', 'x', 300],
  ]);
  expect(schedule.get('late')).toBeUndefined();
});

test('Schedule knows one moment for a key: the last that was set', async () => {
  const { clock, told, schedule } = aSchedule();
  schedule.set('a', 100, 'first');
  schedule.set('a', 200, 'second');
  schedule.set('b', 200, 'first');
  schedule.set('b', 100, 'second');
  await clock.advance(1_000);
  expect(told).toEqual([
    ['b', 'second', 100],
    ['a', 'second', 200],
  ]);
});

test('Schedule forgets what is deleted, and leaves no timer when nothing is left', async () => {
  const { clock, told, schedule } = aSchedule();
  schedule.set('a', 100, 'x');
  schedule.set('b', 200, 'x');
  schedule.delete('a');
  schedule.delete('b');
  expect(clock.timers()).toBe(0);
  schedule.set('c', 300, 'x');
  schedule.clear();
  expect([clock.timers(), schedule.get('c')]).toEqual([0, undefined]);
  await clock.advance(1_000);
  expect(told).toEqual([]);
});

test('Schedule reports a moment that was deleted and set again, and one that has passed', async () => {
  const { clock, told, schedule } = aSchedule();
  schedule.set('a', 100, 'first');
  schedule.delete('a');
  schedule.set('a', 100, 'second');
  await clock.advance(200);
  schedule.set('b', 100, 'late');
  await clock.advance(10);
  expect(told).toEqual([
    ['a', 'second', 100],
    ['b', 'late', 200],
  ]);
});

test('Schedule reports keys of the same moment in the order in which they were set', async () => {
  const { clock, told, schedule } = aSchedule();
  const keys = Array.from({ length: 20 }, (_, index) => `key ${index}`);
  for (const key of keys) schedule.set(key, 100, 'x');
  await clock.advance(100);
  expect(told.map(([key]) => key)).toEqual(keys);
});

test('Schedule accepts keys while it reports, even for a moment that has passed', async () => {
  const clock = virtualClock();
  const told: string[] = [];
  const schedule: Schedule<number> = new Schedule(clock, (key, times) => {
    told.push(`${key} at ${clock.monotonic()}`);
    if (times > 0) schedule.set(key, clock.monotonic() + 50 * (times - 1), times - 1);
  });
  schedule.set('a', 100, 2);
  await clock.advance(1_000);
  expect(told).toEqual(['a at 100', 'a at 150', 'a at 150']);
});

test('Schedule has one timer, however many keys there are, and copes with one that is early', async () => {
  const { clock, told, schedule } = aSchedule();
  for (let index = 0; index < 1_000; index++) schedule.set(`key ${index}`, 100.1 + index / 1_000, 'x');
  expect(clock.timers()).toBe(1);
  await clock.advance(100.1);
  expect(told).toHaveLength(1_000);
  expect(clock.timers()).toBe(0);
});

test('Schedule stays right when keys are moved thousands of times', async () => {
  const { clock, told, schedule } = aSchedule();
  for (let round = 0; round < 5_000; round++) schedule.set(`key ${round % 3}`, 10_000 - round, 'x');
  await clock.advance(20_000);
  expect(told.map(([key, , at]) => [key, at])).toEqual([
    ['key 1', 5_001],
    ['key 0', 5_001],
    ['key 2', 5_003],
  ]);
});
