import { expect, test } from 'vitest';
import { forAll, messageOf, TerminalError, TransientError } from './errors.ts';

test('Errors carry reason, cause and the pause that the other side requested', () => {
  const cause = new Error('below');
  expect(new TransientError('Busy', 'Later', { retryAfterMs: 5, cause })).toMatchObject({
    name: 'TransientError',
    reason: 'Busy',
    message: 'Later',
    retryAfterMs: 5,
    cause,
  });
  expect(new TerminalError('No', 'Never', { cause })).toMatchObject({ name: 'TerminalError', reason: 'No', cause });
  expect('cause' in new TerminalError('No', 'Never')).toBe(false);
});

test('messageOf() makes text of anything that is thrown', () => {
  expect([messageOf(new Error('x')), messageOf('y'), messageOf(undefined), messageOf(null)]).toEqual([
    'x',
    'y',
    'undefined',
    'null',
  ]);
});

test('forAll goes on after a failure, and then throws the first one', () => {
  const done: number[] = [];
  const work = (one: number) => {
    done.push(one);
    if (one % 2 === 0) throw new Error(`not ${one}`);
  };
  expect(() => forAll([1, 2, 3, 4], work)).toThrow('not 2');
  expect(done).toEqual([1, 2, 3, 4]);
});
