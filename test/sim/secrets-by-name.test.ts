import { describe, expect, it } from 'vitest';
import { playEvery } from './every.ts';
import type { Fault } from './faults.ts';
import { textOf } from './plan.ts';
import { play } from './run.ts';
import { SCENARIOS } from './scenarios.ts';

/* An operator that may neither list nor watch Secrets ends up where one that may does. */

/** Faults that make a process forget, or find what another has left. For others it does not matter how Secrets are read. */
const FAULTS: ReadonlySet<Fault> = new Set<Fault>(['crashBefore', 'crashAfter', 'lostAnswer']);
/** Scenarios that change and protect Secrets in every possible way. */
const STRUCK = ['deploy', 'rotate', 'destroy'];

describe('With Secrets that are read by name', () => {
  it.each(SCENARIOS.map(({ name }) => name))('%s ends as with a watch', async (scenario) => {
    const { end } = await play({ scenario, strikes: [] });
    expect((await play({ scenario, strikes: [], secrets: 'get' }, end)).report).toBe('');
  });

  it.each(STRUCK)(
    '%s also ends so if the process dies at any step',
    async (scenario) => {
      const failed: string[] = [];
      for await (const { plan, violations } of playEvery({ scenario, strikes: [], secrets: 'get' }, () => FAULTS))
        if (violations.length > 0) failed.push(textOf(plan));
      expect(failed).toEqual([]);
    },
    60_000,
  );
});
