import { describe, expect, it } from 'vitest';
import type { Fault } from './faults.ts';
import { play } from './run.ts';
import { SCENARIOS } from './scenarios.ts';

/* An operator that may neither list nor watch Secrets gets to the same ends as one that may. */

/** What makes a process forget, or see what another has left: the rest is the same whatever is known of Secrets. */
const FAULTS: readonly Fault[] = ['crashBefore', 'crashAfter', 'lostAnswer'];
/** These change and keep Secrets in every way that there is. */
const STRUCK = ['deploy', 'rotate', 'destroy'];

describe('with Secrets that are read by name', () => {
  it.each(SCENARIOS.map((scenario) => [scenario.name, scenario] as const))(
    '%s ends as with a watch',
    async (_, scenario) => {
      const watched = await play(scenario);
      const byName = await play(scenario, undefined, watched.end, 'get');
      expect(byName.failures.join('\n')).toBe('');
    },
  );

  it.each(STRUCK)(
    '%s ends so too if the process dies at any step',
    async (name) => {
      const scenario = SCENARIOS.find((each) => each.name === name);
      if (scenario === undefined) throw new Error(`There is no scenario ${name}`);
      const clean = await play(scenario, undefined, undefined, 'get');
      expect(clean.effects.length).toBeGreaterThan(5);
      const failures: string[] = [];
      for (const { index, what } of clean.effects) {
        if (what.startsWith('create events')) continue;
        for (const fault of FAULTS)
          failures.push(...(await play(scenario, { at: index, fault }, clean.end, 'get')).failures);
      }
      expect(failures.slice(0, 3).join('\n\n')).toBe('');
    },
    60_000,
  );
});
