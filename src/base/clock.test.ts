import { expect, test } from 'vitest';
import { virtualClock } from '../sandbox/virtual-clock.ts';
import { sleep, systemClock } from './clock.ts';

test('sleep() resolves when its time is over', async () => {
  const clock = virtualClock();
  let over = false;
  void sleep(clock, 1_000).then(() => {
    over = true;
  });
  await clock.advance(999);
  expect(over).toBe(false);
  await clock.advance(1);
  expect(over).toBe(true);
});

test('sleep() resolves at once when the signal aborts or has aborted, and leaves no timer', async () => {
  const clock = virtualClock();
  const stop = new AbortController();
  const sleeping = sleep(clock, 1_000, stop.signal);
  stop.abort();
  await sleeping;
  await sleep(clock, 1_000, stop.signal);
  expect(clock.timers()).toBe(0);
});

test('systemClock never fires early for a delay too long for the platform, and can be cancelled', async () => {
  let fired = false;
  const cancels = [2 ** 31, Number.MAX_SAFE_INTEGER].map((delayMs) =>
    systemClock.after(delayMs, () => {
      fired = true;
    }),
  );
  await sleep(systemClock, 5);
  for (const cancel of cancels) cancel();
  expect(fired).toBe(false);
});

test('systemClock runs at least as late as asked', async () => {
  const before = systemClock.monotonic();
  await sleep(systemClock, 10);
  expect(systemClock.monotonic() - before).toBeGreaterThan(9);
});
