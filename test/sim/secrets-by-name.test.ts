import { describe, expect, it } from 'vitest';
import { playEvery } from './every.ts';
import type { Fault } from './faults.ts';
import { textOf } from './plan.ts';
import { play } from './run.ts';
import { SCENARIOS } from './scenarios.ts';

/* An operator that may neither list nor watch Secrets gets to the same ends as one that may. */

/** What makes a process forget, or see what another has left: the rest is the same whatever is known of Secrets. */
const FAULTS: ReadonlySet<Fault> = new Set<Fault>(['crashBefore', 'crashAfter', 'lostAnswer']);
/** These change and keep Secrets in every way that there is. */
const STRUCK = ['deploy', 'rotate', 'destroy'];

describe('With Secrets that are read by name', () => {
  it.each(SCENARIOS.map(({ name }) => name))('%s ends as with a watch', async (scenario) => {
    const { end } = await play({ scenario, strikes: [] });
    expect((await play({ scenario, strikes: [], secrets: 'get' }, end)).report).toBe('');
  });

  it.each(STRUCK)(
    '%s ends so too if the process dies at any step',
    async (scenario) => {
      const failed: string[] = [];
      for await (const { plan, violations } of playEvery({ scenario, strikes: [], secrets: 'get' }, () => FAULTS))
        if (violations.length > 0) failed.push(textOf(plan));
      expect(failed).toEqual([]);
    },
    60_000,
  );
});
