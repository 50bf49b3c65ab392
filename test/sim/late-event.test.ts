import { expect, test } from 'vitest';
import { parsePlan } from './plan.ts';
import { playPlan } from './seeds.ts';

// The mutation no-events shows that Events are missed when none is sent.
test('An Event may be missing if it was on its way when its namespace began to terminate', async () => {
  const plan = parsePlan('namespace-deleted-while-deploying seed=559933406');
  expect((await playPlan(plan)).violations).toEqual([]);
});
