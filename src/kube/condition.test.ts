import { describe, expect, it } from 'vitest';
import { type Condition, setConditions } from './condition.ts';

const BEFORE: Condition = {
  type: 'Synced',
  status: 'True',
  reason: 'AsSpecified',
  message: 'As it should be',
  observedGeneration: 1,
  lastTransitionTime: '2026-11-20T10:00:00Z',
};
const NOW_MS = Date.parse('2026-11-20T12:00:00.500Z');
const { type, status, reason, message } = BEFORE;

describe('setConditions()', () => {
  it('keeps the time of a status that stays, in whole seconds otherwise', () => {
    const stays = setConditions([BEFORE], [{ type, status, reason: 'Other', message }], 2, NOW_MS);
    expect(stays[0]).toMatchObject({ reason: 'Other', lastTransitionTime: BEFORE.lastTransitionTime });
    const turns = setConditions([BEFORE], [{ type, status: 'False', reason, message }], 2, NOW_MS);
    expect(turns[0]).toMatchObject({ lastTransitionTime: '2026-11-20T12:00:00Z' });
  });

  it('drops what is not named, and keeps the order of what is', () => {
    const ready = { type: 'Ready', status, reason, message } as const;
    const after = setConditions([{ ...BEFORE, type: 'Stalled' }, BEFORE], [ready, BEFORE], 1, NOW_MS);
    expect(after.map((condition) => condition.type)).toEqual(['Ready', 'Synced']);
  });

  it('gives what was judged the generation that it was judged for', () => {
    const after = setConditions([BEFORE], [{ type, status, reason, message }], 2, NOW_MS);
    expect(after[0]?.observedGeneration).toBe(2);
  });

  it('leaves what is handed on unjudged in its own generation', () => {
    expect(setConditions([BEFORE], [BEFORE], 2, NOW_MS)).toEqual([BEFORE]);
  });

  it('shortens a message that nobody would read', () => {
    const [long] = setConditions([], [{ type, status, reason, message: 'x'.repeat(5_000) }], 1, NOW_MS);
    expect(long?.message).toHaveLength(1024);
  });
});
