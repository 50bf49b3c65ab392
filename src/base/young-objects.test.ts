import { expect, test } from 'vitest';
import { manualClock } from '../../test/support/clock.ts';
import { Pace } from './pace.ts';
import { yieldToCollector } from './young-objects.ts';

const settle = () => new Promise((resolve) => setImmediate(resolve));
const MB = 2 ** 20;

/** Something that rests. */
function aWorker() {
  const clock = manualClock();
  const heap = { young: 0 };
  const pace = new Pace({ ...clock, yieldNow: yieldToCollector(clock, () => heap.young) });
  /** Begins a rest, and returns whether it is over. */
  const rest = async () => {
    let isOver = false;
    void pace.rest().then(() => {
      isOver = true;
    });
    await settle();
    await settle();
    return () => isOver;
  };
  const advance = async (ms: number) => {
    for (let passed = 0; passed < ms; passed++) {
      clock.advance(1);
      await settle();
    }
  };
  return { heap, rest, advance };
}

test('Long work goes on at once while few objects are young', async () => {
  const { heap, rest } = aWorker();
  heap.young = 2 * MB;
  expect((await rest())()).toBe(true);
});

test('Long work rests until many young objects are collected', async () => {
  const { heap, rest, advance } = aWorker();
  heap.young = 8 * MB;
  const isOver = await rest();
  await advance(20);
  expect(isOver()).toBe(false);
  heap.young = MB;
  await advance(1);
  expect(isOver()).toBe(true);
});

test('Long work goes on if V8 lets young objects take more, and does not rest for as many again', async () => {
  const { heap, rest, advance } = aWorker();
  heap.young = 8 * MB;
  const isOver = await rest();
  await advance(99);
  expect(isOver()).toBe(false);
  await advance(1);
  expect(isOver()).toBe(true);
  heap.young = 16 * MB;
  expect((await rest())()).toBe(true);
  heap.young = 17 * MB;
  expect((await rest())()).toBe(false);
});

test('V8 says how much young objects take', async () => {
  const clock = manualClock();
  const kept: unknown[] = [];
  const rest = yieldToCollector(clock);
  let isResting = false;
  for (let round = 0; round < 200 && !isResting; round++) {
    for (let count = 0; count < 1_000; count++) kept.push({ round, numbers: new Array(20).fill(count) });
    void rest();
    await settle();
    isResting = clock.timers() > 0;
  }
  expect(isResting).toBe(true);
});
