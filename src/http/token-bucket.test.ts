import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { manualClock } from '../../test/support/clock.ts';
import { TokenBucket } from './token-bucket.ts';

function aBucket(ratePerSecond = 10, burst = 3) {
  const clock = manualClock();
  const bucket = new TokenBucket(clock, { ratePerSecond, burst });
  const gone: number[] = [];
  const take = (id: number, signal?: AbortSignal) => bucket.take(signal).then(() => gone.push(id));
  return { clock, bucket, gone, take };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

test('TokenBucket allows a burst at once and the rest at the rate, in order', async () => {
  const { clock, gone, take } = aBucket();
  for (let id = 0; id < 6; id++) void take(id);
  await settle();
  expect(gone).toEqual([0, 1, 2]);
  clock.advance(100);
  await settle();
  expect(gone).toEqual([0, 1, 2, 3]);
  clock.advance(200);
  await settle();
  expect(gone).toEqual([0, 1, 2, 3, 4, 5]);
  expect(clock.timers()).toBe(0);
});

test('TokenBucket saves up no more than the burst', async () => {
  const { clock, gone, take } = aBucket();
  clock.advance(3_600_000);
  for (let id = 0; id < 6; id++) void take(id);
  await settle();
  expect(gone).toEqual([0, 1, 2]);
});

test('TokenBucket lets no newcomer overtake those that wait', async () => {
  const { clock, gone, take } = aBucket(10, 1);
  void take(0);
  void take(1);
  clock.advance(99);
  void take(2);
  clock.advance(1);
  await settle();
  expect(gone).toEqual([0, 1]);
});

test('TokenBucket forgets who has left', async () => {
  const { clock, gone, take } = aBucket(10, 1);
  const controller = new AbortController();
  void take(0);
  const left = take(1, controller.signal);
  void take(2);
  controller.abort();
  await left;
  clock.advance(100);
  await settle();
  expect(gone).toEqual([0, 1, 2]);
});

test('TokenBucket leaves no timer behind when all have left', async () => {
  const { clock, take } = aBucket(10, 1);
  const controller = new AbortController();
  void take(0);
  const left = take(1, controller.signal);
  expect(clock.timers()).toBe(1);
  controller.abort();
  await left;
  expect(clock.timers()).toBe(0);
  await take(2, AbortSignal.abort());
});

test('TokenBucket holds everybody back during a pause and gives no burst after it', async () => {
  const { clock, bucket, gone, take } = aBucket();
  bucket.pause(5_000);
  for (let id = 0; id < 3; id++) void take(id);
  clock.advance(4_000);
  expect(bucket.pausedMs).toBe(1_000);
  await settle();
  expect(gone).toEqual([]);
  clock.advance(1_100);
  await settle();
  expect(gone).toEqual([0]);
  clock.advance(200);
  await settle();
  expect(gone).toEqual([0, 1, 2]);
});

test('TokenBucket holds back those already waiting when a pause begins, and the longer of two pauses counts', async () => {
  const { clock, bucket, gone, take } = aBucket(10, 1);
  void take(0);
  void take(1);
  bucket.pause(1_000);
  bucket.pause(500);
  clock.advance(999);
  await settle();
  expect(gone).toEqual([0]);
  clock.advance(101);
  await settle();
  expect(gone).toEqual([0, 1]);
});

test('TokenBucket.release() lets all who wait go, without their tokens, and leaves no timer and no listener', async () => {
  const { clock, bucket, gone, take } = aBucket(10, 1);
  const { signal } = new AbortController();
  for (const id of [0, 1, 2]) void take(id, signal);
  bucket.pause(1_000);
  bucket.release();
  await settle();
  expect([gone, clock.timers(), getEventListeners(signal, 'abort')]).toEqual([[0, 1, 2], 0, []]);
  void take(3);
  clock.advance(1_099);
  await settle();
  expect(gone).toHaveLength(3);
  clock.advance(1);
  await settle();
  expect(gone).toEqual([0, 1, 2, 3]);
});

test('TokenBucket lets newcomers go at once after others have waited, or have left', async () => {
  const { clock, gone, take } = aBucket(10, 1);
  void take(0);
  void take(1);
  clock.advance(100);
  await settle();
  clock.advance(100);
  void take(2);
  await settle();
  expect(gone).toEqual([0, 1, 2]);
  const controller = new AbortController();
  const left = take(3, controller.signal);
  controller.abort();
  await left;
  expect(clock.timers()).toBe(0);
  clock.advance(100);
  void take(4);
  await settle();
  expect(gone).toEqual([0, 1, 2, 3, 4]);
});

test('TokenBucket has one timer, for the next turn, even when it is paused again', async () => {
  const { clock, bucket, gone, take } = aBucket(10, 1);
  void take(0);
  void take(1);
  bucket.pause(1_000);
  bucket.pause(2_000);
  expect(clock.timers()).toBe(1);
  clock.advance(2_099);
  await settle();
  expect([gone, clock.timers()]).toEqual([[0], 1]);
  clock.advance(1);
  await settle();
  expect([gone, clock.timers()]).toEqual([[0, 1], 0]);
});

test('TokenBucket releases the signals of those that had their turn', async () => {
  const { take } = aBucket(10, 1);
  const { signal } = new AbortController();
  await take(0, signal);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});
