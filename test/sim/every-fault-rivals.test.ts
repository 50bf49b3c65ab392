import { expect, test } from 'vitest';
import { describeEveryFault } from './every-fault.ts';
import type { Fault } from './faults.ts';
import { play } from './run.ts';
import { AT_ONCE, RIVALS } from './scenarios/rivals.ts';

/** What may turn round which of two that begin together comes first. Of the rest, scenarios with one after the other are enough. */
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
  '%s: one of the two gets it, in whatever order their calls come',
  async (scenario) => {
    for (let seed = 1; seed <= SEEDS; seed++) expect((await play({ scenario, strikes: [], seed })).report).toBe('');
  },
  TIMEOUT_MS,
);
