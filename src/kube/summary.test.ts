import { expect, test } from 'vitest';
import { failing, particulars, ready, reconciling, retrying, stalled } from './summary.ts';

const words = (conditions: readonly { type: string; status: string }[]) =>
  conditions.map(({ type, status }) => `${type}=${status}`);

test('Summaries say what kstatus reads: Ready always, Unknown while work goes on, False only when something is wrong', () => {
  expect(words(ready('R', 'm'))).toEqual(['Ready=True']);
  expect(words(reconciling('R', 'm'))).toEqual(['Ready=Unknown', 'Reconciling=True']);
  expect(words(retrying('R', 'm'))).toEqual(['Ready=Unknown', 'Reconciling=True']);
  expect(words(failing('R', 'm'))).toEqual(['Ready=False', 'Reconciling=True']);
  expect(words(stalled('R', 'm'))).toEqual(['Ready=False', 'Stalled=True']);
});

test('particulars() leaves the summary out', () => {
  const synced = { type: 'Synced', status: 'True', reason: 'R', message: 'm' } as const;
  expect(particulars([...stalled('R', 'm'), synced, ...reconciling('R', 'm')])).toEqual([synced]);
});
