import { expect, test } from 'vitest';
import { ListSteps, type Moving } from './list-steps.ts';

const LONG_MS = 100_000;

const deploys = (...since: readonly number[]): readonly Moving[] =>
  since.map((each) => ({ since: each, status: 'deploying' }));

/** How long after a List at `waitedMs` the next one comes, for a cluster that began to move at 0. */
const stepAt = (steps: ListSteps, waitedMs: number) => steps.next(deploys(0), waitedMs) - waitedMs;

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
  expect(new ListSteps().next(deploys(LONG_MS), 0)).toBe(LONG_MS + 750);
});

test('What is not moving is not listed for', () => {
  expect(new ListSteps().next([], LONG_MS)).toBe(Number.POSITIVE_INFINITY);
});

/** The step after a List that showed all of them moving, at 40 s. */
function stepFor(moving: readonly Moving[], steps = new ListSteps()): number {
  steps.listed(moving.length);
  return steps.next(moving, 40_000) - 40_000;
}

test('While none of those that began together is there, the newest costs no more Lists than the first', () => {
  expect(stepFor(deploys(15_000, 39_000, 40_000))).toBe(5_000);
});

test.each([
  ['One that began half a minute later', deploys(5_000, 35_000), 1_000],
  ['The newest of some that began then', deploys(5_000, 35_000, 39_000), 1_000],
  ['One on its way to something else', [...deploys(15_000), { since: 35_000, status: 'updating' }], 1_000],
])('%s is looked for sooner', (_case, moving, stepMs) => {
  expect(stepFor(moving)).toBe(stepMs);
});

test('Once one of them is there, each is looked for by its own time, until none is moving', () => {
  const steps = new ListSteps();
  stepFor(deploys(15_000, 30_000, 35_000), steps);
  const two = deploys(15_000, 35_000);
  expect(stepFor(two, steps)).toBe(1_000);
  // Another one has begun meanwhile.
  expect(stepFor(deploys(15_000, 35_000, 36_000), steps)).toBe(800);
  steps.listed(0);
  expect(stepFor(two, steps)).toBe(5_000);
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
