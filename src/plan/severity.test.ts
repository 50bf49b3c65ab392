import { expect, test } from 'vitest';
import type { Outcome, Plan } from './plan.ts';
import { severityOf } from './severity.ts';

const outcome = (changes: Partial<Outcome> = {}): Outcome => ({
  name: 'DatabaseUser shop/app',
  change: 'none',
  fields: [],
  steps: [],
  end: { ready: 'True', reason: 'LoginWorks', message: '' },
  ...changes,
});
const step = (weight: Plan['steps'][number]['weight']) => ({ name: 'DatabaseUser shop/app', description: '', weight });

test.each<[string, Outcome, Plan['steps'], ReturnType<typeof severityOf>]>([
  ['nothing to do', outcome(), [], 'nothing'],
  ['a change of an object', outcome({ change: 'update' }), [], 'changes'],
  ['a step', outcome(), [step('interrupts')], 'changes'],
  ['a step that destroys', outcome({ change: 'delete', end: undefined }), [step('destroys')], 'destroys'],
  ['an object that goes, and leaves what it stands for', outcome({ change: 'delete', end: undefined }), [], 'changes'],
  ['an object that goes later', outcome({ change: 'delete' }), [], 'changes'],
  ['one that destroys something then', outcome({ change: 'delete', later: 'delete user "app"' }), [], 'destroys'],
  ['a step that is due anyway', outcome({ alsoDue: true }), [step('destroys')], 'nothing'],
])('severityOf(): %s', (_, given, steps, expected) => {
  expect(severityOf({ outcomes: [given], steps })).toBe(expected);
});
