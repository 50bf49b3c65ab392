import { expect, test } from 'vitest';
import { describeEverySeed } from './every-seed.ts';
import { parsePlan, planOf, textOf } from './plan.ts';
import { READ_FAULT_NAMES } from './reads.ts';
import { SCENARIOS } from './scenarios.ts';
import { PLAYED, playSeed, seedOf } from './seeds.ts';

const SEEDS = 500;
const NAMES = SCENARIOS.map(({ name }) => name);

describeEverySeed(1, PLAYED / 2);

test('A seed always gives the same run, and so does its text', async () => {
  const seed = 11;
  const [one, other] = [await playSeed(seed), await playSeed(seed)];
  expect(other.effects).toEqual(one.effects);
  expect(other.end).toBe(one.end);
  expect(parsePlan(textOf(planOf(seed, NAMES)))).toEqual(planOf(seed, NAMES));
});

test('Each random start begins at another seed, and never at one that is played here', () => {
  const begins = Array.from({ length: 100 }, (_, index) => seedOf(1_700_000_000_000 + index * 60_000));
  expect(new Set(begins).size).toBe(100);
  expect(Math.min(...begins)).toBeGreaterThan(PLAYED);
  expect(seedOf(0)).toBe(PLAYED + 1);
});

test('Seeds reach every scenario, several processes, with shards and without, and most faults', () => {
  const plans = Array.from({ length: SEEDS }, (_, index) => planOf(index + 1, NAMES));
  expect(new Set(plans.map(({ scenario }) => scenario)).size).toBe(NAMES.length);
  expect(new Set(plans.map(({ replicas = 1 }) => replicas))).toEqual(new Set([1, 2, 3]));
  expect(plans.filter(({ shards }) => shards).length).toBeGreaterThan(30);
  expect(new Set(plans.flatMap(({ strikes }) => strikes.map(({ fault }) => fault))).size).toBeGreaterThan(25);
  expect(new Set(plans.flatMap(({ reads = [] }) => reads.map(({ fault }) => fault))).size).toBe(
    READ_FAULT_NAMES.length,
  );
});
