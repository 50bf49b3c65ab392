import { expect, test } from 'vitest';
import { parsePlan } from './plan.ts';
import { playPlan } from './seeds.ts';

// The mutation left-unheld shows what must still be found.
test.each([
  ['the operator is cut off', 'destroy-at-once 5:replace 7:partition'],
  ['the process ends', 'destroy-at-once 5:replace 6:crashAfter'],
  ['the object is paused', 'destroy-at-once 4:replace 5:pause'],
  ['the deploy is still running', 'destroy-while-deploying seed=40 5:replace'],
  ['the finalizer of another controller holds it', 'destroy-at-once replicas=2 seed=33 4:replace 5:meddle'],
])('An object without a finalizer may leave its cluster behind if %s', async (_, plan) => {
  expect((await playPlan(parsePlan(plan))).violations).toEqual([]);
});
