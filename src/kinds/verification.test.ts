import { expect, test } from 'vitest';
import { ApiError } from '../http/api-error.ts';
import { earlier, PutOff, untilVerification, Verifications } from './verification.ts';

const MINUTE_MS = 60_000;
const INTERVAL_MS = 10 * MINUTE_MS;
const NOW_MS = Date.parse('2026-11-20T12:00:00Z');

test('untilVerification() never comes due without an interval', () => {
  expect(untilVerification('uid', 0, NOW_MS, NOW_MS)).toBeUndefined();
});

test.each([0, INTERVAL_MS])(
  'untilVerification() is due at once for what is in doubt, with an interval of %i ms',
  (intervalMs) => {
    const verifications = new Verifications(() => NOW_MS);
    verifications.verified('shop/orders', NOW_MS);
    verifications.doubt('shop/orders');
    const inMs = () => untilVerification('uid', intervalMs, verifications.lastAtMs('shop/orders'), NOW_MS);
    expect(inMs()).toBe(0);
    verifications.verified('shop/orders', NOW_MS);
    expect(inMs()).not.toBe(0);
  },
);

test('untilVerification() falls within the interval after the last time, and is due once that is over', () => {
  const ms = untilVerification('uid', INTERVAL_MS, NOW_MS, NOW_MS) ?? Number.NaN;
  expect(ms).toBeGreaterThan(0);
  expect(ms).toBeLessThanOrEqual(INTERVAL_MS);
  expect(untilVerification('uid', INTERVAL_MS, NOW_MS, NOW_MS + ms - 1)).toBe(1);
  expect(untilVerification('uid', INTERVAL_MS, NOW_MS, NOW_MS + ms)).toBe(0);
});

test('untilVerification() gives each object its own moment', () => {
  const moments = ['one', 'two', 'three'].map((uid) => untilVerification(uid, INTERVAL_MS, NOW_MS, NOW_MS));
  expect(new Set(moments).size).toBe(3);
});

test('untilVerification() is due at once when the wall clock was set back, however far', () => {
  expect(untilVerification('uid', INTERVAL_MS, NOW_MS, NOW_MS - 24 * 60 * MINUTE_MS)).toBe(0);
});

test.each([
  [1, 2, 1],
  [2, 1, 1],
  [undefined, 1, 1],
  [1, undefined, 1],
  [undefined, undefined, undefined],
])('earlier(%s, %s) is %s', (a, b, wanted) => {
  expect(earlier(a, b)).toBe(wanted);
});

test.each([
  ['no time', undefined, 10_000],
  ['a time that has passed', 0, 10_000],
  ['a time that has almost passed', 1, 10_000],
  ['a time', 120_000, 120_000],
])('PutOff.againInMs() does not schedule a look at once if the other side names %s', (_, retryAfterMs, wanted) => {
  const about = { api: 'server', operation: 'signIn', phrase: 'sign in', idempotent: true, what: 'no' } as const;
  const error = new ApiError({ ...about, kind: 'throttled', retryAfterMs });
  expect(new PutOff().againInMs({ key: 'shop/app', lookNow: false }, true, error, 0)).toBe(wanted);
  expect(new PutOff().againInMs({ key: 'shop/app', lookNow: true }, true, error, 0)).toBeUndefined();
  expect(new PutOff().againInMs({ key: 'shop/app', lookNow: false }, false, error, 0)).toBeUndefined();
});
