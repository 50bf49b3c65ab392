import { expect, test } from 'vitest';
import { virtualClock } from '../sandbox/virtual-clock.ts';
import { DatabaseMemory } from './database/world.ts';
import { ClusterMemory } from './databasecluster/world.ts';

test.each([
  ['cluster', ClusterMemory],
  ['database', DatabaseMemory],
])(
  'Which calls for a %s were made is known until it is gone, also if another replica has it meanwhile',
  async (_, Memory) => {
    const clock = virtualClock();
    const memory = new Memory('me', clock.now());
    const operation = { by: 'me', startedAt: new Date(clock.now()).toISOString() };
    const unanswered = () => Promise.reject(new Error('No answer'));
    expect(memory.attempts.neverMade('shop/orders', operation)).toBe(true);
    await expect(memory.attempts.make('shop/orders', operation, clock, unanswered)).rejects.toThrow('No answer');
    expect(memory.attempts.neverMade('shop/orders', operation)).toBe(false);
    memory.forget('shop/orders', false);
    expect(memory.attempts.neverMade('shop/orders', operation)).toBe(false);
    memory.forget('shop/orders', true);
    expect(memory.attempts.neverMade('shop/orders', operation)).toBe(true);
  },
);
