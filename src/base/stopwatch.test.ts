import { expect, test } from 'vitest';
import type { Clock } from './clock.ts';
import { stopwatch } from './stopwatch.ts';

function twoClocks() {
  const at = { monotonic: 5_000, wall: 1_000_000 };
  const clock: Clock = { monotonic: () => at.monotonic, now: () => at.wall, after: () => () => {} };
  return {
    clock,
    pass: (ms: number, { suspended = false, setBackMs = 0 } = {}) => {
      at.wall += ms - setBackMs;
      if (!suspended) at.monotonic += ms;
    },
  };
}

test('stopwatch() counts the time during which a machine was suspended', () => {
  const { clock, pass } = twoClocks();
  const elapsedMs = stopwatch(clock);
  pass(1_000);
  pass(40_000, { suspended: true });
  expect(elapsedMs()).toBe(41_000);
});

test('stopwatch() goes on counting when the wall clock is set back, and counts a suspension after that', () => {
  const { clock, pass } = twoClocks();
  const elapsedMs = stopwatch(clock);
  pass(1_000, { setBackMs: 86_400_000 });
  expect(elapsedMs()).toBe(1_000);
  pass(40_000, { suspended: true });
  expect(elapsedMs()).toBe(41_000);
});

test('stopwatch() runs no faster when read often', () => {
  const { clock, pass } = twoClocks();
  const rounded: Clock = { ...clock, now: () => Math.floor(clock.now()) };
  const elapsedMs = stopwatch(rounded);
  for (let times = 0; times < 100_000; times++) {
    pass(0.1);
    elapsedMs();
  }
  expect(elapsedMs() / 10_000).toBeCloseTo(1, 1);
});
