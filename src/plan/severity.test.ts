import { expect, test } from 'vitest';
import type { Outcome, Plan } from './outcome.ts';
import { severityOf } from './severity.ts';

const outcome = (changes: Partial<Outcome> = {}): Outcome => ({
  name: 'DatabaseUser shop/app',
  change: 'none',
  fields: [],
  steps: [],
  end: { ready: 'True', reason: 'LoginWorks', message: '' },
  ...changes,
});
const ended = (ready: string) => ({ ready, reason: 'AnyReason', message: '' });
const step = (weight: Plan['steps'][number]['weight']) => ({ name: 'DatabaseUser shop/app', description: '', weight });

test.each<[string, Outcome, Plan['steps'], ReturnType<typeof severityOf>]>([
  ['nothing to do', outcome(), [], 'nothing'],
  ['a change of an object', outcome({ change: 'update' }), [], 'changes'],
  ['a step', outcome(), [step('interrupts')], 'changes'],
  ['a step that destroys', outcome({ change: 'delete', end: undefined }), [step('destroys')], 'destroys'],
  ['an object that goes, and leaves what it stands for', outcome({ change: 'delete', end: undefined }), [], 'changes'],
  ['an object that was deleted before, and goes now', outcome({ end: undefined }), [], 'changes'],
  ['an object that goes later', outcome({ change: 'delete' }), [], 'changes'],
  ['one that destroys something then', outcome({ change: 'delete', later: 'delete user "app"' }), [], 'destroys'],
  ['a step that fails', outcome(), [{ ...step('costs'), fails: true }], 'fails'],
  ['an object that is refused', outcome({ change: 'update', end: ended('False') }), [], 'fails'],
  ['an object that waits for another', outcome({ change: 'create', end: ended('Unknown') }), [], 'changes'],
  [
    'an object that is refused, while another is destroyed',
    outcome({ end: ended('False') }),
    [step('destroys')],
    'destroys',
  ],
  ['an object that is refused anyway', outcome({ end: ended('False'), alsoDue: true }), [], 'nothing'],
  ['a step that is due anyway', outcome({ alsoDue: true }), [step('destroys')], 'nothing'],
])('severityOf(): %s', (_, given, steps, expected) => {
  expect(severityOf({ outcomes: [given], steps })).toBe(expected);
});
