import { expect, test } from 'vitest';
import { parsePlan } from './plan.ts';
import { playPlan } from './seeds.ts';

// That Events are missed where none is sent, the mutation no-events shows.
test('An Event may be missing that was on its way when its namespace began to end', async () => {
  const plan = parsePlan('namespace-deleted-while-deploying seed=559933406');
  expect((await playPlan(plan)).violations).toEqual([]);
});
