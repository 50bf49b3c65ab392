import { expect, test } from 'vitest';
import { manualClock } from '../../test/support/clock.ts';
import { Pace } from './pace.ts';
import { yieldToCollector } from './young-objects.ts';

const settle = () => new Promise((resolve) => setImmediate(resolve));
const MB = 2 ** 20;

/** A rest that begins with so many young objects. */
async function aRest(young: number) {
  const clock = manualClock();
  const heap = { young };
  let isOver = false;
  const pace = new Pace({ ...clock, yieldNow: yieldToCollector(clock, () => heap.young) });
  void pace.rest().then(() => {
    isOver = true;
  });
  await settle();
  await settle();
  const advance = async (ms: number) => {
    for (let passed = 0; passed < ms; passed++) {
      clock.advance(1);
      await settle();
    }
  };
  return { heap, advance, isOver: () => isOver };
}

test('Long work goes on at once while few objects are young', async () => {
  const { isOver } = await aRest(2 * MB);
  expect(isOver()).toBe(true);
});

test('Long work rests until many young objects are collected', async () => {
  const { heap, advance, isOver } = await aRest(8 * MB);
  await advance(20);
  expect(isOver()).toBe(false);
  heap.young = MB;
  await advance(1);
  expect(isOver()).toBe(true);
});

test('Long work goes on if nothing collects them', async () => {
  const { advance, isOver } = await aRest(8 * MB);
  await advance(49);
  expect(isOver()).toBe(false);
  await advance(1);
  expect(isOver()).toBe(true);
});

test('V8 says how much young objects take', async () => {
  const clock = manualClock();
  await yieldToCollector(clock)();
  const kept: unknown[] = [];
  const rest = yieldToCollector(clock);
  // Node without the image's flag lets them take more than is much.
  let isResting = false;
  for (let round = 0; round < 200 && !isResting; round++) {
    for (let count = 0; count < 1_000; count++) kept.push({ round, text: new Array(20).fill(count) });
    void rest();
    await settle();
    isResting = clock.timers() > 0;
  }
  expect(isResting).toBe(true);
});
