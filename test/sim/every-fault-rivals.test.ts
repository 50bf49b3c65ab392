import { expect, test } from 'vitest';
import { describeEveryFault } from './every-fault.ts';
import type { Fault } from './faults.ts';
import { play } from './run.ts';
import { AT_ONCE, RIVALS } from './scenarios/rivals.ts';

/** Faults that may change which of two objects that begin together comes first. Scenarios with one after the other cover the rest. */
const IN_THE_BEGINNING: ReadonlySet<Fault> = new Set<Fault>([
  'crashBefore',
  'crashAfter',
  'lostAnswer',
  'lateLanding',
  'serverError',
  'conflict',
  'stale',
  'pause',
  'recreate',
]);
const SEEDS = 60;
const TIMEOUT_MS = 300_000;

describeEveryFault(RIVALS.filter((scenario) => !AT_ONCE.includes(scenario)));
describeEveryFault(AT_ONCE, { faults: IN_THE_BEGINNING });

test.each(AT_ONCE.map(({ name }) => name))(
  '%s: one of the two gets it, whatever the order of their calls',
  async (scenario) => {
    for (let seed = 1; seed <= SEEDS; seed++) expect((await play({ scenario, strikes: [], seed })).report).toBe('');
  },
  TIMEOUT_MS,
);
