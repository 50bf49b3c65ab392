import { expect, test } from 'vitest';
import { manualClock } from '../../test/support/clock.ts';
import { createSeededRandom } from '../simulator/seeded-random.ts';
import { RateLimiter } from './rate-limiter.ts';

const BACKOFF = { initialMs: 1_000, maxMs: 300_000 };

function aLimiter(float: () => number) {
  const clock = manualClock();
  const random = { float, bytes: (count: number) => new Uint8Array(count) };
  const group = (key: string) => key.split('/').at(-2);
  return { clock, limiter: new RateLimiter({ clock, random, group }) };
}

test.each([
  { chance: 0, delays: [1_000, 1_000, 1_000, 1_000, 1_000, 1_000, 1_000, 1_000, 1_000, 1_000] },
  { chance: 0.5, delays: [1_500, 2_500, 4_500, 8_500, 16_500, 32_500, 64_500, 128_500, 150_500, 150_500] },
  { chance: 1, delays: [2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 256_000, 300_000, 300_000] },
])('RateLimiter waits between 1 s and a ceiling that doubles up to 5 min (chance $chance)', ({ chance, delays }) => {
  const { limiter } = aLimiter(() => chance);
  expect(delays.map(() => limiter.when('a', BACKOFF))).toEqual(delays);
});

test('RateLimiter counts the failures of each key separately, and starts small after forget', () => {
  const { limiter } = aLimiter(() => 1);
  const failing = Array.from({ length: 5 }, () => limiter.when('a', BACKOFF));
  expect([failing.at(-1), limiter.when('b', BACKOFF)]).toEqual([32_000, 2_000]);
  limiter.forget('a');
  expect(limiter.when('a', BACKOFF)).toBe(2_000);
});

test('RateLimiter counts failures of each kind separately: ten conflicts do not delay the first retry of something unreachable', () => {
  const { limiter } = aLimiter(() => 1);
  const conflict = { initialMs: 50, maxMs: 5_000 };
  const [conflicts, failures] = [conflict, BACKOFF].map((backoff) =>
    Array.from({ length: 10 }, () => limiter.when('a', backoff)),
  );
  expect([conflicts?.[0], conflicts?.at(-1)]).toEqual([100, 5_000]);
  expect([failures?.[0], failures?.at(-1)]).toEqual([2_000, 300_000]);
  // Each also grows if they alternate.
  expect([limiter.when('a', conflict), limiter.when('a', BACKOFF)]).toEqual([5_000, 300_000]);
  limiter.forget('a');
  expect([limiter.when('a', conflict), limiter.when('a', BACKOFF)]).toEqual([100, 2_000]);
});

test('RateLimiter spreads keys that failed together', () => {
  const { limiter } = aLimiter(createSeededRandom(1).float);
  const delays = Array.from({ length: 100 }, (_, index) => limiter.when(`key-${index}`, BACKOFF));
  const early = delays.filter((delay) => delay < 1_500).length;
  expect(early).toBeGreaterThan(25);
  expect(early).toBeLessThan(75);
});

test('RateLimiter lets ten thousand keys that failed together come back at a limited rate, and is quick again once they have', () => {
  const { limiter, clock } = aLimiter(() => 0);
  const delays = Array.from({ length: 10_000 }, (_, index) => limiter.when(`key-${index}`, BACKOFF));
  const perSecond = new Map<number, number>();
  for (const delay of delays)
    perSecond.set(Math.floor(delay / 1000), (perSecond.get(Math.floor(delay / 1000)) ?? 0) + 1);
  const [first, ...later] = [...perSecond.entries()].toSorted(([a], [b]) => a - b).map(([, count]) => count);
  expect(first).toBeLessThanOrEqual(600);
  expect(Math.max(...later)).toBeLessThanOrEqual(50);
  expect(Math.max(...delays)).toBeLessThan(200_000);
  clock.advance(200_000);
  expect(limiter.when('late', BACKOFF)).toBe(1_000);
});

test('RateLimiter lets no key wait for a crowd longer than its own longest delay, and spreads keys over that', () => {
  const { limiter } = aLimiter(createSeededRandom(1).float);
  for (let index = 0; index < 10_000; index++) limiter.when(`key-${index}`, BACKOFF);
  expect(limiter.backlogMs('late')).toBe(190_000);
  const delays = Array.from({ length: 1_000 }, (_, index) =>
    limiter.when(`late-${index}`, { initialMs: 50, maxMs: 5_000 }),
  );
  expect(Math.max(...delays)).toBeLessThanOrEqual(5_000);
  const early = delays.filter((delay) => delay < 2_500).length;
  expect([early > 400, early < 600]).toEqual([true, true]);
});

test('RateLimiter never brings a key back before its own delay because a crowd waits', () => {
  const { limiter } = aLimiter(() => 0);
  for (let index = 0; index < 10_000; index++) limiter.when(`key-${index}`, BACKOFF);
  expect(limiter.when('late', { initialMs: 1_000, maxMs: 5_000 })).toBe(1_000);
});

test('RateLimiter is quick again soon after a crowd that came back early, again and again', () => {
  const { limiter, clock } = aLimiter(() => 1);
  const soon = { initialMs: 1_000, maxMs: 30_000 };
  const due = Array.from({ length: 3_000 }, () => 0);
  for (let second = 0; second < 600; second++, clock.advance(1_000)) {
    for (const [index, at] of due.entries())
      if (at <= clock.monotonic()) due[index] = clock.monotonic() + limiter.when(`key-${index}`, soon);
  }
  clock.advance(31_000);
  expect([limiter.backlogMs('late'), limiter.when('late', BACKOFF)]).toEqual([0, 2_000]);
});

test('RateLimiter makes nobody wait for a crowd of another group', () => {
  const { limiter } = aLimiter(() => 0);
  for (let index = 0; index < 10_000; index++) limiter.when(`crowd/${index}`, BACKOFF);
  expect(limiter.backlogMs('crowd/late')).toBe(190_000);
  for (const key of ['other/a', 'no group']) {
    expect([limiter.backlogMs(key), limiter.when(key, BACKOFF)]).toEqual([0, 1_000]);
  }
  expect(limiter.when('crowd/late', BACKOFF)).toBe(190_020);
});

test('RateLimiter also lets ten thousand groups that failed together come back at a limited rate', () => {
  const { limiter, clock } = aLimiter(() => 0);
  const delays = Array.from({ length: 10_000 }, (_, index) => limiter.when(`server-${index}/user`, BACKOFF));
  expect(delays.filter((delay) => delay < 2_000).length).toBeLessThanOrEqual(6_000);
  expect(Math.max(...delays)).toBe(10_000);
  clock.advance(10_000);
  expect(limiter.when('late/user', BACKOFF)).toBe(1_000);
});
