import { expect, test } from 'vitest';
import { manualClock } from '../../test/support/clock.ts';
import { SentSecrets } from './sent-secrets.ts';

test('SentSecrets holds what was sent, each once', () => {
  const sent = new SentSecrets(manualClock());
  expect(sent.all()).toEqual([]);
  sent.note(['first', 'second']);
  sent.note(['first', '', 'abc']);
  expect(sent.all()).toEqual(['second', 'first']);
});

test('SentSecrets forgets what has not been sent for an hour', () => {
  const clock = manualClock();
  const sent = new SentSecrets(clock);
  sent.note(['replaced', 'kept']);
  clock.advance(3_000_000);
  sent.note(['kept']);
  clock.advance(1_000_000);
  expect(sent.all()).toEqual(['kept']);
});

test('SentSecrets holds a bounded number, and a bounded number of characters', () => {
  const sent = new SentSecrets(manualClock());
  sent.note(Array.from({ length: 100 }, (_, index) => `secret ${index}`));
  expect(sent.all()).toHaveLength(64);
  expect(sent.all().at(-1)).toBe('secret 99');
  const long = ['1', '2', '3'].map((letter) => letter.repeat(4_000));
  sent.note(long);
  expect(sent.all()).toEqual(long.slice(1));
  sent.note(['x'.repeat(100_000)]);
  expect(sent.all()).toHaveLength(1);
});
