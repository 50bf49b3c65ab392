import { expect, test } from 'vitest';
import { ListSteps } from './list-steps.ts';

const LONG_MS = 100_000;

/** How long after a List at `waitedMs` the next one comes, for a cluster that began to move at 0. */
const stepAt = (steps: ListSteps, waitedMs: number) => steps.next(0, waitedMs) - waitedMs;

/** The steps after Lists that show so many clusters moving, which began long ago. */
function stepsAfter(steps: ListSteps, ...left: readonly number[]): readonly number[] {
  return left.map((count) => {
    steps.listed(count);
    return stepAt(steps, LONG_MS);
  });
}

test.each([
  [0, 750],
  [3_750, 750],
  [10_000, 2_000],
  [50_000, 10_000],
  [75_000, 15_000],
  [600_000, 15_000],
])('A cluster that has been moving for %i ms is looked for after a fifth of that: %i ms', (waitedMs, stepMs) => {
  expect(stepAt(new ListSteps(), waitedMs)).toBe(stepMs);
});

test('A cluster that has begun to move since the last List is looked for as soon as any', () => {
  expect(new ListSteps().next(LONG_MS, 0)).toBe(LONG_MS + 750);
});

test('The last tenth of those that move together is looked for sooner, with a List for each', () => {
  const steps = new ListSteps();
  expect(stepsAfter(steps, 100, 300, 31)).toEqual([15_000, 15_000, 15_000]);
  expect(stepsAfter(steps, ...Array(30).fill(30), 1)).toEqual([...Array(30).fill(3_000), 15_000]);
  expect(stepAt(steps, 5_000)).toBe(1_000);
});

test('The last two of a few are looked for sooner, with eight Lists', () => {
  const steps = new ListSteps();
  expect(stepsAfter(steps, 3, 5, 3)).toEqual([15_000, 15_000, 15_000]);
  expect(stepsAfter(steps, 2, 1, 2, 1, 1, 1, 1, 1, 1)).toEqual([...Array(8).fill(3_000), 15_000]);
});

test('What moves alone gets no Lists more', () => {
  expect(stepsAfter(new ListSteps(), 1, 1, 1)).toEqual([15_000, 15_000, 15_000]);
  expect(stepsAfter(new ListSteps(), 2, 2, 1)).toEqual([15_000, 15_000, 3_000]);
});

test('Once none is moving it begins anew', () => {
  const steps = new ListSteps();
  stepsAfter(steps, 30, 1, 0);
  expect(stepsAfter(steps, 1, 1)).toEqual([15_000, 15_000]);
  expect(stepsAfter(steps, 3, 1, 0, 1)).toEqual([15_000, 3_000, 15_000, 15_000]);
});
