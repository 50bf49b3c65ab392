import { expect, it } from 'vitest';
import { type Effect, FAULTS, type Fault } from './faults.ts';
import { play } from './run.ts';
import type { Scenario } from './scenarios.ts';

/** `SIM_ONLY=deploy`, or `SIM_ONLY=deploy/7/crashAfter` for one run. */
const [onlyName, onlyAt, onlyFault] = (process.env['SIM_ONLY'] ?? '').split('/');
const SHOWN = 3;

/** Events are only told of, and can be lost: of these a crash is enough. */
function strikes(scenario: Scenario, { to, what }: Effect, fault: Fault): boolean {
  if (fault === 'delete' && scenario.deletable === false) return false;
  if (fault === 'conflict') return to === 'kube' && what.startsWith('patch');
  return !what.startsWith('create events') || fault === 'crashAfter';
}

/** A test for each scenario: without faults, then once with each fault at each effect. */
export function everyFault(scenarios: readonly Scenario[]): void {
  const chosen = scenarios.filter(({ name }) => !onlyName || name === onlyName);
  it.each(chosen.map((scenario) => [scenario.name, scenario] as const))(
    '%s ends as it does without faults',
    async (_name, scenario) => {
      const clean = await play(scenario);
      expect(clean.failures.join('\n')).toBe('');
      const failures: string[] = [];
      let runs = 0;
      for (const effect of clean.effects) {
        if (onlyAt && Number(onlyAt) !== effect.index) continue;
        for (const fault of FAULTS) {
          if (onlyFault ? fault !== onlyFault : !strikes(scenario, effect, fault)) continue;
          runs++;
          failures.push(...(await play(scenario, { at: effect.index, fault }, clean.end)).failures);
        }
      }
      const more = failures.length > SHOWN ? `\n… ${failures.map((text) => text.split(':')[0]).join(' ')}` : '';
      expect(failures.slice(0, SHOWN).join('\n\n') + more, `${failures.length} of ${runs} runs`).toBe('');
    },
    300_000,
  );
}
