import { expect, test } from 'vitest';
import { playPlanned } from './planned.ts';

/* The states that stories lead to; src/plan has tests of simpler ones. More: npm run sim -- --plans --minutes N. */

const SEEDS = 100;
/** Beside these: stories that once found a mistake. */
const FURTHER = [2492, 2629, 2715, 9174, 10067, 21182, 40608];

test('what a plan says in the middle of a story is what then happens', async () => {
  const runs = [];
  const seeds = [...Array.from({ length: SEEDS }, (_, index) => index + 1), ...FURTHER];
  for (const seed of seeds) runs.push({ seed, ...(await playPlanned(seed)) });
  const differences = runs.flatMap(({ seed, differences: found }) => found.map((text) => `Seed ${seed}: ${text}`));
  expect(differences).toEqual([]);
  const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);
  expect(sum(runs.map(({ compared }) => compared))).toBeGreaterThan(2 * SEEDS);
  expect(sum(runs.map(({ withSteps }) => withSteps))).toBeGreaterThan(SEEDS / 5);
}, 300_000);
